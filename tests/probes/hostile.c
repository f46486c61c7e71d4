#include "tests/probes/hostile.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/bpf.h>
#include <linux/perf_event.h>
#include <linux/seccomp.h>
#include <netinet/in.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/ptrace.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { NR_CLONE3 = 435, NR_OPENAT2 = 437, NR_PIDFD_GETFD = 438,
	NR_MEMFD_SECRET = 447, PAGE = 4096, MAX_FAMILY = 46 };

/* By number: no library stands between, and nothing is remembered. */
static long
call(long nr, long a, long b, long c, long d, long e, long f)
{
	long rv = syscall(nr, a, b, c, d, e, f);

	return rv < 0 ? -errno : rv;
}

#define P(p)	((long)(intptr_t)(p))
#define CALL(name, ...) CALL_NR(SYS_##name, __VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define CALL_NR(nr, ...) CALL_6(nr, __VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define CALL_6(nr, a, b, c, d, e, f, ...) \
	call(nr, (long)(a), (long)(b), (long)(c), (long)(d), (long)(e), \
	    (long)(f))

/* Closes what a call that worked has made. */
static long
made(long fd)
{
	if (fd >= 0)
		(void)CALL(close, fd);
	return fd;
}

#define ROW(name, expr) static long name(void) { return expr; }

/* Files */
ROW(open_read, made(CALL(openat, AT_FDCWD, P("/etc/passwd"), O_RDONLY)))
ROW(open_proc, made(CALL(openat, AT_FDCWD, P("/proc/self/maps"), O_RDONLY)))
ROW(open_write, made(CALL(openat, AT_FDCWD, P("hostile.tmp"),
    O_WRONLY | O_CREAT, 0600)))
ROW(open_tmpfile, made(CALL(openat, AT_FDCWD, P("."), O_TMPFILE | O_WRONLY,
    0600)))
ROW(open_path, made(CALL(openat, AT_FDCWD, P("/"), O_PATH)))
ROW(stat_root, CALL(newfstatat, AT_FDCWD, P("/"), P((struct stat[1]){ 0 }),
    0))
ROW(mkdir_here, CALL(mkdirat, AT_FDCWD, P("hostile.dir"), 0700))
ROW(rmdir_here, CALL(unlinkat, AT_FDCWD, P("hostile.dir"), AT_REMOVEDIR))
ROW(rename_here, CALL(renameat, AT_FDCWD, P("hostile.tmp"), AT_FDCWD,
    P("hostile.tmp")))
ROW(unlink_here, CALL(unlinkat, AT_FDCWD, P("hostile.tmp"), 0))
ROW(symlink_here, CALL(symlinkat, P("x"), AT_FDCWD, P("hostile.tmp")))
ROW(chmod_here, CALL(fchmodat, AT_FDCWD, P("."), 0755))
ROW(chdir_root, CALL(chdir, P(".")))
ROW(mount_tmp, CALL(mount, P("x"), P("/mnt"), P("tmpfs"), 0, 0))
ROW(chroot_here, CALL(chroot, P(".")))

static long
open_how(void)
{
	struct { uint64_t flags, mode, resolve; } how = { O_RDONLY, 0, 0 };

	return made(CALL_NR(NR_OPENAT2, AT_FDCWD, P("/etc/passwd"), P(&how),
	    sizeof how));
}

static long
read_link(void)
{
	char to[64];

	return CALL(readlinkat, AT_FDCWD, P("/proc/self/exe"), P(to),
	    sizeof to);
}

/* Programs.  None is there, so that a bare row goes on afterwards. */
static char *const no_words[] = { NULL };

ROW(exec_path, CALL(execve, P("/nonexistent"), P(no_words), P(no_words)))
ROW(exec_at, CALL(execveat, AT_FDCWD, P("/nonexistent"), P(no_words),
    P(no_words), 0))
ROW(exec_fd, CALL(execveat, 0, P(""), P(no_words), P(no_words),
    AT_EMPTY_PATH))
ROW(memfd, made(CALL(memfd_create, P("x"), 0)))
ROW(memfd_hidden, made(CALL_NR(NR_MEMFD_SECRET, 0)))

static long
forked(long pid)
{
	if (pid == 0)
		for (;;)
			(void)CALL(exit_group, 0);
	if (pid > 0)
		(void)CALL(wait4, pid, 0, 0, 0);
	return pid;
}

static long
clone_3(void)
{
	struct { uint64_t word[8]; } args = { { 0, 0, 0, 0, SIGCHLD } };

	return forked(CALL_NR(NR_CLONE3, P(&args), sizeof args));
}

ROW(clone_plain, forked(CALL(clone, SIGCHLD, 0, 0, 0, 0)))
#ifdef __x86_64__
ROW(fork_plain, forked(CALL(fork, 0)))
#endif

