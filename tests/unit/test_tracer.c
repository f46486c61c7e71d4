/*
 * The tracer, with a child of this process that is filtered as a jail is: what
 * was foreseen runs, what was not is asked about, what may not run is killed.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <linux/capability.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <unistd.h>

#include <cmocka.h>

#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "platform/fd.h"
#include "platform/linux/notify.h"
#include "platform/tracer.h"

enum { PATIENCE_MS = 30000, NEW_LISTENER = 8,
	WAIT_KILLABLE = 32 };

static int calls_fd = -1, tracer_fd = -1, root_fd;
static pid_t tracer_pid;

/* ---- a child under the listener ---- */

static int
listen_here(void)
{
	struct buf f;
	struct sock_fprog prog;
	int fd;

	buf_init(&f, 0);
	notify_filter(NOTIFY_EXEC, &f);
	prog.len = (unsigned short)(f.len / sizeof(struct sock_filter));
	prog.filter = (struct sock_filter *)(void *)f.data;
	(void)prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0);
	fd = (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
	    NEW_LISTENER | WAIT_KILLABLE, &prog);
	return fd >= 0 || errno != EINVAL ? fd : (int)syscall(SYS_seccomp,
	    SECCOMP_SET_MODE_FILTER, NEW_LISTENER, &prog);
}

/* As in a jail: the tracer has no capability that its tracee lacks. */
static void
drop_capabilities(void)
{
	struct __user_cap_header_struct h = {
	    .version = _LINUX_CAPABILITY_VERSION_3 };
	struct __user_cap_data_struct none[_LINUX_CAPABILITY_U32S_3] = {
	    { 0 } };

	(void)syscall(SYS_capset, &h, none);
}

/* Executes the paths one after the other, until one succeeds. */
static pid_t
start(const char *const *paths, char *const *argv)
{
	int pair[2], fd = -1;
	size_t nfds = 0;
	pid_t pid;
	char c = 0;

	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
	    pair), 0);
	pid = fork();
	assert_true(pid >= 0);
	if (pid == 0) {
		drop_capabilities();
		fd = listen_here();
		if (fd < 0 || fd_send(pair[1], &c, 1, &fd, 1, 0) < 0)
			_exit(99);
		close(fd);
		for (; *paths != NULL; paths++)
			(void)execv(*paths, argv);
		_exit(98);
	}
	close(pair[1]);
	if (fd_recv(pair[0], &c, 1, &fd, 1, &nfds, 0) != 1 || nfds != 1)
		fd = -1;
	close(pair[0]);
	calls_fd = fd;
	return pid;
}

static int
ended(pid_t pid)
{
	int status = -1;

	assert_int_equal(waitpid(pid, &status, 0), pid);
	fd_close(&calls_fd);
	return status;
}

static void
wait_readable(int fd)
{
	struct pollfd p = { .fd = fd, .events = POLLIN };

	assert_int_equal(poll(&p, 1, PATIENCE_MS), 1);
}

/* The tracer receives it, and has no screen, or may not decide. */
static void
next_call(struct held_call *c)
{
	struct tracer_word word;

	wait_readable(tracer_fd);
	assert_int_equal(tracer_next(tracer_fd, &word), 1);
	assert_int_equal(word.kind, TRACER_CALL);
	assert_int_equal(word.call.kind, HELD_EXEC);
	*c = word.call;
}

static void
begin_screened(const struct tracer_screen *screen)
{
	struct err e = { 0 };

	assert_int_equal(tracer_start(screen, &tracer_fd, &tracer_pid, &e),
	    0);
	assert_int_equal(tracer_listen(tracer_fd, calls_fd), 0);
}

static void
begin(void)
{
	begin_screened(NULL);
}

static void
end(void)
{
	fd_close(&tracer_fd);
	assert_int_equal(waitpid(tracer_pid, NULL, 0), tracer_pid);
}

/* ---- cases ---- */

static char *const true_argv[] = { (char *)"true", NULL };
static const char *const true_path[] = { "/bin/true", NULL };

static void
permit_as_read(const struct held_call *c)
{
	struct arena *a = arena_new();
	struct held_exec x;

	assert_int_equal(held_exec_read(root_fd, c, false, a, &x), 0);
	assert_int_equal(tracer_permit(tracer_fd, c, x.exe, x.cmdline,
	    x.cmdline_len), 0);
	arena_free(a);
}

static void
test_foreseen(void **state)
{
	static const char *const paths[] = { "/nowhere/true", "/etc/passwd",
	    "/bin/true", NULL };
	pid_t pid = start(paths, true_argv);
	struct held_call c;

	(void)state;
	begin();
	for (int i = 0; i < 3; i++) {
		next_call(&c);
		permit_as_read(&c);
	}
	assert_int_equal(ended(pid), 0);
	end();
}

/*
 * Permits what is called true; as it is, or as something else.  The tracer has
 * no descriptor of ours.
 */
static bool
permits_true(const struct held_call *c, struct arena *a,
    struct held_exec *ret, void *exe)
{
	auto_fd root = exec_root(c->tid);

	if (held_exec_read(root, c, false, a, ret) != 0 ||
	    strcmp(ret->step[0].program, "/bin/true") != 0)
		return false;
	if (exe != NULL)
		ret->exe = exe;
	return true;
}

