/*
 * mini: a miniature jail, to see what this kernel gives.  A throw-away
 * process makes the namespaces, routes, rules and mounts of a real jail one
 * by one, and notes for each step what the kernel said; nothing outlives it.
 */
#ifndef FENCE_LINUX_MINI_H
#define FENCE_LINUX_MINI_H

#include <stdbool.h>

enum mini_step {
	MINI_USER,		/* a user namespace */
	MINI_MAPS,		/* ... with rights in it */
	MINI_MOUNTS,		/* a mount namespace, made private */
	MINI_NET, MINI_PID, MINI_IPC, MINI_UTS, MINI_CGROUP,
	MINI_ROUTES,		/* lo, addresses, routes */
	MINI_IPV6,		/* IPv6 in it */
	MINI_LISTEN,		/* the gate's listeners */
	MINI_NFT,		/* the gate's rule */
	MINI_RUN,		/* a private /run */
	MINI_TREE,		/* open_tree(2), mount_setattr(2) */
	MINI_OVERLAY,		/* an overlay on /etc */
	MINI_PROC,		/* a /proc of its own */
	MINI_SECCOMP,		/* the jail's filter */
	MINI_SECCOMP_LOG,	/* its log action */
	MINI_NOTIFY,		/* a filter that asks a supervisor */
	MINI_LANDLOCK,		/* a Landlock domain that refuses */
	MINI_PIDFD,
	MINI_NSTEPS
};

struct mini {
	struct mini_note {
		bool	is_tried;	/* false: an earlier step failed */
		int	error;		/* 0: it worked */
		int	detail;		/* step inside routes, rule, ... */
	} step[MINI_NSTEPS];
};

/* Takes ten seconds at most; what has no answer by then was not tried. */
void	 mini_run(struct mini *ret);
bool	 mini_worked(const struct mini *, enum mini_step);
/* Which Landlock ABI to count with: the kernel's, or what tests pretend. */
int	 mini_landlock_abi(void);

#endif
