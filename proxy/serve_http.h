/*
 * serve_http: one connection of the HTTP proxy, request after request.  What
 * its files share: serve_http.c reads heads and asks, http_forward.c carries
 * requests to their origins, http_say.c is what the gate says itself.  Not
 * for others.
 */
#ifndef FENCE_PROXY_SERVE_HTTP_H
#define FENCE_PROXY_SERVE_HTTP_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/base/buf.h"
#include "proxy/exchange.h"
#include "proxy/http1.h"
#include "proxy/selfpath.h"
#include "proxy/serve.h"

/* The connection to an origin, while a request may follow on it. */
struct http_kept {
	int		 fd;
	struct watch	*watch;
	uint16_t	 port;
	char		 host[256];	/* as sent */
};

struct http_conn {
	struct conn	 conn;
	struct http1	 head;
	struct buf	 in;		/* the head and what came with it */
	struct watch	*turn;		/* to step on; NULL: none is due */
	bool		 is_self;	/* http://fence.internal/ by its path */
	bool		 is_reused;	/* the origin's connection */
	bool		 wants_done;	/* the monitor, when it is answered */
	int64_t		 start_ms;	/* of the request */
	struct buf	 request;	/* rewritten, while it may be sent again */
	struct http_kept *kept;		/* NULL: none */
	int		 server_fd;	/* of the exchange */
	struct exchange	*exchange;
	struct buf	 page;		/* our own, as it grows */
	unsigned	 nrecent;	/* entries on it */
	struct selfpath	 self;		/* which page of ours it is */
};

/* The next request, or a rest until it comes.  May free h. */
void	 http_next(struct http_conn *);
/* The head is dealt with; what is left came behind it. */
void	 http_eat(struct http_conn *);
/* Tells the monitor how a granted request was answered. */
void	 http_done(struct http_conn *, int code);
/* Asks for the connection that the request needs.  May free h. */
void	 http_ask(struct http_conn *);

/* ---- http_forward.c ---- */

/* Is a connection to the same origin at hand that may carry it? */
bool	 http_may_reuse(const struct http_conn *);
/* Takes fd, or with -1 the one at hand.  May free h. */
void	 http_forward(struct http_conn *, int *fd);
void	 http_forget(struct http_conn *);	/* the one at hand */

/* ---- http_say.c: each may free h ---- */

void	 http_bad(struct http_conn *, int code, const char *why);
void	 http_denied(struct http_conn *, const struct ask_answer *);
/* The origin is no good. */
void	 http_fault(struct http_conn *, const char *why);
/* A page of http://fence.internal/ itself. */
void	 http_self(struct http_conn *);

#endif
