/*
 * mounts: the planner.  Policy + what is on disk -> mounts in order.  Pure:
 * it looks at nothing; launcher/plan.c gathers the facts.
 */
#ifndef FENCE_LAUNCHER_MOUNTS_H
#define FENCE_LAUNCHER_MOUNTS_H

#include <stddef.h>

#include "platform/base/arena.h"
#include "platform/jail.h"
#include "platform/tree.h"

/* In the order in which they speak for the same path: the last one wins. */
enum fact_kind { FACT_SEE, FACT_ALLOW_READ, FACT_ALLOW_WRITE,
	FACT_DENY_WRITE, FACT_DENY_READ };

/* One path that a rule means, as it lies on disk. */
struct mount_fact {
	enum fact_kind		 kind;
	struct tree_node	 node;
	const char		*why;	/* the rule in words */
};

struct mount_list {
	struct jail_mount	*v;
	size_t			 n, cap;
};

struct path_list {
	const char	**v;
	size_t		  n, cap;
};

/*
 * ret_roots: writable trees for the second wall.  FACT_SEE: must be visible although it lies below a private
 * /tmp or /run (the working directory, the policy file in force).
 */
void	 mounts_plan(struct arena *, const struct mount_fact *, size_t n,
	    struct mount_list *ret, struct path_list *ret_roots);

#endif
