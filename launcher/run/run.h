/*
 * run: one jailed run from start to exit.  Owns everything it starts; when
 * it returns nothing of it is left, and if fence-run is killed the kernel
 * cleans up (pid namespace, parent-death signal, closed sockets).
 */
#ifndef FENCE_LAUNCHER_RUN_H
#define FENCE_LAUNCHER_RUN_H

#include "launcher/options.h"
#include "launcher/plan/plan.h"

struct run_end {
	int	status;		/* what fence-run exits with */
	/* Nothing was run: another file lies at a path than was planned. */
	bool	is_outdated;
};

/*
 * ahead: of jail_ahead(), or NULL; stays the caller's.  trace_fd: where JSON
 * records go, or -1; borrowed.  -1: the jail was not built.
 */
int	 run_command(const struct run_options *, const struct plan *,
	    struct jail_ahead *ahead, int trace_fd, struct run_end *ret,
	    struct err *);

#endif
