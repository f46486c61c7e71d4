/*
 * callprobe: system calls by number, each in a child of its own, with
 * arguments that do no harm where nothing is refused.  Prints a line for
 * each, "NAME ANSWER": OK, the name of an errno, or a signal's.  Static; no
 * library stands between it and the kernel.
 */
#include <sys/ioctl.h>
#include <sys/personality.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <linux/sched.h>

#include <errno.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#define BAD	(-1L)			/* a descriptor, a pointer */
#define HIGH	((long)0xdeadbeef00000000)
#define FORKED	SIGCHLD

enum { NETLINK_OF_ROUTES, OPEN_TREE_ATTR = 467, UNHEARD_OF = 4000,
	X32_GETPID = 0x40000027 };

static long memfd_setuid(void);
#if defined(__x86_64__)
static long int80_getpid(void), int80_mount(void), int80_socketcall(void);
#endif

static const struct row {
	const char	*name;
	long		 number;
	long		 arg[6];
	long		(*fn)(void);	/* instead of a number */
} rows[] = {
	{ "mount", SYS_mount, { BAD, BAD, BAD, 0, 0 }, NULL },
	{ "umount2", SYS_umount2, { BAD, 0 }, NULL },
	{ "pivot_root", SYS_pivot_root, { BAD, BAD }, NULL },
	{ "chroot", SYS_chroot, { BAD }, NULL },
	{ "open_tree", 428, { BAD, BAD, 0 }, NULL },
	{ "move_mount", 429, { BAD, BAD, BAD, BAD, 0 }, NULL },
	{ "fsopen", 430, { BAD, 0 }, NULL },
	{ "fsconfig", 431, { BAD, 0, 0, 0, 0 }, NULL },
	{ "fsmount", 432, { BAD, 0, 0 }, NULL },
	{ "fspick", 433, { BAD, BAD, 0 }, NULL },
	{ "mount_setattr", 442, { BAD, BAD, 0, BAD, 0 }, NULL },
	{ "open_tree_attr", OPEN_TREE_ATTR, { BAD, BAD, 0 }, NULL },

	{ "unshare-user", SYS_unshare, { CLONE_NEWUSER }, NULL },
	{ "unshare-net", SYS_unshare, { CLONE_NEWNET }, NULL },
	{ "unshare-time", SYS_unshare, { CLONE_NEWTIME }, NULL },
	{ "unshare-files", SYS_unshare, { CLONE_FILES }, NULL },
	{ "setns", SYS_setns, { BAD, 0 }, NULL },
	{ "clone-user", SYS_clone, { CLONE_NEWUSER | FORKED }, NULL },
	{ "clone-mount-high", SYS_clone, { HIGH | CLONE_NEWNS | FORKED },
	  NULL },
	{ "clone", SYS_clone, { FORKED }, NULL },
	{ "clone-high", SYS_clone, { HIGH | FORKED }, NULL },
	{ "clone3", 435, { 0, 0 }, NULL },

	{ "keyctl", SYS_keyctl, { 0xffff }, NULL },
	{ "add_key", SYS_add_key, { BAD, BAD, 0, 0, 0 }, NULL },
	{ "request_key", SYS_request_key, { BAD, BAD, 0, 0 }, NULL },
	{ "userfaultfd", SYS_userfaultfd, { BAD }, NULL },
	{ "bpf", SYS_bpf, { 0xffff, 0, 0 }, NULL },
	{ "perf_event_open", SYS_perf_event_open, { BAD, 0, 0, BAD, 0 },
	  NULL },
	{ "open_by_handle_at", SYS_open_by_handle_at, { BAD, BAD, 0 }, NULL },
	{ "io_uring_setup", 425, { 1, BAD }, NULL },
	{ "io_uring_enter", 426, { BAD }, NULL },
	{ "io_uring_register", 427, { BAD }, NULL },
	{ "syslog", SYS_syslog, { 10, 0, 0 }, NULL },
	{ "acct", SYS_acct, { BAD }, NULL },
	{ "swapon", SYS_swapon, { BAD, 0 }, NULL },
	{ "swapoff", SYS_swapoff, { BAD }, NULL },
	{ "reboot", SYS_reboot, { 0, 0, 0, 0 }, NULL },
	{ "sethostname", SYS_sethostname, { BAD, 1 }, NULL },
	{ "setdomainname", SYS_setdomainname, { BAD, 1 }, NULL },
	{ "settimeofday", SYS_settimeofday, { BAD, 0 }, NULL },
	{ "clock_settime", SYS_clock_settime, { 0, BAD }, NULL },
	{ "init_module", SYS_init_module, { BAD, 1, BAD }, NULL },
	{ "finit_module", SYS_finit_module, { BAD, BAD, 0 }, NULL },
	{ "delete_module", SYS_delete_module, { BAD, 0 }, NULL },
	{ "kexec_load", SYS_kexec_load, { 0, 9999, BAD, 0 }, NULL },
	{ "kexec_file_load", SYS_kexec_file_load, { BAD, BAD, 0, 0, BAD },
	  NULL },
	{ "quotactl", SYS_quotactl, { BAD, BAD, 0, BAD }, NULL },
	{ "quotactl_fd", 443, { BAD, BAD, 0, BAD }, NULL },

	{ "personality-exec", SYS_personality, { READ_IMPLIES_EXEC }, NULL },
	{ "personality-zero", SYS_personality, { MMAP_PAGE_ZERO }, NULL },
	{ "personality-fixed", SYS_personality, { ADDR_NO_RANDOMIZE }, NULL },
	{ "personality-ask", SYS_personality, { 0xffffffff }, NULL },
	{ "ptrace-self", SYS_ptrace, { PTRACE_TRACEME }, NULL },
	{ "setuid-bit", 0, { 0 }, memfd_setuid },

	{ "AF_UNIX", SYS_socket, { AF_UNIX, SOCK_SEQPACKET, 0 }, NULL },
	{ "AF_INET", SYS_socket, { AF_INET, SOCK_STREAM, 6 }, NULL },
	{ "AF_INET6", SYS_socket, { AF_INET6, SOCK_DGRAM, 0 }, NULL },
	{ "AF_INET-sctp", SYS_socket, { AF_INET, SOCK_STREAM, 132 }, NULL },
	{ "AF_INET-dccp", SYS_socket, { AF_INET, SOCK_DCCP, 0 }, NULL },
	{ "AF_VSOCK", SYS_socket, { AF_VSOCK, SOCK_STREAM, 0 }, NULL },
	{ "AF_VSOCK-high", SYS_socket, { HIGH | AF_VSOCK, SOCK_STREAM, 0 },
	  NULL },
	{ "AF_ALG", SYS_socket, { AF_ALG, SOCK_SEQPACKET, 0 }, NULL },
	{ "AF_PACKET", SYS_socket, { AF_PACKET, SOCK_RAW, 0x300 }, NULL },
	{ "AF_BLUETOOTH", SYS_socket, { AF_BLUETOOTH, SOCK_RAW, 0 }, NULL },
	{ "AF_CAN", SYS_socket, { AF_CAN, SOCK_RAW, 1 }, NULL },
	{ "AF_RDS", SYS_socket, { AF_RDS, SOCK_SEQPACKET, 0 }, NULL },
	{ "AF_TIPC", SYS_socket, { AF_TIPC, SOCK_SEQPACKET, 0 }, NULL },
	{ "AF_KEY", SYS_socket, { AF_KEY, SOCK_RAW, 2 }, NULL },
	{ "AF_XDP", SYS_socket, { AF_XDP, SOCK_RAW, 0 }, NULL },
	{ "AF_none", SYS_socket, { 46, SOCK_RAW, 0 }, NULL },
	{ "netlink-route", SYS_socket, { AF_NETLINK, SOCK_RAW,
	  NETLINK_OF_ROUTES }, NULL },
	{ "netlink-route-high", SYS_socket, { HIGH | AF_NETLINK, SOCK_RAW,
	  HIGH | NETLINK_OF_ROUTES }, NULL },
	{ "netlink-diag", SYS_socket, { AF_NETLINK, SOCK_RAW, 4 }, NULL },
	{ "netlink-xfrm", SYS_socket, { AF_NETLINK, SOCK_RAW, 6 }, NULL },
	{ "netlink-audit", SYS_socket, { AF_NETLINK, SOCK_RAW, 9 }, NULL },
	{ "netlink-netfilter", SYS_socket, { AF_NETLINK, SOCK_RAW, 12 },
	  NULL },
	{ "netlink-uevent", SYS_socket, { AF_NETLINK, SOCK_RAW, 15 }, NULL },
	{ "netlink-generic", SYS_socket, { AF_NETLINK, SOCK_RAW, 16 }, NULL },
	{ "netlink-crypto", SYS_socket, { AF_NETLINK, SOCK_RAW, 21 }, NULL },
	{ "pair-unix", SYS_socketpair, { AF_UNIX, SOCK_STREAM, 0, BAD },
	  NULL },
	{ "pair-tipc", SYS_socketpair, { AF_TIPC, SOCK_STREAM, 0, BAD },
	  NULL },

	{ "TIOCSTI", SYS_ioctl, { BAD, TIOCSTI, BAD }, NULL },
	{ "TIOCSTI-high", SYS_ioctl, { BAD, HIGH | TIOCSTI, BAD }, NULL },
	{ "TIOCLINUX", SYS_ioctl, { BAD, TIOCLINUX, BAD }, NULL },
	{ "TIOCLINUX-high", SYS_ioctl, { BAD, HIGH | TIOCLINUX, BAD }, NULL },
	{ "TIOCSETD", SYS_ioctl, { BAD, TIOCSETD, BAD }, NULL },
	{ "TIOCGWINSZ", SYS_ioctl, { BAD, TIOCGWINSZ, BAD }, NULL },

	{ "unheard-of", UNHEARD_OF, { 0 }, NULL },
#if defined(__x86_64__)
	{ "iopl", SYS_iopl, { 4 }, NULL },
	{ "ioperm", SYS_ioperm, { 70000, 1, 1 }, NULL },
	{ "i386-getpid", 0, { 0 }, int80_getpid },
	{ "i386-mount", 0, { 0 }, int80_mount },
	{ "i386-socketcall", 0, { 0 }, int80_socketcall },
	{ "x32-getpid", X32_GETPID, { 0 }, NULL },
#endif
};

