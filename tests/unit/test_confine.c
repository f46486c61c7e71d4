#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/fs.h>
#include <linux/netlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/file.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/vfs.h>
#include <sys/time.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/confine.h"

/* Each tries one thing and returns 0 or errno. */

static int sv[2], tcp_fd;
static struct sockaddr_in listener;

static int
result(long rv)
{
	return rv >= 0 ? 0 : errno;
}

static int try_open_read(void)
{ return result(open("/etc/passwd", O_RDONLY | O_CLOEXEC)); }
static int try_open_write(void)
{ return result(open("/dev/null", O_WRONLY | O_CLOEXEC)); }
static int try_open_rdwr(void)
{ return result(open("/dev/null", O_RDWR | O_CLOEXEC)); }
static int try_create(void)
{ return result(open("/dev/null", O_RDONLY | O_CREAT | O_CLOEXEC, 0600)); }
static int try_truncate(void)
{ return result(open("/dev/null", O_RDONLY | O_TRUNC | O_CLOEXEC)); }
static int try_openat2(void)
{ return result(syscall(437, AT_FDCWD, "/etc/passwd", NULL, 0)); }
static int try_mkdir(void)
{ return result(mkdir("/nonexistent/x", 0700)); }
static int try_exec(void)
{ return result(execl("/nonexistent", "x", (char *)NULL)); }
static int try_execveat(void)
{ return result(syscall(SYS_execveat, -1, "/nonexistent", NULL, NULL, 0)); }
static int try_inet(void)
{ return result(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0)); }
static int try_packet(void)
{ return result(socket(AF_PACKET, SOCK_RAW | SOCK_CLOEXEC, 0)); }
static int try_vsock(void)
{ return result(socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0)); }
static int try_listen(void)
{ return result(listen(sv[0], 1)); }
static int try_accept(void)
{ return result(accept(sv[0], NULL, NULL)); }
static int try_kill(void)
{ return result(kill(getpid(), 0)); }
static int try_ptrace(void)
{ return result(ptrace(PTRACE_TRACEME, 0, NULL, NULL)); }
static int try_unshare(void)
{ return result(unshare(CLONE_NEWUSER)); }
static int try_setns(void)
{ return result(setns(-1, 0)); }
static int try_mount(void)
{ return result(mount("none", "/nonexistent", "tmpfs", 0, NULL)); }
static int try_fsopen(void)
{ return result(syscall(SYS_fsopen, "tmpfs", 0)); }
static int try_open_tree(void)
{ return result(syscall(428, AT_FDCWD, "/nonexistent", 1)); }
static int try_bpf(void)
{ return result(syscall(SYS_bpf, 9999, NULL, 0)); }
static int try_keyctl(void)
{ return result(syscall(SYS_keyctl, 9999)); }
static int try_uring(void)
{ return result(syscall(SYS_io_uring_setup, 0, NULL)); }
static int try_clone3(void)
{ return result(syscall(435, NULL, 0)); }
static int try_clone_ns(void)
{ return result(syscall(SYS_clone, CLONE_NEWUSER | SIGCHLD, 0, 0, 0, 0)); }
static int try_dup(void)
{ return result(fcntl(0, F_DUPFD, 0)); }
static int try_getfl(void)
{ return result(fcntl(0, F_GETFL)); }
static int try_tty(void)
{ return result(syscall(SYS_ioctl, sv[0], 0x5412, "x")); }
static int try_exit_signal(void)
{ return result(prctl(PR_SET_PDEATHSIG, SIGKILL)); }
static int try_dumpable(void)
{ return result(prctl(PR_SET_DUMPABLE, 1)); }

