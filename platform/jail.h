/*
 * jail: the only door to a jail.  First a description, then an act.  struct
 * jail_spec is plain data made by launcher/plan/plan.c; it can be printed,
 * compared and tested on a machine that cannot run it.  launcher/run/run.c then
 * calls jail_start(), jail_plan() and jail_go() in this order, listens with
 * jail_next() until the jail says nothing more, and ends with jail_release().
 *
 * The command starts at jail_go() and not before, with every wall of the spec
 * or not at all.  The jail does not outlive its caller.  Descriptors in
 * struct jail and in events are the caller's; what a spec points to is
 * borrowed as long as the jail is.
 *
 * configure links exactly one of jail_linux.c, jail_darwin.c and jail_none.c.
 */
#ifndef FENCE_PLATFORM_JAIL_H
#define FENCE_PLATFORM_JAIL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "platform/base/buf.h"
#include "platform/base/err.h"

enum mount_kind {
	MOUNT_RO,		/* host path at its own place, read-only */
	MOUNT_RW,		/* ... writable */
	MOUNT_OTHER,		/* writable: what lies at `source` instead */
	MOUNT_TMPFS,		/* private and empty, mode 1777 */
	MOUNT_OWN,		/* the same, mode 0700 */
	MOUNT_MASK_DIR,		/* refused: mode 0000, read-only */
	MOUNT_MASK_FILE,	/* the same for anything but a directory */
	MOUNT_MASK_AROUND,	/* refused, but for what is mounted inside */
	MOUNT_CLOSED,		/* "/": nothing but what is mounted below */
	MOUNT_LINK,		/* no mount: a symlink to text, as the host's */
	MOUNT_PLACE,		/* no mount: an empty directory to stand in */
	MOUNT_ETC,		/* the host's /etc, ours laid over it */
	MOUNT_ETC_OWN,		/* ours alone */
	MOUNT_DEV,		/* a private minimal /dev */
	MOUNT_DEV_HOST,		/* the host's /dev */
	MOUNT_DEVICE,		/* a node or folder of the host's /dev */
	MOUNT_PROC,		/* a private /proc, read-only */
};

/* In the order of mounting: later ones cover earlier ones. */
struct jail_mount {
	enum mount_kind	 kind;
	const char	*path;	/* absolute, no symlink in it */
	const void	*reason; /* the planner's: what is behind it */
	/* What lay there when it was planned, and nothing else is shown or
	 * covered; 0 for places of our own, and of "/" and what is right
	 * below it. */
	dev_t		 dev;
	ino_t		 ino;
	const char	*text;	/* MOUNT_LINK */
	/*
	 * MOUNT_OTHER: no symlink in it; it lies there by the time of
	 * jail_start().  What is mounted below such a mount needs no inode of
	 * its own to be mounted upon.
	 */
	const char	*source;
	dev_t		 source_dev;
	ino_t		 source_ino;
	uint64_t	 size;	/* TMPFS, OWN: bytes at most; 0: as usual */
	bool		 is_unlisted;	/* RO: the second wall lets read what
					 * is in it, and not its names */
	bool		 is_pin;	/* RW: no more than a part of its tree
					 * that nobody may rename */
};

/* An address range that the gate takes: connections go to the listener. */
struct jail_range {
	int		family;		/* AF_INET, AF_INET6 */
	uint8_t		addr[16];
	unsigned	bits;
};

/* A small file laid over /etc inside the jail. */
struct jail_file {
	const char	*name;	/* "resolv.conf"; may have slashes */
	const char	*text;
};

/* What the command and all that it starts are held to; 0: no such limit. */
struct jail_limits {
	uint64_t	process_memory;	/* bytes of one process */
	uint64_t	processes;	/* at one time, threads included */
	uint64_t	files;		/* open in one process */
	/* Descriptors by which the jail joins a group (limits.h). */
	const int	*join_fds;
	size_t		 njoin_fds;
};

enum jail_session {
	JAIL_SESSION_SAME,	/* the caller's: its terminal is the command's */
	JAIL_SESSION_NEW,	/* one of its own, without a terminal */
	JAIL_SESSION_TTY,	/* ... with tty_fd as its terminal */
};

