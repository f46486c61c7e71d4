/*
 * json: strict JSON with comments (JSONC) -> tokens that know their place,
 * and values -> JSON text.  Pure: no files, no printing.
 *
 * The reader takes // and block comments and one trailing comma; nothing
 * else that JSON does not have.  It refuses a byte order mark, NUL bytes and
 * "\u0000", invalid UTF-8 (in comments, too), lone surrogates, a carriage
 * return without its newline, nesting deeper than JSON_DEPTH, and text longer
 * than the caller's ceiling.  It does not recurse, and its memory is bounded
 * by the ceiling.  Names that occur twice in an object are the caller's to
 * refuse: it alone knows when two spellings are one key.
 */
#ifndef FENCE_BASE_JSON_H
#define FENCE_BASE_JSON_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/base/buf.h"
#include "platform/base/err.h"

enum { JSON_DEPTH = 64 };

enum json_kind {
	JSON_END,		/* after the value; at once if there is none */
	JSON_OBJECT, JSON_OBJECT_END,
	JSON_ARRAY, JSON_ARRAY_END,
	JSON_KEY, JSON_STRING,	/* text is decoded */
	JSON_NUMBER,		/* text as written, correct by the grammar */
	JSON_TRUE, JSON_FALSE, JSON_NULL,
};

struct json_token {
	enum json_kind	 kind;
	int		 line, col;	/* of the first byte; from 1, bytes */
	size_t		 start, end;	/* bytes of the text; a key's end is
					 * behind its colon */
	const char	*text;		/* until the next call; ends in NUL */
	size_t		 len;
};

/* Seen here so that it can live on the stack; the fields are json.c's. */
struct json_reader {
	const char	*shown;		/* file name for errors, borrowed */
	const char	*p;
	size_t		 len, pos, max_bytes;
	size_t		 line_start;
	int		 line;
	int		 state;
	unsigned	 depth;
	bool		 is_object[JSON_DEPTH];
	struct buf	 text;
};

/* Borrows bytes and shown.  max_bytes is at most INT_MAX. */
void		 json_init(struct json_reader *, const char *shown,
		    const char *bytes, size_t len, size_t max_bytes);
void		 json_release(struct json_reader *);
/* -1: an error with its place (ERR_POLICY); do not call again. */
int		 json_next(struct json_reader *, struct json_token *,
		    struct err *);
const char	*json_kind_name(enum json_kind);	/* "a list" ... */

/*
 * A JSON string with its quotes.  Always valid and always one line: bytes
 * that are not UTF-8 become U+FFFD, and what str_escape() would hide from a
 * terminal becomes \uXXXX.
 */
void		 json_put_string(struct buf *, const char *, size_t);
/* "name": of an object, with a comma before it unless it is the first. */
void		 json_put_name(struct buf *, const char *name);
/* A member whose value is a string, or null. */
void		 json_put_text(struct buf *, const char *name,
		    const char *value);

#endif
