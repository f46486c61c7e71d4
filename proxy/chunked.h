/*
 * chunked: where a chunked body ends.  Pure: bytes in, facts out, no
 * sockets.  The bytes are passed on as they are, so whatever two readers could
 * take for different ends is refused: bare CR or LF, blanks and signs around a
 * size, sizes beyond any body.  Extensions and trailers are let through, up
 * to a length.
 */
#ifndef FENCE_PROXY_CHUNKED_H
#define FENCE_PROXY_CHUNKED_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum chunked_status { CHUNKED_MORE, CHUNKED_DONE, CHUNKED_BAD };

enum {
	CHUNKED_MAX_LINE = 1024,	/* a size with its extensions */
	CHUNKED_MAX_TRAILERS = 8192,	/* all of them, and the empty line */
};

struct chunked {
	/* The parser's own. */
	unsigned	state;
	uint64_t	left;		/* of the chunk, or its size so far */
	unsigned	ndigits;
	size_t		seen;		/* of the line, or of the trailers */
	bool		is_field;	/* the trailer's name is complete */
};

void	 chunked_init(struct chunked *);
/*
 * Eats up to len bytes; *used are those that belong to the body, all of them
 * unless it answers DONE.  DONE and BAD are final; BAD uses nothing.
 * The answer is the same whether the bytes come one at a time or all at once.
 */
enum chunked_status chunked_feed(struct chunked *, const char *, size_t len,
	    size_t *used);

#endif
