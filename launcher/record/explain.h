/*
 * explain: what the policy says about a path that a call of the jail named, as
 * it is written and as it leads on the host.
 */
#ifndef FENCE_LAUNCHER_EXPLAIN_H
#define FENCE_LAUNCHER_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/base/arena.h"
#include "policy/decide.h"
#include "policy/policy.h"

struct explain {
	const struct policy	*policy;	/* with its places, if any */
};

struct explained {
	const char	*path;		/* clean, as it was written */
	const char	*real;		/* where it leads; path if unknown */
	bool		 is_listing;	/* denied as FS_LIST, and not to read */
	struct verdict	 verdict;	/* of the former if both are allowed */
};

/*
 * Is the operation denied where the path really leads, or a link on the way
 * hidden?  This is what the mounts of a run hold.
 */
bool		 explain_place(const struct explain *, struct arena *,
		    enum fs_op, const char *cwd, const char *path,
		    struct explained *);
/*
 * Why was it refused?  The rule that names the path as it was written, else
 * that of the place, else what is missing for the path as written.  Returns
 * the clean path, or NULL if the policy refuses none of it.
 */
const char	*explain_path(const struct explain *, struct arena *,
		    enum fs_op, const char *cwd, const char *path,
		    struct explained *);
/*
 * The same for a write that the policy allows and that met a read-only
 * place.  A grant is a mount of what was there when the run began: a file
 * that a glob would match later, or a single one that was missing, stays
 * read-only.  NULL if the host's own place is read-only.
 */
const char	*explain_late(const struct explain *, struct arena *,
		    const char *cwd, const char *path, struct verdict *);

/*
 * What would allow it, where nothing lies at the path yet.  A granted path that
 * is missing becomes a folder, so a file wants its folder granted; in the home
 * directory or near the root, which nobody should grant for one file, it has to
 * be made before.  What is missing cannot be read, whatever is granted.
 */
void		 explain_missing(const struct explain *, struct arena *,
		    enum fs_op, const struct explained *, struct verdict *);

/* The same for a program whose file is masked by a command rule. */
const char	*explain_program(const struct explain *, struct arena *,
		    const char *cwd, const char *path, struct verdict *);

/* Turns the verdict that grants such a path into its refusal. */
void		 explain_deny_late(struct verdict *);

#endif
