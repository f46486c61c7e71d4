/* granted_dirs: made and removed for a run, without following a symlink. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cmocka.h>

#include "launcher/run/granted_dirs.h"
#include "tests/unit/room.h"

static bool
is_there(struct room *r, const char *name)
{
	struct stat st;

	return lstat(room_path(r, name), &st) == 0;
}

static void
put_link(struct room *r, const char *name, const char *to)
{
	assert_int_equal(symlink(room_path(r, to), room_path(r, name)), 0);
}

static void
test_made_and_removed(void **state)
{
	struct room *r = *state;
	struct granted_dirs *m = granted_dirs_open(room_path(r, "home/state/fence"));
	struct err e = { 0 };

	assert_int_equal(granted_dirs_make(m, room_path(r, "home/a/b/c"), &e),
	    0);
	assert_int_equal(granted_dirs_make(m, room_path(r, "home/a/kept"), &e),
	    0);
	assert_true(is_there(r, "home/a/b/c"));
	room_put(r, "home/a/kept/file", "x");
	granted_dirs_close(m);
	assert_false(is_there(r, "home/a/b"));
	assert_true(is_there(r, "home/a/kept/file"));
}

/* Each row: a name, a symlink to "outside", and what is asked for. */
static const struct {
	const char	*name;
	const char	*link;
	const char	*want;
	const char	*not_made;
} planted[] = {
	{ "in the part that is there", "proj/sub/p", "proj/sub/p/x/y",
	    "outside/x" },
	{ "the first that is missing", "proj/sub/q", "proj/sub/q/x",
	    "outside/x" },
	{ "at the end", "proj/sub/r", "proj/sub/r", "outside/made" },
};

static void
test_no_symlink(void **state)
{
	struct room *r = *state;

	room_put(r, "outside/", "");
	for (size_t i = 0; i < sizeof planted / sizeof planted[0]; i++) {
		struct granted_dirs *m = granted_dirs_open(room_path(r, "home/state"));
		struct err e = { 0 };

		print_message("%s\n", planted[i].name);
		put_link(r, planted[i].link, "outside");
		assert_int_equal(granted_dirs_make(m, room_path(r,
		    planted[i].want), &e), -1);
		assert_false(is_there(r, planted[i].not_made));
		granted_dirs_close(m);
		assert_true(is_there(r, "outside"));
	}
}

/* It leads nowhere yet: what it names is not made. */
static void
test_dangling(void **state)
{
	struct room *r = *state;
	struct granted_dirs *m = granted_dirs_open(room_path(r, "home/state"));
	struct err e = { 0 };

	put_link(r, "proj/sub/p", "nowhere");
	assert_int_equal(granted_dirs_make(m, room_path(r, "proj/sub/p/x"), &e),
	    -1);
	assert_int_equal(granted_dirs_make(m, room_path(r, "proj/sub/p"), &e),
	    -1);
	granted_dirs_close(m);
	assert_false(is_there(r, "nowhere"));
}

/* A folder that was made is exchanged for a symlink before the end. */
static void
test_removed_by_way(void **state)
{
	struct room *r = *state;
	struct granted_dirs *m = granted_dirs_open(room_path(r, "home/state"));
	struct err e = { 0 };

	assert_int_equal(granted_dirs_make(m, room_path(r, "proj/d/empty"), &e),
	    0);
	room_put(r, "outside/empty/", "");
	assert_int_equal(rename(room_path(r, "proj/d"), room_path(r,
	    "proj/mine")), 0);
	put_link(r, "proj/d", "outside");
	granted_dirs_close(m);
	assert_true(is_there(r, "outside/empty"));
}

/* Fence's own state may lie behind a symlink of the user's. */
static void
test_state_by_link(void **state)
{
	struct room *r = *state;
	struct granted_dirs *m;
	struct err e = { 0 };

	room_put(r, "disk/", "");
	put_link(r, "home/local", "disk");
	m = granted_dirs_open(room_path(r, "home/local/state/fence"));
	assert_int_equal(granted_dirs_make(m, room_path(r, "home/x"), &e), 0);
	assert_true(is_there(r, "disk/state/fence/made"));
	granted_dirs_close(m);
	assert_false(is_there(r, "home/x"));
}

