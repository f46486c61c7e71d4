/*
 * root: the file tree of the jail, built in place in the outer mount
 * namespace.  bwrap then binds it as a whole: a mount costs us 10 µs and
 * bwrap, which reads all mounts for each, 250.  What bwrap inherits from a
 * namespace above its own is locked: nothing inside can undo it.  Natively the
 * namespace itself is the jail's, and nobody inside has a right over it.
 *
 * First every tree that a mount shows is taken hold of, then / becomes
 * read-only as a whole, then the trees and masks are laid over it in order.
 * Apart (jail_spec.is_apart) the same is done below ROOT_APART, beginning
 * with an empty file system or a clone of the host's.
 * What is shown and what is covered is opened without following a symlink and
 * compared with the inode that the plan names; at the end each path has to
 * lead to its mount.  Where something else lies a hundred times the errno is
 * ESTALE: another plan may do.  Nothing is made but on file systems of ours.
 * For the child between clone and exec (early.h).
 */
#ifndef FENCE_LINUX_ROOT_H
#define FENCE_LINUX_ROOT_H

#include <limits.h>
#include <sys/stat.h>

#include "platform/jail.h"
#include "platform/linux/place.h"

/* Where a tree that is built apart is made; a folder of our own /run. */
#define ROOT_APART	"/run/fence/root"

enum root_dev { ROOT_DEV_NULL, ROOT_DEV_ZERO, ROOT_DEV_FULL,
	ROOT_DEV_RANDOM, ROOT_DEV_URANDOM, ROOT_DEV_TTY, ROOT_NDEVS };

extern const char *const root_dev_names[ROOT_NDEVS];	/* in /dev */

struct root {
	const struct jail_spec	*spec;
	int		*tree_fd;	/* room for one per mount of spec */
	int		 dev_fd[ROOT_NDEVS];
	int		 console_fd;	/* the command's terminal, or -1 */
	int		 stdin_fd;	/* a file on stdin, read-only, or -1 */
	int		*kept_fd;	/* the same of each of spec's keep_fds */
	const struct jail_mount **others;	/* MOUNT_OTHER, laid so far */
	size_t		 nothers;
	bool		*is_laid;	/* a mask of spec that is no mount */
	char		 console[64];	/* its path; "" for none */
	int		 detail;	/* number of the mount that failed */
	const char	*run_dir, *etc_dir;
	dev_t		 etc_dev;	/* of the overlay */
	int		 mask_fd[2];	/* of a file, of a directory */
	struct stat	 mask[2];
	struct place_own own;
};

/* Before the clone: memory, and the name of the terminal. */
void	 root_init(struct root *, const struct jail_spec *);
void	 root_release(struct root *);

/*
 * In the child, before anything covers the host's tree (root_hold.c).  -1 with
 * errno.
 */
int	 root_hold(struct root *);
/*
 * Before the overlay over /etc is mounted: masks that can be entries of
 * etc_dir, the overlay's upper layer (root_etc.c).
 */
void	 root_mask_etc(struct root *, const char *etc_dir);
/* Does this descriptor show such a mask? */
bool	 root_is_laid(const struct root *, size_t i, int fd);
bool	 root_in_overlay(int fd);
/*
 * run_dir: a writable directory of ours (for masks); etc_dir: the files that
 * are laid over /etc.  -1 with errno.
 */
int	 root_build(struct root *, const char *run_dir, const char *etc_dir);
/* Without bwrap: a tree that was built apart becomes "/".  -1 with errno. */
int	 root_enter(const struct root *);

#endif