struct jail_spec {
	const struct jail_mount	*mounts;
	size_t			 nmounts;
	/*
	 * The tree is built beside the host's instead of over it: needed
	 * where a mount hides what the building itself stands on.
	 */
	bool			 is_apart;
	const struct jail_file	*etc;
	size_t			 netc;
	const struct jail_range	*ranges;	/* besides 198.18.0.0/15 */
	size_t			 nranges;
	uint16_t		 http_port;	/* of the proxies, on 127.0.0.1 */
	uint16_t		 socks_port;
	bool			 shares_net;	/* the host's: no gate */
	/* Ports of the jail's localhost that lead to the host's. */
	const uint16_t		*local_ports;
	size_t			 nlocal_ports;
	const char		*shim;		/* host path, or NULL for none */
	/* For the shim: shim/wire.h, WIRE_TABLE; NULL for none. */
	const char		*names;
	size_t			 names_len;
	const char		*shim32;	/* 32-bit stand-in, or NULL */
	/* A second library beside the shim, and its file: PROBE_TABLE. */
	const char		*probe;		/* host path, or NULL for none */
	const void		*probes;
	size_t			 probes_len;
	const char		*init;		/* host path of fence-init */
	/* Host path of bwrap; NULL: the native engine, nothing in between. */
	const char		*bwrap;

	uid_t			 uid;		/* inside as outside */
	gid_t			 gid;
	const char		*program;	/* path to execute, from cwd */
	char *const		*argv;
	char *const		*envp;
	const char		*cwd;
	sigset_t		 sigmask;	/* the command's */
	const int		*keep_fds;	/* descriptors above 2 it keeps */
	size_t			 nkeep_fds;
	/* Trees the second wall (Landlock) lets it write to. */
	const char *const	*write_roots;
	size_t			 nwrite_roots;
	bool			 is_strict;	/* only measured calls exist */
	/*
	 * Namespaces and mounts may be made inside: the second wall holds
	 * no files then, and /proc is writable.  Never for uid 0.
	 */
	bool			 may_nest;
	/* Calls that name a network address are to be witnessed outside. */
	bool			 wants_calls;
	/* Calls on files, too, and what the filter refuses (calls.h). */
	bool			 wants_files;
	/* Executions are held (calls.h); without, the command never starts. */
	bool			 wants_exec;
	enum jail_session	 session;
	int			 tty_fd;	/* for JAIL_SESSION_TTY */
	struct jail_limits	 limits;
};

/* Where the proxies listen unless told otherwise, and the resolver always. */
enum { JAIL_HTTP_PORT = 3128, JAIL_SOCKS_PORT = 1080, JAIL_DNS_PORT = 53 };

/* Ends of the gate inside the jail, all non-blocking and close-on-exec. */
enum jail_listener {
	JAIL_LISTEN_TRANSPARENT4,	/* TCP, getsockname() = destination */
	JAIL_LISTEN_TRANSPARENT6,
	JAIL_LISTEN_HTTP,		/* 127.0.0.1, spec's http_port */
	JAIL_LISTEN_SOCKS,
	JAIL_LISTEN_DNS_UDP,		/* [::]:53, dual stack, PKTINFO on */
	JAIL_LISTEN_DNS_TCP,
	JAIL_NLISTENERS
};

struct jail {
	pid_t	pid;			/* of the jail's outermost process */
	int	control_fd;		/* readable: jail_next() has a word */
	unsigned heard;			/* jail_next()'s own; begins at 0 */
	int	report_fd;		/* the shim's datagrams; -1 without shim */
	int	listen_fd[JAIL_NLISTENERS];
	/* For each of local_ports two: 127.0.0.1 and ::1 (or -1); ours. */
	int	*local_fd;
	size_t	nlocal_fds;
	/* A file on stdin, as the command reads it, or -1: how far it got. */
	int	stdin_fd;
	/* The same of each of spec's keep_fds. */
	int	*kept_fd;
	const int *keep_fds;
	size_t	nkept_fds;
};

/*
 * What needs no plan is begun beside the caller's own work and is used by
 * jail_start(), which does without if it is NULL.  What fails is told there.
 */
