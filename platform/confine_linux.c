/*
 * How platform/confine.h is done: no_new_privs, no capability, a seccomp
 * filter, and for those that need no file an empty Landlock domain where the
 * kernel has Landlock.  fence-names' domain permits TCP to port 53 alone,
 * from Landlock's ABI 4 on.  The monitor and the guard are in no domain: the
 * former would lose sight of the jail's processes (LINUX-FACTS-2 8), and a
 * process in any domain may not mount.
 */
#include "platform/confine.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <linux/nsfs.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/base/buf.h"
#include "platform/linux/caps.h"
#include "platform/linux/landlock.h"
#include "platform/linux/seccomp_code.h"

#if defined __x86_64__
#define CONFINE_ARCH	AUDIT_ARCH_X86_64
#elif defined __aarch64__
#define CONFINE_ARCH	AUDIT_ARCH_AARCH64
#else
#error "confine_linux.c knows the system calls of x86-64 and aarch64"
#endif

/* Younger than the headers of the oldest system we build on. */
enum {
	NR_OPENAT2 = 437, NR_FACCESSAT2 = 439, NR_OPEN_TREE = 428, NR_MOVE_MOUNT = 429,
	NR_MOUNT_SETATTR = 442,
	NR_CLONE3 = 435, NR_PIDFD_GETFD = 438, NR_OPEN_TREE_ATTR = 467,
	X32_BIT = 0x40000000,
};

enum { MAX_CLAIMS = 3 };

/*
 * One row: the call, and claims about its arguments (mask 0: none).
 * (argument & mask) == want, on the low 32 bits: every argument named here is
 * an int or a set of flags below bit 32.  The first row that matches decides.
 */
struct rule {
	uint32_t	nr;
	uint32_t	action;
	struct claim {
		unsigned	arg;
		uint32_t	mask, want;
	}		claims[MAX_CLAIMS];
};

#define REFUSE(e)		(SECCOMP_RET_ERRNO | (e))
#define CLAIM(arg, mask, want)	{ (arg), (uint32_t)(mask), (uint32_t)(want) }
#define YES(name)		YES_NR(SYS_##name)
#define YES_NR(nr)		{ (nr), SECCOMP_RET_ALLOW, { { 0 } } }
#define YES_IF(name, arg, mask, want) \
	{ SYS_##name, SECCOMP_RET_ALLOW, { CLAIM(arg, mask, want) } }
#define YES_IF2(name, a, amask, awant, b, bmask, bwant) \
	{ SYS_##name, SECCOMP_RET_ALLOW, { CLAIM(a, amask, awant), \
	    CLAIM(b, bmask, bwant) } }
