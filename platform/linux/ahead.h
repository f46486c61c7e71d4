/*
 * ahead: the user and network namespaces of a jail and the gate in the latter,
 * made by a process of their own while the launcher still reads the policy.  A
 * network namespace takes the kernel longer than anything else of the start,
 * and depends on nothing.  The process shares our descriptor table, leaves one
 * descriptor for each of the two there and those of the gate, and is gone.
 *
 * The user namespace is there long before the network: outer.c enters it and
 * makes the jail's mounts, and waits for the network when they are made.
 */
#ifndef FENCE_LINUX_AHEAD_H
#define FENCE_LINUX_AHEAD_H

#include <stdbool.h>
#include <sys/types.h>

#include "platform/jail.h"

enum ahead_step { AHEAD_OK, AHEAD_CLONE, AHEAD_PARENT, AHEAD_MAPS,
	AHEAD_ROUTE, AHEAD_LISTEN, AHEAD_NFT };

/* What became of it. */
struct ahead_end {
	enum ahead_step	step;		/* that failed */
	int		sys;		/* its errno */
	int		detail;		/* of its own (route.h, mint.h, nft.h) */
	int		user_fd, net_fd;
	int		listen_fd[JAIL_NLISTENERS];	/* of mint_gate(), or -1 */
};

struct ahead;

/* NULL: no memory.  Whatever else fails is told by ahead_wait(). */
struct ahead	*ahead_start(bool with_gate);
/*
 * Waits for the user namespace, and returns a descriptor of it that stays the
 * callee's until ahead_wait() hands it over; -1 if there will be none, and
 * ahead_wait() knows why.
 */
int		 ahead_user(struct ahead *);
/*
 * Waits for the rest.  0, and the descriptors are the caller's; -1 with the
 * step and errno.  System calls only: the child between clone and exec, which
 * shares our memory, may use it (early.h).
 */
int		 ahead_wait(struct ahead *, struct ahead_end *ret);
void		 ahead_reap(struct ahead *);	/* after ahead_wait() */
void		 ahead_free(struct ahead *);	/* NULL is fine */

#endif
