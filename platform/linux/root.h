/*
 * root: the file tree of the jail, built in place in the outer mount
 * namespace.  bwrap then binds it as a whole: a mount costs us 10 µs and
 * bwrap, which reads all mounts for each, 250.  What bwrap inherits from a
 * namespace above its own is locked: nothing inside can undo it.
 *
 * First every tree that a mount shows is taken hold of, then / becomes
 * read-only as a whole, then the trees and masks are laid over it in order.
 * For the child between clone and exec (early.h).
 */
#ifndef FENCE_LINUX_ROOT_H
#define FENCE_LINUX_ROOT_H

#include "platform/jail.h"

enum root_dev { ROOT_DEV_NULL, ROOT_DEV_ZERO, ROOT_DEV_FULL,
	ROOT_DEV_RANDOM, ROOT_DEV_URANDOM, ROOT_DEV_TTY, ROOT_NDEVS };

struct root {
	const struct jail_spec	*spec;
	int		*tree_fd;	/* room for one per mount of spec */
	int		 dev_fd[ROOT_NDEVS];
	int		 console_fd;	/* the command's terminal, or -1 */
	char		 console[64];	/* its path; "" for none */
	int		 detail;	/* number of the mount that failed */
};

/* Before the clone: memory, and the name of the terminal. */
void	 root_init(struct root *, const struct jail_spec *);
void	 root_release(struct root *);

/* In the child, before anything covers the host's tree.  -1 with errno. */
int	 root_hold(struct root *);
/* run_dir: a writable directory of ours (for masks).  -1 with errno. */
int	 root_build(struct root *, const char *run_dir);

#endif
