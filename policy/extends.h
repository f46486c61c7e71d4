/*
 * extends: one policy with all that it extends, merged.  Every file is read
 * once, and what was digested is what is parsed.
 *
 *	"@base"		the user's own policy, or the built-in default
 *	"./x", "/x", "~/x"	a file, from the directory of the one that says so
 *	"code"		a template
 *	[ ... ]		left to right, each over the one before it
 */
#ifndef FENCE_POLICY_EXTENDS_H
#define FENCE_POLICY_EXTENDS_H

#include <stddef.h>

#include "platform/base/arena.h"
#include "platform/base/err.h"
#include "platform/base/sha256.h"
#include "policy/policy.h"

enum { EXTENDS_DEPTH = 10, EXTENDS_MAX = 64 };	/* hops; policies in all */

/* One line of the chain as `config show` prints it. */
struct extends_step {
	const char	*label;
	unsigned	 depth;		/* 0: where a chain begins */
};

struct extends_names {
	const char	**v;
	size_t		  n, cap;
};

struct extends_edit {
	const struct buf	*before, *after;
	struct sha256		*digest;	/* the closure's with before */
};

/*
 * Fill in arena, env, cwd, user, canonical, digest and tree; the rest begins at zero and
 * is the result.  Strings live in the arena, arrays until extends_release().
 */
struct extends {
	struct arena		*arena;
	struct policy_env	 env;
	const char		*cwd;
	const char		*user;		/* the user's file, or NULL */
	const char		*canonical;	/* where it would be, or NULL */
	struct sha256		*digest;	/* of the closure; or NULL */
	/*
	 * Texts that the first file has and will have, or NULL: it is not
	 * read.  digest is the closure's with what it will have.
	 */
	const struct extends_edit *edit;
	/*
	 * A real directory: files are only welcome in it, and errors of
	 * extended ones do not quote them.  NULL: the user's own word.
	 */
	const char		*tree;
	struct origin		 outside;	/* first that left it; file NULL */
	struct {
		struct extends_step	*v;
		size_t			 n, cap;
	} steps;
	struct extends_names	 files;		/* real paths of what was read */
	struct extends_names	 notices;
	const char		*stack[EXTENDS_DEPTH + 3];
	size_t			 nstack;
	size_t			 total;
};

/* label: of the first step, "settings file"; the path is added. */
int	 extends_file(struct extends *, const char *path, const char *label,
	    struct policy **ret, struct err *);
int	 extends_template(struct extends *, const char *name,
	    struct policy **ret, struct err *);
/* The user's own policy, or the built-in default. */
int	 extends_user(struct extends *, struct policy **ret, struct err *);
void	 extends_release(struct extends *);

#endif
