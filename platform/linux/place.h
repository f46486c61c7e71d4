/*
 * place: what lies at a path, opened as itself, and mounts that are laid on it
 * by descriptor.  No symlink is followed, neither at the end of a path nor on
 * the way: what was looked at is what is mounted, whoever renames meanwhile.
 * System calls only: the child between clone and exec may use it (early.h).
 * For root.c, which builds a jail, and remask.c, which mends one.
 */
#ifndef FENCE_LINUX_PLACE_H
#define FENCE_LINUX_PLACE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Attributes of a mount, as mount_setattr(2) counts them. */
enum {
	PLACE_RDONLY = 1, PLACE_NOSUID = 2, PLACE_NODEV = 4,
	PLACE_HELD = PLACE_NOSUID | PLACE_NODEV,
	PLACE_LOCKED = PLACE_HELD | PLACE_RDONLY,
	PLACE_TREE = 0x8000,	/* AT_RECURSIVE: mounts below it as well */
};

/* O_PATH.  ELOOP if a symlink is on the way; at the end it is opened. */
int	 place_open(const char *path);
/* The same of a path below a folder, which it does not leave. */
int	 place_open_below(int dir_fd, const char *path);
/* The same if dev:ino lies there, else ESTALE. */
int	 place_planned(const char *path, dev_t, ino_t);
/*
 * Did it fail for the moment: something else lies there, or nothing?  A
 * process that renames may bring it back.
 */
bool	 place_is_passing(int sys);
/*
 * for (int n = 0; place_try(&n);): a hundred lookups, 3 us each, with pauses
 * of together 4.5 ms after every tenth: a process that renames to and fro may
 * be waiting for a processor while the wrong name is there.
 */
bool	 place_try(int *n);
bool	 place_is_at(int fd, dev_t, ino_t);
/* Do both lie in one mount? */
bool	 place_same_mount(int fd, int other_fd);
/* Is it the root of a mount, and (ino not 0) of that inode? */
bool	 place_is_mount(int fd, dev_t, ino_t);

/* A detached mount of what the descriptor leads to; how: 0 or PLACE_TREE. */
int	 place_clone(int fd, int how);
/* The same by a path that nobody but root can change. */
int	 place_clone_at(const char *path, int how);
int	 place_attr(int fd, int how, uint64_t set, uint64_t clear);
/* An empty file system in memory, not yet mounted; size 0: as usual. */
int	 place_tmpfs(const char *mode, uint64_t size, uint64_t attr);
/* Lays the tree over the place. */
int	 place_put(int tree_fd, int place_fd);
/* The same by a path in a file system of ours. */
int	 place_put_at(int tree_fd, const char *path);

/* Devices of file systems that are the jail's own. */
struct place_own {
	dev_t	*v;		/* the caller's storage */
	size_t	 n, cap;
};

/* Notes the file system of the descriptor; ENOSPC if there is no room. */
int	 place_claim(struct place_own *, int fd);
bool	 place_is_own(const struct place_own *, dev_t);
/*
 * Opens a path that may be missing: directories with that mode, and at the
 * end one more or an empty file, are made where the deepest folder that is
 * there is the jail's own.  Elsewhere nothing is made: ESTALE.
 */
int	 place_make(const struct place_own *, const char *path, bool is_dir,
	    mode_t);

#endif
