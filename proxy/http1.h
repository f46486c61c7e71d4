/*
 * http1: the head of one proxy request.  Pure: bytes in, facts out, no
 * sockets.  Two readers that disagree about where a request ends are a hole,
 * so whatever RFC 9112 lets a recipient be lenient about is refused here.
 */
#ifndef FENCE_PROXY_HTTP1_H
#define FENCE_PROXY_HTTP1_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/base/buf.h"
#include "proxy/httphead.h"

enum http1_status { HTTP1_MORE, HTTP1_DONE, HTTP1_BAD };

/* Slices of the head are kept as places: the caller's bytes may move. */
struct http1_slice {
	size_t	at, len;
};

struct http1 {
	/*
	 * By the caller, after init: a target that is a path alone is of
	 * this server's own host and port, which are filled in, too.
	 */
	bool			 takes_path;

	/* After HTTP1_DONE. */
	size_t			 head_len;	/* with the empty line */
	char			 method[16];
	char			 host[256];	/* as sent, but no brackets */
	uint16_t		 port;
	bool			 is_connect;
	bool			 is_head;
	bool			 is_http10;
	bool			 wants_close;	/* after this request */
	bool			 is_chunked;
	bool			 has_length;
	bool			 wants_json;	/* Accept: application/json */
	bool			 is_websocket;	/* wants to become one */
	uint64_t		 body_bytes;	/* says Content-Length */
	struct http1_slice	 path;		/* "" when the URL had none */
	struct http1_slice	 query;		/* with its '?' */
	char			 short_path[128];	/* for people: cut */
	/* After HTTP1_BAD. */
	int			 code;		/* 400, 431, 501, 505 */
	const char		*why;

	/* The parser's own. */
	struct httphead		 head;
};

void	 http1_init(struct http1 *, size_t max_bytes);
/*
 * data: everything received since the start, len growing from call to call;
 * only what is new is scanned.  DONE and BAD are final.  The answer is the
 * same whether the bytes come one at a time or all at once.
 */
enum http1_status http1_feed(struct http1 *, const char *data, size_t len);
/*
 * After DONE of a request that is not CONNECT, from the same data: the head
 * to send to the origin.  Origin-form target, Host made from the target,
 * hop-by-hop fields gone, "Connection: close" added where the client closes.
 * A wish to become a WebSocket is kept, and no other: of HTTP/2 we would not
 * see the requests.
 */
void	 http1_rewrite(const struct http1 *, const char *data, struct buf *out);

#endif
