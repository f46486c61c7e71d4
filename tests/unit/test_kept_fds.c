/* kept_fds: which descriptors a command may keep. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/plan/kept_fds.h"

static int
open_pipe(void)
{
	int fds[2];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	close(fds[1]);
	return fds[0];
}

static int
open_socket(void)
{
	return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
}

static int
open_file(void)
{
	return open("/dev/null", O_RDWR | O_CLOEXEC);
}

static int
open_dir(void)
{
	return open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
}

static int
open_path(void)
{
	return open("/dev/null", O_PATH | O_CLOEXEC);
}

static int
open_event(void)
{
	return eventfd(0, EFD_CLOEXEC);
}

static int
open_epoll(void)
{
	return epoll_create1(EPOLL_CLOEXEC);
}

static int
open_none(void)
{
	int fd = open_file();

	close(fd);
	return fd;
}

static void
test_kinds(void **state)
{
	static const struct {
		int		(*open)(void);
		const char	*error;		/* NULL: it may be kept */
	} t[] = {
		{ open_pipe, NULL }, { open_socket, NULL },
		{ open_file, NULL },
		{ open_dir, "is a directory" },
		{ open_path, "is a mere path" },
		{ open_event, "is a handle of the kernel's" },
		{ open_epoll, "is a handle of the kernel's" },
		{ open_none, "is not open" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		int fd = t[i].open();
		char text[16];
		const char *v[] = { text };
		const struct run_options ro = { .keep_fd = { v, 1, 1 } };
		struct err e = { 0 };
		int rc;

		snprintf(text, sizeof text, "%d", fd);
		rc = kept_fds_check(&ro, &e);
		if (rc != (t[i].error != NULL ? -1 : 0) || (rc != 0 &&
		    strstr(e.msg, t[i].error) == NULL))
			fail_msg("row %zu: %d %s", i, rc, e.msg);
		if (t[i].open != open_none)
			close(fd);
	}
}

static void
test_numbers(void **state)
{
	static const struct { const char *text, *error; } t[] = {
		{ "0", "the command's already" },
		{ "2", "the command's already" },
		{ "x", "no descriptor number" }, { "", "no descriptor number" },
		{ "-3", "no descriptor number" },
		{ "3x", "no descriptor number" },
		{ "99999999999", "no descriptor number" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		const char *v[] = { t[i].text };
		const struct run_options ro = { .keep_fd = { v, 1, 1 } };
		struct err e = { 0 };

		assert_int_equal(kept_fds_check(&ro, &e), -1);
		assert_int_equal(e.code, ERR_USAGE);
		if (strstr(e.msg, t[i].error) == NULL)
			fail_msg("%s: %s", t[i].text, e.msg);
	}
}

/* A record that the command could write would be none. */
static void
test_trace(void **state)
{
	char text[16], trace[16];
	const char *v[] = { text };
	struct run_options ro = { .keep_fd = { v, 1, 1 },
	    .trace_file = trace };
	struct err e = { 0 };
	int fd = open_file();

	(void)state;
	snprintf(text, sizeof text, "%d", fd);
	snprintf(trace, sizeof trace, "fd:%d", fd);
	assert_int_equal(kept_fds_check(&ro, &e), -1);
	assert_non_null(strstr(e.msg, "is the trace's"));
	snprintf(trace, sizeof trace, "fd:%d", fd + 1);
	assert_int_equal(kept_fds_check(&ro, &e), 0);
	close(fd);
}

/* Both ends of a jobserver's pipe, and nothing else by that name. */
static void
test_list(void **state)
{
	enum { PIPE, STDIO, FILES };
	static const struct { const char *var; int which; size_t n; } t[] = {
		{ "MAKEFLAGS=w -j --jobserver-auth=", PIPE, 2 },
		{ "MAKEFLAGS=--jobserver-auth=fifo:/", PIPE, 0 },
		{ "MAKEFLAGS=--jobserver-auth=", STDIO, 0 },
		{ "MAKEFLAGS=--jobserver-auth=", FILES, 0 },
		{ "MFLAGS=--jobserver-auth=", PIPE, 0 },
	};
	const char *v[] = { "7" };
	const struct run_options ro = { .keep_fd = { v, 1, 1 } };
	struct arena *a = arena_new();
	int pairs[3][2] = { [STDIO] = { 0, 1 } };

	(void)state;
	assert_int_equal(pipe2(pairs[PIPE], O_CLOEXEC), 0);
	pairs[FILES][0] = open_file();
	pairs[FILES][1] = open_file();
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		const int *fds = pairs[t[i].which], *got;
		char var[128], *env[] = { var, NULL };
		size_t n;

		snprintf(var, sizeof var, "%s%d,%d", t[i].var, fds[0],
		    fds[1]);
		kept_fds_list(a, &ro, env, &got, &n);
		if (n != t[i].n + 1 || got[n - 1] != 7 ||
		    (t[i].n > 0 && (got[0] != fds[0] || got[1] != fds[1])))
			fail_msg("row %zu: %zu", i, n);
	}
	for (int i = 0; i < 2; i++) {
		close(pairs[PIPE][i]);
		close(pairs[FILES][i]);
	}
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_kinds),
		cmocka_unit_test(test_numbers),
		cmocka_unit_test(test_trace),
		cmocka_unit_test(test_list),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
