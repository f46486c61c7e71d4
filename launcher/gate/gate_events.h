/*
 * gate_events: what the gate refused or noticed becomes a record.  The monitor
 * calls it.  The process that asked is found by the socket that it asked from,
 * or by the port that the shim named when it called (callers.h).
 */
#ifndef FENCE_LAUNCHER_GATE_EVENTS_H
#define FENCE_LAUNCHER_GATE_EVENTS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launcher/record/suspect.h"
#include "launcher/record/witness.h"
#include "policy/decide.h"
#include "proxy/ask.h"

/* The first six are the owner's; the rest begins as 0. */
struct gate_events {
	struct witness	*witness;
	pid_t		 jail_pid;	/* any process in the jail's network */
	pid_t		 stop_pid;	/* ancestors end here */
	bool		 is_debug;	/* -d */
	uint16_t	 http_port;	/* of the proxies */
	uint16_t	 socks_port;
	int64_t		 who_second;	/* the budget's current one */
	int64_t		 who_us;	/* spent of it */
	struct askers	*askers;	/* -d: of requests under way */
	bool		 is_book_full;	/* and told */
	struct suspect	 suspect;
};

/*
 * A question was answered with a refusal, by us or by a proxy on the way
 * (ASK_PROXY_*); host in canonical spelling.  Returns the pid of the asking
 * process, 0: not known.
 */
pid_t	 gate_events_refusal(struct gate_events *, const struct ask_msg *,
	    enum ask_status, const char *host, const struct verdict *);
/*
 * A question was granted: `sys` is why it came to nothing, or 0.  Only what
 * failed in HTTP, and a port of the host's where nobody listens, is worth a
 * record in every run; all of it is told with -d.
 */
struct gate_events_grant {
	int		 code;		/* of HTTP, 0: no HTTP */
	int64_t		 ms;
	int		 sys;
};
/* With -d: finds the asking process now, for the report when the request has
 * its answer; the process may be gone by then. */
void	 gate_events_remember(struct gate_events *, const struct ask_msg *);
void	 gate_events_grant(struct gate_events *, const struct ask_msg *,
	    const char *host, const struct verdict *,
	    const struct gate_events_grant *);
/* A name was refused: reports it if it looks like data that is carried out. */
void	 gate_events_name(struct gate_events *, const char *name);
/* A note of a worker, with the process that caused it if it still runs. */
void	 gate_events_note(struct gate_events *, const struct ask_msg *);
/* fence-net was started again; the wait status of the one before. */
void	 gate_events_restart(struct gate_events *, int wstatus);
/* No address is left for names; told once. */
void	 gate_events_book_full(struct gate_events *);
void	 gate_events_release(struct gate_events *);

#endif