#define NO_NR(nr)		{ (nr), REFUSE(EPERM), { { 0 } } }
#define NO(name)		NO_NR(SYS_##name)
#define NO_IF(name, arg, mask, want) \
	{ SYS_##name, REFUSE(EPERM), { CLAIM(arg, mask, want) } }
#define NONE(nr)		{ (nr), REFUSE(ENOSYS), { { 0 } } }
#define ALL			UINT32_MAX
#define NELEM(a)		(sizeof (a) / sizeof (a)[0])

/* What any program of ours needs in order to compute and to end. */
#define RULES_COMPUTE							\
	YES(clock_gettime), YES(gettimeofday), YES(clock_nanosleep),	\
	YES(brk), YES(munmap), YES(mremap), YES(madvise), YES(futex),	\
	YES(rt_sigaction), YES(rt_sigprocmask), YES(rt_sigreturn),	\
	YES(sigaltstack), YES(exit), YES(exit_group), YES(getpid),	\
	YES(gettid), YES(getrandom), YES(restart_syscall), YES(rseq),	\
	YES(sched_yield)

/*
 * Sending is sending: MSG_FASTOPEN is connect() by another name, and takes a
 * TCP socket whose connection was reset to wherever the sender likes.
 */
#define NOT_PLAIN		(~(uint32_t)(MSG_NOSIGNAL | MSG_DONTWAIT))

#define RULES_FDS							\
	YES(recvfrom), YES_IF(sendto, 3, NOT_PLAIN, 0),			\
	YES(epoll_pwait), YES(epoll_ctl),				\
	YES(recvmsg), YES_IF(sendmsg, 2, NOT_PLAIN, 0),			\
	YES(read), YES(write), YES(readv), YES(writev), YES(close),	\
	YES(shutdown), YES(getsockname), YES(getpeername), YES(ppoll),	\
	YES_IF(fcntl, 1, ALL, F_GETFL), YES_IF(fcntl, 1, ALL, F_SETFL),	\
	YES_IF(fcntl, 1, ALL, F_GETFD), YES_IF(fcntl, 1, ALL, F_SETFD)

#define MAY_SET(level, name)						\
	YES_IF2(setsockopt, 1, ALL, level, 2, ALL, name)

/*
 * fence-net: the calls of a busy relay first.  The option is that of
 * net_reset(): others route, tunnel or repair a connection.
 */
static const struct rule net_rules[] = {
#ifdef __x86_64__
	YES(epoll_wait), YES(poll),
#endif
	RULES_FDS,
	YES(accept4),
	MAY_SET(SOL_SOCKET, SO_LINGER),
	RULES_COMPUTE,
	YES_IF(mmap, 2, PROT_EXEC, 0),
	YES_IF(mprotect, 2, PROT_EXEC, 0),
};

enum {
	NOT_FOR_READING = O_ACCMODE | O_CREAT | O_TRUNC,
	NEW_NAMESPACES = CLONE_NEWNS | CLONE_NEWCGROUP | CLONE_NEWUTS |
	    CLONE_NEWIPC | CLONE_NEWUSER | CLONE_NEWPID | CLONE_NEWNET,
	SOCK_KIND = 0xf,	/* of socket()'s type, without the flags */
	DNS_PORT = 53,
};

#define MAY_MAKE(family, type, protocol)					\
	{ SYS_socket, SECCOMP_RET_ALLOW, { CLAIM(0, ALL, family),	\
	    CLAIM(1, SOCK_KIND, type), CLAIM(2, ALL, protocol) } }

/* No MPTCP, no SCTP: Landlock, which knows the ports, knows only TCP. */
#define MAY_MAKE_INET(family)						\
	MAY_MAKE(family, SOCK_DGRAM, 0),				\
	MAY_MAKE(family, SOCK_DGRAM, IPPROTO_UDP),			\
	MAY_MAKE(family, SOCK_STREAM, 0),				\
	MAY_MAKE(family, SOCK_STREAM, IPPROTO_TCP)

/*
 * fence-names: what getaddrinfo() does with glibc and its usual modules,
 * which are loaded at the first look-up, hence mmap() to execute.  No unix
 * sockets: the daemons behind them do more than look up names.  The resolvers'
 * own pairs are SEQPACKET, which cannot be connected or sent anywhere else.
 */
static const struct rule names_rules[] = {
	RULES_FDS,
	RULES_COMPUTE,
#ifdef __x86_64__
	YES(epoll_wait), YES(poll), YES(stat), YES(lstat), YES(access),
	YES(readlink), YES(alarm),
	YES_IF(open, 1, NOT_FOR_READING, O_RDONLY),
#endif
	YES_IF(openat, 2, NOT_FOR_READING, O_RDONLY),
	YES(mmap), YES(mprotect), YES(fstat), YES(newfstatat), YES(statx),
	YES(readlinkat), YES(faccessat), YES(pread64), YES(lseek),
	YES(getdents64), YES(getcwd), YES(fstatfs), YES(statfs),
	MAY_MAKE_INET(AF_INET), MAY_MAKE_INET(AF_INET6),
	YES_IF2(socket, 0, ALL, AF_NETLINK, 2, ALL, NETLINK_ROUTE),
	YES_IF2(socketpair, 0, ALL, AF_UNIX, 1, SOCK_KIND, SOCK_SEQPACKET),
	YES(connect), YES(bind), YES_IF(sendmmsg, 3, NOT_PLAIN, 0),
	YES(recvmmsg), YES(epoll_create1), YES(timerfd_create),
	YES(timerfd_settime), YES(eventfd2), YES(pipe2), YES(dup),
	MAY_SET(IPPROTO_IP, IP_RECVERR), MAY_SET(IPPROTO_IPV6, IPV6_RECVERR),
	MAY_SET(SOL_SOCKET, SO_RCVBUF), MAY_SET(SOL_SOCKET, SO_SNDBUF),
	MAY_SET(SOL_SOCKET, SO_RCVTIMEO), MAY_SET(SOL_SOCKET, SO_SNDTIMEO),
	MAY_SET(SOL_SOCKET, SO_PASSCRED),
	YES_IF(setsockopt, 1, ALL, SOL_NETLINK),
	YES_IF(getsockopt, 1, ALL, SOL_SOCKET),
	YES_IF(ioctl, 1, ALL, FIONREAD),
	YES_IF(fcntl, 1, ALL, F_DUPFD_CLOEXEC),
	YES_IF(clone, 0, NEW_NAMESPACES, 0),
	NONE(NR_CLONE3),
	NONE(NR_OPENAT2),
	YES(wait4), YES(waitid), YES(pidfd_open), YES(setitimer),
	YES(set_robust_list), YES(prlimit64), YES(uname), YES(sysinfo),
	YES(getppid), YES(getuid), YES(geteuid), YES(getgid), YES(getegid),
	YES_IF(prctl, 0, ALL, PR_SET_PDEATHSIG),
	YES_IF(prctl, 0, ALL, PR_SET_NAME),
	YES_IF(prctl, 0, ALL, PR_GET_NAME),
};

#define NO_OPEN_FOR_WRITING(name, arg)					\
	NO_IF(name, arg, O_ACCMODE, O_WRONLY),				\
	NO_IF(name, arg, O_ACCMODE, O_RDWR),				\
	NO_IF(name, arg, O_ACCMODE, O_ACCMODE),				\
	NO_IF(name, arg, O_CREAT, O_CREAT),				\
	NO_IF(name, arg, O_TRUNC, O_TRUNC)

#define NO_CLONE(flag)	NO_IF(clone, 0, flag, flag)

/* The monitor: everything but these. */
static const struct rule monitor_rules[] = {
	NO(execve), NO(execveat), NO(ptrace), NO(process_vm_writev),
	NO(mount), NO(umount2), NO(pivot_root), NO(chroot), NO(fsopen),
	NO(fsconfig), NO(fsmount), NO(fspick), NO(move_mount), NO(swapon),
	NO(swapoff),
	NO_NR(NR_OPEN_TREE), NO_NR(NR_MOUNT_SETATTR),
	NO_NR(NR_OPEN_TREE_ATTR),
	NO(setns), NO(unshare),
	NO_CLONE(CLONE_NEWNS), NO_CLONE(CLONE_NEWCGROUP),
	NO_CLONE(CLONE_NEWUTS), NO_CLONE(CLONE_NEWIPC),
	NO_CLONE(CLONE_NEWUSER), NO_CLONE(CLONE_NEWPID),
	NO_CLONE(CLONE_NEWNET),
	NONE(NR_CLONE3),	/* its flags are out of a filter's sight */
	NONE(NR_OPENAT2),
	NO(bpf), NO(perf_event_open), NO(userfaultfd), NO(init_module),
	NO(finit_module), NO(delete_module), NO(kexec_load),
	NO(kexec_file_load), NO(reboot),
	NO(keyctl), NO(add_key), NO(request_key), NO(open_by_handle_at),
	NO(io_uring_setup),	/* opens files without these calls */
	NO(acct), NO(quotactl), NO(settimeofday), NO(clock_settime),
	NO(sethostname), NO(setdomainname), NO(truncate), NO(mknodat),
	NO_OPEN_FOR_WRITING(openat, 2),
#ifdef __x86_64__
	NO_OPEN_FOR_WRITING(open, 1),
	NO(creat), NO(mknod), NO(iopl), NO(ioperm),
#endif
};

/*
 * The guard.  Opening is not narrowed: it reads what it finds and writes
 * copies, also of what a jail keeps (launcher/shadow/).  setns and the three mount calls are for its child, which puts
 * mounts back into a jail (launcher/guard/guard_mask.c).
 */
static const struct rule guard_rules[] = {
	RULES_COMPUTE,
#ifdef __x86_64__
	YES(poll), YES(open), YES(stat), YES(lstat), YES(readlink),
	YES(chmod),
#endif
	YES(ppoll), YES(read), YES(write), YES(pread64), YES(pwrite64),
	YES(close), YES(lseek), YES(ftruncate), YES(recvfrom), YES(recvmsg),
	YES_IF(sendto, 3, NOT_PLAIN, 0), YES_IF(sendmsg, 2, NOT_PLAIN, 0),
	YES_IF(fcntl, 1, ALL, F_GETFL), YES_IF(fcntl, 1, ALL, F_GETFD),
	YES_IF(fcntl, 1, ALL, F_SETFD), YES_IF(fcntl, 1, ALL, F_SETLEASE),
	YES_IF(fcntl, 1, ALL, F_DUPFD_CLOEXEC),
	YES(openat), YES_NR(NR_OPENAT2), YES(newfstatat), YES(fstat),
	YES(statx), YES(getdents64), YES(readlinkat), YES(mkdirat),
	YES(mknodat), YES(symlinkat), YES(unlinkat), YES(renameat),
	YES(renameat2), YES(fchmod), YES(fchmodat), YES(utimensat),
	YES(getcwd), YES(fstatfs), YES(flock), YES(fsync),
	YES(copy_file_range), YES_IF(ioctl, 1, ALL, FICLONE),
	YES(inotify_init1), YES(inotify_add_watch), YES(inotify_rm_watch),
	YES_IF(mmap, 2, PROT_EXEC, 0), YES_IF(mprotect, 2, PROT_EXEC, 0),
	YES_IF(clone, 0, NEW_NAMESPACES, 0), NONE(NR_CLONE3),
	YES(set_robust_list), YES(wait4),
	YES_IF(prctl, 0, ALL, PR_SET_PDEATHSIG),
	YES_IF(setns, 1, ALL, CLONE_NEWUSER),
	YES_IF(setns, 1, ALL, CLONE_NEWNS),
	YES_IF(ioctl, 1, ALL, NS_GET_USERNS),
	YES_NR(NR_OPEN_TREE), YES_NR(NR_MOVE_MOUNT),
	YES_NR(NR_MOUNT_SETATTR),
	YES(geteuid),
};

/* Waits, and removes. */
static const struct rule keeper_rules[] = {
	RULES_COMPUTE,
#ifdef __x86_64__
	YES(poll),
#endif
	YES(ppoll), YES(read), YES(close),
	YES_IF(unlinkat, 2, ALL, AT_REMOVEDIR),
};

/* As the keeper, of a list in a file; and files, once it has read them. */
static const struct rule sweeper_rules[] = {
	RULES_COMPUTE,
	YES(read), YES(close), YES(flock), YES(pread64), YES(ftruncate),
	YES_IF(openat, 2, NOT_FOR_READING, O_RDONLY),
	YES_IF2(mmap, 2, PROT_EXEC, 0, 3, MAP_ANONYMOUS, MAP_ANONYMOUS),
	YES(unlinkat),
};

#define MAY_TRACE(request)	YES_IF(ptrace, 0, ALL, request)

/*
 * The tracer: it attaches to processes, reads what /proc says of them, lets
 * them go or kills them, answers held calls, and writes a line to somebody
 * else's standard error.  No request of ptrace() that changes a process.
 */
static const struct rule tracer_rules[] = {
	RULES_COMPUTE,
#ifdef __x86_64__
	YES(poll), YES(readlink), YES(alarm),
#endif
	YES_IF(fcntl, 1, ALL, F_GETFL),
	YES(ppoll), YES(read), YES(write), YES(close), YES(readlinkat),
	YES(pread64), YES(newfstatat), YES(fstat), YES(process_vm_readv),
	YES(recvfrom), YES(recvmsg),
	YES_IF(sendto, 3, NOT_PLAIN, 0), YES_IF(sendmsg, 2, NOT_PLAIN, 0),
	YES_IF(openat, 2, NOT_FOR_READING, O_RDONLY),
	YES_IF(openat, 2, NOT_FOR_READING, O_WRONLY),
	MAY_TRACE(PTRACE_SEIZE), MAY_TRACE(PTRACE_INTERRUPT),
	MAY_TRACE(PTRACE_DETACH), MAY_TRACE(PTRACE_GETEVENTMSG),
	YES_IF(kill, 1, ALL, SIGKILL), YES(wait4),
	YES_IF(ioctl, 1, ALL, SECCOMP_IOCTL_NOTIF_RECV),
	YES_IF(ioctl, 1, ALL, SECCOMP_IOCTL_NOTIF_SEND),
	YES_IF(ioctl, 1, ALL, SECCOMP_IOCTL_NOTIF_ID_VALID),
	YES(pidfd_open), YES_NR(NR_PIDFD_GETFD), YES(setitimer),
	YES_IF(mmap, 2, PROT_EXEC, 0), YES_IF(mprotect, 2, PROT_EXEC, 0),
	YES_IF(clone, 0, NEW_NAMESPACES, 0), NONE(NR_CLONE3),
	YES(set_robust_list),
};

/* The looker: what it opens is no file yet (O_PATH). */
static const struct rule looker_rules[] = {
	RULES_COMPUTE,
#ifdef __x86_64__
	YES(poll), YES(readlink), YES(stat),
#endif
	YES_IF(openat, 2, O_PATH, O_PATH),
	YES(ppoll), YES(read), YES(close), YES(readlinkat),
	YES(newfstatat), YES(fstat), YES(statx), YES(fstatfs),
	YES_NR(NR_FACCESSAT2), YES(process_vm_readv), YES(setitimer),
	YES(recvfrom), YES_IF(sendto, 3, NOT_PLAIN, 0), YES(geteuid),
	YES_IF(ioctl, 1, ALL, SECCOMP_IOCTL_NOTIF_RECV),
	YES_IF(ioctl, 1, ALL, SECCOMP_IOCTL_NOTIF_SEND),
	YES_IF(ioctl, 1, ALL, SECCOMP_IOCTL_NOTIF_ID_VALID),
};

/* The minter: it waits for a byte, makes two sockets, sends and closes them. */
static const struct rule mint_rules[] = {
	YES(recvmsg), YES_IF(sendmsg, 2, NOT_PLAIN, 0), YES(close),
	MAY_MAKE(AF_INET, SOCK_STREAM, 0),
	MAY_MAKE(AF_INET6, SOCK_STREAM, 0),
	YES(exit), YES(exit_group), YES(rt_sigreturn), YES(restart_syscall),
};

/* From rows to a filter (seccomp_code.h: from its end to its start) */

enum { MAX_RULES = 256 };

/* All claims of the row hold, or the program goes on at `otherwise`. */
static size_t
code_rule(struct code *c, const struct rule *r, size_t otherwise)
{
	size_t place = code_return(c, r->action), failed = otherwise;
	unsigned n = 0;

	while (n < MAX_CLAIMS && r->claims[n].mask != 0)
		n++;
	/* What follows looks at the number again. */
	if (n > 0)
		failed = code_load(c, offsetof(struct seccomp_data, nr),
		    otherwise);
	while (n-- > 0) {
		const struct claim *cl = &r->claims[n];

		place = code_if(c, BPF_JEQ, cl->want, place, failed);
		place = code_and(c, cl->mask, place);
		/* The low half: both machines are little-endian. */
		place = code_load(c, offsetof(struct seccomp_data, args) +
		    cl->arg * 8, place);
	}
	return code_if(c, BPF_JEQ, r->nr, place, otherwise);
}

/* By number; rows of one call stay in their order. */
static void
sort_rules(const struct rule *rules, const struct rule **sorted, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		size_t at = i;

		for (; at > 0 && sorted[at - 1]->nr > rules[i].nr; at--)
			sorted[at] = sorted[at - 1];
		sorted[at] = &rules[i];
	}
}

