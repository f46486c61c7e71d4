/*
 * plan_work: what the parts of plan share while they plan.  Not for anyone
 * else.
 */
#ifndef FENCE_LAUNCHER_PLAN_WORK_H
#define FENCE_LAUNCHER_PLAN_WORK_H

#include "launcher/plan/env.h"
#include "launcher/plan/plan.h"
#include "policy/resolve.h"

struct notices {
	const char	**v;
	size_t		  n, cap;
};

/* While planning; what it gathers moves into the arena at the end. */
struct work {
	struct plan	*plan;
	struct arena	*arena;
	struct notices	 notices;
	struct resolve_request request;
};

/* A copy in the arena. */
void	*plan_keep(struct arena *, const void *, size_t bytes);
/* A line for the user; arg is the struct work. */
void	 plan_notice(const char *text, void *arg);

/* plan_dirs.c: folders that variables name; after plan_files(). */
const char	*plan_runtime(struct arena *, char *const *env);
void	 plan_dirs(struct work *, char *const *env, struct env_dirs *ret);

/* plan_files.c: mounts, writable trees, guarded names. */
int	 plan_files(struct work *, const struct run_options *,
	    char *const *env, struct err *);

#endif
