/*
 * calls: calls of the jail that the system holds until somebody outside has
 * looked at them.  Held are calls that name a network address.  The launcher
 * (launcher/gate/held_calls.c) gets a descriptor with the event JAIL_CALLS (jail.h),
 * looks at each held call and lets it go on; the descriptor is the
 * launcher's to close.
 *
 * Held calls are for telling, not for refusing.  The caller may change the
 * address after the launcher read it, and a signal may end a call before the
 * launcher looked; the jail refuses what it refuses in either case.  Holding
 * a call costs 10 to 80 µs, so a jail holds calls only if its spec
 * wants_calls.  Calls of the shim that bear HELD_CALL_MARK (shim/wire.h says
 * where) are not held: the shim reports them itself.
 */
#ifndef FENCE_PLATFORM_CALLS_H
#define FENCE_PLATFORM_CALLS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	HELD_CALL_MARK = 0x66656e63,
	/* Borne by a call without a descriptor: the shim made such a call. */
	HELD_CALL_MADE = 0x66656e64,
};

/* A held call.  family 0: it names no internet address. */
struct held_call {
	uint64_t	id;
	pid_t		tid;		/* a thread, as the caller counts */
	int		family;		/* AF_INET, AF_INET6, 0 */
	uint8_t		addr[16];	/* network order */
	uint16_t	port;		/* host order */
	bool		was_made;	/* before: HELD_CALL_MADE */
	uint16_t	from;		/* its own port; 0: not known */
};

/*
 * Reads the next held call: 1; 0 if that call has ended meanwhile; -1 when no
 * process is left that could call.  Blocks while no call is held, so call it
 * once for each time that the descriptor is readable.
 */
int	 held_call_next(int calls_fd, struct held_call *);
/*
 * Lets the call go on.  After calls_fd is closed, calls that wait and calls
 * that would be held fail with ENOSYS.
 */
void	 held_call_go(int calls_fd, const struct held_call *);

#endif
