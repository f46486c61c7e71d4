/*
 * tree: what is on disk where a policy points; the I/O of planning.  The
 * planner itself (launcher/mounts.c) sees only these answers.
 */
#ifndef FENCE_PLATFORM_TREE_H
#define FENCE_PLATFORM_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "platform/base/arena.h"
#include "platform/base/err.h"

enum tree_kind { TREE_MISSING, TREE_DIR, TREE_FILE };

struct tree_node {
	const char	*path;		/* as asked, absolute */
	const char	*real;		/* no symlink in it; NULL if missing */
	enum tree_kind	 kind;
	dev_t		 dev;
	ino_t		 ino;
};

/* Follows symlinks to the end.  A path that may not be looked at is MISSING. */
void	 tree_look(struct arena *, const char *path, struct tree_node *ret);

/*
 * Is this place, or a mount below it, one where the kernel itself is written
 * to (proc, sysfs, cgroup …)?
 */
bool	 tree_is_kernel(const char *path);
/* Calls fn for every mount point of such a file system. */
void	 tree_kernel_mounts(void (*fn)(const char *path, void *), void *);

/*
 * Every entry below root (root itself included) for which match() says yes,
 * without following symlinks and without descending into what matched.
 * More than max_entries visited is an error: half a rule is no rule.
 */
struct tree_nodes {
	struct tree_node	*v;
	size_t			 n, cap;
};
int	 tree_find(struct arena *, const char *root,
	    bool (*match)(const char *path, void *arg), void *arg,
	    size_t max_entries, struct tree_nodes *, struct err *);

#endif
