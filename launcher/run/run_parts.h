/*
 * run_parts: what the parts of run (run_*.c) share.  Not for other files.
 */
#ifndef FENCE_LAUNCHER_RUN_PARTS_H
#define FENCE_LAUNCHER_RUN_PARTS_H

#include <stdbool.h>
#include <sys/types.h>

#include "launcher/plan/plan.h"
#include "launcher/run/worker.h"
#include "platform/jail.h"
#include "platform/loop.h"

struct run {
	const struct plan *plan;
	/* The plan's, and what this start adds: the terminal, the cgroup, the
	 * caller's signal mask. */
	struct jail_spec spec;
	struct jail_ahead *ahead;	/* the caller's, or NULL */
	struct loop	*loop;
	struct jail	 jail;
	struct worker	 net, names, mint, tracer, looker;
	int		*in_fds;	/* the host's ports of --port */
	struct inbound *inbound;
	struct witness	*witness;
	struct calls_wall	*wall;		/* with spec.wants_files */
	struct held_calls	*calls;
	struct held_files	*files;
	struct exec_watch	*exec;
	struct monitor	*monitor;
	struct policywatch *policywatch;
	struct tty	*tty;
	struct pty	*pty;
	struct guarding	*guarding;
	struct shading	*shading;	/* NULL: no agent's folder */
	struct limits	*limits;
	struct watch	*control, *report, *child;
	char		 id[33];
	int		 trace_fd, made_fd, kept_fd;	/* run_fds */
	int		 command_fd;	/* pidfd */
	int		 status;	/* of fence-run; -1 until known */
	struct err	*err;		/* set with failed */
	bool		 failed;	/* the jail could not be built */
	bool		 is_outdated;	/* another plan may do */
	bool		 is_jail_gone;
	bool		 is_carried;	/* shading: by the guard's process */
	bool		 is_told;	/* -m, -d: records are told as text */
	bool		 is_debug;	/* -d: all of them */
	bool		 is_hearing;	/* the last questions */
	bool		 is_written;	/* all that the command wrote */
};

/*
 * run_events.c: callbacks of the loop; arg is the struct run.  The jail's
 * socket, the jail's first process, the socket of the shim.
 */
void	 run_control_ready(struct watch *, int what, void *run);
void	 run_jail_gone(struct watch *, int wstatus, void *run);
void	 run_report_ready(struct watch *, int what, void *run);
/* The jail ended while it was being started: what it said is the error. */
int	 run_gave_up(struct run *);

#endif
