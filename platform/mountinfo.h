/*
 * mountinfo: the mounts that this process sees.
 */
#ifndef FENCE_PLATFORM_MOUNTINFO_H
#define FENCE_PLATFORM_MOUNTINFO_H

#include <stdbool.h>
#include <stddef.h>

struct mountinfo {
	const char	*path;		/* the mount point */
	const char	*type;		/* "ext4", "fuse.sshfs" … */
};

/* Pure: one line of /proc/self/mountinfo, cut up in place; false: not one. */
bool	 mountinfo_parse(char *line, struct mountinfo *ret);

/*
 * Is such a file system served by another machine, or by a process?  Then a
 * mere look at its root may wait for ever.
 */
bool	 mountinfo_is_far(const char *type);

/*
 * Every mount; of two at the same place the later is on top.  -1 with errno:
 * it cannot be read, and fn was not called.
 */
int	 mountinfo_each(void (*fn)(const struct mountinfo *, void *), void *);

/* The same as a table. */
struct mount {
	char	*path;
	size_t	 len;
	bool	 is_far;
	bool	 is_told;	/* the caller's own mark */
};

struct mounts {
	struct mount	*v;
	size_t		 n, cap;
};

int	 mounts_read(struct mounts *);	/* as mountinfo_each() */
void	 mounts_release(struct mounts *);
/* The one on top at dir + rest, or NULL; neither ends in '/'. */
struct mount	*mounts_at(const struct mounts *, const char *dir,
	    size_t dir_len, const char *rest, size_t rest_len);
/* Is there a far one below that place? */
bool	 mounts_far_below(const struct mounts *, const char *dir,
	    size_t dir_len, const char *rest, size_t rest_len);

#endif
