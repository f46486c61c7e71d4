/*
 * What the jail's filter refuses, and why.
 *
 * Not here, on purpose: ptrace, process_vm_readv, process_vm_writev, kcmp and
 * pidfd_getfd.  Landlock's domain and the pid namespace keep them to the
 * jail's own processes, and debuggers live on them.
 */
#include "platform/linux/seccomp.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/sched.h>
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/socket.h>
#include <sys/stat.h>

#define ALL		UINT32_MAX
#define ALWAYS		SECCOMP_IN_ALL
#define NESTED		SECCOMP_IN_NESTED
#define UNNESTED	(SECCOMP_IN_ALL & ~SECCOMP_IN_NESTED)
#define ROOTS		SECCOMP_IN_ROOTS

#define ROW(name, error, why, in, ...) \
	{ name, error, why, { __VA_ARGS__ }, in }
#define DENY(name, why)		ROW(name, EPERM, why, ALWAYS, { 0 })
#define MISSING(name, why)	ROW(name, ENOSYS, why, ALWAYS, { 0 })
/* Refused but to those who may nest. */
#define UNLESS_NESTED(name, why)	ROW(name, EPERM, why, UNNESTED, { 0 })
/* As mount(8) of util-linux likes it: on ENOSYS it falls back to mount(2). */
#define NEW_MOUNTS(name) \
	ROW(name, ENOSYS, "mount(2) serves, too", NESTED, { 0 }), \
	UNLESS_NESTED(name, MOUNTS)
#define IS(name, arg, value, why) \
	ROW(name, EPERM, why, ALWAYS, { arg, ALL, value })
#define FINE(name, why, ...)	ROW(name, 0, why, ALWAYS, __VA_ARGS__)
/* Either bit; a filter cannot tell a directory, where setgid is harmless. */
#define SETUID_BIT(name, arg) \
	ROW(name, EPERM, SETUID, ROOTS, { arg, S_ISUID, S_ISUID }), \
	ROW(name, EPERM, SETGID, ROOTS, { arg, S_ISGID, S_ISGID })
#define SETUID_MADE(name, flags_arg, flag, arg) \
	ROW(name, EPERM, SETUID, ROOTS, { flags_arg, flag, flag }, \
	    { arg, S_ISUID, S_ISUID }), \
	ROW(name, EPERM, SETGID, ROOTS, { flags_arg, flag, flag }, \
	    { arg, S_ISGID, S_ISGID })
/* Pid 1 of the jail; in a pid namespace of a nested one, its own pid 1. */
#define OF_INIT(name, arg)	IS(name, arg, 1, INIT)

#define MOUNTS		"mounts are made before the jail starts"
#define NAMESPACES	"a namespace of its own brings capabilities back"
#define KERNEL		"administers the host"
#define CLOCK		"sets the host's clock"
#define KEYS		"keyrings are shared with the host"
#define RING		"io_uring calls pass no filter"
#define SOCKETS		"only unix, IPv4, IPv6 and route sockets"
#define MODULES		"loads a module of the host's that few use"
#define DEBUGGERS	"a debugger's and a builder's right"
#define SETUID		"a setuid file of root's would outlive the jail"
#define SETGID		"a setgid file of root's group would outlive the jail"
#define INIT		"fence-init's limits and priority are not the command's"
#define TMPFILE		(O_TMPFILE & ~O_DIRECTORY)

/* CLONE_NEWTIME lies among clone's signal bits, so clone cannot ask for it. */
#define CLONE_NEWS	(CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS | \
	    CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET)
#define UNSHARE_NEWS	(CLONE_NEWS | CLONE_NEWTIME)

/* Transports of IPv4 and IPv6 that the kernel loads for whoever asks. */
enum { PROTO_DCCP = 33, PROTO_L2TP = 115, PROTO_SCTP = 132 };

#define HARMLESS_PERSONA \
	(ADDR_NO_RANDOMIZE | ADDR_COMPAT_LAYOUT | UNAME26 | PER_LINUX32)

