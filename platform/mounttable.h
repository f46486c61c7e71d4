/*
 * mounttable: the mounts that this process sees.
 */
#ifndef FENCE_PLATFORM_MOUNTTABLE_H
#define FENCE_PLATFORM_MOUNTTABLE_H

#include <stdbool.h>
#include <stddef.h>

struct mount_line {
	const char	*dev;		/* "254:0" */
	const char	*root;		/* which part of it is mounted */
	const char	*path;		/* the mount point */
	const char	*type;		/* "ext4", "fuse.sshfs" … */
};

/* Pure: one line of /proc/self/mountinfo, cut up in place; false: not one. */
bool	 mount_line_parse(char *line, struct mount_line *ret);

/*
 * Is such a file system served by another machine, or by a process?  Then a
 * mere look at its root may wait for ever.
 */
bool	 mount_type_is_far(const char *type);

/* Is writing in it speaking to the kernel (proc, sysfs, cgroup …)? */
bool	 mount_magic_is_kernel(unsigned long magic);	/* statfs(2) */

/*
 * Every mount; of two at the same place the later is on top.  -1 with errno:
 * it cannot be read, and fn was not called.
 */
int	 mount_line_each(void (*fn)(const struct mount_line *, void *), void *);

/* The same as a table. */
struct mount {
	char	*path;
	size_t	 len;
	char	*root;
	char	*dev;
	bool	 is_far;	/* mount_type_is_far() */
	bool	 is_kernel;	/* as mount_magic_is_kernel() */
	bool	 is_told;	/* the caller's own mark */
};

struct mount_table {
	struct mount	*v;
	size_t		 n, cap;
};

int	 mount_table_read(struct mount_table *);	/* as mount_line_each() */
void	 mount_table_release(struct mount_table *);
/* The one on top at dir + rest, or NULL; neither ends in '/'. */
struct mount	*mount_table_at(const struct mount_table *, const char *dir,
	    size_t dir_len, const char *rest, size_t rest_len);
/* The one that shows what lies at a real path, or NULL. */
const struct mount *mount_table_of(const struct mount_table *,
	    const char *path);
/* Is there a far one below that place? */
bool	 mount_table_far_below(const struct mount_table *, const char *dir,
	    size_t dir_len, const char *rest, size_t rest_len);

#endif