static int try_unix(void)
{ return result(socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0)); }
static int try_raw(void)
{ return result(socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW)); }
static int try_netlink(void)
{ return result(socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, 0)); }
static int try_sock_diag(void)
{ return result(socket(AF_NETLINK, SOCK_RAW, NETLINK_SOCK_DIAG)); }
static int try_kill_parent(void)
{ return result(kill(getppid(), 0)); }
static int try_connect(void)
{ return result(connect(tcp_fd, (void *)&listener, sizeof listener)); }
static int try_mptcp(void)
{ return result(socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 262)); }
static int try_timer(void)
{ return result(setitimer(ITIMER_REAL, &(struct itimerval){ 0 }, NULL)); }

/* Whether anybody listens there is not the question. */
static int
try_name_server(void)
{
	struct sockaddr_in sin = listener;

	sin.sin_port = htons(53);
	if (connect(tcp_fd, (void *)&sin, sizeof sin) != 0 &&
	    errno != ECONNREFUSED)
		return errno;
	return 0;
}

/* A datagram socket, wherever it comes from, can be sent from anywhere to. */
static int
try_unix_datagrams(void)
{
	int pair[2];

	return result(socketpair(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0, pair));
}

static int
try_resolver_pair(void)
{
	int pair[2];

	return result(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
	    pair));
}

/* connect() in disguise; EINPROGRESS would mean that it is on its way. */
static int
try_fastopen_sendto(void)
{
	return result(sendto(tcp_fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL |
	    MSG_DONTWAIT, (void *)&listener, sizeof listener));
}

static int
try_fastopen_sendmsg(void)
{
	struct iovec iov = { (void *)(uintptr_t)"x", 1 };
	struct msghdr msg = { .msg_name = &listener, .msg_iov = &iov,
	    .msg_namelen = sizeof listener, .msg_iovlen = 1 };

	return result(sendmsg(tcp_fd, &msg, MSG_FASTOPEN | MSG_NOSIGNAL |
	    MSG_DONTWAIT));
}

static int
try_fastopen_sendmmsg(void)
{
	struct iovec iov = { (void *)(uintptr_t)"x", 1 };
	struct mmsghdr msg = { .msg_hdr = { .msg_name = &listener,
	    .msg_iov = &iov, .msg_namelen = sizeof listener,
	    .msg_iovlen = 1 } };

	return result(sendmmsg(tcp_fd, &msg, 1, MSG_FASTOPEN | MSG_NOSIGNAL |
	    MSG_DONTWAIT));
}

static int
try_plain_send(void)
{
	return result(send(sv[0], "", 1, MSG_NOSIGNAL | MSG_DONTWAIT));
}

static int
try_nodelay(void)
{
	int one = 1;

	return result(setsockopt(tcp_fd, IPPROTO_TCP, TCP_NODELAY, &one,
	    sizeof one));
}

static int
try_linger(void)
{
	struct linger now = { .l_onoff = 1, .l_linger = 0 };

	return result(setsockopt(tcp_fd, SOL_SOCKET, SO_LINGER, &now,
	    sizeof now));
}

static int
try_recverr(void)
{
	int one = 1;

	return result(setsockopt(tcp_fd, IPPROTO_IP, IP_RECVERR, &one,
	    sizeof one));
}

/* EPERM if every option that could lead a connection astray is refused. */
static int
try_options(void)
{
	static const struct { int level, name; } options[] = {
		{ IPPROTO_TCP, TCP_FASTOPEN_CONNECT },
		{ IPPROTO_TCP, TCP_FASTOPEN }, { IPPROTO_TCP, TCP_REPAIR },
		{ IPPROTO_TCP, TCP_ULP }, { IPPROTO_IP, IP_OPTIONS },
		{ IPPROTO_IP, IP_TRANSPARENT }, { IPPROTO_IP, IP_FREEBIND },
		{ SOL_SOCKET, SO_BINDTODEVICE }, { SOL_SOCKET, SO_MARK },
		{ SOL_SOCKET, SO_ATTACH_FILTER }, { SOL_SOCKET, SO_REUSEPORT },
		/* The right name at the wrong level. */
		{ SOL_SOCKET, TCP_NODELAY }, { IPPROTO_TCP, SO_LINGER },
	};

	for (size_t i = 0; i < sizeof options / sizeof options[0]; i++)
		if (setsockopt(tcp_fd, options[i].level, options[i].name, NULL,
		    0) == 0 || errno != EPERM)
			return errno;
	return EPERM;
}

