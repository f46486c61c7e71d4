/*
 * jail_next(): the test plays fence-init at the other end of a socket pair,
 * as it may be and as it must not be.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/fd.h"
#include "platform/jail.h"
#include "platform/linux/initplan.h"

/* What a message of the script carries: nothing, a pidfd of ours, a file. */
enum cargo { NONE, PIDFD, ANY, TWO };

struct line {
	uint32_t	kind, step;
	int32_t		value;
	enum cargo	cargo;
};

struct scene {
	struct jail	jail;
	int		init_fd;	/* fence-init's end */
};

static void
scene_start(struct scene *s)
{
	int pair[2];

	*s = (struct scene){ .init_fd = -1 };
	assert_int_equal(socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0,
	    pair), 0);
	s->jail.control_fd = pair[0];
	s->init_fd = pair[1];
}

static void
scene_end(struct scene *s)
{
	fd_close(&s->jail.control_fd);
	fd_close(&s->init_fd);
}

static void
say(struct scene *s, const struct line *l)
{
	struct init_msg m = { .kind = l->kind, .step = l->step,
	    .value = l->value };
	int fds[2] = { -1, -1 };

	if (l->cargo == PIDFD)
		fds[0] = (int)syscall(SYS_pidfd_open, getpid(), 0);
	else if (l->cargo != NONE)
		fds[0] = open("/dev/null", O_RDONLY | O_CLOEXEC);
	assert_true(l->cargo == NONE || fds[0] >= 0);
	fds[1] = fds[0];
	assert_int_equal(fd_send(s->init_fd, &m, sizeof m, fds,
	    l->cargo == NONE ? 0 : l->cargo == TWO ? 2 : 1, 0), sizeof m);
	fd_close(&fds[0]);
}

/* Descriptors of this process: none may stay behind. */
static unsigned
count_fds(void)
{
	unsigned n = 0;

	for (int fd = 0; fd < 256; fd++)
		n += fcntl(fd, F_GETFD) >= 0;
	return n;
}

static const struct line whole_run[] = {
	{ INIT_READY, 0, 0, PIDFD },
	{ INIT_LISTENER, 0, 0, ANY },
	{ INIT_STOPPED, 0, SIGTTIN, NONE },	/* before its execve */
	{ INIT_STARTED, 0, 0, PIDFD },
	{ INIT_STOPPED, 0, SIGTSTP, NONE },
	{ INIT_CONTINUED, 0, 0, NONE },
	{ INIT_ALONE, 0, SIGTERM, NONE },
	{ INIT_EXITED, 0, 7 << 8, NONE },
};

enum { WHOLE = sizeof whole_run / sizeof whole_run[0] };

/* The event of a line of whole_run, whole. */
static void
check_event(const struct jail_event *ev, size_t i)
{
	static const enum jail_event_kind kinds[WHOLE] = { JAIL_READY,
	    JAIL_CALLS, JAIL_STOPPED, JAIL_STARTED, JAIL_STOPPED,
	    JAIL_CONTINUED, JAIL_ALONE, JAIL_EXITED };
	bool is_pid = kinds[i] == JAIL_READY || kinds[i] == JAIL_STARTED;
	bool is_fd = kinds[i] == JAIL_CALLS || kinds[i] == JAIL_STARTED;
	bool is_signal = kinds[i] == JAIL_STOPPED || kinds[i] == JAIL_ALONE;

	assert_int_equal(ev->kind, kinds[i]);
	assert_int_equal(ev->pid, is_pid ? getpid() : 0);
	assert_int_equal(ev->fd >= 0, is_fd);
	assert_true(!is_fd ||
	    (fcntl(ev->fd, F_GETFD) & FD_CLOEXEC) == FD_CLOEXEC);
	assert_int_equal(ev->signo, is_signal ? whole_run[i].value : 0);
	assert_int_equal(ev->wstatus, kinds[i] == JAIL_EXITED ? 7 << 8 : 0);
	assert_int_equal(ev->sys, 0);
	assert_null(ev->what);
	assert_null(ev->cure);
}

/* A run from start to exit, a message at a time and all at once. */
static void
test_whole_run(void **state)
{
	unsigned nfds = count_fds();

	(void)state;
	for (int at_once = 0; at_once <= 1; at_once++) {
		struct jail_event ev;
		struct scene s;

		scene_start(&s);
		for (size_t i = 0; at_once && i < WHOLE; i++)
			say(&s, &whole_run[i]);
		if (at_once)
			fd_close(&s.init_fd);
		for (size_t i = 0; i < WHOLE; i++) {
			if (!at_once) {
				assert_int_equal(jail_next(&s.jail, &ev), 0);
				say(&s, &whole_run[i]);
			}
			assert_int_equal(jail_next(&s.jail, &ev), 1);
			check_event(&ev, i);
			fd_close(&ev.fd);
		}
		assert_int_equal(jail_next(&s.jail, &ev), -1);
		assert_int_equal(jail_next(&s.jail, &ev), -1);
		scene_end(&s);
		assert_int_equal(count_fds(), nfds);
	}
}

