/*
 * notify: the one listener.  A small filter of its own, besides the jail's,
 * holds a call that names a network address until somebody outside has looked
 * at it; then the call goes on as if nothing had been.  It is a witness, not
 * a wall: what it read may be changed before the kernel reads it again, and
 * routes refuse whatever the witness says (route.h).
 *
 * Held are connect(), sendto() with an address, sendmsg() and sendmmsg(), by
 * every entry that the jail's filter lets pass, i386's socketcall() among them.
 * The latter two keep their address out of a filter's sight, so that all of
 * them are held.
 *
 * A call that is held costs 10 to 80 µs more, a signal may end it before
 * anybody looked, and a tracer's filter is not asked.  So a jail has a
 * listener only where refusals are to be told (jail_spec.wants_calls), and
 * calls that bear NOTIFY_MARK pass: the shim makes them, and tells what the
 * kernel said.
 */
#ifndef FENCE_LINUX_NOTIFY_H
#define FENCE_LINUX_NOTIFY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "platform/base/buf.h"

/*
 * In the argument behind the last of connect(), sendmsg() and sendmmsg(), of
 * which the kernel knows nothing, or in the upper half of sendto()'s last,
 * which it takes for an int.  64-bit entry only.
 */
enum { NOTIFY_MARK = 0x66656e63 };

/* There in a connect() of nothing: such a call was made, from this port. */
enum { NOTIFY_CALLED = 0x66656e64 };

/* A call that waits.  family 0: it names no internet address. */
struct notify_call {
	uint64_t	id;
	pid_t		tid;		/* a thread, as the host counts */
	int		family;		/* AF_INET, AF_INET6, 0 */
	uint8_t		addr[16];	/* network order */
	uint16_t	port;		/* host order */
	bool		was_made;	/* before: NOTIFY_CALLED */
	uint16_t	from;		/* its own port; 0: not known */
};

/*
 * Appends the filter for this machine: an array of struct sock_filter, which
 * init_listen() installs.
 */
void	 notify_filter(struct buf *);
/*
 * The next call that waits, for a listener that is readable: 1, 0 where the
 * one that waited is gone, -1 at the listener's end.
 */
int	 notify_next(int listener_fd, struct notify_call *);
/* Lets it go on. */
void	 notify_go(int listener_fd, const struct notify_call *);

/* The address that bytes of the jail's name; v4-mapped ones are IPv4.  Pure. */
void	 notify_address(const void *, size_t, struct notify_call *);

#endif