static int
try_getsockopt(void)
{
	int value;
	socklen_t len = sizeof value;

	return result(getsockopt(tcp_fd, SOL_SOCKET, SO_ERROR, &value, &len));
}

static int
try_messages(void)
{
	char byte;

	return write(sv[0], "x", 1) == 1 && read(sv[1], &byte, 1) == 1 ? 0 :
	    errno;
}

static int
try_memory(void)
{
	char *p = malloc(1 << 20);

	if (p == NULL)
		return errno;
	memset(p, 1, 1 << 20);
	free(p);
	return 0;
}

static int
try_exec_memory(void)
{
	void *p = mmap(NULL, 4096, PROT_READ | PROT_EXEC,
	    MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	return p != MAP_FAILED ? 0 : errno;
}

static int
try_mprotect_exec(void)
{
	void *p = mmap(NULL, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1,
	    0);

	return result(mprotect(p, 4096, PROT_READ | PROT_EXEC));
}

static int
try_fork(void)
{
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(0);
	return result(pid > 0 ? waitpid(pid, &status, 0) : -1);
}

static int
try_poll(void)
{
	struct pollfd p = { .fd = sv[0], .events = POLLOUT };

	return result(poll(&p, 1, 0));
}

enum { DONT_CARE = -1 };

static const struct {
	const char	*name;
	int		(*fn)(void);
	int		 net, names, monitor;
} t[] = {
	{ "open for reading", try_open_read, EPERM, 0, 0 },
	{ "open for writing", try_open_write, EPERM, EPERM, EPERM },
	{ "open for both", try_open_rdwr, EPERM, EPERM, EPERM },
	{ "create", try_create, EPERM, EPERM, EPERM },
	{ "truncate", try_truncate, EPERM, EPERM, EPERM },
	{ "openat2", try_openat2, EPERM, ENOSYS, ENOSYS },
	{ "mkdir", try_mkdir, EPERM, EPERM, ENOENT },
	{ "execve", try_exec, EPERM, EPERM, EPERM },
	{ "execveat", try_execveat, EPERM, EPERM, EPERM },
	{ "socket inet", try_inet, EPERM, 0, 0 },
	{ "socket packet", try_packet, EPERM, EPERM, DONT_CARE },
	{ "socket vsock", try_vsock, EPERM, EPERM, DONT_CARE },
	{ "listen", try_listen, EPERM, EPERM, DONT_CARE },
	{ "accept", try_accept, EPERM, EPERM, DONT_CARE },
	{ "socket unix", try_unix, EPERM, EPERM, DONT_CARE },
	{ "unix datagrams", try_unix_datagrams, EPERM, EPERM, DONT_CARE },
	{ "a resolver's pair", try_resolver_pair, EPERM, 0, DONT_CARE },
	{ "socket raw", try_raw, EPERM, EPERM, EPERM },
	{ "socket netlink", try_netlink, EPERM, 0, DONT_CARE },
	{ "socket sock_diag", try_sock_diag, EPERM, EPERM, DONT_CARE },
	{ "socket mptcp", try_mptcp, EPERM, EPERM, DONT_CARE },
	{ "connect", try_connect, EPERM, DONT_CARE, 0 },
	{ "connect to a name server", try_name_server, EPERM, 0, 0 },
	{ "sendto fastopen", try_fastopen_sendto, EPERM, EPERM, DONT_CARE },
	{ "sendmsg fastopen", try_fastopen_sendmsg, EPERM, EPERM, DONT_CARE },
	{ "sendmmsg fastopen", try_fastopen_sendmmsg, EPERM, EPERM,
	    DONT_CARE },
	{ "plain send", try_plain_send, 0, 0, 0 },
	{ "set TCP_NODELAY", try_nodelay, EPERM, EPERM, 0 },
	{ "set SO_LINGER", try_linger, 0, EPERM, 0 },
	{ "set IP_RECVERR", try_recverr, EPERM, 0, 0 },
	{ "set other options", try_options, EPERM, EPERM, DONT_CARE },
	{ "getsockopt", try_getsockopt, EPERM, 0, 0 },
	{ "kill", try_kill, EPERM, EPERM, 0 },
	{ "kill the parent", try_kill_parent, EPERM, EPERM, 0 },
	{ "timer", try_timer, EPERM, 0, 0 },
	{ "ptrace", try_ptrace, EPERM, EPERM, EPERM },
	{ "unshare", try_unshare, EPERM, EPERM, EPERM },
	{ "setns", try_setns, EPERM, EPERM, EPERM },
	{ "mount", try_mount, EPERM, EPERM, EPERM },
	{ "fsopen", try_fsopen, EPERM, EPERM, EPERM },
	{ "open_tree", try_open_tree, EPERM, EPERM, EPERM },
	{ "bpf", try_bpf, EPERM, EPERM, EPERM },
	{ "keyctl", try_keyctl, EPERM, EPERM, EPERM },
	{ "io_uring", try_uring, EPERM, EPERM, EPERM },
	{ "clone3", try_clone3, EPERM, ENOSYS, ENOSYS },
	{ "clone namespaces", try_clone_ns, EPERM, EPERM, EPERM },
	{ "fork", try_fork, EPERM, 0, 0 },
	{ "dup", try_dup, EPERM, EPERM, 0 },
	{ "get flags", try_getfl, 0, 0, 0 },
	{ "TIOCSTI", try_tty, EPERM, EPERM, DONT_CARE },
	{ "death signal", try_exit_signal, EPERM, 0, 0 },
	{ "dumpable", try_dumpable, EPERM, EPERM, 0 },
	{ "messages", try_messages, 0, 0, 0 },
	{ "memory", try_memory, 0, 0, 0 },
	{ "executable memory", try_exec_memory, EPERM, 0, 0 },
	{ "memory made executable", try_mprotect_exec, EPERM, 0, 0 },
	{ "poll", try_poll, 0, 0, 0 },
};

/* In a child, as there is no way back. */
static int
confined(int (*confine)(struct err *), int (*fn)(void))
{
	int status, rv;
	pid_t pid = fork();

	if (pid == 0) {
		rv = confine(NULL) != 0 ? 250 : fn();
		syscall(SYS_exit_group, rv);
	}
	assert_int_equal(waitpid(pid, &status, 0), pid);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 251;
}

static int
open_sockets(void)
{
	socklen_t len = sizeof listener;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	listener = (struct sockaddr_in){ .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	assert_int_equal(bind(fd, (void *)&listener, sizeof listener), 0);
	assert_int_equal(listen(fd, 64), 0);
	assert_int_equal(getsockname(fd, (void *)&listener, &len), 0);
	return fd;
}

static void
run_table(int (*confine)(struct err *), int which)
{
	int fd = open_sockets();

	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		int want = which == 0 ? t[i].net : which == 1 ? t[i].names :
		    t[i].monitor;
		int got;

		if (want == DONT_CARE)
			continue;
		tcp_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		got = confined(confine, t[i].fn);
		close(tcp_fd);
		if (got != want)
			fail_msg("%s: %d, not %d", t[i].name, got, want);
	}
	close(sv[0]);
	close(sv[1]);
	close(fd);
}

static void
test_net(void **state)
{
	(void)state;
	run_table(confine_net, 0);
}

static void
test_names(void **state)
{
	enum { NR_LANDLOCK_CREATE = 444, ABI_PORTS = 4 };
	int fd;

	(void)state;
	run_table(confine_names, 1);
	if (syscall(NR_LANDLOCK_CREATE, NULL, 0, 1) < ABI_PORTS)
		return;
	fd = open_sockets();
	tcp_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(confined(confine_names, try_connect), EACCES);
	close(tcp_fd);
	close(sv[0]);
	close(sv[1]);
	close(fd);
}

static void
test_monitor(void **state)
{
	(void)state;
	run_table(confine_monitor, 2);
}

/* The minter makes TCP sockets and passes them on, and that is all. */
static void
test_mint(void **state)
{
	int fd = open_sockets();

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		bool may = t[i].fn == try_inet;
		int got;

		tcp_fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
		got = confined(confine_mint, t[i].fn);
		close(tcp_fd);
		/* Without memory of its own, one ends by a signal. */
		if ((got == 0) != may || got == 250)
			fail_msg("%s: %d", t[i].name, got);
	}
	close(sv[0]);
	close(sv[1]);
	close(fd);
}

