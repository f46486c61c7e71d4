/*
 * inbound: connections into the jail, for --port.  A socket acts in the network
 * that it was made in, so a process inside makes it (platform/mint.h).  Here it
 * is connected to the jail's 127.0.0.1 and, if that fails, to its ::1.
 */
#ifndef FENCE_LAUNCHER_INBOUND_H
#define FENCE_LAUNCHER_INBOUND_H

#include <stdint.h>

#include "launcher/gate/dial.h"
#include "platform/loop.h"

struct inbound;
struct inbound_call;

/* minter_fd stays the caller's.  NULL: out of memory. */
struct inbound *inbound_new(struct loop *, int minter_fd);
/* No call may be left. */
void		 inbound_free(struct inbound *);	/* NULL is fine */
/*
 * Calls fn once, as dial_start() does; the call is gone then.  NULL: out of
 * memory, or nobody makes sockets any more.
 */
struct inbound_call *inbound_dial(struct inbound *, uint16_t port, dial_fn *,
		    void *arg);
void		 inbound_cancel(struct inbound_call *);	/* NULL is fine */

#endif