/*
 * A binary search with the number in the accumulator: when a filter is
 * installed the kernel runs it once for every call there is, so the length of
 * the way through it is start-up time.
 */
static size_t
code_search(struct code *c, const struct rule *const *sorted, size_t n,
    uint32_t otherwise)
{
	size_t mid = n / 2, upper, place;

	while (mid > 0 && sorted[mid - 1]->nr == sorted[mid]->nr)
		mid--;
	if (mid == 0)		/* one call, or few rows at the front */
		for (mid = 1; mid < n && sorted[mid]->nr == sorted[0]->nr;)
			mid++;
	if (mid == n) {
		place = code_return(c, otherwise);
		while (n-- > 0)
			place = code_rule(c, sorted[n], place);
		return place;
	}
	upper = code_search(c, sorted + mid, n - mid, otherwise);
	place = code_search(c, sorted, mid, otherwise);
	return code_if(c, BPF_JGE, sorted[mid]->nr, upper, place);
}

static size_t
code_filter(struct code *c, const struct rule *const *sorted, size_t n,
    uint32_t otherwise)
{
	size_t place = code_search(c, sorted, n, otherwise);
	size_t dead = code_return(c, SECCOMP_RET_KILL_PROCESS);

	place = code_if(c, BPF_JGE, X32_BIT, dead, place);
	place = code_load(c, offsetof(struct seccomp_data, nr), place);
	place = code_if(c, BPF_JEQ, CONFINE_ARCH, place, dead);
	return code_load(c, offsetof(struct seccomp_data, arch), place);
}