static int
try_rmdir(void)
{
	return result(unlinkat(AT_FDCWD, "/nowhere/at/all", AT_REMOVEDIR));
}

static int
try_unlink(void)
{
	return result(unlinkat(AT_FDCWD, "/nowhere/at/all", 0));
}

/* Attaches, reads, kills for good: 3 is ESRCH, where nobody is. */
static int
try_seize(void)
{
	return result(ptrace(PTRACE_SEIZE, 0x7ffffff0, NULL, NULL));
}

static int
try_poke(void)
{
	return result(ptrace(PTRACE_POKEDATA, 0x7ffffff0, NULL, NULL));
}

static int
try_attach(void)
{
	return result(ptrace(PTRACE_ATTACH, 0x7ffffff0, NULL, NULL));
}

static int
try_kill_hard(void)
{
	return result(kill(0x7ffffff0, SIGKILL));
}

static int
try_write_memory(void)
{
	return result(process_vm_writev(0x7ffffff0, NULL, 0, NULL, 0, 0));
}

static void
test_tracer(void **state)
{
	int (*const refused[])(void) = { try_exec, try_inet, try_unix,
	    try_kill, try_ptrace, try_poke, try_attach, try_write_memory,
	    try_create, try_truncate, try_open_rdwr, try_mkdir, try_unlink,
	    try_mount, try_setns, try_clone_ns };

	(void)state;
	assert_int_equal(confined(confine_tracer, try_open_read), 0);
	assert_int_equal(confined(confine_tracer, try_open_write), 0);
	assert_int_equal(confined(confine_tracer, try_poll), 0);
	assert_int_equal(confined(confine_tracer, try_fork), 0);
	assert_int_equal(confined(confine_tracer, try_seize), ESRCH);
	assert_int_equal(confined(confine_tracer, try_kill_hard), ESRCH);
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		if (confined(confine_tracer, refused[i]) != EPERM)
			fail_msg("row %zu", i);
}

