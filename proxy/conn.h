/*
 * conn: one accepted connection of a client, whatever is served on it: its
 * descriptor, its deadline, the question that it waits for, the relay that
 * carries it in the end.  Counted and listed in a budget (budget.h).
 */
#ifndef FENCE_PROXY_CONN_H
#define FENCE_PROXY_CONN_H

#include <stddef.h>
#include <stdint.h>

#include "platform/loop.h"
#include "platform/net.h"
#include "proxy/ask.h"
#include "proxy/budget.h"
#include "proxy/proxy.h"
#include "proxy/questions.h"
#include "proxy/relay.h"

/* What the connections of a proxy share. */
struct conn_home {
	struct loop	*loop;
	struct questions *questions;
	struct dns	*dns;
	struct proxy_limits limits;
	/* Called with proxy when a budget that was full has room. */
	void		(*has_room)(struct budget *, void *proxy);
	void		*proxy;
};

/*
 * One accepted connection, counted and listed; the first member of the struct
 * of its server.  conn_free() calls end(), then frees the struct: watch,
 * deadline, question, relay and fd go with it.
 */
struct conn {
	const struct conn_home *home;
	struct budget	*budget;
	struct conn	*next, *prev;		/* of the budget */
	void		(*end)(struct conn *);	/* NULL: nothing of its own */
	/* When bytes passed outside of a relay; NULL: it carries none. */
	int64_t		(*last_ms)(const struct conn *);
	int64_t		 since_ms;		/* its present state began */
	int		 fd;
	uint16_t	 via, port;		/* of a listener of ASK_PORT */
	struct net_addr	 peer;
	struct watch	*watch;
	struct watch	*deadline;
	struct question	*question;
	struct relay	*relay;
	struct tunnel	*tunnel;	/* while the relay is looked into */
};

/* size bytes, zeroed but for these; takes the fd.  NULL: no memory, and the fd
 * is still the caller's. */
struct conn	*conn_new(size_t, struct budget *, int fd,
		    const struct conn_home *);
void		 conn_free(struct conn *);
void		 conn_reset(struct conn *);	/* ... and resets the client */
/* A deadline after which the connection is freed. */
int		 conn_expire(struct conn *, int64_t ms);
/* While the monitor decides: only a reset by the client ends the connection. */
int		 conn_wait(struct conn *);
/*
 * Gives the connection to a relay that frees it; fds and done of the spec are
 * filled in.  -1: the connection lost its watch and is otherwise unchanged.
 */
int		 conn_relay(struct conn *, int *server_fd, struct relay_spec *);

/*
 * The same for a tunnel whose bytes mean nothing to us, but for the name in a
 * TLS hello: it must be the one that was dialled, or be granted, too.  The
 * answer to the dial tells what to compare it with, if anything.
 */
int		 conn_tunnel(struct conn *, int *server_fd,
		    struct relay_spec *, enum ask_via, uint16_t port,
		    const struct ask_answer *);

/*
 * The client asked for http://fence.internal/: sends `words`, the end of the
 * present protocol, and serves the page; `early` are bytes of the request that
 * were read already.  The connection is not to be used afterwards.
 */
void		 conn_self(struct conn *, const void *words, size_t nwords,
		    const void *early, size_t len);

/*
 * For a client that repeats a refused request in a loop: no answer, and the end
 * after a second.  The connection is not to be used afterwards.
 */
void		 conn_hold(struct conn *);

/*
 * Sends the last bytes to the client and ends.  Bytes that the client still
 * sends are read away for a while, because closing at once would reset the
 * connection before the client has read the answer.  The connection is not to
 * be used afterwards.
 */
void		 conn_finish(struct conn *, const void *, size_t);

#endif