static int
enter_filter(const struct buf *filter, struct err *e)
{
	struct sock_fprog prog = { .len = (unsigned short)(filter->len /
	    sizeof(struct sock_filter)), .filter = (void *)filter->data };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return err_sys(e, errno, "cannot set no_new_privs");
	if (prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &prog) != 0)
		return err_sys(e, errno, "cannot install a seccomp filter");
	return 0;
}

static int
install(const struct rule *rules, size_t n, uint32_t otherwise, struct err *e)
{
	const struct rule *sorted[MAX_RULES];
	struct code c;
	struct buf filter;
	int rc;

	if (n > MAX_RULES)
		return err_set(e, ERR_JAIL, "too many seccomp rules");
	sort_rules(rules, sorted, n);
	c.n = 0;
	c.failed = false;
	buf_init(&filter, 0);
	if (code_export(&c, code_filter(&c, sorted, n, otherwise),
	    &filter) != 0 || filter.failed)
		rc = err_set(e, ERR_JAIL, "seccomp filter too long");
	else
		rc = enter_filter(&filter, e);
	buf_release(&filter);
	return rc;
}

/* Landlock */

/*
 * Handled and never granted, but for connecting to one TCP port (0: none).  A
 * kernel without Landlock is no error.
 */
static int
enter_domain(const struct landlock_rights *wanted, uint16_t port,
    struct err *e)
{
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return err_sys(e, errno, "cannot set no_new_privs");
	if (landlock_enter(wanted, port) != 0)
		return err_sys(e, errno, "cannot enter a Landlock domain");
	return 0;
}

