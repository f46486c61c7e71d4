/*
 * plan_work: what the parts of plan (plan_*.c) share while they plan.  Not for
 * other files.
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
	bool		 is_again;	/* what was missing has been made */
};

/* A copy in the arena. */
void	*plan_keep(struct arena *, const void *, size_t bytes);
/* A line for the user; arg is the struct work. */
void	 plan_notice(const char *text, void *arg);

/*
 * plan_net.c: the options, which need no policy; then the policy's ports,
 * routes to the gate, and proxies on the way.
 */
int	 plan_port_options(struct work *, const struct run_options *,
	    struct err *);
int	 plan_ports(struct work *, struct err *);
void	 plan_ranges(struct work *, const struct run_options *);
int	 plan_via(struct work *, char *const *env, struct err *);

/* plan_etc.c */
void	 plan_etc(struct work *);

/*
 * plan_command.c: fence's own programs, before the files are planned; the
 * command, after them; the engine for many mounts, and which system calls are
 * held to be told, at the end.
 */
int	 plan_parts(struct work *, const struct run_options *,
	    char *const *env, struct err *);
int	 plan_command(struct work *, const struct run_options *, char **argv,
	    char **env, struct err *);
void	 plan_many(struct work *, const char *engine);
void	 plan_calls(struct work *, const struct run_options *);

/* plan_probes.c: the functions whose calls are told; after plan_parts(). */
int	 plan_probes(struct work *, const struct run_options *, struct err *);

/* plan_dirs.c: folders that variables name; after plan_files(). */
const char	*plan_runtime(struct arena *, char *const *env);
void	 plan_dirs(struct work *, char *const *env, struct env_dirs *ret);

/* plan_exec.c: how command rules are held; files that are to be masked. */
struct facts_request;
void	 plan_exec(struct work *, const struct run_options *,
	    char *const *env, struct facts_request *);

/* plan_files.c: mounts, writable trees, guarded names. */
int	 plan_files(struct work *, const struct run_options *,
	    char *const *env, struct err *);

#endif
