/*
 * sockets: at which paths programs of this host listen on unix sockets.  The
 * planner (launcher/plan/facts_socket.c) asks, and masks those sockets in the
 * jail.  The answer is as of now: a socket bound later is not in it.
 */
#ifndef FENCE_PLATFORM_SOCKETS_H
#define FENCE_PLATFORM_SOCKETS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum { UNIXLIST_NAME_MAX = 110 };	/* sun_path and an end */

/* The path is borrowed, and good as long as the call of unixlist_fn lasts. */
struct unixlist_entry {
	/* As it was bound, hence perhaps relative to a folder that is not
	 * told, or by a descriptor of the process's own. */
	const char	*path;
	uint64_t	 socket;	/* its number, as /proc/PID/fd has it */
	/* The file that was made: low half of its inode, and the system's
	 * number of the file system (major << 20 | minor). */
	bool		 has_file;
	uint32_t	 file_dev, file_ino;
	bool		 has_uid;
	uint32_t	 uid;		/* who made it */
};

/* The same path may come twice. */
typedef void	 unixlist_fn(const struct unixlist_entry *, void *arg);

/*
 * Calls the function for each socket that is bound at a path.  Where the
 * system says less of them, as in containers, entries have no file and no
 * uid.  -1 with errno: it says nothing at all.
 */
int	 unixlist_read(unixlist_fn *, void *arg);

#endif
