/*
 * answer: what an origin says on its way to the client: heads of interim
 * answers, the head of the final one, its body.  Pure: bytes in, bytes out.
 */
#ifndef FENCE_PROXY_ANSWER_H
#define FENCE_PROXY_ANSWER_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/base/buf.h"
#include "proxy/http1.h"
#include "proxy/httpbody.h"
#include "proxy/httpresp.h"

enum answer_step {
	ANSWER_MORE,		/* go on, until is_over */
	ANSWER_SWITCHED,	/* a WebSocket from the last byte put out on */
	ANSWER_BAD,		/* this is none: why */
	ANSWER_FAILED,		/* no memory */
};

struct answer {
	int		 code;		/* 0 until the final head */
	bool		 is_over;
	bool		 is_certain;	/* ... where it is */
	bool		 is_doubtful;	/* its connection may outlive it */
	bool		 is_server_kept;	/* as far as it says itself */
	bool		 is_client_told;	/* that no other will follow */
	bool		 has_surplus;	/* it said more than an answer */
	const char	*why;

	/* Its own. */
	bool		 is_head, is_http10, is_websocket;
	size_t		 max_header_bytes;
	struct httpresp	 resp;
	struct buf	 head;		/* one that is not whole */
	struct httpbody	 body;
};

void	 answer_init(struct answer *, const struct http1 *request,
	    size_t max_header_bytes);
void	 answer_release(struct answer *);
/*
 * While code is 0.  is_last: if the final head comes now, no other answer
 * will follow it.  What the client is to get is appended to out.
 */
enum answer_step answer_heads(struct answer *, const char *, size_t len,
	    bool is_last, struct buf *out);
/* Afterwards: so many of these bytes are for the client. */
size_t	 answer_body(struct answer *, const char *, size_t len);

#endif
