/*
 * httpbody: where the body of a request or an answer ends.  Pure.
 */
#ifndef FENCE_PROXY_HTTPBODY_H
#define FENCE_PROXY_HTTPBODY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "proxy/chunked.h"

enum httpbody_kind {
	HTTPBODY_NONE,
	HTTPBODY_LENGTH,
	HTTPBODY_CHUNKED,
	HTTPBODY_UNTIL_END,	/* of the connection */
};

struct httpbody {
	enum httpbody_kind	kind;
	uint64_t		left;	/* of LENGTH */
	struct chunked		chunked;
	bool			is_over;
};

void	 httpbody_init(struct httpbody *, enum httpbody_kind, uint64_t bytes);
/* How many of len bytes belong to it; -1: they make no sense. */
ssize_t	 httpbody_take(struct httpbody *, const char *, size_t len);

#endif
