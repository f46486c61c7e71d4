/*
 * monitor: answers the workers' questions.  A table: question -> function.
 * It alone decides and dials; what it refuses it tells the witness, with the
 * process that asked.
 */
#ifndef FENCE_LAUNCHER_MONITOR_H
#define FENCE_LAUNCHER_MONITOR_H

#include <sys/types.h>

#include "launcher/gate/inbound.h"
#include "launcher/plan/ports.h"
#include "launcher/plan/via.h"
#include "launcher/record/witness.h"
#include "platform/loop.h"
#include "policy/policy.h"

struct monitor;

struct monitor_config {
	struct loop		*loop;
	const struct policy	*policy;
	const struct via	*via;		/* NULL: no proxies */
	struct witness		*witness;
	int			 net_fd;	/* to fence-net, non-blocking */
	int			 names_fd;	/* to fence-names, or -1 */
	const struct ports	*ports;
	struct inbound	*inbound;		/* into the jail, or NULL */
	pid_t			 jail_pid;	/* any process in its network */
	pid_t			 stop_pid;	/* ancestors end here */
	bool			 is_debug;	/* tell what is allowed, too */
	uint16_t		 http_port;	/* of the proxies, inside */
	uint16_t		 socks_port;
};

/* Descriptors stay the caller's.  NULL: out of memory. */
struct monitor	*monitor_new(const struct monitor_config *);
/* From the next question on; the one before stays the caller's to keep. */
void		 monitor_set_policy(struct monitor *, const struct policy *);
void		 monitor_stop_pid(struct monitor *, pid_t);
/*
 * Nobody is left inside.  What was asked before is heard, and told if it is
 * refused; it is answered to nobody, and nothing is dialled.  `done` is called
 * when that is over, 200 ms from now at the latest, maybe at once.
 */
void		 monitor_hear_last(struct monitor *, void (*done)(void *),
		    void *arg);
void		 monitor_free(struct monitor *);

#endif