struct jail_ahead;
struct jail_ahead *jail_ahead(void);
void	 jail_ahead_free(struct jail_ahead *);	/* NULL is fine */

/* Can this machine run a jail at all?  Fills err with the reason and cure. */
int	 jail_probe(const struct jail_spec *, struct err *);
/* Walls that stand where the kernel has them (Landlock). */
struct jail_walls {
	bool	has_second;	/* files are judged a second time */
	bool	has_signals;	/* none leaves the jail */
};
void	 jail_walls(struct jail_walls *);
/*
 * Is this process inside a jail of ours?  Told by the kernel, not by names
 * that anyone could set.
 */
bool	 jail_is_inside(void);
/*
 * Inside a jail: takes away from this very process what a spec can take away
 * without mounts, and executes the program.  has_network false: no internet
 * socket can be made.  Returns on failure alone.
 */
int	 jail_tighten(const struct jail_spec *, bool has_network,
	    struct err *);
/*
 * The plan as text, one mount and one setting a line (--dry-run).  put_reason
 * writes what the planner knows of a mount; NULL: nothing.
 */
void	 jail_describe(const struct jail_spec *,
	    void (*put_reason)(struct buf *, const void *reason),
	    struct buf *);
/* What of the system holds this jail, as a line without its end (--debug). */
void	 jail_features(const struct jail_spec *, struct buf *);
/*
 * Builds the jail up to the point where fence-init waits for its plan.
 * On success everything in ret is the caller's; on failure nothing is left.
 * ESTALE in the error: something else lies at a path than was planned, and a
 * plan that is made anew may do.  Expects all signals blocked by the caller.
 */
int	 jail_start(const struct jail_spec *, struct jail_ahead *,
	    struct jail *ret, struct err *);
/*
 * Sends rules, filter and command to fence-init, which makes everything ready
 * while we do the rest.
 */
int	 jail_plan(const struct jail_spec *, struct jail *, struct err *);
/* The command may start. */
int	 jail_go(struct jail *, struct err *);

/* What the jail says, in the order in which it may say it. */
enum jail_event_kind {
	JAIL_READY = 1,		/* pid: its first process; waits for a plan */
	JAIL_CALLS,		/* fd: the calls that are held (calls.h), or -1
				 * and sys: why none are.  spec.wants_calls,
				 * wants_exec, wants_files */
	JAIL_STARTED,		/* the command runs: pid, and fd to signal it
				 * by, which is readable once it has ended */
	JAIL_STOPPED,		/* signo stopped the command, or its start */
	JAIL_CONTINUED,
	JAIL_ALONE,		/* jail_ask()'s answer for signo */
	/* Each of these is the last. */
	JAIL_EXITED,		/* wstatus of the command, as of waitpid();
				 * nobody is left in the jail */
	JAIL_FAILED,		/* no command: it cannot `what`; sys, cure */
	JAIL_NOEXEC,		/* the program cannot be executed: sys */
};

struct jail_event {
	enum jail_event_kind kind;
	int		 fd;		/* the caller's; -1 for none */
	pid_t		 pid;		/* as the caller counts; 0: not known */
	int		 signo;
	int		 wstatus;
	int		 sys;		/* errno */
	const char	*what;		/* "enter the working directory" */
	const char	*cure;		/* what would help, or NULL */
};

/*
 * The next event, not waited for: 1; 0 while there is none; -1 when none will
 * come: the jail is gone, or it said what no jail of ours says, and nothing
 * more of it is believed.  The texts are static.
 */
int	 jail_next(struct jail *, struct jail_event *ret);
/*
 * A signal came to the caller, who shares a process group with the command:
 * did the whole group get it?  JAIL_ALONE is the answer if it did not, and is
 * wanted.  After JAIL_STARTED.  Not waited for; -1: it cannot be asked.
 */
int	 jail_ask(struct jail *, int signo, bool wants_answer);
/*
 * Closes descriptors, kills nothing.  Who goes on reading a file that was kept
 * goes on where the command ended.
 */
void	 jail_release(struct jail *);

#endif
