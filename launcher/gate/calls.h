/*
 * calls: calls that the jail holds (platform/calls.h), looked at and let go.
 * An address that no route leads to is refused by the kernel a moment later,
 * to programs with the shim and without: here it is told, while the process
 * that asked still waits and can be named.  Who calls the gate is noted for
 * the same reason (callers.h).
 */
#ifndef FENCE_LAUNCHER_CALLS_H
#define FENCE_LAUNCHER_CALLS_H

#include "launcher/record/witness.h"
#include "platform/jail.h"
#include "platform/loop.h"

struct calls;

/* Takes the listener.  The spec says what is routed.  NULL: out of memory. */
struct calls	*calls_new(struct loop *, int *listener_fd,
		    const struct jail_spec *, struct witness *);
/* Who still waits is refused (ENOSYS).  NULL is fine. */
void		 calls_free(struct calls *);

/* A call that has a route: will the gate hear of it?  Pure. */
bool		 calls_is_gate(const struct jail_spec *,
		    const struct jail_range *address, uint16_t port);
/* Does a route lead there, by these ranges besides the jail's own?  Pure. */
bool		 calls_is_routed(const struct jail_range *, size_t n,
		    const struct jail_range *address, uint16_t port);

#endif
