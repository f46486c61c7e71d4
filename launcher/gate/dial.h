/*
 * dial: connect to one of several vetted addresses.  The next address is
 * tried when one fails or has not answered after 250 ms (RFC 8305); the
 * first that connects wins, the others are closed.
 */
#ifndef FENCE_LAUNCHER_DIAL_H
#define FENCE_LAUNCHER_DIAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/loop.h"

struct dial;

struct dial_addr {
	int	family;		/* AF_INET, AF_INET6 */
	uint8_t	addr[16];	/* network order */
};

enum { DIAL_MAX_ADDRS = 16, DIAL_MAX_MADE = 2, DIAL_DEADLINE_MS = 10000, DIAL_NEXT_MS = 250 };

/*
 * Called once, never from inside dial_start().  fd: connected, non-blocking,
 * the callee's; -1 with the errno of the last failure.  The dial is gone.
 */
typedef void	 dial_fn(int fd, int sys, void *arg);

/*
 * NULL, and no callback: with *ret_fd the connection that was there at once,
 * as on this machine, or with -1, out of memory or descriptors.
 */
struct dial	*dial_start(struct loop *, const struct dial_addr *, size_t n,
		    uint16_t port, dial_fn *, void *arg, int *ret_fd);
/*
 * The same by sockets that are there, non-blocking, one for each address and
 * in this order; at most DIAL_MAX_MADE.  Takes them.
 */
struct dial	*dial_start_made(struct loop *, const struct dial_addr *,
		    int *fds, size_t n, uint16_t port, dial_fn *, void *arg,
		    int *ret_fd);
void		 dial_cancel(struct dial *);	/* no callback; NULL is fine */

/* Does this address belong to this machine?  True in doubt. */
bool		 dial_is_own(const struct dial_addr *);

#endif