/* Capabilities */

/*
 * The bounding set stays as it is: no_new_privs makes it an empty promise,
 * nobody here may execute anything, and emptying it is eighty calls on the way
 * to the command.
 */
static int
drop_capabilities(struct err *e)
{
	return caps_drop() == 0 ? 0 :
	    err_sys(e, errno, "cannot drop capabilities");
}

/* The face */

int
confine_child(int death_signal, struct err *e)
{
	if (drop_capabilities(e) != 0)
		return -1;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return err_sys(e, errno, "cannot become undumpable");
	if (prctl(PR_SET_PDEATHSIG, death_signal, 0, 0, 0) != 0)
		return err_sys(e, errno, "cannot set a death signal");
	return 0;
}

int
confine_net(struct err *e)
{
	static const struct landlock_rights all = { ~0ull, ~0ull, ~0ull };

	if (enter_domain(&all, 0, e) != 0)
		return -1;
	return install(net_rules, NELEM(net_rules), REFUSE(EPERM), e);
}

int
confine_names(struct err *e)
{
	/* Reading stays; loading a module is reading to Landlock. */
	static const struct landlock_rights change = {
		~(uint64_t)(LANDLOCK_FS_READ_FILE | LANDLOCK_FS_READ_DIR |
		    LANDLOCK_FS_IOCTL_DEV),
		LANDLOCK_NET_BIND | LANDLOCK_NET_CONNECT,
		LANDLOCK_SCOPE_ABSTRACT | LANDLOCK_SCOPE_SIGNALS,
	};

	if (enter_domain(&change, DNS_PORT, e) != 0)
		return -1;
	return install(names_rules, NELEM(names_rules), REFUSE(EPERM), e);
}

