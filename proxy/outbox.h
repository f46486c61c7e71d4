/*
 * outbox: what a socket was too slow to take.  Owns memory only while there
 * is such a thing.  Zeroed storage is an empty one.
 */
#ifndef FENCE_PROXY_OUTBOX_H
#define FENCE_PROXY_OUTBOX_H

#include <stddef.h>

struct outbox {
	char	*data;
	size_t	 len, at;	/* at: so many of len are gone */
};

/* Sends what it can at once and keeps the rest; -1: errno says why. */
int	 outbox_write(struct outbox *, int fd, const void *, size_t len);
/* How many bytes it took, -1 as above. */
long	 outbox_flush(struct outbox *, int fd);
void	 outbox_release(struct outbox *);

#endif