/* After any number of messages: what was said counts, and then it is over. */
static void
test_early_end(void **state)
{
	(void)state;
	for (size_t said = 0; said < WHOLE; said++) {
		struct jail_event ev;
		struct scene s;

		scene_start(&s);
		for (size_t i = 0; i < said; i++)
			say(&s, &whole_run[i]);
		fd_close(&s.init_fd);
		for (size_t i = 0; i < said; i++) {
			assert_int_equal(jail_next(&s.jail, &ev), 1);
			check_event(&ev, i);
			fd_close(&ev.fd);
		}
		assert_int_equal(jail_next(&s.jail, &ev), -1);
		scene_end(&s);
	}
}

/* It ended before it read what it was sent: its last words count. */
static void
test_unread(void **state)
{
	struct jail_event ev;
	struct scene s;

	(void)state;
	scene_start(&s);
	for (size_t i = 0; i < WHOLE; i++)
		say(&s, &whole_run[i]);
	assert_int_equal(jail_ask(&s.jail, SIGTERM, true), 0);
	fd_close(&s.init_fd);
	for (size_t i = 0; i < WHOLE; i++) {
		assert_int_equal(jail_next(&s.jail, &ev), 1);
		check_event(&ev, i);
		fd_close(&ev.fd);
	}
	assert_int_equal(jail_next(&s.jail, &ev), -1);
	assert_int_equal(jail_ask(&s.jail, SIGTERM, true), -1);
	scene_end(&s);
}

/* Byte by byte: a message is whole or it is none, and the end. */
static void
test_lengths(void **state)
{
	unsigned nfds = count_fds();
	unsigned char room[sizeof(struct init_msg) + 4] = { 0 };
	struct init_msg m = { .kind = INIT_READY };

	(void)state;
	memcpy(room, &m, sizeof m);
	for (size_t len = 1; len <= sizeof room; len++) {
		int pid_fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
		bool is_whole = len == sizeof m;
		struct jail_event ev;
		struct scene s;

		scene_start(&s);
		assert_int_equal(fd_send(s.init_fd, room, len, &pid_fd, 1, 0),
		    len);
		fd_close(&pid_fd);
		assert_int_equal(jail_next(&s.jail, &ev), is_whole ? 1 : -1);
		/* What comes behind it is believed no more. */
		say(&s, is_whole ? &whole_run[1] : &whole_run[0]);
		assert_int_equal(jail_next(&s.jail, &ev), is_whole ? 1 : -1);
		if (is_whole)
			fd_close(&ev.fd);
		scene_end(&s);
		assert_int_equal(count_fds(), nfds);
	}
}

/* The first `before` lines of whole_run, and then this one. */
static int
answer(size_t before, const struct line *l, struct jail_event *ret)
{
	struct scene s;
	int rc;

	scene_start(&s);
	for (size_t i = 0; i < before; i++) {
		say(&s, &whole_run[i]);
		assert_int_equal(jail_next(&s.jail, ret), 1);
		fd_close(&ret->fd);
	}
	say(&s, l);
	*ret = (struct jail_event){ .fd = -1 };
	rc = jail_next(&s.jail, ret);
	if (rc < 0) {			/* for good */
		if (before < WHOLE)
			say(&s, &whole_run[before]);
		assert_int_equal(jail_next(&s.jail, ret), -1);
	}
	scene_end(&s);
	return rc;
}