const struct seccomp_row seccomp_rows[] = {
	UNLESS_NESTED("mount", MOUNTS),
	UNLESS_NESTED("umount", MOUNTS),
	UNLESS_NESTED("umount2", MOUNTS),
	UNLESS_NESTED("pivot_root", MOUNTS),
	UNLESS_NESTED("chroot", MOUNTS),
	NEW_MOUNTS("open_tree"),
	NEW_MOUNTS("move_mount"),
	NEW_MOUNTS("fsopen"),
	NEW_MOUNTS("fsconfig"),
	NEW_MOUNTS("fsmount"),
	NEW_MOUNTS("fspick"),
	NEW_MOUNTS("mount_setattr"),

	/* Its flags lie in memory, out of a filter's sight; libcs fall back. */
	MISSING("clone3", "libcs use clone instead"),
	UNLESS_NESTED("setns", NAMESPACES),
	FINE("clone", "a thread or a process", { 0, CLONE_NEWS, 0 }),
	UNLESS_NESTED("clone", NAMESPACES),
	FINE("unshare", "a process's own tables", { 0, UNSHARE_NEWS, 0 }),
	UNLESS_NESTED("unshare", NAMESPACES),

	/*
	 * AF_VSOCK talks to the hypervisor whatever the network namespace;
	 * the others are code that a stranger's call loads into the kernel.
	 * i386's socketcall keeps its arguments in memory.
	 */
	FINE("socket", SOCKETS, { 0, ALL, AF_UNIX }),
	IS("socket", 2, PROTO_SCTP, MODULES),
	IS("socket", 2, PROTO_DCCP, MODULES),
	IS("socket", 2, PROTO_L2TP, MODULES),
	ROW("socket", EPERM, MODULES, ALWAYS, { 1, 0xf, SOCK_DCCP }),
	ROW("socket", EPERM, MODULES, ALWAYS, { 1, 0xf, SOCK_SEQPACKET }),
	FINE("socket", SOCKETS, { 0, ALL, AF_INET }),
	FINE("socket", SOCKETS, { 0, ALL, AF_INET6 }),
	FINE("socket", "addresses and routes of the jail's own network",
	    { 0, ALL, AF_NETLINK }, { 2, ALL, 0 /* NETLINK_ROUTE */ }),
	DENY("socket", SOCKETS),
	FINE("socketpair", SOCKETS, { 0, ALL, AF_UNIX }),
	DENY("socketpair", SOCKETS),
	IS("socketcall", 0, 1 /* SYS_SOCKET */, SOCKETS),

	IS("ioctl", 1, TIOCSTI, "types into the terminal"),
	IS("ioctl", 1, TIOCLINUX, "types into the console"),
	IS("ioctl", 1, TIOCSETD, "loads a line discipline into the kernel"),

	FINE("personality", "asks for the present one", { 0, ALL, ALL }),
	FINE("personality", DEBUGGERS, { 0, ~(uint32_t)HARMLESS_PERSONA, 0 }),
	DENY("personality", "weakens what a program's memory is made of"),

	DENY("io_uring_setup", RING),
	DENY("io_uring_enter", RING),
	DENY("io_uring_register", RING),
	DENY("open_by_handle_at", "opens files past every mount"),
	DENY("userfaultfd", "stops the kernel at a moment of one's choice"),
	DENY("keyctl", KEYS),
	DENY("add_key", KEYS),
	DENY("request_key", KEYS),
	DENY("bpf", KERNEL),
	DENY("perf_event_open", "observes the host"),
	DENY("lookup_dcookie", "observes the host"),
	DENY("syslog", "reads the kernel's log"),
	DENY("_sysctl", "writes what /proc/sys holds, past its mount"),
	DENY("uselib", "old, and nobody's"),
	DENY("kexec_load", KERNEL),
	DENY("kexec_file_load", KERNEL),
	DENY("init_module", KERNEL),
	DENY("finit_module", KERNEL),
	DENY("delete_module", KERNEL),
	DENY("create_module", KERNEL),
	DENY("reboot", KERNEL),
	DENY("swapon", KERNEL),
	DENY("swapoff", KERNEL),
	DENY("acct", KERNEL),
	DENY("quotactl", KERNEL),
	DENY("quotactl_fd", KERNEL),
	DENY("nfsservctl", KERNEL),
	DENY("iopl", KERNEL),
	DENY("ioperm", KERNEL),
	DENY("vm86", KERNEL),
	DENY("vm86old", KERNEL),
	DENY("vhangup", KERNEL),
	UNLESS_NESTED("sethostname", KERNEL),
	UNLESS_NESTED("setdomainname", KERNEL),
	DENY("settimeofday", CLOCK),
	DENY("stime", CLOCK),
	DENY("clock_settime", CLOCK),
	DENY("clock_settime64", CLOCK),

	/* Same uid: that it is not dumpable does not matter to these. */
	OF_INIT("prlimit64", 0),
	OF_INIT("setpriority", 1),
	OF_INIT("ioprio_set", 1),
	OF_INIT("sched_setaffinity", 0),
	OF_INIT("sched_setattr", 0),
	OF_INIT("sched_setparam", 0),
	OF_INIT("sched_setscheduler", 0),

	SETUID_BIT("chmod", 1),
	SETUID_BIT("fchmod", 1),
	SETUID_BIT("fchmodat", 2),
	SETUID_BIT("fchmodat2", 2),
	SETUID_BIT("creat", 1),
	SETUID_BIT("mknod", 1),
	SETUID_BIT("mknodat", 2),
	SETUID_MADE("open", 1, O_CREAT, 2),
	SETUID_MADE("open", 1, TMPFILE, 2),
	SETUID_MADE("openat", 2, O_CREAT, 3),
	SETUID_MADE("openat", 2, TMPFILE, 3),
	/* Its mode lies in memory. */
	ROW("openat2", ENOSYS, SETUID, ROOTS, { 0 }),
};

const size_t seccomp_nrows = sizeof seccomp_rows / sizeof seccomp_rows[0];
