/*
 * gitdir: the git directory of the work tree that a folder lies in, found as
 * git finds it, from the folder upwards.  launcher/plan/facts_gitdir.c grants
 * what is found here, so nothing is believed that others may have written:
 * a ".git" file is followed only to a git directory of this user which names
 * the very work tree back, by the path without a symlink:
 *
 *	of a linked worktree	in COMMON/worktrees/NAME, whose "gitdir" is
 *				that file and whose "commondir" is COMMON
 *	any other		core.worktree of its configuration is the
 *				folder around that file
 *
 * A ".git" that is a symlink is not followed.  Reads, and changes nothing.
 */
#ifndef FENCE_LAUNCHER_GITDIR_H
#define FENCE_LAUNCHER_GITDIR_H

#include <stddef.h>

#include "platform/base/arena.h"

enum gitdir_kind {
	GITDIR_NONE,		/* git would find none, or none of ours */
	GITDIR_FOUND,
	/* The folder lies in one without a work tree, or is one. */
	GITDIR_BARE,
	/* A ".git" file leads to a git directory of this user's that does not
	 * name the work tree: top and dir are set. */
	GITDIR_STRANGE,
	/* The same, and the directory names no work tree at all. */
	GITDIR_UNNAMED,
};

/* Paths are real.  dir is common, or lies below it. */
struct gitdir {
	enum gitdir_kind kind;
	const char	*top;		/* of the work tree */
	const char	*dir;		/* HEAD and index are there */
	const char	*common;	/* objects and refs are there */
};

/* folder: absolute.  Memory and descriptors that lack are GITDIR_NONE. */
void		 gitdir_find(struct arena *, const char *folder,
		    struct gitdir *ret);

/*
 * Pure: the path that a file of git's names, lexically clean; begin is what
 * stands before it ("gitdir: " or ""), base what a relative one means.  NULL
 * where the text is no such file's: empty, a NUL or a second line in it.
 */
const char	*gitdir_text(struct arena *, const char *text, size_t len,
		    const char *begin, const char *base);
/* The same of a file of this user's, no symlink; NULL: it cannot be read. */
const char	*gitdir_file(struct arena *, const char *path,
		    const char *begin, const char *base);

#endif
