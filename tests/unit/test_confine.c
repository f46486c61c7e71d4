#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <netinet/in.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/confine.h"

/* Each tries one thing and returns 0 or errno. */

static int sv[2];

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
	{ "kill", try_kill, EPERM, 0, 0 },
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

static void
run_table(int (*confine)(struct err *), int which)
{
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		int want = which == 0 ? t[i].net : which == 1 ? t[i].names :
		    t[i].monitor;
		int got;

		if (want == DONT_CARE)
			continue;
		got = confined(confine, t[i].fn);
		if (got != want)
			fail_msg("%s: %d, not %d", t[i].name, got, want);
	}
	close(sv[0]);
	close(sv[1]);
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
	(void)state;
	run_table(confine_names, 1);
}

static void
test_monitor(void **state)
{
	(void)state;
	run_table(confine_monitor, 2);
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
		cmocka_unit_test(test_monitor),
		cmocka_unit_test(test_child),
#ifdef __x86_64__
		cmocka_unit_test(test_other_machines),
#endif
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
