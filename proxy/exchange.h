/*
 * exchange: one HTTP request and its answer, between a client and a server
 * that are both connected.  The client may say its request's body and no
 * more: what it sends behind that waits for the next exchange.  The answer's
 * head is read and rewritten, its body passed on as it comes.  Memory as in
 * a relay: only a slow reader costs some.
 *
 * A server that has answered before it was told everything may still be told
 * the rest; it is given up when it has ended, or the client has, or falls
 * silent.  What it says in an answer that makes no sense is passed on until
 * its end, or until it falls silent while another request waits, and then
 * neither connection is used again.
 */
#ifndef FENCE_PROXY_EXCHANGE_H
#define FENCE_PROXY_EXCHANGE_H

#include "platform/base/buf.h"
#include "platform/loop.h"
#include "proxy/http1.h"

struct exchange;

enum exchange_end {
	EXCHANGE_OVER,		/* the client got an answer, maybe cut short */
	EXCHANGE_UNHEARD,	/* the server ended without a word */
	EXCHANGE_BAD,		/* ... with what is no answer: why */
	EXCHANGE_SWITCHED,	/* both talk WebSocket from here on */
	EXCHANGE_BROKEN,	/* only a reset tells the truth */
};

struct exchange_result {
	enum exchange_end	 end;
	int			 code;		/* of the answer, 0: none */
	bool			 is_client_kept;	/* good for another */
	bool			 is_server_kept;
	const char		*why;
	/* SWITCHED: what the client is to get first; the exchange's. */
	const char		*rest;
	size_t			 rest_len;
};

/* Once; the exchange is freed inside it or later.  Its fds are unwatched. */
typedef void	 exchange_done_fn(void *arg, const struct exchange_result *);

enum {
	EXCHANGE_AHEAD = 16 * 1024,	/* of further requests, at most */
	/* Silence of a server is the end, so long after ... */
	EXCHANGE_GONE_MS = 5 * 1000,	/* ... the client's end */
	EXCHANGE_LATE_MS = 1000,	/* ... its answer, or a doubtful one */
};

struct exchange_spec {
	struct loop		*loop;
	int			 client_fd, server_fd;	/* stay the caller's */
	int64_t			 idle_ms;
	size_t			 max_header_bytes;
	/* Both only until exchange_start() returns. */
	const struct http1	*head;
	const struct buf	*request;	/* the head for the server */
	/* What came behind the client's head; afterwards: behind the whole
	 * request.  Has room for EXCHANGE_AHEAD more; the caller's. */
	struct buf		*in;
	exchange_done_fn	*done;
	void			*arg;
};

/* NULL: no memory, or the beginning of the body makes no sense. */
struct exchange	*exchange_start(const struct exchange_spec *);
/* When a byte passed for the last time. */
int64_t		 exchange_last_ms(const struct exchange *);
void		 exchange_free(struct exchange *);	/* NULL is fine */

#endif