int
confine_monitor(struct err *e)
{
	if (drop_capabilities(e) != 0)
		return -1;
	return install(monitor_rules, NELEM(monitor_rules), SECCOMP_RET_ALLOW,
	    e);
}

int
confine_guard(struct err *e)
{
	if (drop_capabilities(e) != 0)
		return -1;
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return err_sys(e, errno, "cannot become undumpable");
	return install(guard_rules, NELEM(guard_rules), REFUSE(EPERM), e);
}

int
confine_tracer(struct err *e)
{
	if (drop_capabilities(e) != 0)
		return -1;
	return install(tracer_rules, NELEM(tracer_rules), REFUSE(EPERM), e);
}

int
confine_looker(struct err *e)
{
	if (drop_capabilities(e) != 0)
		return -1;
	return install(looker_rules, NELEM(looker_rules), REFUSE(EPERM), e);
}

int
confine_keeper(struct err *e)
{
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return err_sys(e, errno, "cannot become undumpable");
	return install(keeper_rules, NELEM(keeper_rules), REFUSE(EPERM), e);
}

int
confine_sweeper(struct err *e)
{
	if (prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) != 0)
		return err_sys(e, errno, "cannot become undumpable");
	return install(sweeper_rules, NELEM(sweeper_rules), REFUSE(EPERM), e);
}

int
confine_mint(struct err *e)
{
	static const struct landlock_rights all = { ~0ull, ~0ull, ~0ull };

	if (enter_domain(&all, 0, e) != 0)
		return -1;
	return install(mint_rules, NELEM(mint_rules), REFUSE(EPERM), e);
}
