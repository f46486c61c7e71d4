/*
 * try: what `fence doctor` attempts from inside a jail, one row each.  The
 * launcher and libexec/fence/fence-try share this table; fence-try prints a
 * line for each row, "ID RESULT ERRNO TEXT", and knows of the outside only
 * what its arguments say (struct scene).
 *
 * A try is judged by what fence alone would answer: where a bare kernel
 * refuses as well, it asks with arguments that a bare kernel answers
 * otherwise, or looks whether the namespace is the jail's own.  None does
 * harm where nothing is refused, and none sends a packet off this machine
 * unless a wall is missing; addresses are those of documentation (RFC 5737,
 * RFC 3849).
 */
#ifndef FENCE_LAUNCHER_TRY_H
#define FENCE_LAUNCHER_TRY_H

#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

enum try_result {
	TRY_HELD,	/* refused, as it has to be */
	TRY_HOLE,	/* it worked, or nothing of fence's refused it */
	TRY_WORKS,	/* it worked, as the policy says */
	TRY_BROKEN,	/* the policy grants it, and it failed; or no answer */
	TRY_UNTRIED,	/* not possible here; the text says why */
	TRY_NRESULTS
};

/* row(ID, function, what is attempted) */
#define TRY_ROWS(row) \
	row("write-workspace", try_write_workspace, "write the workspace") \
	row("read-system", try_read_system, "read /etc/passwd") \
	row("exec-tmp", try_exec_tmp, "execute a program from /tmp") \
	row("read-ssh", try_read_ssh, "read ~/.ssh") \
	row("write-home", try_write_home, "write $HOME") \
	row("write-outside", try_write_outside, \
	    "write outside of the workspace") \
	row("write-git", try_write_git, "change .git/config") \
	row("write-proc-sys", try_write_proc_sys, "write /proc/sys") \
	row("setuid", try_setuid, "gain rights from a setuid program") \
	row("capabilities", try_capabilities, "have a capability") \
	row("descriptor", try_descriptor, "use a descriptor left open") \
	row("tcp-local", try_tcp_local, "TCP to a service of this machine") \
	row("tcp4", try_tcp4, "TCP to an IPv4 address") \
	row("tcp6", try_tcp6, "TCP to an IPv6 address") \
	row("udp", try_udp, "UDP to an address") \
	row("dns", try_dns, "ask a DNS server of the world") \
	row("proxy", try_proxy, "ask the gate for a host") \
	row("raw", try_raw, "a raw socket") \
	row("packet", try_packet, "a packet socket") \
	row("vsock", try_vsock, "a socket to the hypervisor") \
	row("netlink", try_netlink, "change routes") \
	row("mptcp", try_mptcp, "multipath TCP") \
	row("fastopen", try_fastopen, "TCP fast open") \
	row("unix-socket", try_unix_socket, "a daemon's socket") \
	row("abstract-socket", try_abstract_socket, "an abstract socket") \
	row("namespaces", try_namespaces, "share the host's namespaces") \
	row("ptrace-init", try_ptrace_init, "trace pid 1") \
	row("ptrace-outside", try_ptrace_outside, "trace a process outside") \
	row("kill-outside", try_kill_outside, "signal a process outside") \
	row("mount", try_mount, "mount") \
	row("unshare", try_unshare, "make a user namespace") \
	row("setns", try_setns, "enter a namespace") \
	row("tiocsti", try_tiocsti, "type into the terminal (TIOCSTI)") \
	row("io_uring", try_io_uring, "io_uring") \
	row("keyctl", try_keyctl, "the kernel's keyrings") \
	row("shim", try_shim, "tell what was refused")

#define TRY_COUNT_ROW(id, fn, what)	+ 1
enum { TRY_NROWS = 0 TRY_ROWS(TRY_COUNT_ROW) };

#define TRY_NAMESPACES	{ "user", "mnt", "net", "pid", "ipc", "uts" }
enum try_ns { TRY_NS_USER, TRY_NS_MNT, TRY_NS_NET, TRY_NS_PID, TRY_NS_IPC,
	TRY_NS_UTS, TRY_NNS };

/* The arguments of fence-try, NAME=VALUE; "" where there is none. */
struct scene {
	const char	*self;		/* the program itself */
	const char	*work;		/* the workspace; has .git/config */
	const char	*outside;	/* a writable folder of the host's */
	const char	*home;
	const char	*ssh;		/* a folder that is hidden */
	const char	*daemon;	/* path of a listening socket */
	const char	*abstract;	/* name of an abstract one */
	const char	*setuid;	/* path of a setuid program */
	const char	*port4, *port6;	/* TCP on 127.0.0.1, ::1 outside */
	const char	*victim;	/* pid of a process outside */
	const char	*fd;		/* number of the descriptor */
	const char	*ns[TRY_NNS];	/* inodes of the host's namespaces */
};

enum { TRY_TEXT_MAX = 160 };

/* What came of it; error is an errno, or 0. */
struct try_answer {
	enum try_result	result;
	int		error;
	char		text[TRY_TEXT_MAX];
};

typedef void	 try_fn(const struct scene *, struct try_answer *);

#define TRY_DECLARE_ROW(id, fn, what)	try_fn fn;
TRY_ROWS(TRY_DECLARE_ROW)

/* For the rows: held with this errno, a hole with these words, and so on. */
void	 try_held(struct try_answer *, int error);
void	 try_hole(struct try_answer *, const char *text);
void	 try_say(struct try_answer *, enum try_result, int error,
	    const char *text);
/* These look at errno.  Failing is right; success is a hole. */
void	 try_refused(struct try_answer *, long rc);
/* The filter's own EPERM (or ENOSYS) is right; anything else is a hole. */
void	 try_filtered(struct try_answer *, long rc);
/* Is this namespace the very one that doctor runs in? */
int	 try_shares(const struct scene *, enum try_ns);

#endif
