/*
 * guard_wide: rights for the owner of a folder or file that has none.  A jail
 * may take away what we need to look at, copy or remove what it made; we are
 * the same user and can give it back for a while.
 */
#ifndef FENCE_LAUNCHER_GUARD_WIDE_H
#define FENCE_LAUNCHER_GUARD_WIDE_H

#include <sys/types.h>

struct wide {
	int	fd;		/* -1: nothing was given */
	mode_t	mode;		/* as it was */
	mode_t	given;
};

/* name NULL: dir itself.  No symlink is followed.  -1 with errno. */
int	 wide_give(struct wide *, int dir, const char *name);
void	 wide_back(struct wide *);	/* keeps errno */

/* For reading, with rights if need be, until wide_back(). */
int	 wide_open_file(struct wide *, int dir, const char *name);
/* A folder, and no mount: what is mounted there is nobody's to remove. */
int	 wide_open_dir(struct wide *, int dir, const char *name);
/* A folder that will be removed: there is no mode to give back. */
int	 wide_open_doomed(int dir, const char *name);

#endif
