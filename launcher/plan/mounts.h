/*
 * mounts: the planner.  Policy + what is on disk -> mounts in order.  Pure:
 * it looks at nothing; launcher/plan/facts.c gathers the facts.  What lies at a pin
 * (jail_mount.is_pin) its caller has to find out.
 */
#ifndef FENCE_LAUNCHER_MOUNTS_H
#define FENCE_LAUNCHER_MOUNTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/base/arena.h"
#include "platform/jail.h"
#include "platform/tree.h"
#include "policy/rule.h"

enum fact_kind {
	FACT_PLACE,		/* the command must be able to stand there */
	FACT_OWN,		/* a private folder, unless shown or denied */
	FACT_LINK,		/* a symlink on the way to something granted */
	FACT_SEE,		/* to be seen although /tmp or /run hides it */
	FACT_ALLOW_EXECUTE,	/* to be read, and not listed */
	FACT_ALLOW_READ,
	FACT_ALLOW_WRITE,
	FACT_OTHER,		/* the same, of another folder in its place */
	FACT_DEVICE,		/* a node of /dev beyond the usual ones */
	FACT_SOCKET,		/* somebody of the host's listens there */
	FACT_DENY_WRITE,
	FACT_DENY_READ,
	FACT_NKINDS
};

struct policy;

/* One path that a rule means, as it lies on disk. */
struct mount_fact {
	enum fact_kind		 kind;
	struct tree_node	 node;
	const struct rule	*rule;	/* what is behind it */
	/* FACT_LINK: where it leads; FACT_OTHER: the other folder. */
	const char		*text;
	bool			 is_exposed;	/* also /tmp itself */
	/* Of an entry: whose it is, and whether it was found by a glob. */
	struct policy		*layer;
	bool			 is_glob;
	bool			 is_settled;	/* facts_grant.c */
};

struct mount_list {
	struct jail_mount	*v;
	size_t			 n, cap;
};

struct path_list {
	const char	**v;
	size_t		  n, cap;
};

/* What is the same for all paths. */
struct mounts_mode {
	bool		 is_closed;	/* reading has to be granted */
	bool		 is_host_dev;	/* devices.mode: host */
	const struct rule *dev_rule;	/* of that */
	uint64_t	 tmp_size;	/* of /tmp; 0: as usual */
	uint64_t	 own_size;	/* of a FACT_OWN */
	const char	*bwrap;		/* has to start outside the tree */
};

struct mounts {
	struct mount_list	 list;
	struct path_list	 roots;	/* writable trees, for Landlock */
	bool			 is_apart;	/* see struct jail_spec */
};

enum { MOUNTS_BASE = 5 };	/* the first ones, which every jail has */

/*
 * Several facts about one path are one: a denial to read hides it; a denial
 * to write leaves it readable if anything grants that.
 */
void	 mounts_plan(struct arena *, const struct mounts_mode *,
	    const struct mount_fact *, size_t n, struct mounts *ret);

/* The innermost mount that the path lies in; and its parent does. */
size_t	 mounts_over(const struct mounts *, const char *path);
size_t	 mounts_above(const struct mounts *, const char *path);
/* Does that mount hide what lies there on the host? */
bool	 mounts_hide(const struct mounts *, size_t mount, const char *path);
/* A place of the jail's own, or one that the base already is: no mount. */
bool	 mounts_is_useless(const struct mount_fact *);

#endif