/* It removes empty folders, and can do nothing else. */
static void
test_keeper(void **state)
{
	int (*const refused[])(void) = { try_open_read, try_open_write,
	    try_exec, try_mkdir, try_inet, try_kill, try_ptrace, try_mount,
	    try_fork, try_unlink };

	(void)state;
	assert_int_equal(confined(confine_keeper, try_rmdir), ENOENT);
	assert_int_equal(confined(confine_keeper, try_poll), 0);
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		assert_int_equal(confined(confine_keeper, refused[i]),
		    EPERM);
}

static int
try_way(void)
{
	return result(open("/", O_PATH | O_DIRECTORY | O_CLOEXEC));
}

/* As the keeper; it also reads files, and removes them. */
static void
test_sweeper(void **state)
{
	int (*const refused[])(void) = { try_open_write, try_exec,
	    try_mkdir, try_inet, try_kill, try_ptrace, try_mount, try_fork,
	    try_create, try_truncate };

	(void)state;
	assert_int_equal(confined(confine_sweeper, try_rmdir), ENOENT);
	assert_int_equal(confined(confine_sweeper, try_way), 0);
	assert_int_equal(confined(confine_sweeper, try_open_read), 0);
	assert_int_equal(confined(confine_sweeper, try_unlink), ENOENT);
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		assert_int_equal(confined(confine_sweeper, refused[i]),
		    EPERM);
}

