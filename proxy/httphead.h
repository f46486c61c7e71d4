/*
 * httphead: what the heads of requests and of answers have in common: lines,
 * fields, tokens and lists.  Pure.
 */
#ifndef FENCE_PROXY_HTTPHEAD_H
#define FENCE_PROXY_HTTPHEAD_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/base/str.h"

enum httphead_status {
	HTTPHEAD_MORE,
	HTTPHEAD_DONE,		/* seen is the length, with the empty line */
	HTTPHEAD_BAD,		/* why */
	HTTPHEAD_LONG,		/* more than max_bytes */
};

/* Finds the end of a head.  Zeroed but for the first two to begin with. */
struct httphead {
	size_t		 max_bytes;
	bool		 is_lenient;	/* lines may end in LF alone */
	size_t		 seen;
	size_t		 line_at;
	bool		 after_cr;
	bool		 is_odd;	/* ... and one did */
	const char	*why;
};

/*
 * data: everything received since the start, len growing from call to call;
 * only what is new is scanned.  After DONE there are lines, none of them
 * empty or beginning with a blank, without NUL or a CR inside.
 */
enum httphead_status httphead_scan(struct httphead *, const char *data,
	    size_t len);

/* The line at *at, without its end; *at moves to the next. */
struct str	 httphead_line(const char *data, size_t *at);

bool		 http_is_token(char);
bool		 http_is_all(struct str, bool (*claim)(char));	/* and some */
struct str	 http_trim(struct str);
/* Splits at the first c; false when there is none and rest is left alone. */
bool		 http_cut(struct str *rest, char c, struct str *first);
/* The next member of a comma-separated list; false at its end. */
bool		 http_next_member(struct str *list, struct str *member);
/* Does a Connection field of the lines from at to end name this one? */
bool		 http_is_named_hop(const char *data, size_t at, size_t end,
		    struct str name);

#endif