/* Sockets: every family, every type. */
static long
socket_any(void)
{
	static const int types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_RAW,
	    SOCK_SEQPACKET, SOCK_RDM, 6 /* DCCP */, 10 /* PACKET */ };
	long worst = -EPERM;

	for (int family = 0; family < MAX_FAMILY; family++)
		for (size_t i = 0; i < sizeof types / sizeof types[0]; i++) {
			long rv = made(CALL(socket, family, types[i], 0));

			if (rv != -EPERM)
				worst = rv < 0 && worst >= 0 ? worst : rv;
		}
	return worst;
}

ROW(socket_inet, made(CALL(socket, AF_INET, SOCK_STREAM, 0)))
ROW(socket_inet6, made(CALL(socket, AF_INET6, SOCK_STREAM, 0)))
ROW(socket_udp, made(CALL(socket, AF_INET, SOCK_DGRAM, 0)))
ROW(socket_mptcp, made(CALL(socket, AF_INET, SOCK_STREAM, 262)))
ROW(socket_unix, made(CALL(socket, AF_UNIX, SOCK_STREAM, 0)))
ROW(socket_netlink, made(CALL(socket, AF_NETLINK, SOCK_RAW, 9)))
ROW(socket_packet, made(CALL(socket, AF_PACKET, SOCK_RAW, 0)))

/* The world's name server, which has other ports, too. */
static long
connect_port(uint16_t port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
	    .sin_port = htons(port), .sin_addr.s_addr = htonl(0xcb007101) };
	long rv, fd = CALL(socket, AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		return fd;
	rv = CALL(connect, fd, P(&sin), sizeof sin);
	made(fd);
	return rv;
}

ROW(connect_dns, connect_port(53))
ROW(connect_web, connect_port(80))

static long
socket_pair(void)
{
	int sv[2];
	long rv = CALL(socketpair, AF_UNIX, SOCK_STREAM, 0, P(sv));

	if (rv == 0) {
		made(sv[0]);
		made(sv[1]);
	}
	return rv;
}

/* Other processes */
ROW(ptrace_me, CALL(ptrace, PTRACE_TRACEME, 0, 0, 0))
ROW(kill_self, CALL(kill, CALL(getpid, 0), 0))
ROW(tgkill_self, CALL(tgkill, CALL(getpid, 0), CALL(gettid, 0), 0))
ROW(tkill_self, CALL(tkill, CALL(gettid, 0), 0))
ROW(pidfd_self, made(CALL(pidfd_open, CALL(getpid, 0), 0)))
ROW(pidfd_fd, made(CALL_NR(NR_PIDFD_GETFD, 3, 0, 0)))
ROW(pidfd_signal, CALL(pidfd_send_signal, 3, 0, 0, 0))
ROW(prlimit_self, CALL(prlimit64, 0, RLIMIT_NOFILE, 0,
    P((struct rlimit[1]){ 0 })))
ROW(setpriority_self, CALL(setpriority, PRIO_PROCESS, 0, 19))
ROW(kcmp_self, CALL(kcmp, CALL(getpid, 0), CALL(getpid, 0), 0, 0, 0))

static long
vm_read(void)
{
	char from = 'x', to;
	struct iovec local = { &to, 1 }, remote = { &from, 1 };

	return CALL(process_vm_readv, CALL(getpid, 0), P(&local), 1,
	    P(&remote), 1, 0);
}

static long
vm_write(void)
{
	char from = 'x', to;
	struct iovec local = { &from, 1 }, remote = { &to, 1 };

	return CALL(process_vm_writev, CALL(getpid, 0), P(&local), 1,
	    P(&remote), 1, 0);
}

