/*
 * The jail's filters as the kernel sees them: each is loaded by a child,
 * which then tries.  What the filters say in general is in test_seccomp.c.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdlib.h>
#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/personality.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/linux/seccomp.h"

#define HIGH	UINT64_C(0xdeadbeef00000000)
#ifndef SYS_fchmodat2
#define SYS_fchmodat2	452
#endif

static void
install(enum seccomp_who who)
{
	struct sock_fprog prog;
	struct buf filter;
	struct err e;

	buf_init(&filter, 0);
	if (seccomp_jail_filter(who, &filter, &e) < 0)
		_exit(98);
	prog.len = filter.len / sizeof(struct sock_filter);
	prog.filter = (void *)filter.data;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0 ||
	    syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog) < 0)
		_exit(99);
}

static bool
says(long rv, int error)
{
	return rv == -1 && errno == error;
}

/* Ends by itself with status 3, in each way that libc has. */
static bool
can_fork(void)
{
	char *argv[] = { "sh", "-c", "exit 3", NULL };
	char *envp[] = { NULL };
	int status;
	pid_t pid = fork();

	if (pid == 0)
		_exit(3);
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status != 3 << 8)
		return false;
	if (posix_spawn(&pid, "/bin/sh", NULL, NULL, argv, envp) != 0)
		return false;
	return waitpid(pid, &status, 0) == pid && status == 3 << 8;
}

static void *
thread(void *arg)
{
	return arg;
}

static bool
can_thread(void)
{
	pthread_t t;
	void *ret;

	return pthread_create(&t, NULL, thread, &ret) == 0 &&
	    pthread_join(t, &ret) == 0 && ret == &ret;
}

#if defined(__x86_64__)
static long
int80(long nr, long a)
{
	long rv;

	__asm__ volatile("int $0x80" : "=a"(rv) : "a"(nr), "b"(a), "c"(0L),
	    "d"(0L), "S"(0L), "D"(0L) : "memory", "r8", "r9", "r10", "r11");
	return rv;
}

static bool
dies_of_x32(void)
{
	pid_t pid = fork();
	int status;

	if (pid == 0) {
		syscall(0x40000000 | SYS_getpid);
		_exit(0);
	}
	return waitpid(pid, &status, 0) == pid && WIFSIGNALED(status) &&
	    WTERMSIG(status) == SIGSYS;
}
#endif

/* What holds in every filter; the number of what is wrong, or 0. */
static int
look_around(enum seccomp_who who)
{
	install(who);
	if (!says(socket(AF_VSOCK, SOCK_STREAM, 0), EPERM) ||
	    !says(socketpair(AF_VSOCK, SOCK_STREAM, 0, (int[2]){ 0 }), EPERM))
		return 2;
	if (socket(AF_INET, SOCK_STREAM, 0) < 0 ||
	    socket(AF_NETLINK, SOCK_RAW, 0) < 0)
		return 3;
	if (!says(socket(AF_NETLINK, SOCK_RAW, 12), EPERM) ||
	    !says(socket(AF_INET, SOCK_STREAM, 132), EPERM))
		return 4;
	if (!says(syscall(SYS_ioctl, 0, HIGH | TIOCSTI, 0), EPERM) ||
	    !says(syscall(SYS_ioctl, 0, HIGH | TIOCLINUX, 0), EPERM) ||
	    !says(ioctl(-1, TIOCGWINSZ, NULL), EBADF))
		return 5;
	if (!says(syscall(435, 0, 0), ENOSYS) ||
	    !says(syscall(467, 0, 0), ENOSYS) ||
	    !says(syscall(4000, 0, 0), ENOSYS))
		return 6;
	if (!can_fork() || !can_thread())
		return 7;
#if defined(__x86_64__)
	if (!dies_of_x32())
		return 9;
#endif
	return 0;
}

static int
usual(void)
{
	int rv = look_around(SECCOMP_USER);

	if (rv != 0)
		return rv;
	if (!says(unshare(CLONE_NEWUSER), EPERM) || unshare(CLONE_FS) < 0)
		return 10;
	if (!says(personality(READ_IMPLIES_EXEC), EPERM) ||
	    personality(ADDR_NO_RANDOMIZE) < 0 ||
	    personality(UINT32_MAX) != ADDR_NO_RANDOMIZE)
		return 11;
	if (ptrace(PTRACE_TRACEME, 0, NULL, NULL) < 0)
		return 12;
#if defined(__x86_64__)
	if (int80(20, 0) == getpid() &&		/* i386 entry exists here */
	    (int80(21, 0) != -EPERM || int80(102, 1) != -EPERM))
		return 13;
#endif
	return 0;
}

/* Root's, whoever loads it: a file of ours gets no setuid or setgid bit. */
static int
roots(void)
{
	char name[] = "/tmp/fence-test.XXXXXX";
	int fd = mkstemp(name), rv = look_around(SECCOMP_ROOT);

	if (rv != 0 || fd < 0 || unlink(name) < 0)
		return rv != 0 ? rv : 97;
	if (!says(fchmod(fd, 04700), EPERM) || fchmod(fd, 0700) < 0)
		return 20;
	if (!says(syscall(SYS_fchmodat2, fd, "", 04700, AT_EMPTY_PATH), EPERM))
		return 21;
	if (!says(open("/tmp", O_TMPFILE | O_RDWR, 04700), EPERM))
		return 22;
	if (!says(openat(AT_FDCWD, name, O_CREAT | O_RDWR, 04700), EPERM) ||
	    !says(access(name, F_OK), ENOENT))
		return 23;
	if (!says(fchmod(fd, 02700), EPERM) || !says(openat(AT_FDCWD, name,
	    O_CREAT | O_RDWR, 02700), EPERM) || !says(access(name, F_OK),
	    ENOENT))
		return 24;
	return 0;
}

static int
nested(void)
{
	int rv = look_around(SECCOMP_USER_NESTED);

	if (rv != 0)
		return rv;
	if (!says(syscall(430, "tmpfs", 0), ENOSYS))	/* fsopen */
		return 30;
	/* A machine may refuse namespaces to all; the filter does not. */
	if (unshare(CLONE_NEWUSER | CLONE_NEWNS) == 0 &&
	    mount("fence-test", "/tmp", "tmpfs", 0, NULL) < 0)
		return 31;
	return 0;
}

static int
strict(void)
{
	int rv = look_around(SECCOMP_USER_STRICT);

	if (rv != 0)
		return rv;
	if (!says(unshare(CLONE_NEWUSER), EPERM) ||
	    !says(unshare(CLONE_FS), ENOSYS))
		return 40;
	if (!says(ptrace(PTRACE_TRACEME, 0, NULL, NULL), ENOSYS))
		return 41;
#if defined(__x86_64__)
	if (int80(20, 0) != -ENOSYS)
		return 42;
#endif
	return 0;
}

static void
judge(int (*f)(void))
{
	pid_t pid = fork();
	int status;

	if (pid == 0)
		_exit(f());
	assert_int_equal(waitpid(pid, &status, 0), pid);
	assert_true(WIFEXITED(status));
	assert_int_equal(WEXITSTATUS(status), 0);
}

static void
test_in_the_kernel(void **state)
{
	(void)state;
	judge(usual);
	judge(roots);
	judge(nested);
	judge(strict);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_in_the_kernel),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
