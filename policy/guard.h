/*
 * guard: names that make someone's next command do something else.  A grant
 * of the folder around them does not mean them; decide.h says when they are
 * denied, and here is the list.
 */
#ifndef FENCE_POLICY_GUARD_H
#define FENCE_POLICY_GUARD_H

enum guard_place {
	GUARD_IN_ROOTS = 1,	/* directly in a writable root, workspace */
	GUARD_IN_HOME = 2,	/* directly in $HOME */
	GUARD_OURS = 4,		/* fence's own: no line opens it */
};

enum { GUARD_GIT_DEPTH = 3 };	/* of a repository below its root */

/* A folder stands for all that is in it. */
struct guard_name {
	const char	*name;		/* may have slashes */
	unsigned	 places;
};

extern const struct guard_name	 guarded_names[];	/* ends with NULL */
/* In a git directory, those of submodules and worktrees included. */
extern const char *const	 guarded_git_names[];	/* ends with NULL */

#endif