/* Code */
static long
map_exec(void)
{
	long rv = CALL(mmap, 0, PAGE, PROT_READ | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return rv < 0 && rv > -PAGE ? rv : 0;
}

static long
protect_with(long nr)
{
	static char page[2 * PAGE] __attribute__((aligned(PAGE)));

	return CALL_NR(nr, P(page), PAGE, PROT_READ | PROT_EXEC, -1);
}

ROW(protect_exec, protect_with(SYS_mprotect))
ROW(protect_pkey, protect_with(SYS_pkey_mprotect))
ROW(shm_get, CALL(shmget, 0, PAGE, 0600))
ROW(persona, CALL(personality, 0x0400000))	/* READ_IMPLIES_EXEC */

/* Doors of the kernel */
static long
ring(void)
{
	char params[256] = { 0 };

	return made(CALL(io_uring_setup, 4, P(params)));
}

ROW(ring_enter, CALL(io_uring_enter, 3, 1, 1, 0, 0, 0))
ROW(ring_register, CALL(io_uring_register, 3, 0, 0, 0))

static long
bpf_map(void)
{
	union bpf_attr attr = { .map_type = BPF_MAP_TYPE_ARRAY,
	    .key_size = 4, .value_size = 4, .max_entries = 1 };

	return made(CALL(bpf, BPF_MAP_CREATE, P(&attr), sizeof attr));
}

static long
perf(void)
{
	struct perf_event_attr attr = { .type = PERF_TYPE_SOFTWARE,
	    .size = sizeof attr, .config = PERF_COUNT_SW_CPU_CLOCK };

	return made(CALL(perf_event_open, P(&attr), 0, -1, -1, 0));
}

ROW(fault, made(CALL(userfaultfd, O_CLOEXEC | 1)))
ROW(key_ring, CALL(keyctl, 0, -3, 0))
ROW(ns_user, CALL(unshare, CLONE_NEWUSER))
ROW(ns_enter, CALL(setns, 0, 0))
ROW(notify_files, made(CALL(inotify_init1, 0)))
ROW(uname_host, CALL(uname, P((char[400]){ 0 })))
ROW(prctl_name, CALL(prctl, 15, P("x")))
ROW(prctl_dump, CALL(prctl, 4, 1))
ROW(seccomp_more, CALL(seccomp, SECCOMP_GET_ACTION_AVAIL, 0,
    P((uint32_t[1]){ SECCOMP_RET_ALLOW })))

/* Descriptors */
ROW(dup_one, made(CALL(dup, 0)))
ROW(dup_by_fcntl, made(CALL(fcntl, 0, F_DUPFD, 20)))
ROW(set_owner, CALL(fcntl, 0, F_SETOWN, 0))
ROW(new_epoll, made(CALL(epoll_create1, 0)))
ROW(new_event, made(CALL(eventfd2, 0, 0)))
ROW(new_timer, made(CALL(timerfd_create, 1, 0)))

static long
new_pipe(void)
{
	int fds[2];
	long rv = CALL(pipe2, P(fds), 0);

	if (rv == 0) {
		made(fds[0]);
		made(fds[1]);
	}
	return rv;
}

#define PLAIN(fn)	{ #fn, fn, 0 }
#define MAY(fn)		{ #fn, fn, HOSTILE_NAMES_MAY }
#define PRIV(fn)	{ #fn, fn, HOSTILE_PRIVILEGED }

const struct hostile_row hostile_rows[] = {
	MAY(open_read), MAY(open_proc), PLAIN(open_write),
	PLAIN(open_tmpfile), MAY(open_path), PLAIN(open_how), MAY(stat_root),
	MAY(read_link), PLAIN(mkdir_here), PLAIN(rmdir_here),
	PLAIN(rename_here), PLAIN(unlink_here), PLAIN(symlink_here),
	PLAIN(unlink_here), PLAIN(chmod_here), PLAIN(chdir_root),
	PRIV(mount_tmp), PRIV(chroot_here),
	PLAIN(exec_path), PLAIN(exec_at), PLAIN(exec_fd), PLAIN(memfd),
	PLAIN(memfd_hidden), PLAIN(clone_3), MAY(clone_plain),
#ifdef __x86_64__
	PLAIN(fork_plain),
#endif
	MAY(socket_any), MAY(socket_inet), MAY(socket_inet6),
	MAY(socket_udp), PLAIN(socket_mptcp), PLAIN(socket_unix),
	PLAIN(socket_netlink), PRIV(socket_packet), PLAIN(socket_pair),
	MAY(connect_dns), PLAIN(connect_web),
	PLAIN(kill_self), PLAIN(tgkill_self),
	PLAIN(tkill_self), MAY(pidfd_self), PLAIN(pidfd_fd),
	PLAIN(pidfd_signal), MAY(prlimit_self), PLAIN(setpriority_self),
	PLAIN(kcmp_self), PLAIN(vm_read), PLAIN(vm_write),
	MAY(map_exec), MAY(protect_exec), PLAIN(protect_pkey),
	PLAIN(shm_get), PLAIN(persona), PRIV(ring), PLAIN(ring_enter),
	PLAIN(ring_register), PRIV(bpf_map), PRIV(perf), PRIV(fault),
	PLAIN(key_ring), PRIV(ns_user), PRIV(ns_enter), PLAIN(notify_files),
	MAY(uname_host), MAY(prctl_name), PLAIN(prctl_dump),
	PLAIN(seccomp_more), MAY(dup_one), PLAIN(dup_by_fcntl),
	PLAIN(set_owner), MAY(new_epoll), MAY(new_event), MAY(new_timer),
	MAY(new_pipe), PLAIN(ptrace_me),
};
const size_t hostile_nrows = sizeof hostile_rows / sizeof hostile_rows[0];

const char *
hostile_errno(long rv)
{
	const char *name;

	if (rv >= 0)
		return "OK";
	name = strerrorname_np((int)-rv);
	return name != NULL ? name : "?";
}

size_t
hostile_try(const struct hostile_row *r, char *text, size_t size)
{
	return (size_t)snprintf(text, size, "%s %s\n", r->name,
	    hostile_errno(r->fn()));
}
