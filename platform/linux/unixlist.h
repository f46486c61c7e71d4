/*
 * unixlist: paths at which unix sockets of this network namespace are bound.
 */
#ifndef FENCE_LINUX_UNIXLIST_H
#define FENCE_LINUX_UNIXLIST_H

#include <stddef.h>

/*
 * Paths as they were bound, hence some relative to a folder that is not told;
 * the same one may come twice.
 */
typedef void	 unixlist_fn(const char *path, void *arg);

/* Pure: the text of /proc/net/unix; changes it. */
void	 unixlist_parse(char *text, size_t len, unixlist_fn *, void *arg);
/* -1 with errno: it cannot be read. */
int	 unixlist_read(unixlist_fn *, void *arg);

#endif
