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

/* Borrowed; -1 for none. */
struct run_fds {
	int	trace;		/* where JSON records go */
	/* Of prepare_fd(): the guard's process holds it until its end. */
	int	made;
	int	kept;		/* the folder of records: kept_folder() */
};

/*
 * ahead: of jail_ahead(), or NULL; stays the caller's.  -1: the jail was not
 * built.
 */
int	 run_command(const struct run_options *, const struct plan *,
	    struct jail_ahead *ahead, const struct run_fds *,
	    struct run_end *ret, struct err *);

#endif
