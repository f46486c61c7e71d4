/*
 * witness: what shim and gate saw -> one ordered stream.  It asks the decider
 * which rule spoke, finds the process, numbers the record and writes it to
 * the sinks.  Nothing here can stop the run: a record that cannot be written
 * is counted, and the count is a record itself.  SIGPIPE is to be ignored.
 */
#ifndef FENCE_LAUNCHER_WITNESS_H
#define FENCE_LAUNCHER_WITNESS_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "launcher/record/callers.h"
#include "launcher/record/event.h"
#include "launcher/guard/guard.h"
#include "launcher/record/recent.h"
#include "platform/base/buf.h"
#include "policy/policy.h"
#include "shim/wire.h"

struct witness;

struct witness_config {
	const struct policy	*policy;	/* borrowed, outlives it */
	struct event_run	 run;
	int			 trace_fd;	/* JSON; -1 none; borrowed */
	int			 text_fd;	/* -1 none (no -m); borrowed */
	int			 text_is_tty;
	bool			 is_debug;	/* text of all, not of trouble */
	bool			 is_quiet;	/* text: refused commands alone */
	bool			 has_masks;	/* of files of commands */
	pid_t			 stop_pid;	/* see who_pid(); 0 none */
	unsigned		 keep;		/* runs to keep (kept.h), or 0 */
	int			 kept_fd;	/* their folder; borrowed */
};

struct witness	*witness_new(const struct witness_config *);
void		 witness_free(struct witness *);	/* NULL is fine */
/* The network's part of it holds from now on; borrowed, too. */
void		 witness_set_net(struct witness *, const struct policy *);
/* For a jail that starts after the witness. */
void		 witness_set_stop(struct witness *, pid_t stop_pid);

/* Before the process gives up opening for writing: kept_open(). */
void		 witness_keep(struct witness *);
/* argv: or NULL; stays. */
void		 witness_run_start(struct witness *, const char *command,
		    char *const *argv);
/* Also reports drops that were not reported yet. */
void		 witness_run_end(struct witness *, int exit_status);

/*
 * One datagram of the shim.  pid is that of the socket's credentials.  What
 * is not well-formed makes no record, and what the policy allows or the host's
 * own permissions refuse neither: -d's text says "file permissions, not fence".
 */
void		 witness_shim(struct witness *, const void *datagram,
		    size_t len, pid_t pid);
/*
 * A call that no route serves, told before the kernel refuses it.  pid may be
 * that of a thread.
 */
struct witness_call {
	pid_t		pid;
	uint8_t		addr[16];	/* network order */
	size_t		addr_len;	/* 4, 16 */
	uint16_t	port;
	uint16_t	from;		/* a port of its own; 0: not known */
	bool		is_datagram;	/* of a UDP socket */
};
void		 witness_call(struct witness *, const struct witness_call *);
/* A call that the gate will hear of, from a port that is known: its question
 * may find nobody left. */
void		 witness_gate_call(struct witness *,
		    const struct witness_call *);
/*
 * The process that called there from that port, for a question of the gate's
 * whose asker was not to be found (callers.h).
 */
bool		 witness_caller(struct witness *,
		    const struct callers_place *, uint16_t from,
		    struct event *);
/*
 * A call that the listener saw and that the kernel refuses, or will: as a
 * report of the shim, but pid (it may be a thread's) and arguments are known.
 */
struct witness_held {
	pid_t			 pid;
	enum wire_call		 call;		/* CONNECT: a unix socket's */
	unsigned		 nr;		/* native number */
	const char		*path;		/* absolute; NULL: no path */
	uint32_t		 flags;		/* as in shim/wire.h */
	int			 err;
};
/* The shim's own report of it makes no second record (twice.h). */
void		 witness_held(struct witness *, const struct witness_held *);
/*
 * An event of the gate; sets time, sequence, and count if it is 0.  Queries
 * for several types of one name are one look-up and make one record.  Over
 * 1000 records a second the rest is dropped and counted, as for the shim.
 */
void		 witness_gate(struct witness *, struct event *);
/*
 * An execution that was refused: kind, path, argv, verdict and sys are set.
 * Its text is told without -m, too.
 */
void		 witness_exec(struct witness *, pid_t, struct event *);
/* A debugger inside traces the caller; told once. */
void		 witness_unseen(struct witness *, pid_t, const char *why);
/* A program wanted a listener of its own; the kernel refuses it. */
void		 witness_listener(struct witness *, pid_t);
/* What the guard did; moved things, and what it could not do. */
void		 witness_guard(struct witness *, const struct guard_told *);
/*
 * At least n reports were lost before they came here; 0: some may have been.
 * From then on each number of lost ones is told as the least there are.
 */
void		 witness_lost(struct witness *, uint64_t n);

/* The closing line of a run without -m; nothing if nothing was refused. */
void		 witness_summary(struct witness *, struct buf *);
/*
 * The last lines of a run with -m: refusals by rule, and the policy that would
 * allow them; nothing if nothing was refused.
 */
void		 witness_digest(struct witness *, struct buf *);
/* A sandbox or listener inside that was refused, in words; NULL: none was. */
const char	*witness_nest(const struct witness *);
/* Is this run's record kept for `fence trace`? */
bool		 witness_is_kept(const struct witness *);
/* The last refusals; good until the next one. */
const struct recent	*witness_recent(const struct witness *);

/* For -d and the tests. */
struct witness_counts {
	uint64_t	records;	/* refusals that became a record */
	uint64_t	not_fence;	/* refused by permissions, not by us */
	uint64_t	malformed;	/* datagrams that were no report */
	uint64_t	folded;		/* second types of one look-up, and
					 * second witnesses of one call */
	uint64_t	dropped;	/* over a limit, or lost */
};
struct witness_counts	 witness_counts(const struct witness *);

#endif
