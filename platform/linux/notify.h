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

#include <linux/seccomp.h>
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

enum { NOTIFY_CALLS = 1, NOTIFY_EXEC = 2, NOTIFY_FILES = 4 };

/*
 * Appends the filter for this machine: an array of struct sock_filter, which
 * init_listen() installs.  what: NOTIFY_*.
 */
void	 notify_filter(unsigned what, struct buf *);
/*
 * The same behind the jail's own filter, in one program: what that refuses
 * with EPERM is held, what it permits goes on to the calls above.  -1: it is
 * too long.
 */
int	 notify_join(const struct buf *jail_filter, unsigned what,
	    struct buf *);
/* The verdict of a filter that this fence made. */
uint32_t notify_run(const struct buf *filter, const struct seccomp_data *);
/* A held call goes on (sys 0), or fails with that errno. */
void	 notify_answer(int calls_fd, uint64_t id, int sys);
/* Copies a caller's memory; -1: not all of it. */
int	 notify_read(pid_t tid, uint64_t at, void *ret, size_t len);
/* The address that bytes of the jail's name; v4-mapped ones are IPv4.  Pure. */
void	 notify_address(const void *, size_t, struct held_call *);

#endif
