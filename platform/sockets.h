/*
 * sockets: at which paths unix sockets of this network namespace are bound.
 * The launcher masks those of the host; linux/unixlist.c finds them.
 */
#ifndef FENCE_PLATFORM_SOCKETS_H
#define FENCE_PLATFORM_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UNIXLIST_NAME_MAX = 110 };	/* sun_path and an end */

/* Borrowed, and good as long as the call lasts. */
struct unixlist_entry {
	/* As it was bound, hence perhaps relative to a folder that is not
	 * told, or by a descriptor of the process's own. */
	const char	*path;
	uint64_t	 socket;	/* its number, as /proc/PID/fd has it */
	/* The file that was made: low half of its inode, and the kernel's
	 * number of the file system (major << 20 | minor). */
	bool		 has_file;
	uint32_t	 file_dev, file_ino;
	bool		 has_uid;	/* from Linux 5.3 on */
	uint32_t	 uid;		/* who made it */
};

/* The same path may come twice. */
typedef void	 unixlist_fn(const struct unixlist_entry *, void *arg);

/*
 * By sock_diag; where that is refused, as in containers, or not there, from
 * /proc/net/unix, which knows nothing of files.  -1 with errno: neither can
 * be read.
 */
int	 unixlist_read(unixlist_fn *, void *arg);

#endif
