/*
 * plan: policy -> jail_spec + environment.  The one place where the words of
 * policy, platform and proxy meet.  Nothing is made or started here: the
 * disk is read, and everything that can be refused before the run is refused.
 */
#ifndef FENCE_LAUNCHER_PLAN_H
#define FENCE_LAUNCHER_PLAN_H

#include <stdbool.h>

#include "launcher/guard/guard.h"
#include "launcher/options.h"
#include "launcher/plan/missing.h"
#include "launcher/plan/ports.h"
#include "launcher/plan/via.h"
#include "platform/base/arena.h"
#include "platform/jail.h"
#include "policy/policy.h"
#include "policy/resolve.h"

struct shadow_folder;

struct plan {
	struct arena	*arena;
	struct resolve_request request;	/* its answer: */
	struct resolved	 resolved;	/* owns the layers */
	struct policy	*policy;	/* the first of them */
	bool		 is_inside;	/* another fence: run/nested.h */
	/* After plan_make() failed: something else lay at a path when it was
	 * looked at again, and another plan may do. */
	bool		 is_outdated;
	struct jail_spec spec;
	struct ports	 ports;
	/* Not empty: the plan is made as if these were there.  Make them, then
	 * plan_again(). */
	const struct missing_dir *missing;
	size_t		 nmissing;
	const struct guard_path	*guards;	/* for guard_new() */
	size_t		 nguards;
	bool		 has_others;	/* other work trees: struct facts */
	const char	*git_dir;	/* same */
	const struct shadow_folder *shadows;	/* for shadow_begin() */
	size_t		 nshadows;
	/* NAME=VALUE, for agents whose folder is shadowed. */
	const char	**variables;
	size_t		 nvariables;
	const char	*state;		/* fence's state directory, or NULL */
	const char	*net_path;	/* fence-net */
	const char	*names_path;	/* fence-names */
	bool		 wants_names;	/* some host may be reached */
	bool		 has_exec_rules; /* act on each execution, by argv */
	bool		 has_masked_programs; /* ... or on some files */
	struct via	 via;		/* and by way of these proxies */
	char		**worker_env;
	/* Lines for the user: grants that name nothing. */
	const char	**notices;
	size_t		 nnotices;
};

int	 plan_make(const struct run_options *, char **argv, char **environ,
	    struct plan *ret, struct err *);
/*
 * Releases the plan and makes it anew.  A granted directory that is missing
 * still stays unwritable, and the user is told.
 */
int	 plan_again(const struct run_options *, char **argv, char **environ,
	    struct plan *, struct err *);
/*
 * What a run would find on this disk: the policy gets its places, and ret the
 * mounts, all in the arena.  Nothing is made or started.
 */
int	 plan_known(struct arena *, const struct run_options *,
	    const struct resolve_request *, struct resolved *,
	    char *const *env, struct jail_spec *ret, struct err *);
void	 plan_release(struct plan *);
void	 plan_print(const struct plan *, struct buf *);

#endif
