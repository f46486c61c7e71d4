/* guard_move, guard_wide: things copied, compared, removed, whatever their
 * rights are. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>

#include "launcher/guard/guard_move.h"
#include "launcher/guard/guard_wide.h"
#include "tests/unit/tree_text.h"

static int
open_dir(struct room *r, const char *name)
{
	int fd = open(room_path(r, name), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static mode_t
mode_of(struct room *r, const char *name)
{
	struct stat st;

	assert_int_equal(lstat(room_path(r, name), &st), 0);
	return st.st_mode & 07777;
}

static bool
is_there(struct room *r, const char *name)
{
	return access(room_path(r, name), F_OK) == 0;
}

/* A tree with a link and odd rights: copied, compared, dropped. */
static void
test_copy(void **state)
{
	struct room *r = *state;
	struct move m = { .nlate = 0 };
	struct weight w = { 0 };
	char text[64];
	int from, to;

	(void)tree_make(r, "proj/t/a/b proj/t/c>../../home proj/t/d/ "
	    "proj/t/shut:text");
	assert_int_equal(chmod(room_path(r, "proj/t/shut"), 0), 0);
	assert_int_equal(chmod(room_path(r, "proj/t/a"), 0500), 0);
	assert_int_equal(chmod(room_path(r, "proj/t/a/b"), 04755), 0);
	from = open_dir(r, "proj");
	to = open_dir(r, "home");
	move_weigh(from, "t", &w);
	assert_int_equal(w.entries, 5);	/* below it */
	assert_int_equal(move_copy(&m, from, "t", to, "copy"), 0);
	assert_true(m.copied >= 4);
	assert_true(is_there(r, "home/copy/a/b"));
	assert_true(is_there(r, "home/copy/d"));
	assert_int_equal(readlink(room_path(r, "home/copy/c"), text,
	    sizeof text), 10);
	/* Rights are kept, and the owner can look. */
	assert_int_equal(mode_of(r, "home/copy/shut") & ~0400, 0);
	assert_int_equal(mode_of(r, "home/copy/a"), 0700);
	assert_int_equal(mode_of(r, "home/copy/a/b"), 0755);
	assert_int_equal(move_drop(&m, from, "t", to, "copy"), 0);
	move_late(&m, true);
	assert_false(is_there(r, "proj/t"));
	/* Nothing behind the link was touched. */
	assert_true(is_there(r, "home"));
	assert_int_equal(move_remove(to, "copy"), 0);
	assert_false(is_there(r, "home/copy"));
	close(from);
	close(to);
}

/* What came meanwhile has no like in the copy: it stays, and is an error. */
static void
test_changed(void **state)
{
	struct room *r = *state;
	struct move m = { .nlate = 0 };
	int from, to;

	(void)tree_make(r, "proj/t/a");
	from = open_dir(r, "proj");
	to = open_dir(r, "home");
	assert_int_equal(move_copy(&m, from, "t", to, "copy"), 0);
	room_put(r, "proj/t/new", "x");
	assert_int_equal(move_drop(&m, from, "t", to, "copy"), -1);
	assert_true(errno == ENOTEMPTY || errno == ESTALE);
	assert_true(is_there(r, "proj/t/new"));
	/* A copy of something that is not there. */
	assert_int_equal(move_copy(&m, from, "none", to, "copy2"), -1);
	assert_int_equal(errno, ENOENT);
	assert_false(is_there(r, "home/copy2"));
	move_late(&m, true);
	close(from);
	close(to);
}

/* Stopped: nothing is left of the copy. */
static void
test_stopped(void **state)
{
	static const volatile bool stop = true;
	struct room *r = *state;
	struct move m = { .is_stopped = &stop };
	int from, to;

	(void)tree_make(r, "proj/t/a");
	from = open_dir(r, "proj");
	to = open_dir(r, "home");
	assert_int_equal(move_copy(&m, from, "t", to, "copy"), -1);
	assert_false(is_there(r, "home/copy"));
	assert_true(is_there(r, "proj/t/a"));
	close(from);
	close(to);
}

static void
test_same(void **state)
{
	static const struct { const char *a, *b; bool is; } t[] = {
		{ "x", "x2", true }, { "x", "y", false }, { "x", "d", false },
		{ "d", "d2", true }, { "d", "d3", false }, { "l", "l2", true },
		{ "l", "l3", false }, { "x", "none", false },
	};
	struct room *r = *state;
	int dir, writer;

	(void)tree_make(r, "proj/x:1 proj/x2:1 proj/y:2 proj/d/f:1 "
	    "proj/d2/f:1 proj/d3/f:2 proj/l>a proj/l2>a proj/l3>b");
	dir = open_dir(r, "proj");
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++)
		if (move_is_same(dir, t[i].a, t[i].b) != t[i].is)
			fail_msg("row %zu", i);
	/* While somebody writes to it, nothing is said of it. */
	writer = open(room_path(r, "proj/x"), O_WRONLY | O_CLOEXEC);
	assert_true(writer >= 0);
	if (move_has_writer(writer))
		assert_false(move_is_same(dir, "x2", "x"));
	close(writer);
	close(dir);
}