static void
test_screened(void **state)
{
	static const char *const paths[] = { "/nowhere/true", "/bin/true",
	    NULL };
	pid_t pid = start(paths, true_argv);
	struct tracer_word word;
	struct held_call c;

	(void)state;
	begin_screened(&(struct tracer_screen){ permits_true, NULL, NULL });
	/* The screen does not know the first; of the second nobody hears. */
	next_call(&c);
	permit_as_read(&c);
	assert_int_equal(ended(pid), 0);
	assert_int_equal(tracer_next(tracer_fd, &word), 0);
	end();
}

/* What the screen foresaw is compared as what the monitor did. */
static void
test_screen_is_wrong(void **state)
{
	static char other[] = "/bin/other";

	(void)state;
	for (int may_run = 0; may_run < 2; may_run++) {
		pid_t pid = start(true_path, true_argv);
		struct tracer_word word;

		begin_screened(&(struct tracer_screen){ permits_true,
		    other, NULL });
		wait_readable(tracer_fd);
		assert_int_equal(tracer_next(tracer_fd, &word), 1);
		assert_int_equal(word.kind, TRACER_ASKS);
		assert_int_equal(word.pid, pid);
		assert_int_equal(tracer_answer(tracer_fd, pid, may_run, NULL),
		    0);
		assert_int_equal(ended(pid), may_run ? 0 : SIGKILL);
		end();
	}
}

static void
test_refused(void **state)
{
	pid_t pid = start(true_path, true_argv);
	struct held_call c;

	(void)state;
	begin();
	next_call(&c);
	assert_int_equal(tracer_refuse(tracer_fd, &c, EACCES, NULL), 0);
	assert_int_equal(ended(pid), 98 << 8);
	end();
}

/*
 * An answer may come when its process is dead and the number another's: who
 * was not asked about is left alone.
 */
static void
test_stranger(void **state)
{
	pid_t stranger = fork(), pid;
	struct held_call c;

	(void)state;
	assert_true(stranger >= 0);
	if (stranger == 0) {
		pause();
		_exit(0);
	}
	pid = start(true_path, true_argv);
	begin();
	assert_int_equal(tracer_answer(tracer_fd, stranger, false, NULL), 0);
	/* Orders are taken in turn: the one above is done when this one is. */
	next_call(&c);
	assert_int_equal(tracer_refuse(tracer_fd, &c, EACCES, NULL), 0);
	assert_int_equal(ended(pid), 98 << 8);
	assert_int_equal(waitpid(stranger, NULL, WNOHANG), 0);
	assert_int_equal(kill(stranger, SIGKILL), 0);
	assert_int_equal(waitpid(stranger, NULL, 0), stranger);
	end();
}

/* Whatever was foreseen, and it is not that: asked, and answered. */
static void
ask(const char *exe, const char *cmdline, size_t len, bool may_run)
{
	pid_t pid = start(true_path, true_argv);
	struct tracer_word word;
	struct held_call c;
	int status;

	begin();
	next_call(&c);
	assert_int_equal(tracer_permit(tracer_fd, &c, exe, cmdline, len), 0);
	wait_readable(tracer_fd);
	assert_int_equal(tracer_next(tracer_fd, &word), 1);
	assert_int_equal(word.kind, TRACER_ASKS);
	assert_int_equal(word.pid, pid);
	assert_int_equal(tracer_answer(tracer_fd, pid, may_run, NULL), 0);
	status = ended(pid);
	assert_int_equal(status, may_run ? 0 : SIGKILL);
	end();
}

static void
test_asked(void **state)
{
	char exe[PATH_MAX];

	(void)state;
	assert_non_null(realpath("/bin/true", exe));
	for (int may_run = 0; may_run < 2; may_run++) {
		ask(NULL, NULL, 0, may_run);
		ask("/bin/other", "true", 5, may_run);
		ask(exe, "false", 6, may_run);
		ask(exe, "true\0x", 7, may_run);
		ask(exe, "tru", 4, may_run);
		ask(exe, "", 0, may_run);
	}
}

/* The tracer's end is the end of what it is attached to. */
static void
test_ends(void **state)
{
	pid_t pid = start(true_path, true_argv);
	struct tracer_word word;
	struct held_call c;

	(void)state;
	begin();
	next_call(&c);
	assert_int_equal(tracer_permit(tracer_fd, &c, NULL, NULL, 0), 0);
	wait_readable(tracer_fd);
	assert_int_equal(kill(tracer_pid, SIGKILL), 0);
	assert_int_equal(ended(pid), SIGKILL);
	assert_int_equal(tracer_next(tracer_fd, &word), 1);
	wait_readable(tracer_fd);
	assert_int_equal(tracer_next(tracer_fd, &word), -1);
	end();
}

/* A caller that dies while it is held leaves nothing behind. */
static void
test_dies(void **state)
{
	pid_t pid = start(true_path, true_argv);
	struct held_call c;

	(void)state;
	begin();
	next_call(&c);
	assert_int_equal(kill(pid, SIGKILL), 0);
	assert_int_equal(tracer_permit(tracer_fd, &c, NULL, NULL, 0), 0);
	assert_int_equal(ended(pid), SIGKILL);
	end();
}

static int
setup(void **state)
{
	(void)state;
	root_fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root_fd >= 0 ? 0 : -1;
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_foreseen),
		cmocka_unit_test(test_screened),
		cmocka_unit_test(test_screen_is_wrong),
		cmocka_unit_test(test_refused),
		cmocka_unit_test(test_stranger),
		cmocka_unit_test(test_asked), cmocka_unit_test(test_ends),
		cmocka_unit_test(test_dies),
	};

	return cmocka_run_group_tests(tests, setup, NULL);
}
