/*
 * outside: what the host itself says of a path, without fence.  A refusal that
 * the permissions of the host would have made anyhow is not fence's, and no
 * line of a policy lifts it.  Besides explain.c the one file of this room that
 * looks at a path that the jail named.
 */
#ifndef FENCE_LAUNCHER_OUTSIDE_H
#define FENCE_LAUNCHER_OUTSIDE_H

#include <stdbool.h>

/* What a call needs of a path. */
enum outside_need {
	NEED_SEARCH,		/* its folder alone: stat() */
	NEED_READ,
	NEED_WRITE,
	NEED_EXECUTE,
	NEED_NAME,		/* to make or remove it in its folder */
	NEED_OWNER,		/* chmod(), chown() */
	NEED_OWNER_OR_WRITE,	/* utimes(), setxattr() */
};

/*
 * Would the host refuse the user of this run, too?  Of a path that is missing
 * and was to be written, its folder is asked.  False if nobody knows.
 */
bool	 outside_refuses(const char *path, enum outside_need);
/*
 * Would the command be let once the path, or a folder around it, is granted?
 * Root has no capabilities inside, so files of others stay closed to it.
 */
bool	 outside_may_inside(const char *path, enum outside_need);
/* The same for a path that is to be granted itself. */
bool	 outside_may_grant(const char *path);
/* A file of some process: /proc/self means another one here than there. */
bool	 outside_is_of_process(const char *path);
/* Nothing lies there, not even a link that leads nowhere. */
bool	 outside_is_missing(const char *path);
/* A database of SQLite: whoever writes it makes files beside it. */
bool	 outside_is_database(const char *path);

#endif
