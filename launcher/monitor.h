/*
 * monitor: answers the workers' questions.  A table: question -> function.
 * It alone decides and dials; what it refuses it tells the witness, with the
 * process that asked.
 */
#ifndef FENCE_LAUNCHER_MONITOR_H
#define FENCE_LAUNCHER_MONITOR_H

#include <sys/types.h>

#include "launcher/witness.h"
#include "platform/loop.h"
#include "policy/policy.h"

struct monitor;

struct monitor_config {
	struct loop		*loop;
	const struct policy	*policy;
	struct witness		*witness;
	int			 net_fd;	/* to fence-net, non-blocking */
	int			 names_fd;	/* to fence-names, or -1 */
	pid_t			 jail_pid;	/* any process in its network */
	pid_t			 stop_pid;	/* ancestors end here */
};

/* Descriptors stay the caller's.  NULL: out of memory. */
struct monitor	*monitor_new(const struct monitor_config *);
void		 monitor_stop_pid(struct monitor *, pid_t);
void		 monitor_free(struct monitor *);

#endif
