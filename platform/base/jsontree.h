/*
 * jsontree: a whole JSON or JSONC text as a tree that knows which bytes each
 * value is made of, for callers that look values up by name or edit the text
 * around them.  Pure; all of it lives in the caller's arena.
 */
#ifndef FENCE_BASE_JSONTREE_H
#define FENCE_BASE_JSONTREE_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "platform/base/err.h"
#include "platform/base/json.h"

struct jnode {
	enum json_kind	 kind;		/* JSON_OBJECT, JSON_ARRAY, a scalar */
	int		 line, col;
	size_t		 start, end;	/* its bytes; end is behind the last */
	const char	*text;		/* JSON_STRING, decoded; JSON_NUMBER */
	size_t		 len;
	const char	*key;		/* of a member, decoded; else NULL */
	size_t		 key_start;	/* of a member; else start */
	struct jnode	*parent;	/* or NULL */
	struct jnode	*child, *last;	/* in the order of the text */
	struct jnode	*prev, *next;
};

/*
 * *ret is NULL where the text holds no value (empty, or comments alone).
 * -1: ERR_POLICY with its place.
 */
int		 jsontree_parse(struct arena *, const char *shown,
		    const char *text, size_t len, size_t max_bytes,
		    struct jnode **ret, struct err *);

/*
 * The member of an object, NULL if there is none or n is no object (or NULL).
 * Of two members of one name the last, as JavaScript has it.
 */
struct jnode	*jsontree_get(const struct jnode *, const char *key);
/* Along several names, "hooks", "PreToolUse", NULL. */
struct jnode	*jsontree_walk(const struct jnode *, ...)
		    __attribute__((sentinel));
/* The member's string, NULL if it is none. */
const char	*jsontree_text(const struct jnode *, const char *key);
bool		 jsontree_is_true(const struct jnode *, const char *key);
/* Do two members have this name? */
bool		 jsontree_is_twice(const struct jnode *, const char *key);

/* As the parent's last child; of no parent: nothing. */
void		 jnode_append(struct jnode *parent, struct jnode *);
/*
 * The value again as text.  unit: one step of indentation, or NULL for all in
 * one line; newline: what ends a line; indent: what stands before the first.
 */
void		 jsontree_put(struct buf *, const struct jnode *,
		    const char *unit, const char *newline,
		    const char *indent);

#endif