static void
test_list(void **state)
{
	struct room *r = *state;
	const char *name;
	unsigned n = 0;
	DIR *dp;

	(void)tree_make(r, "proj/t/a proj/t/.b proj/t/..c");
	dp = move_list(open_dir(r, "proj/t"));
	assert_non_null(dp);
	while ((name = move_next(dp)) != NULL) {
		assert_string_not_equal(name, ".");
		assert_string_not_equal(name, "..");
		n++;
	}
	assert_int_equal(n, 3);
	closedir(dp);
}

/* Removed at any depth, and without rights. */
static void
test_remove(void **state)
{
	enum { DEPTH = 3000 };		/* longer than a path can be */
	struct room *r = *state;
	int top = open_dir(r, "proj"), dir = dup(top);

	for (int i = 0; i < DEPTH; i++) {
		int next;

		assert_int_equal(mkdirat(dir, "abc", 0700), 0);
		next = openat(dir, "abc", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
		assert_true(next >= 0);
		if (i % 7 == 3)
			assert_int_equal(fchmod(dir, 0), 0);
		close(dir);
		dir = next;
	}
	close(dir);
	assert_int_equal(move_remove(top, "abc"), 0);
	assert_false(is_there(r, "proj/abc"));
	assert_int_equal(move_remove(top, "abc"), 0);	/* it is gone */
	close(top);
}

/* ---- rights for a while ---- */

static void
test_wide(void **state)
{
	static const struct { const char *name; mode_t mode, given; } t[] = {
		{ "shut", 0, 0700 }, { "half", 0500, 0700 },
		{ "fine", 0750, 0750 }, { "f", 0, 0400 }, { "g", 0644, 0644 },
	};
	struct room *r = *state;
	struct wide w;
	int dir;

	(void)tree_make(r, "proj/shut/ proj/half/ proj/fine/ proj/f proj/g "
	    "proj/link>f");
	dir = open_dir(r, "proj");
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		char name[32];

		snprintf(name, sizeof name, "proj/%s", t[i].name);
		assert_int_equal(fchmodat(dir, t[i].name, t[i].mode, 0), 0);
		assert_int_equal(wide_give(&w, dir, t[i].name), 0);
		assert_int_equal(mode_of(r, name), t[i].given);
		wide_back(&w);
		assert_int_equal(mode_of(r, name), t[i].mode);
	}
	/* No symlink is followed; what is missing is an error. */
	assert_int_equal(wide_give(&w, dir, "link"), -1);
	assert_int_equal(errno, EACCES);
	wide_back(&w);
	assert_int_equal(wide_give(&w, dir, "none"), -1);
	assert_int_equal(errno, ENOENT);
	/* Somebody changed it meanwhile: that stays. */
	assert_int_equal(wide_give(&w, dir, "shut"), 0);
	assert_int_equal(fchmodat(dir, "shut", 0711, 0), 0);
	wide_back(&w);
	assert_int_equal(mode_of(r, "proj/shut"), 0711);
	close(dir);
}

static void
test_wide_open(void **state)
{
	struct room *r = *state;
	struct wide w;
	int dir, fd;

	(void)tree_make(r, "proj/f:text proj/d/x proj/link>f proj/dirlink>d");
	dir = open_dir(r, "proj");
	assert_int_equal(fchmodat(dir, "f", 0, 0), 0);
	assert_int_equal(fchmodat(dir, "d", 0, 0), 0);
	fd = wide_open_file(&w, dir, "f");
	assert_true(fd >= 0);
	close(fd);
	wide_back(&w);
	assert_int_equal(mode_of(r, "proj/f"), 0);
	fd = wide_open_dir(&w, dir, "d");
	assert_true(fd >= 0);
	close(fd);
	wide_back(&w);
	assert_int_equal(mode_of(r, "proj/d"), 0);
	assert_int_equal(wide_open_file(&w, dir, "link"), -1);
	wide_back(&w);
	assert_int_equal(wide_open_dir(&w, dir, "dirlink"), -1);
	wide_back(&w);
	fd = wide_open_doomed(dir, "d");
	assert_true(fd >= 0);
	close(fd);
	close(dir);
}

int
main(void)
{
#define IN_ROOM(f) cmocka_unit_test_setup_teardown(f, room_enter, room_leave)
	const struct CMUnitTest tests[] = {
		IN_ROOM(test_copy),
		IN_ROOM(test_changed),
		IN_ROOM(test_stopped),
		IN_ROOM(test_same),
		IN_ROOM(test_list),
		IN_ROOM(test_remove),
		IN_ROOM(test_wide),
		IN_ROOM(test_wide_open),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
