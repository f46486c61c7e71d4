/*
 * filecalls: the system calls by which a file is made, changed or removed, by
 * every entry that the jail's filter lets pass: their numbers, and where their
 * names lie.  notify.c makes the filter of them, held_file.c looks at what was
 * held.  Pure.
 *
 * Executions are not here: a tracer by a filter of its own (strace
 * --seccomp-bpf) does not see calls that are held, and loses a process whose
 * execve() it did not see.
 *
 * Calls on open descriptors are not here: what was opened for writing was
 * looked at then.
 */
#ifndef FENCE_LINUX_FILECALLS_H
#define FENCE_LINUX_FILECALLS_H

#include <linux/seccomp.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/calls.h"
#include "platform/linux/seccomp_code.h"

/* entry: 0 is the native one, 1 that of 32 bits. */

/*
 * From the load of the call's number on: hold for the calls above, else
 * place.  An open is held if its flags write.
 */
size_t	 filecalls_place(struct code *, unsigned entry, size_t place,
	    size_t pass, size_t hold);
/* Is it one of them?  Then *ret says where its names lie. */
bool	 filecalls_read(const struct seccomp_data *, unsigned entry,
	    struct held_file_at *ret);

#endif
