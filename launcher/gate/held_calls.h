/*
 * held_calls: calls that the jail holds (platform/calls.h), and whose each is.
 * Executions and the like are handed to those that take their kind; calls with
 * an address are looked at here and let go.
 *
 * The kernel refuses a connection to an address that no route leads to, to
 * programs with the shim and without.  The refusal is reported here, a moment
 * earlier, while the process that asked still waits and can be named.  The
 * processes that call the gate are noted for the same reason (callers.h).
 */
#ifndef FENCE_LAUNCHER_HELD_CALLS_H
#define FENCE_LAUNCHER_HELD_CALLS_H

#include "launcher/record/witness.h"
#include "platform/calls.h"
#include "platform/jail.h"
#include "platform/loop.h"

struct held_calls;

/* Answers a held call, now or later (held_call_go() and its like). */
typedef void held_call_fn(int calls_fd, const struct held_call *, void *arg);

/*
 * Takes the listener, and borrows what the filter refuses (calls.h; NULL is
 * fine).  The spec says what is routed.  NULL: out of memory.
 */
struct held_calls	*held_calls_new(struct loop *, int *listener_fd,
		    const struct calls_wall *, const struct jail_spec *,
		    struct witness *);
/* Calls of that kind are for fn; without it they are let go. */
void		 held_calls_take(struct held_calls *, enum held_kind,
		    held_call_fn *, void *arg);
/*
 * From now on the calls are received by others (platform/tracer.h), from the
 * descriptor that is returned and remains ours (or looker.h); held_calls_give()
 * brings what they hand on.
 */
int		 held_calls_share(struct held_calls *);
void		 held_calls_give(struct held_calls *, const struct held_call *);
int		 held_calls_fd(const struct held_calls *);	/* borrowed */
/* Nobody else does any more: they are received here again. */
void		 held_calls_resume(struct held_calls *);
/* It may go on, or is refused by the filter. */
void		 held_calls_go(struct held_calls *, const struct held_call *);
/* Calls that still wait are refused (ENOSYS).  NULL is fine. */
void		 held_calls_free(struct held_calls *);

/* A call that has a route: will the gate hear of it?  Pure. */
bool		 held_calls_is_gate(const struct jail_spec *,
		    const struct jail_range *address, uint16_t port);
/* Does a route lead there, by these ranges besides the jail's own?  Pure. */
bool		 held_calls_is_routed(const struct jail_range *, size_t n,
		    const struct jail_range *address, uint16_t port);

#endif