static void
test_malformed(void **state)
{
	static const struct {
		size_t		before;		/* lines of whole_run */
		struct line	line;
	} rows[] = {
		/* No kind of its. */
		{ 0, { 0, 0, 0, NONE } }, { 1, { INIT_PLAN, 0, 0, NONE } },
		{ 1, { INIT_GO, 0, 0, NONE } }, { 4, { INIT_ASK, 0, 15, NONE } },
		{ 4, { INIT_ALONE + 1, 0, 0, NONE } },
		{ 4, { UINT32_MAX, 0, 0, NONE } },
		/* Descriptors. */
		{ 0, { INIT_READY, 0, 0, NONE } },
		{ 1, { INIT_STARTED, 0, 0, NONE } },
		{ 1, { INIT_STOPPED, 0, SIGSTOP, ANY } },
		{ 4, { INIT_CONTINUED, 0, 0, ANY } },
		{ 4, { INIT_ALONE, 0, SIGTERM, PIDFD } },
		{ 4, { INIT_EXITED, 0, 0, ANY } },
		{ 4, { INIT_EXITED, 0, 0, TWO } },
		{ 1, { INIT_FAILED, INIT_STEP_CHDIR, ENOENT, ANY } },
		{ 1, { INIT_NOEXEC, 0, ENOENT, ANY } },
		/* Order. */
		{ 1, { INIT_READY, 0, 0, PIDFD } },
		{ 0, { INIT_LISTENER, 0, 0, ANY } },
		{ 2, { INIT_LISTENER, 0, 0, ANY } },
		{ 4, { INIT_LISTENER, 0, EBUSY, NONE } },
		{ 0, { INIT_STARTED, 0, 0, PIDFD } },
		{ 4, { INIT_STARTED, 0, 0, PIDFD } },
		{ 0, { INIT_STOPPED, 0, SIGSTOP, NONE } },
		{ 3, { INIT_CONTINUED, 0, 0, NONE } },
		{ 3, { INIT_ALONE, 0, SIGTERM, NONE } },
		{ 3, { INIT_EXITED, 0, 0, NONE } },
		{ 4, { INIT_FAILED, INIT_STEP_FORK, EAGAIN, NONE } },
		{ 0, { INIT_NOEXEC, 0, ENOENT, NONE } },
		{ 4, { INIT_NOEXEC, 0, ENOENT, NONE } },
		{ 8, { INIT_EXITED, 0, 0, NONE } },
		{ 8, { INIT_STOPPED, 0, SIGSTOP, NONE } },
		/* Values. */
		{ 4, { INIT_STOPPED, 0, 0, NONE } },
		{ 4, { INIT_STOPPED, 0, 65, NONE } },
		{ 4, { INIT_ALONE, 0, -1, NONE } },
		{ 4, { INIT_EXITED, 0, 0x137f, NONE } },	/* a stop */
	};
	unsigned nfds = count_fds();

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct jail_event ev;

		if (answer(rows[i].before, &rows[i].line, &ev) != -1)
			fail_msg("row %zu was taken", i);
		assert_int_equal(ev.fd, -1);
		assert_int_equal(count_fds(), nfds);
	}
}

/* Why no command runs, and why no calls are held. */
static void
test_failures(void **state)
{
	static const struct {
		uint32_t	step;
		int		sys;
		const char	*what;
		bool		has_cure;
	} rows[] = {
		{ INIT_STEP_PLAN, EINVAL, "read its plan", false },
		{ INIT_STEP_PROC, EPERM, "mount its own /proc", true },
		{ INIT_STEP_PROC, ENOMEM, "mount its own /proc", false },
		{ INIT_STEP_CHDIR, EPERM, "enter the working directory",
		    false },
		{ INIT_STEP_SESSION, EPERM, "begin a session of its own",
		    false },
		{ 0, EIO, "start", false },
		{ INIT_STEP_LISTEN + 1, EIO, "start", false },
		{ UINT32_MAX, EIO, "start", false },
	};
	struct jail_event ev;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		for (size_t before = 0; before <= 3; before++) {
			assert_int_equal(answer(before, &(struct line){
			    INIT_FAILED, rows[i].step, rows[i].sys, NONE },
			    &ev), 1);
			assert_int_equal(ev.kind, JAIL_FAILED);
			assert_int_equal(ev.sys, rows[i].sys);
			assert_string_equal(ev.what, rows[i].what);
			assert_int_equal(ev.cure != NULL, rows[i].has_cure);
		}
	assert_int_equal(answer(1, &(struct line){ INIT_NOEXEC, 0, ENOENT,
	    NONE }, &ev), 1);
	assert_int_equal(ev.kind, JAIL_NOEXEC);
	assert_int_equal(ev.sys, ENOENT);
	assert_int_equal(answer(1, &(struct line){ INIT_LISTENER, 0, EBUSY,
	    NONE }, &ev), 1);
	assert_int_equal(ev.kind, JAIL_CALLS);
	assert_int_equal(ev.sys, EBUSY);
	assert_int_equal(ev.fd, -1);
}

/* What the jail is told. */
static void
test_told(void **state)
{
	struct init_msg m;
	struct err e = { 0 };
	struct scene s;

	(void)state;
	scene_start(&s);
	assert_int_equal(jail_go(&s.jail, &e), 0);
	assert_int_equal(jail_ask(&s.jail, SIGINT, true), 0);
	assert_int_equal(jail_ask(&s.jail, SIGQUIT, false), 0);
	assert_int_equal(recv(s.init_fd, &m, sizeof m, 0), sizeof m);
	assert_int_equal(m.kind, INIT_GO);
	for (int i = 0; i < 2; i++) {
		assert_int_equal(recv(s.init_fd, &m, sizeof m, 0), sizeof m);
		assert_int_equal(m.kind, INIT_ASK);
		assert_int_equal(m.step, i == 0);
		assert_int_equal(m.value, i == 0 ? SIGINT : SIGQUIT);
	}
	fd_close(&s.init_fd);
	assert_int_equal(jail_go(&s.jail, &e), -1);
	assert_int_equal(e.sys, EPIPE);
	scene_end(&s);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_whole_run),
		cmocka_unit_test(test_early_end),
		cmocka_unit_test(test_unread),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_failures),
		cmocka_unit_test(test_told),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
