/*
 * run: one jailed run from start to exit.  Owns everything it starts; when
 * it returns nothing of it is left, and if fence-run is killed the kernel
 * cleans up (pid namespace, parent-death signal, closed sockets).
 */
#ifndef FENCE_LAUNCHER_RUN_H
#define FENCE_LAUNCHER_RUN_H

#include "launcher/options.h"
#include "launcher/plan/plan.h"

/*
 * ahead: of jail_ahead(), or NULL; stays the caller's.  trace_fd: where JSON records go, or -1; borrowed.  *ret_status: what fence-run exits
 * with.  -1: the jail was not built.
 */
int	 run_command(const struct run_options *, struct plan *,
	    struct jail_ahead *ahead, int trace_fd, int *ret_status,
	    struct err *);

#endif
