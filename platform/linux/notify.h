/*
 * notify: how platform/calls.h is done, by the one listener of seccomp.  A
 * small filter of its own, besides the jail's, holds a call until somebody
 * outside has looked at it.  Routes refuse whatever the witness says
 * (route.h).  held_exec.c reads what an execution asks for.
 *
 * NOTIFY_CALLS holds connect(), sendto() with an address, sendmsg() and sendmmsg(), by
 * every entry that the jail's filter lets pass, i386's socketcall() among them.
 * The latter two keep their address out of a filter's sight, so that all of
 * them are held.
 *
 * A signal may end a call before anybody looked, and a tracer's filter is
 * not asked.
 */
#ifndef FENCE_LINUX_NOTIFY_H
#define FENCE_LINUX_NOTIFY_H

#include <stddef.h>
#include <stdint.h>

#include "platform/base/buf.h"
#include "platform/calls.h"

/*
 * HELD_CALL_MARK and HELD_CALL_MADE stand in the argument behind the last of
 * connect(), sendmsg() and sendmmsg(), of which the kernel knows nothing, or
 * in the upper half of sendto()'s last, which it takes for an int.  64-bit
 * entry only.
 */

enum { NOTIFY_CALLS = 1, NOTIFY_EXEC = 2 };

/*
 * Appends the filter for this machine: an array of struct sock_filter, which
 * init_listen() installs.  what: NOTIFY_*.
 */
void	 notify_filter(unsigned what, struct buf *);
/* A held call goes on (sys 0), or fails with that errno. */
void	 notify_answer(int calls_fd, uint64_t id, int sys);
/* The address that bytes of the jail's name; v4-mapped ones are IPv4.  Pure. */
void	 notify_address(const void *, size_t, struct held_call *);

#endif
