/*
 * gitwalk: a bounded search for git directories below a folder, nearest
 * first.  No symlink is followed, nothing of other machines is touched.
 *
 * A folder that holds "HEAD" may be a git directory; ".git" that is no folder
 * leads to one.  Of a folder that is named ".git" only modules/ and
 * worktrees/ are searched: no path of a work tree leads into the rest.  The
 * root may be such a folder, or lie in one.
 *
 * Where the file system counts sub-folders as links, a folder that has none
 * and has not changed since is not read.
 */
#ifndef FENCE_LAUNCHER_GITWALK_H
#define FENCE_LAUNCHER_GITWALK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <time.h>

struct gitwalk {
	const char	*root;		/* absolute, no symlink in it */
	int		 root_fd;	/* of it */
	struct timespec	 since;
	/* Shared by several walks; both count down. */
	size_t		*left;		/* entries */
	int64_t		 end_ms;	/* guard_now() */
	/* rel: of the folder with HEAD (name NULL; "" is the root), or of the
	 * one in which a .git of that name is a file or a symlink. */
	void		(*found)(const char *rel, const char *name, void *arg);
	void		*arg;
};

/* true: all of it was seen.  Changes nothing. */
bool	 gitwalk(const struct gitwalk *);

/*
 * The folder rel below root_fd, O_PATH, without following a symlink; rights
 * that the owner lacks are given for the moment.  -1 with errno.
 */
int	 gitwalk_open(int root_fd, const char *rel);

/* Did its inode change at that moment or later? */
struct stat;
bool	 gitwalk_is_since(const struct stat *, const struct timespec *);
/*
 * Does a folder without sub-folders have two links on this file system, and
 * only then?  Others count one for all, or whatever comes to their mind.
 */
bool	 gitwalk_counts_links(int fd);

#endif
