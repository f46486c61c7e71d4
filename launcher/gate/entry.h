/*
 * entry: connections into the jail, for --port.  A socket acts in the network
 * it was made in, so it is made inside by a process of its own
 * (platform/mint.h) and connected from here, to the jail's 127.0.0.1
 * and, if that fails, to its ::1.
 */
#ifndef FENCE_LAUNCHER_ENTRY_H
#define FENCE_LAUNCHER_ENTRY_H

#include <stdint.h>

#include "launcher/gate/dial.h"
#include "platform/loop.h"

struct entry_desk;
struct entry_call;

/* minter_fd stays the caller's.  NULL: out of memory. */
struct entry_desk *entry_new(struct loop *, int minter_fd);
/* No call may be left. */
void		 entry_free(struct entry_desk *);	/* NULL is fine */
/*
 * Calls fn once, as dial_start() does; the call is gone then.  NULL: out of
 * memory, or nobody makes sockets any more.
 */
struct entry_call *entry_dial(struct entry_desk *, uint16_t port, dial_fn *,
		    void *arg);
void		 entry_cancel(struct entry_call *);	/* NULL is fine */

#endif
