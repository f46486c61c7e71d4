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
	/* A budget that was full has room: of proxy. */
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
	/* When bytes passed that no relay carries; NULL: there are none. */
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

/* Zeroed but for these; takes the fd.  NULL: no memory, the fd is untouched. */
struct conn	*conn_new(size_t, struct budget *, int fd,
		    const struct conn_home *);
void		 conn_free(struct conn *);
void		 conn_reset(struct conn *);	/* ... and resets the client */
/* A deadline after which the connection is freed. */
int		 conn_expire(struct conn *, int64_t ms);
/* While the monitor thinks: only a reset of the client counts. */
int		 conn_wait(struct conn *);
/*
 * Gives the connection to a relay that frees it; fds and done of the spec are
 * filled in.  -1: nothing happened to it but that its watch is gone.
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
 * The client wants to talk to us: gets its last words of the present kind,
 * and is served as one of http://fence.internal/, of whom `early` was heard
 * already.  The connection is not to be used afterwards.
 */
void		 conn_self(struct conn *, const void *words, size_t nwords,
		    const void *early, size_t len);

/*
 * A client that asks the same again and again: no words, and the end after a
 * while.  The connection is not to be used afterwards.
 */
void		 conn_hold(struct conn *);

/*
 * The last words to a client, then the end; what it still sends is read away
 * for a while, or closing would reset it before it has read them.  The
 * connection is not to be used afterwards.
 */
void		 conn_finish(struct conn *, const void *, size_t);

#endif
