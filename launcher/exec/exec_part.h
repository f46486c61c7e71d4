/*
 * exec_part: git does parts of what it was asked for in processes of its own:
 * 'git worktree add' executes 'git reset', 'git pull' executes 'git merge'.
 * A caller that may ask for the whole gets its parts, although a rule names
 * them.
 */
#ifndef FENCE_LAUNCHER_EXEC_PART_H
#define FENCE_LAUNCHER_EXEC_PART_H

#include <stdbool.h>
#include <sys/types.h>

#include "launcher/exec/exec_judge.h"
#include "platform/base/arena.h"

/*
 * Is the caller a git whose own words are allowed, aliases followed, and the
 * program a git of git's own folder?  A shell that git starts is no git, so
 * what it executes is judged as always.
 */
bool	 exec_is_part(const struct exec_judge *, pid_t caller,
	    const struct exec_step *, struct arena *);

#endif