static long
memfd_setuid(void)
{
	int fd = syscall(SYS_memfd_create, "callprobe", 0);

	return fd < 0 ? fd : syscall(SYS_fchmod, fd, 04700);
}

#if defined(__x86_64__)
static long
int80(long nr, long a, long b)
{
	long rv;

	__asm__ volatile("int $0x80" : "=a"(rv) : "a"(nr), "b"(a), "c"(b),
	    "d"(0L), "S"(0L), "D"(0L) : "memory", "r8", "r9", "r10", "r11");
	if (rv >= 0)
		return rv;
	errno = -rv;
	return -1;
}

static long
int80_getpid(void)
{
	return int80(20, 0, 0);
}

static long
int80_mount(void)
{
	return int80(21, BAD, BAD);
}

/* SYS_SOCKET, its arguments where nobody has memory */
static long
int80_socketcall(void)
{
	return int80(102, 1, BAD);
}
#endif

static const char *
errno_name(int error)
{
	static char text[16];
	const char *name = strerrorname_np(error);

	if (name != NULL)
		return name;
	snprintf(text, sizeof text, "E%d", error);
	return text;
}

static void
try(const struct row *r)
{
	pid_t self = getpid();
	long rv;

	rv = r->fn != NULL ? r->fn() : syscall(r->number, r->arg[0],
	    r->arg[1], r->arg[2], r->arg[3], r->arg[4], r->arg[5]);
	if (getpid() != self || rv == 0)
		_exit(0);		/* also a child that it made */
	_exit(rv < 0 ? errno : 0);
}

int
main(void)
{
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		int status = 0;
		pid_t pid = fork();

		if (pid == 0)
			try(&rows[i]);
		if (pid < 0 || waitpid(pid, &status, 0) != pid)
			return 1;
		printf("%s %s\n", rows[i].name, WIFSIGNALED(status) ?
		    sigabbrev_np(WTERMSIG(status)) :
		    WEXITSTATUS(status) == 0 ? "OK" :
		    errno_name(WEXITSTATUS(status)));
	}
	return fflush(stdout) == 0 ? 0 : 1;
}
