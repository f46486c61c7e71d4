/*
 * event: one record of something worth telling, whoever witnessed it.  The
 * sinks (text, JSON) are projections of this struct; nothing else formats a
 * refusal.  See fence-events(5) and share/fence/event.schema.json.
 */
#ifndef FENCE_LAUNCHER_EVENT_H
#define FENCE_LAUNCHER_EVENT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include "platform/base/buf.h"
#include "policy/decide.h"

enum event_kind {
	EVENT_OPEN, EVENT_EXEC, EVENT_CONNECT, EVENT_HTTP, EVENT_DNS,
	EVENT_SNI,		/* a TLS hello that names another host */
	EVENT_CALL,		/* a system call of no path or address */
	EVENT_RUN_START, EVENT_RUN_END, EVENT_POLICY, EVENT_DROPPED,
	EVENT_WORKER,		/* a worker died or was limited: a finding */
	EVENT_SUSPECT,		/* what a worker saw looks bad: a finding */
	EVENT_LIMIT,		/* a limit of the policy was met: a finding */
	EVENT_NEST,		/* a sandbox inside was refused: a finding */
	EVENT_UNSEEN,		/* an execution was looked at once only */
	EVENT_BLIND,		/* a program whose reads nobody sees */
	EVENT_PROBE,		/* a call that trace.calls names */
};

enum event_witness { WITNESS_SHIM, WITNESS_GATE, WITNESS_MONITOR,
	WITNESS_GUARD, WITNESS_NOTIFY, WITNESS_PROBE };
enum event_enforcer { ENFORCER_MOUNT, ENFORCER_LANDLOCK, ENFORCER_SECCOMP,
	ENFORCER_GATE, ENFORCER_DNS, ENFORCER_ROUTE, ENFORCER_GUARD,
	ENFORCER_EXEC, ENFORCER_NONE };

/* OPEN: what the call was to do with the path. */
enum event_op {
	OP_OPEN,		/* open_flags say how */
	OP_MAKE,		/* the name was to be made */
	OP_REMOVE,		/* ... or to go */
	OP_CHANGE,		/* its size, mode, owner, times, attributes */
	OP_LOOK,		/* stat(), access(), readlink(), chdir()... */
};

enum { EVENT_ANCESTORS = 8, EVENT_COMM = 64 };

struct event_process {
	pid_t	pid;		/* host numbering, 0 if unknown */
	char	comm[EVENT_COMM];	/* raw bytes, NUL-terminated */
	char	exe[512];	/* "" if not known */
	char	cmdline[512];	/* arguments joined by blanks */
	char	cwd[512];
};

struct probe_call;

struct event {
	enum event_kind		 kind;
	enum event_witness	 witness;
	enum event_enforcer	 enforcer;
	int64_t			 time_ms;	/* since 1970 */
	/* Of this writer's lines: number, and hash of the one before (chain.h),
	 * or NULL. */
	uint64_t		 sequence;
	const char		*prev;
	unsigned		 count;		/* folded repeats, from 1 */
	int64_t			 start_ms, end_ms;	/* of repeats; 0: none */
	int			 sys;		/* errno the program saw, 0 none */
	struct verdict		 verdict;	/* rule, place, remedy */

	/* process[0] asked; [1] is its parent, and so on to the command. */
	struct event_process	 process[EVENT_ANCESTORS];
	unsigned		 nprocess;
	bool			 is_guess;	/* by who called (callers.h) */

	const char		*path;		/* OPEN, EXEC; raw bytes */
	/* EXEC by the supervisor of executions; NULL: the shim's.  RUN_START:
	 * of the command, or NULL. */
	const char *const	*argv;
	size_t			 argc;
	bool			 is_killed;	/* after the call, not by it */
	bool			 is_final;	/* told so for the third time */
	enum event_op		 op;
	uint32_t		 open_flags;
	/* OPEN, CALL: the system call's name; NULL: not known. */
	const char		*call;
	uint32_t		 call_flags;	/* CALL: shim/wire.h */
	/* CALL: the process has filters that the command does not have. */
	bool			 has_own_filter;
	const char		*host;		/* CONNECT, HTTP, DNS; raw bytes */
	/* SNI: the host that was dialled; `host` is then the name in the
	 * hello, NULL where there is none to be read. */
	const char		*server;
	const char		*ip;		/* literal or NULL */
	uint16_t		 port;
	bool			 is_socks;	/* CONNECT: asked of the proxy */
	bool			 is_datagram;	/* CONNECT: UDP */
	const char		*method;	/* HTTP: "CONNECT", "GET" */
	const char		*url_path;	/* HTTP: or NULL; raw bytes */
	const char		*qtype;		/* DNS: "A", "A AAAA" */
	int			 status;	/* HTTP 403; RUN_END exit status */
	int64_t			 duration_ms;
	uint64_t		 dropped;	/* DROPPED: how many */
	bool			 is_least;	/* DROPPED: there may be more */
	const char		*detail;	/* WORKER, SUSPECT, RUN_START */
	const struct probe_call	*probe;		/* PROBE */
	const char		*moved_to;	/* OPEN: in quarantine, or NULL */
	/*
	 * OPEN, EXEC: the command may not look there.  What it is told itself
	 * (recent.h) offers this, which does not depend on what is there.
	 */
	bool			 is_hidden;
	struct remedy		 blind;
	/* A link led there that may be seen: that it does tells something. */
	bool			 is_led;
};

/* Facts that are the same for each event of a run. */
struct event_run {
	char	 id[33];		/* hex */
	char	 hostname[256];
	char	 version[32];
	char	 policy_name[256];
	char	 policy_sha256[65];	/* "" if not computed */
	/* Where it began, and the file of the policy in force; or NULL.
	 * Borrowed. */
	const char	*workspace, *policy_file;
};

/* How a terminal shows it: two lines of that width, the second indented. */
struct event_look {
	unsigned	columns;
	bool		has_colour;	/* the second line is dim */
};
/*
 * Appended without newline.  NULL: one line of at most 400 characters, whose
 * halves stand on either side of " | ".
 */
void	 event_text(const struct event *, const struct event_look *,
	    struct buf *);
/* Its middle alone: what was refused, and to whom. */
void	 event_deed(const struct event *, struct buf *);
/* One JSON object, OCSF 1.8.0, appended without newline. */
void	 event_json(const struct event *, const struct event_run *,
	    struct buf *);
/* "make[4701] → sh[4703] → cc1[4711]", escaped. */
void	 event_chain(const struct event *, struct buf *);

/* Is it a finding: told though no call was refused? */
bool	 event_is_finding(enum event_kind);
/* Was something refused (or, for HTTP and CONNECT, did it fail)?  What -m prints. */
bool	 event_is_trouble(const struct event *);
/* Columns of text that str_escape() made; a wide character has two. */
size_t	 event_chars(const char *escaped);
/*
 * Such text, its middle replaced by "…" if it is longer than head + 1 + tail
 * characters.  No escape and no character is cut in two.
 */
void	 event_cut(struct buf *, const char *escaped, size_t head,
	    size_t tail);

#endif
