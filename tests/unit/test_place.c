/* place: paths opened as themselves, mount points made in our own alone. */
#include <errno.h>
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "platform/fd.h"
#include "platform/linux/place.h"
#include "tests/unit/room.h"

static void
put_link(struct room *r, const char *name, const char *to)
{
	assert_int_equal(symlink(to, room_path(r, name)), 0);
}

static void
test_open(void **state)
{
	static const struct {
		const char	*path;
		int		 sys;
		mode_t		 type;
	} rows[] = {
		{ "proj/sub", 0, S_IFDIR }, { "proj/file", 0, S_IFREG },
		{ "proj/link", 0, S_IFLNK },	/* itself */
		{ "proj/link/x", ELOOP, 0 }, { "proj/up/proj", ELOOP, 0 },
		{ "proj/none", ENOENT, 0 }, { "proj/file/x", ENOTDIR, 0 },
	};
	struct room *r = *state;

	room_put(r, "proj/file", "x");
	room_put(r, "home/x", "x");
	put_link(r, "proj/link", "../home");
	put_link(r, "proj/up", "..");
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		auto_fd fd = place_open(room_path(r, rows[i].path));
		int sys = fd < 0 ? errno : 0;
		struct stat st;

		print_message("%s\n", rows[i].path);
		assert_int_equal(sys, rows[i].sys);
		if (fd < 0) {
			assert_true(place_is_passing(sys));
			continue;
		}
		assert_int_equal(fstat(fd, &st), 0);
		assert_int_equal(st.st_mode & S_IFMT, rows[i].type);
	}
	assert_false(place_is_passing(EACCES));
	assert_false(place_is_passing(EMFILE));
}

static void
test_planned(void **state)
{
	struct room *r = *state;
	struct stat st;
	auto_fd fd = -1;

	room_put(r, "proj/file", "x");
	assert_int_equal(stat(room_path(r, "proj/file"), &st), 0);
	fd = place_planned(room_path(r, "proj/file"), st.st_dev, st.st_ino);
	assert_true(fd >= 0);
	assert_true(place_is_at(fd, st.st_dev, st.st_ino));
	assert_false(place_is_mount(fd, st.st_dev, st.st_ino));
	/* Saved as editors do: it is another file. */
	room_put(r, "proj/new", "y");
	assert_int_equal(rename(room_path(r, "proj/new"),
	    room_path(r, "proj/file")), 0);
	assert_int_equal(place_planned(room_path(r, "proj/file"), st.st_dev,
	    st.st_ino), -1);
	assert_int_equal(errno, ESTALE);
}

/* Something else a hundred times is the end. */
static void
test_try(void **state)
{
	int n = 0, count = 0;

	(void)state;
	while (place_try(&n))
		count++;
	assert_int_equal(count, 100);
}

static void
test_make(void **state)
{
	struct room *r = *state;
	dev_t devs[1];
	struct place_own own = { .v = devs, .cap = 1 };
	auto_fd room = place_open(r->dir);
	int fd;

	/* Of the host's. */
	assert_int_equal(place_make(&own, room_path(r, "proj/a/b"), true,
	    0755), -1);
	assert_int_equal(errno, ESTALE);
	assert_int_equal(access(room_path(r, "proj/a"), F_OK), -1);
	/* Ours: told by the file system, however the path is spelled. */
	assert_int_equal(place_claim(&own, room), 0);
	fd = place_make(&own, room_path(r, "proj/a/b"), true, 0711);
	assert_true(fd >= 0);
	fd_close(&fd);
	fd = place_make(&own, room_path(r, "proj/c/file"), false, 0711);
	assert_true(fd >= 0);
	fd_close(&fd);
	assert_int_equal(access(room_path(r, "proj/a/b"), X_OK), 0);
	assert_int_equal(access(room_path(r, "proj/c/file"), R_OK), 0);
	/* Not by a symlink. */
	put_link(r, "proj/link", "../home");
	assert_int_equal(place_make(&own, room_path(r, "proj/link/x/y"), true,
	    0755), -1);
	assert_int_equal(access(room_path(r, "home/x"), F_OK), -1);
	/* There is room for as many as one said. */
	assert_int_equal(place_claim(&own, room), -1);
	assert_int_equal(errno, ENOSPC);
}

int
main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, room_enter, room_leave)
	const struct CMUnitTest tests[] = {
		CASE(test_open), CASE(test_planned), CASE(test_try),
		CASE(test_make),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
