/*
 * tree: what is on disk where a policy points; the I/O of planning.  The
 * planner itself (launcher/plan/mounts.c) sees only these answers.
 */
#ifndef FENCE_PLATFORM_TREE_H
#define FENCE_PLATFORM_TREE_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "platform/base/arena.h"
#include "platform/base/err.h"
#include "platform/mounttable.h"

enum tree_kind { TREE_MISSING, TREE_DIR, TREE_FILE };

struct tree_node {
	const char	*path;		/* as asked, absolute */
	const char	*real;		/* no symlink in it; NULL if missing */
	enum tree_kind	 kind;
	dev_t		 dev;
	ino_t		 ino;
	bool		 is_closed;	/* MISSING, for it may not be looked at */
};

/*
 * Is this errno about us and our moment, and not about the path: too few
 * descriptors, no memory, a disk that fails?
 */
bool	 tree_is_lack(int sys);
/*
 * Follows symlinks to the end.  A path that may not be looked at is MISSING.
 * -1 with such an errno: nobody knows what is there.
 */
int	 tree_look(struct arena *, const char *path, struct tree_node *ret);
/*
 * The same where no symlink is on the way to the path, at one system call
 * instead of four; the path is the node's.  1: the path itself is a symlink, or may be one; ask
 * tree_look().
 */
int	 tree_look_below(const char *path, struct tree_node *ret);

/*
 * What lies at the path itself, without a symlink on the way or at the end.
 * 0, or -1 with ESTALE if nothing such does, a hundred times.
 */
int	 tree_look_plain(const char *path, dev_t *ret_dev, ino_t *ret_ino);
/*
 * Says that something else lies there than was planned; returns -1.  The
 * error's sys is ESTALE where another plan may do: not where the file system
 * gives one file several inode numbers, so that none could be compared.
 */
int	 tree_changed(const char *path, struct err *);
/*
 * Is this place, or a mount below it, one where the kernel itself is written
 * to (proc, sysfs, cgroup …)?
 */
bool	 tree_is_kernel(const char *path);

struct tree_nodes {
	struct tree_node	*v;
	size_t			 n, cap;
};

enum tree_type { TREE_IS_DIR, TREE_IS_FILE, TREE_IS_LINK, TREE_IS_SOCKET,
	TREE_IS_OTHER };

struct tree_entry {
	const char	*path;
	const char	*name;		/* its last component */
	enum tree_type	 type;		/* of itself: links are not followed */
};

/*
 * One search: every entry below root (root itself included) for which
 * match() says yes, without following symlinks and, in this search, without
 * descending into what matched.
 */
struct tree_want {
	const char	*root;		/* absolute; missing: nothing found */
	bool		(*match)(const struct tree_entry *, void *arg);
	/* Is this match descended into all the same?  NULL: none is. */
	bool		(*goes_on)(const struct tree_entry *, void *arg);
	void		*arg;
	unsigned	 max_depth;	/* of entries below root; 0: any */
	/* Names not descended into, separated by '/', or NULL. */
	const char	*skip;
	struct tree_nodes found;	/* out; freed by the caller */
};

/*
 * All searches in one walk of each directory.  More than max_entries visited
 * is an error: half a rule is no rule.  Mounts of other machines (nfs, cifs,
 * fuse …) below a root are not entered, nor touched: skipped() is told, once
 * each.  closed() is told of each folder that may not be entered.  The table
 * of mounts is read if it is empty; the caller releases it.
 */
int	 tree_walk(struct arena *, struct tree_want *, size_t n,
	    size_t max_entries, struct mount_table *, void (*skipped)(const char *path, void *),
	    void (*closed)(const char *path, void *), void *arg,
	    struct err *);

#endif
