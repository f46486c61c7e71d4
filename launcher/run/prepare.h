/*
 * prepare: what has to happen on the disk around the planning of a run, which
 * itself only reads: what killed runs left is put in order before, and the
 * directories and files that a plan lists as missing are made after it.  Those
 * that are granted and still empty go with prepare_free().
 */
#ifndef FENCE_LAUNCHER_PREPARE_H
#define FENCE_LAUNCHER_PREPARE_H

#include "launcher/plan/plan.h"
#include "platform/base/err.h"

struct prepared;

/*
 * Before anything is planned.  Makes the folder of records, which the plan
 * hides, where it is missing and can be made.  Never NULL.
 */
struct prepared	*prepare_new(char *const *env);
/* What killed runs left, as lines for the user; says it once. */
void		 prepare_tell(struct prepared *);
/*
 * Makes what the plan lists as missing.  -1: a directory of fence's own cannot
 * be made.  A granted directory that cannot be made is left to plan_again().
 */
int		 prepare_make(struct prepared *, const struct plan *,
		    struct err *);
/* As granted_dirs_fd(): as long as it is open, nothing that was made goes. */
int		 prepare_fd(const struct prepared *);
/* The folder of the records of runs (kept.h), or -1. */
int		 prepare_kept_fd(const struct prepared *);
void		 prepare_free(struct prepared *);	/* NULL is fine */

#endif
