/*
 * guard: names that make the user's next command do something else.  A grant
 * of the folder around them does not mean them.  Here is the list, and the one
 * matcher: the decider asks it about a path, and the planner
 * (launcher/plan/facts_guard.c) asks the decider about each name of the list.
 */
#ifndef FENCE_POLICY_GUARD_H
#define FENCE_POLICY_GUARD_H

#include <stdbool.h>
#include <stddef.h>

enum guard_kind_of_place {
	GUARD_IN_ROOTS = 1,	/* directly in a writable root, workspace */
	GUARD_IN_HOME = 2,	/* directly in $HOME, or in other_home */
	GUARD_OURS = 4,		/* fence's own: no line opens it */
	GUARD_IN_GIT = 8,	/* in a git directory */
	GUARD_ITSELF = 16,	/* the place itself and all below it */
	/* Of a name: an agent's in $HOME, shadowed where its folder is. */
	GUARD_AGENT = 32,
	/* ... as an empty folder of each run's own: programs of a session. */
	GUARD_FRESH = 64,
	/* Of guard_places.shadows: the last component has a star. */
	GUARD_PATTERN = 128,
};

enum { GUARD_GIT_DEPTH = 3 };	/* of a repository below its root */

/* A folder stands for all that is in it. */
struct guard_name {
	/* May have slashes; of agents' names also a star in the last part,
	 * which holds for what is there, and in a shadow for all. */
	const char	*name;
	unsigned	 places;
};

extern const struct guard_name	 guarded_names[];	/* ends with NULL */
/* In a git directory, those of submodules and worktrees included. */
extern const char *const	 guarded_git_names[];	/* ends with NULL */

/*
 * Where the names of the list are guarded in one run: what its planner found
 * on disk.  Paths are real.  What the run creates later is its own.
 */
struct guard_places {
	struct guard_at {
		const char	*path;
		size_t		 len;
		unsigned	 kind;	/* one place, and GUARD_OURS or not */
	}		*v;
	size_t		 n;
	/*
	 * Names of agents that are the jail's own in this run: writable, as
	 * copies that the host never obeys.  Kind: GUARD_PATTERN or 0.
	 */
	struct guard_at	*shadows;
	size_t		 nshadows;
};

/* Room for the next one is the caller's; path is kept. */
void	 guard_place_set(struct guard_at *, const char *path, unsigned kind);
/*
 * How much of the path the name is, or 0; both begin in the same folder.  The
 * name may have a star.
 */
size_t	 guard_name_len(const char *name, const char *path);
/* May files called so be guarded in this folder, by a name with a star? */
bool	 guard_is_pattern(const char *folder, const char *name);
/*
 * How long the longest guarded name is that the path is or is below, or 0.
 * may_config: git's config files are not guarded.
 */
size_t	 guard_match(const struct guard_places *, const char *path,
	    bool may_config, bool *ret_is_own);
/* The same for one place, the first at_len bytes of the path. */
size_t	 guard_match_at(const char *path, size_t at_len, unsigned kind,
	    bool may_config, bool *ret_is_own);
/* How long the shadowed name is that the path is or is below, or 0. */
size_t	 guard_shadowed(const struct guard_places *, const char *path);
/*
 * Is `name` the first component of a name that is guarded in roots?  Those
 * are looked for in deeper folders, too, and held where they exist.
 */
bool	 guard_may_begin(const char *name);

#endif
