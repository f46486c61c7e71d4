/*
 * jsonedit: changes to a JSON or JSONC text that leave every other byte as it
 * is: comments, order, indentation, line ends.  Pure.
 */
#ifndef FENCE_BASE_JSONEDIT_H
#define FENCE_BASE_JSONEDIT_H

#include <stddef.h>

#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "platform/base/err.h"
#include "platform/base/jsontree.h"

enum { JSONEDIT_MAX = 16 * 1024 * 1024 };

/* The text, and what it says; `root` is an object, or NULL for no text. */
struct jsonedit {
	struct arena	*arena;
	const char	*shown;
	const char	*text;
	size_t		 len;
	struct jnode	*root;
};

/* -1: no JSON, or its value is no object. */
int	 jsonedit_init(struct jsonedit *, struct arena *, const char *shown,
	    const char *text, size_t len, struct err *);

/*
 * Adds value, JSON text, behind the last item of the list that the names lead
 * to; objects and the list are made where they are missing.  With no name: a
 * member of the outermost object, called key.  -1: something else is there.
 */
int	 jsonedit_append(struct jsonedit *, const char *const names[],
	    const char *value, struct err *);
int	 jsonedit_add_member(struct jsonedit *, const char *key,
	    const char *value, struct err *);
/* The same for any object of the tree; and another value for a node. */
int	 jsonedit_add_to(struct jsonedit *, const struct jnode *object,
	    const char *key, const char *value, struct err *);
int	 jsonedit_replace(struct jsonedit *, const struct jnode *,
	    const char *value, struct err *);

/*
 * Takes a node, with its key and comma, out of the text.  All nodes are new
 * afterwards.
 */
int	 jsonedit_cut(struct jsonedit *, const struct jnode *, struct err *);
/* Is something besides blanks between the two bytes, but for one node? */
bool	 jsonedit_has_more(const struct jsonedit *, const struct jnode *in,
	    const struct jnode *but);

#endif