static int
try_file_system(void)
{
	struct statfs fs;

	return result(fstatfs(STDIN_FILENO, &fs));
}

/* EBADF: the kernel was asked. */
static int
try_lock_and_copy(void)
{
	int tried[] = { result(flock(-1, LOCK_EX)), result(fsync(-1)),
	    result((int)copy_file_range(-1, NULL, -1, NULL, 1, 0)),
	    result(ioctl(-1, FICLONE, -1)) };

	for (size_t i = 0; i < sizeof tried / sizeof *tried; i++)
		if (tried[i] != EBADF)
			return 100 + (int)i;
	return EBADF;
}

/* It opens, moves and asks what kind of disk it is on; it starts nothing. */
static void
test_guard(void **state)
{
	int (*const refused[])(void) = { try_exec, try_inet, try_kill,
	    try_ptrace, try_fastopen_sendto };

	(void)state;
	assert_int_equal(confined(confine_guard, try_open_read), 0);
	assert_int_equal(confined(confine_guard, try_file_system), 0);
	assert_int_equal(confined(confine_guard, try_poll), 0);
	assert_int_equal(confined(confine_guard, try_unlink), ENOENT);
	assert_int_equal(confined(confine_guard, try_lock_and_copy), EBADF);
	for (size_t i = 0; i < sizeof refused / sizeof refused[0]; i++)
		assert_int_equal(confined(confine_guard, refused[i]), EPERM);
}

static int
confine_as_child(struct err *e)
{
	return confine_child(SIGTERM, e);
}

static int
try_is_child(void)
{
	int sig = 0;

	prctl(PR_GET_PDEATHSIG, &sig);
	return sig == SIGTERM && prctl(PR_GET_DUMPABLE) == 0 &&
	    prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : 1;
}

static void
test_child(void **state)
{
	(void)state;
	assert_int_equal(confined(confine_as_child, try_is_child), 0);
}

/* No capability of any kind, and none to come by execve. */
static int
try_capabilities(void)
{
	struct __user_cap_header_struct head = {
	    .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct has[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &head, has) != 0)
		return errno;
	for (int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++)
		if ((has[i].effective | has[i].permitted |
		    has[i].inheritable) != 0)
			return 1;
	return prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) == 1 ? 0 : 2;
}

static void
test_capabilities(void **state)
{
	(void)state;
	assert_int_equal(confined(confine_as_child, try_capabilities), 0);
	assert_int_equal(confined(confine_monitor, try_capabilities), 0);
}

#ifdef __x86_64__
static int
try_int80(void)
{
	long rv;

	/* getpid() of the 32-bit table: another machine, not a refusal. */
	__asm__ volatile("int $0x80" : "=a"(rv) : "0"(20) : "memory");
	return 0;
}

static int
try_x32(void)
{
	return result(syscall(0x40000000 + SYS_getpid));
}

static void
test_other_machines(void **state)
{
	(void)state;
	assert_int_equal(confined(confine_net, try_int80), 251);
	assert_int_equal(confined(confine_names, try_x32), 251);
	assert_int_equal(confined(confine_monitor, try_x32), 251);
}
#endif

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_net),
		cmocka_unit_test(test_names),
		cmocka_unit_test(test_mint),
		cmocka_unit_test(test_tracer),
		cmocka_unit_test(test_monitor),
		cmocka_unit_test(test_keeper),
		cmocka_unit_test(test_sweeper),
		cmocka_unit_test(test_guard),
		cmocka_unit_test(test_child),
		cmocka_unit_test(test_capabilities),
#ifdef __x86_64__
		cmocka_unit_test(test_other_machines),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