/* Each row: what it holds at the end, and whether it goes. */
static const struct {
	const char	*text;
	bool		 goes;
} files[] = {
	{ NULL, true }, { "", true }, { "{}", true }, { "{ }", false },
	{ "{}\n", false }, { "{\"a\":1}", false }, { "x", false },
};

static void
test_file(void **state)
{
	struct room *r = *state;
	struct err e = { 0 };

	room_put(r, "home/", "");
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		struct granted_dirs *m = granted_dirs_open(room_path(r,
		    "home/state"));
		struct stat st;

		(void)unlink(room_path(r, "home/f.json"));
		assert_int_equal(granted_dirs_make_file(m, room_path(r,
		    "home/f.json"), &e), 0);
		assert_int_equal(lstat(room_path(r, "home/f.json"), &st), 0);
		assert_int_equal(st.st_mode, S_IFREG | 0600);
		assert_int_equal(st.st_size, 2);
		if (files[i].text != NULL)
			room_put(r, "home/f.json", files[i].text);
		granted_dirs_close(m);
		if (is_there(r, "home/f.json") == files[i].goes)
			fail_msg("row %zu", i);
	}
}

/* What is there is not written to, a symlink least of all. */
static void
test_file_is_there(void **state)
{
	struct room *r = *state;
	struct granted_dirs *m = granted_dirs_open(room_path(r, "home/state"));
	struct err e = { 0 };
	struct stat st;

	room_put(r, "home/f.json", "mine");
	put_link(r, "home/l.json", "home/f.json");
	put_link(r, "home/d.json", "home/nowhere");
	put_link(r, "home/way", "home");
	assert_int_equal(granted_dirs_make_file(m, room_path(r,
	    "home/f.json"), &e), 0);
	assert_int_equal(granted_dirs_make_file(m, room_path(r,
	    "home/l.json"), &e), 0);
	assert_int_equal(granted_dirs_make_file(m, room_path(r,
	    "home/d.json"), &e), 0);
	assert_int_equal(granted_dirs_make_file(m, room_path(r,
	    "home/way/g.json"), &e), -1);
	assert_int_equal(granted_dirs_make_file(m, room_path(r,
	    "home/none/g.json"), &e), -1);
	granted_dirs_close(m);
	assert_int_equal(stat(room_path(r, "home/f.json"), &st), 0);
	assert_int_equal(st.st_size, 4);
	assert_true(is_there(r, "home/l.json"));
	assert_true(is_there(r, "home/d.json"));
	assert_false(is_there(r, "home/nowhere"));
	assert_false(is_there(r, "home/g.json"));
}

static pid_t
make_and_wait(struct room *r)
{
	int ready[2];
	pid_t pid;
	char c;

	assert_int_equal(pipe(ready), 0);
	pid = fork();
	if (pid == 0) {
		struct granted_dirs *m = granted_dirs_open(room_path(r,
		    "home/state"));
		struct err e = { 0 };

		if (granted_dirs_make(m, room_path(r, "home/a/b"), &e) != 0 ||
		    granted_dirs_make(m, room_path(r, "home/full/d"),
		    &e) != 0 || granted_dirs_make_file(m, room_path(r,
		    "home/f.json"), &e) != 0)
			_exit(1);
		room_put(r, "home/full/f", "x");
		(void)!write(ready[1], "r", 1);
		pause();
		_exit(0);
	}
	assert_int_equal(read(ready[0], &c, 1), 1);
	close(ready[0]);
	close(ready[1]);
	return pid;
}

/* Killed without a warning: somebody else removes what is empty. */
static void
test_killed(void **state)
{
	struct room *r = *state;
	pid_t pid;

	assert_int_equal(prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0), 0);
	pid = make_and_wait(r);
	assert_true(is_there(r, "home/a/b"));
	assert_true(is_there(r, "home/f.json"));
	kill(pid, SIGKILL);
	while (wait(NULL) > 0)
		continue;
	assert_false(is_there(r, "home/a"));
	assert_false(is_there(r, "home/full/d"));
	assert_true(is_there(r, "home/full/f"));
	assert_false(is_there(r, "home/f.json"));
}

int
main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, room_enter, room_leave)
	const struct CMUnitTest tests[] = {
		CASE(test_made_and_removed), CASE(test_no_symlink),
		CASE(test_dangling), CASE(test_removed_by_way),
		CASE(test_state_by_link), CASE(test_killed),
		CASE(test_file), CASE(test_file_is_there),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
