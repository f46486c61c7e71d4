/*
 * judge: what the policy says about a path that a call of the jail named, as
 * it is written and as it leads on the host.
 */
#ifndef FENCE_LAUNCHER_JUDGE_H
#define FENCE_LAUNCHER_JUDGE_H

#include <stddef.h>

#include "launcher/guard.h"
#include "platform/base/arena.h"
#include "policy/decide.h"
#include "policy/policy.h"

struct judge {
	const struct policy	*policy;
	/* Names kept in this run: which denials are theirs. */
	const struct guard_path	*guards;
	size_t			 nguards;
};

/*
 * Judges the path as it was written, then as it leads.  Returns the clean
 * path as written, or NULL if the policy refuses neither.
 */
const char	*judge_path(const struct judge *, struct arena *, enum fs_op,
		    const char *cwd, const char *path, struct verdict *);
/*
 * The same for a write that the policy allows and that met a read-only
 * place.  A grant is a mount of what was there when the run began: a file
 * that a glob would match later, or a single one that was missing, stays
 * read-only.  NULL if the host's own place is read-only.
 */
const char	*judge_late(const struct judge *, struct arena *,
		    const char *cwd, const char *path, struct verdict *);

#endif
