/*
 * shading: agents' folders that are the jail's own (launcher/shadow/shadow.h),
 * from the plan of one run to its mounts, and what the guard's process does
 * about them.  For run.c alone.
 */
#ifndef FENCE_LAUNCHER_SHADING_H
#define FENCE_LAUNCHER_SHADING_H

#include "launcher/guard/guard.h"
#include "launcher/plan/plan.h"
#include "platform/base/err.h"
#include "platform/jail.h"

struct shading;

/*
 * Before the jail is built: fills the folders, and the mounts of the spec get
 * the inodes of what is there.  Where the plan has none, *ret is NULL and
 * nothing is looked at.  ESTALE: another plan may do.
 */
int	 shading_begin(const struct plan *, const char *run_id,
	    struct jail_spec *, struct shading **ret, struct err *);
/*
 * For guard_config: what carries is the process of the guard, once it is
 * started.  NULL for NULL.
 */
const struct guard_side *shading_side(struct shading *);
/* Without that process: nothing ran, and all is put in order here. */
void	 shading_end(struct shading *);
void	 shading_free(struct shading *);	/* NULL is fine */

/*
 * What runs that were killed left, before anything is planned.  say: lines for
 * the user.
 */
void	 shading_sweep(const char *state, const char *home,
	    void (*say)(const char *line, void *), void *arg);

#endif
