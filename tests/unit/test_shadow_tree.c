/*
 * shadow_tree: nothing is followed out of a tree, neither where a symlink lies
 * nor where another process puts one while the tree is copied.
 */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <signal.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>

#include <cmocka.h>

#include "launcher/guard/guard_move.h"
#include "launcher/shadow/shadow_tree.h"
#include "platform/fd.h"
#include "tests/unit/room.h"

enum { EXCHANGE = 2 };	/* RENAME_EXCHANGE */

static int
open_dir(struct room *r, const char *name)
{
	int fd = open(room_path(r, name), O_RDONLY | O_DIRECTORY | O_CLOEXEC);

	assert_true(fd >= 0);
	return fd;
}

static void
put_link(struct room *r, const char *name, const char *to)
{
	assert_int_equal(symlink(to, room_path(r, name)), 0);
}

/* Each row: a folder by its name, and whether it may be opened. */
static const struct {
	const char	*name;
	bool		 may;
} ways[] = {
	{ "tree/sub/deep", true }, { "tree/sub", true },
	{ "tree//sub/", true }, { "link", false }, { "link/deep", false },
	{ "tree/in", false }, { "tree/in/deep", false },
	{ "tree/sub/file", false }, { "tree/none", false },
	{ "tree/../tree/sub", false },
};

static void
test_open(void **state)
{
	struct room *r = *state;
	auto_fd top = -1;

	room_put(r, "tree/sub/deep/", "");
	room_put(r, "tree/sub/file", "x");
	put_link(r, "link", "tree/sub");
	put_link(r, "tree/in", "sub");
	top = open_dir(r, "");
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++) {
		auto_fd by_path = shadow_tree_open(room_path(r, ways[i].name));
		auto_fd by_fd = shadow_tree_open_at(top, ways[i].name);

		print_message("%s\n", ways[i].name);
		assert_int_equal(by_fd >= 0, ways[i].may);
		/* The kernel's own way knows "..", and stays in no folder. */
		if (strstr(ways[i].name, "..") == NULL)
			assert_int_equal(by_path >= 0, ways[i].may);
	}
}

/* Exchanges two names in a folder until it is killed. */
static pid_t
swap(int dir, const char *a, const char *b)
{
	pid_t pid = fork();

	assert_true(pid >= 0);
	if (pid > 0)
		return pid;
	prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0);
	for (;;)
		(void)syscall(SYS_renameat2, dir, a, dir, b, EXCHANGE);
}

static void
end_swap(pid_t pid)
{
	kill(pid, SIGKILL);
	assert_int_equal(waitpid(pid, NULL, 0), pid);
}

static bool
holds_secret(int dir, const char *name)
{
	char text[16] = "";
	auto_fd fd = openat(dir, name, O_RDONLY | O_NOFOLLOW | O_CLOEXEC);

	return fd >= 0 && pread(fd, text, sizeof text - 1, 0) > 0 &&
	    strcmp(text, "secret") == 0;
}

/*
 * thing: a file or folder, which is a symlink out of the tree at every other
 * moment.  As often as not a copy meets it between two looks.
 */
static void
race(struct room *r, const char *thing, const char *inside,
    enum shadow_way way)
{
	enum { COPIES = 1500 };
	auto_fd tree = open_dir(r, "tree"), to = open_dir(r, "to");
	char secret[SHA256_HEX], now[SHA256_HEX];
	unsigned ncopied = 0, nlinks = 0;
	pid_t pid;

	shadow_tree_content(tree, "../out", secret);
	pid = swap(tree, thing, "link");
	for (unsigned i = 0; i < COPIES; i++) {
		struct shadow_copying c;
		struct stat st;

		shadow_copying_init(&c, way);
		shadow_tree_content(tree, thing, now);
		assert_string_not_equal(now, secret);
		if (shadow_tree_copy(&c, tree, thing, to, "copy") != 0)
			continue;
		assert_int_equal(fstatat(to, "copy", &st,
		    AT_SYMLINK_NOFOLLOW), 0);
		ncopied += !S_ISLNK(st.st_mode);
		nlinks += S_ISLNK(st.st_mode);
		if (!S_ISLNK(st.st_mode))
			assert_false(holds_secret(to, inside));
		assert_int_equal(move_remove(to, "copy"), 0);
	}
	end_swap(pid);
	assert_true(ncopied > 0);
	assert_int_equal(way == SHADOW_OUTWARD && nlinks > 0, 0);
}

static void
test_file_race(void **state)
{
	struct room *r = *state;

	room_put(r, "out", "secret");
	room_put(r, "tree/file", "plain");
	room_put(r, "to/", "");
	put_link(r, "tree/link", "../out");
	race(r, "file", "copy", SHADOW_OUTWARD);
	race(r, "file", "copy", SHADOW_INWARD);
}

static void
test_folder_race(void **state)
{
	struct room *r = *state;

	room_put(r, "out/f", "secret");
	room_put(r, "tree/dir/f", "plain");
	room_put(r, "to/", "");
	put_link(r, "tree/link", "../out");
	race(r, "dir", "copy/f", SHADOW_OUTWARD);
	race(r, "dir", "copy/f", SHADOW_INWARD);
}

int
main(void)
{
#define T(name) cmocka_unit_test_setup_teardown(name, room_enter, room_leave)
	const struct CMUnitTest tests[] = {
		T(test_open), T(test_file_race), T(test_folder_race),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
