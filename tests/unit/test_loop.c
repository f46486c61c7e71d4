#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/loop.h"

static struct loop *loop;

static int
setup(void **state)
{
	(void)state;
	loop = loop_new();
	assert_non_null(loop);
	return 0;
}

static int
teardown(void **state)
{
	(void)state;
	loop_free(loop);
	return 0;
}

/* Deadlines come in order, whatever the order they were made in. */

static int order[64];
static size_t norder;

static void
note_order(struct watch *w, int what, void *arg)
{
	assert_int_equal(what, 0);
	order[norder++] = *(int *)arg;
	if (*(int *)arg == 40)
		loop_stop(loop, 7);
	watch_free(w);
}

static void
test_deadlines(void **state)
{
	static int ms[] = { 40, 3, 21, 9, 1, 33, 12, 5, 27, 17, 2, 30 };
	struct watch *gone[4];
	size_t n = sizeof ms / sizeof ms[0];

	(void)state;
	norder = 0;
	for (size_t i = 0; i < 4; i++)
		gone[i] = loop_after(loop, (int64_t)i * 9, note_order, &ms[0]);
	for (size_t i = 0; i < n; i++)
		assert_non_null(loop_after(loop, ms[i], note_order, &ms[i]));
	for (size_t i = 0; i < 4; i++)
		watch_free(gone[i]);
	assert_int_equal(loop_run(loop), 7);
	assert_int_equal(norder, n);
	for (size_t i = 1; i < n; i++)
		assert_true(order[i - 1] < order[i]);
}

static void
stop_third(struct watch *w, int what, void *arg)
{
	int *n = arg;

	(void)what;
	if (++*n == 3)
		loop_stop(loop, 3);
	else
		watch_after(w, 0);
}

static void
never(struct watch *w, int what, void *arg)
{
	(void)w;
	(void)what;
	(void)arg;
	fail();
}

static void
test_rearm(void **state)
{
	struct watch *off = loop_after(loop, 0, never, NULL);
	int n = 0;

	(void)state;
	watch_after(off, -1);
	loop_after(loop, -1, never, NULL);
	loop_after(loop, 0, stop_third, &n);
	assert_int_equal(loop_run(loop), 3);
	assert_int_equal(n, 3);
}

/* Two ready descriptors: whichever comes first frees both. */

static struct watch *pair[2];
static int nfired;

static void
free_both(struct watch *w, int what, void *arg)
{
	(void)w;
	(void)arg;
	assert_int_equal(what & LOOP_READ, LOOP_READ);
	nfired++;
	watch_free(pair[0]);
	watch_free(pair[1]);
}

static void
stop_now(struct watch *w, int what, void *arg)
{
	(void)w;
	*(int *)arg = what;
	loop_stop(loop, 0);
}

static void
test_free_another(void **state)
{
	int a[2], b[2], got;

	(void)state;
	assert_int_equal(pipe(a), 0);
	assert_int_equal(pipe(b), 0);
	assert_int_equal(write(a[1], "x", 1), 1);
	assert_int_equal(write(b[1], "x", 1), 1);
	close(a[1]);		/* so that they hang up as well, */
	close(b[1]);		/* which is told without being asked for */
	nfired = 0;
	pair[0] = loop_fd(loop, a[0], LOOP_READ, free_both, NULL);
	pair[1] = loop_fd(loop, b[0], LOOP_READ, free_both, NULL);
	loop_after(loop, 20, stop_now, &got);
	assert_int_equal(loop_run(loop), 0);
	assert_int_equal(nfired, 1);
	close(a[0]);
	close(b[0]);
}

/* What is asked for decides what is told; 0 is asleep, HUP is always told. */
static void
test_events(void **state)
{
	struct watch *w;
	int sv[2], got = 0;

	(void)state;
	assert_int_equal(socketpair(AF_UNIX, SOCK_STREAM, 0, sv), 0);
	w = loop_fd(loop, sv[0], LOOP_WRITE, stop_now, &got);
	assert_non_null(w);
	assert_null(loop_fd(loop, sv[0], LOOP_READ, never, NULL));
	loop_run(loop);
	assert_int_equal(got, LOOP_WRITE);
	assert_int_equal(watch_events(w, LOOP_READ), 0);
	assert_int_equal(write(sv[1], "x", 1), 1);
	loop_run(loop);
	assert_int_equal(got, LOOP_READ);
	assert_int_equal(watch_events(w, LOOP_HUP), 0);
	close(sv[1]);
	loop_run(loop);
	assert_int_equal(got, LOOP_HUP);
	assert_int_equal(watch_events(w, LOOP_READ), 0);
	loop_run(loop);
	assert_int_equal(got, LOOP_HUP | LOOP_READ);
	assert_int_equal(watch_events(w, 0), 0);
	loop_after(loop, 10, stop_now, &got);
	loop_run(loop);
	assert_int_equal(got, 0);
	watch_free(w);
	close(sv[0]);
}

static void
test_child(void **state)
{
	struct watch *w;
	int got = 0;
	pid_t pid;

	(void)state;
	pid = fork();
	if (pid == 0)
		_exit(42);
	w = loop_child(loop, pid, stop_now, &got);
	assert_non_null(w);
	loop_run(loop);
	assert_true(WIFEXITED(got));
	assert_int_equal(WEXITSTATUS(got), 42);
	assert_int_equal(waitpid(pid, NULL, WNOHANG), -1);
	watch_free(w);
	assert_null(loop_child(loop, 0x3fffffff, never, NULL));
}

static void
on_signal(struct watch *w, int what, void *arg)
{
	(void)arg;
	assert_int_equal(what, SIGUSR1);
	assert_int_equal(loop_signal_code(w), SI_USER);
	watch_free(w);
	loop_stop(loop, 5);
}

static void
test_signal(void **state)
{
	sigset_t set, old;

	(void)state;
	sigemptyset(&set);
	sigaddset(&set, SIGUSR1);
	sigprocmask(SIG_BLOCK, &set, &old);
	assert_non_null(loop_signal(loop, SIGUSR1, on_signal, NULL));
	kill(getpid(), SIGUSR1);
	assert_int_equal(loop_run(loop), 5);
	sigprocmask(SIG_SETMASK, &old, NULL);
}

static void
test_buf(void **state)
{
	char *p = loop_buf(loop);

	(void)state;
	assert_non_null(p);
	p[LOOP_BUF_BYTES - 1] = 1;
	assert_ptr_equal(loop_buf(loop), p);
	loop_stop(loop, 9);
	assert_int_equal(loop_run(loop), 9);
}

int
main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_deadlines),
		CASE(test_rearm),
		CASE(test_free_another),
		CASE(test_events),
		CASE(test_child),
		CASE(test_signal),
		CASE(test_buf),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
