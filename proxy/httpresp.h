/*
 * httpresp: the head of one answer of an origin.  Pure: bytes in, facts out,
 * no sockets.  Origins are what they are, so more is let through than in a
 * request; but where two readers could see different ends, the connection is
 * not to be used again, and what cannot be an answer is refused.
 */
#ifndef FENCE_PROXY_HTTPRESP_H
#define FENCE_PROXY_HTTPRESP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/base/buf.h"
#include "proxy/httpbody.h"
#include "proxy/httphead.h"

enum httpresp_status { HTTPRESP_MORE, HTTPRESP_DONE, HTTPRESP_BAD };

struct httpresp {
	/* By the caller, after init: it answers HEAD, so no body follows. */
	bool			 is_head;

	/* After HTTPRESP_DONE. */
	size_t			 head_len;	/* with the empty line */
	int			 code;		/* 100 to 599 */
	bool			 is_interim;	/* another head follows */
	bool			 is_switch;	/* 101: no longer HTTP */
	enum httpbody_kind	 body;
	uint64_t		 body_bytes;	/* of HTTPBODY_LENGTH */
	bool			 is_odd;	/* others may read it otherwise */
	bool			 is_certain;	/* where the answer ends */
	bool			 is_kept;	/* ... and another may follow */
	/* After HTTPRESP_BAD. */
	const char		*why;

	/* The parser's own. */
	struct httphead		 head;
};

void	 httpresp_init(struct httpresp *, size_t max_bytes);
/* As http1_feed(). */
enum httpresp_status httpresp_feed(struct httpresp *, const char *data,
	    size_t len);
/*
 * After DONE, from the same data: the head for the client.  Hop-by-hop fields
 * are gone, and what only fence itself may say; "Connection: close" is added
 * if this is the last answer on the client's connection.
 */
void	 httpresp_rewrite(const struct httpresp *, const char *data,
	    bool is_last, struct buf *out);

#endif
