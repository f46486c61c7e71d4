/* log, trace: where fence's own lines and records go. */
#include <limits.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/socket.h>
#include <sys/un.h>

#include "launcher/log.h"
#include "launcher/trace.h"
#include "tests/unit/room.h"

static const char *
slurp(const char *path)
{
	static char text[256 * 1024];
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = 0, k;

	assert_true(fd >= 0);
	while ((k = read(fd, text + n, sizeof text - 1 - (size_t)n)) > 0)
		n += k;
	close(fd);
	text[n] = '\0';
	return text;
}

static bool
is_busy(void *arg)
{
	return *(bool *)arg;
}

/* One process has one log: all of it in a row. */
static void
test_lines(void **state)
{
	struct room *r = *state;
	char path[128];
	struct err e = { 0 };
	bool busy = true;

	snprintf(path, sizeof path, "%s", room_path(r, "log"));
	room_put(r, "log", "old\n");
	assert_null(log_path());
	assert_int_equal(log_open(path, NULL, &e), 0);
	assert_string_equal(log_path(), path);
	assert_string_equal(getenv("FENCE_LOG_FILE"), path);
	assert_true(log_fd() > 2);
	log_begin();
	log_say("a %s", "name");
	log_fact("%d", 7);
	log_line("as it is");
	/* Other people's words: no control byte, nothing deceptive. */
	log_say("x\033[31m\ny\xff z\xe2\x80\xae");
	assert_string_equal(slurp(path), "fence: a name\n[fence] 7\n"
	    "as it is\nfence: x\\x1b[31m\\x0ay\\xff z\\xe2\\x80\\xae\n");
	/* Kept while somebody is busy. */
	log_hold(is_busy, &busy);
	log_say("kept");
	assert_null(strstr(slurp(path), "kept"));
	busy = false;
	log_say("shown");
	assert_non_null(strstr(slurp(path), "fence: kept\nfence: shown\n"));
	busy = true;
	for (int i = 0; i < 2000; i++)
		log_say("%060d", i);
	log_hold(NULL, NULL);
	assert_non_null(strstr(slurp(path), "more lines were not kept\n"));
	assert_non_null(strstr(slurp(path), "0000000000\nfence: 0000"));
}

/* What an earlier run may have planted is not followed, nor waited for. */
static void
test_create(void **state)
{
	static const struct { const char *name; const char *hint; } t[] = {
		{ "new", NULL }, { "old", NULL }, { "link", "it is a symlink" },
		{ "fifo", "it is a FIFO" }, { "none/x", "" }, { "proj", "" },
	};
	struct room *r = *state;

	room_put(r, "old", "kept");
	assert_int_equal(symlink("old", room_path(r, "link")), 0);
	assert_int_equal(mkfifo(room_path(r, "fifo"), 0600), 0);
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct err e = { 0 };
		struct stat st;
		char real[PATH_MAX];
		bool is_new;
		int fd = log_create("--x", room_path(r, t[i].name), 0, real,
		    &is_new, &e);

		if ((fd >= 0) != (t[i].hint == NULL))
			fail_msg("%s: %d", t[i].name, fd);
		if (fd < 0) {
			assert_non_null(strstr(e.msg, "--x: cannot open"));
			assert_non_null(strstr(e.hint, t[i].hint));
			continue;
		}
		assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
		assert_int_equal(fcntl(fd, F_GETFL) & O_NONBLOCK, 0);
		assert_int_equal(fstat(fd, &st), 0);
		assert_string_equal(real, room_path(r, t[i].name));
		assert_int_equal(is_new, strcmp(t[i].name, "new") == 0);
		if (is_new) {
			assert_int_equal(st.st_mode & 077, 0);
			log_remove(fd, real);
			assert_int_equal(access(real, F_OK), -1);
		}
		close(fd);
	}
	assert_string_equal(slurp(room_path(r, "old")), "kept");
}

static void
test_trace_kinds(void **state)
{
	static const struct { const char *dest; bool is; } t[] = {
		{ "x.json", true }, { "fd", true }, { "./fd:3", true },
		{ "fd:3", false }, { "unix:/x", false }, { "unix", true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++)
		assert_int_equal(trace_is_file(t[i].dest), t[i].is);
}

static void
check_trace(const char *dest, const char *error)
{
	struct err e = { 0 };
	int fd = -1, rc = trace_open(dest, &fd, &e);

	if (rc != (error != NULL ? -1 : 0) ||
	    (rc != 0 && strstr(e.msg, error) == NULL))
		fail_msg("%s: %d %s", dest, rc, e.msg);
	if (rc == 0) {
		assert_int_equal(fcntl(fd, F_GETFD) & FD_CLOEXEC, FD_CLOEXEC);
		close(fd);
	}
}

static void
test_trace_open(void **state)
{
	struct room *r = *state;
	struct sockaddr_un un = { .sun_family = AF_UNIX };
	int fds[2], s = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char dest[256];

	assert_int_equal(pipe2(fds, O_CLOEXEC), 0);
	snprintf(dest, sizeof dest, "fd:%d", fds[1]);
	check_trace(dest, NULL);
	snprintf(dest, sizeof dest, "fd:%d", fds[0]);
	check_trace(dest, "not open for writing");
	close(fds[0]);
	close(fds[1]);
	check_trace("fd:999999", "not open for writing");
	check_trace("fd:x", "no descriptor number");
	check_trace("fd:", "no descriptor number");
	snprintf(dest, sizeof dest, "unix:%s", room_path(r, "s"));
	check_trace(dest, "cannot connect");
	snprintf(un.sun_path, sizeof un.sun_path, "%s", room_path(r, "s"));
	assert_int_equal(bind(s, (void *)&un, sizeof un), 0);
	assert_int_equal(listen(s, 1), 0);
	check_trace(dest, NULL);
	close(s);
	snprintf(dest, sizeof dest, "unix:/%0150d", 0);
	check_trace(dest, "too long for a socket");
	check_trace(room_path(r, "trace.json"), NULL);
	check_trace(room_path(r, "none/trace.json"), "cannot open");
}

int
main(void)
{
#define IN_ROOM(f) cmocka_unit_test_setup_teardown(f, room_enter, room_leave)
	const struct CMUnitTest tests[] = {
		IN_ROOM(test_lines),
		IN_ROOM(test_create),
		cmocka_unit_test(test_trace_kinds),
		IN_ROOM(test_trace_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
