/* platform/base/path: parts of paths, folders made, symlinks read. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <fcntl.h>
#include <string.h>

#include "platform/base/path.h"
#include "tests/unit/room.h"

#define N_OF(a)		(sizeof (a) / sizeof *(a))

static void
parts(void **state)
{
	static const struct { const char *path, *name, *dir, *cut; } cases[] = {
		{ "/a/b", "b", "/a", "/a" },
		{ "/a/b/c", "c", "/a/b", "/a/b" },
		{ "/a", "a", "/", NULL },
		{ "/a/", "", "/a", "/a" },
		{ "/", "", "/", NULL },
		{ "a", "a", "/", NULL },
		{ "a/b", "b", "a", "a" },
		{ "", "", "/", NULL },
	};
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		const char *path = cases[i].path, *cut = cases[i].cut;
		char *copy = arena_strdup(a, path);

		assert_string_equal(path_name(path), cases[i].name);
		assert_string_equal(path_dir(a, path), cases[i].dir);
		assert_int_equal(path_dir_len(path), cut != NULL ?
		    strlen(cut) : 0);
		assert_int_equal(path_cut(copy), cut != NULL);
		assert_string_equal(copy, cut != NULL ? cut : path);
	}
	arena_free(a);
}

static mode_t
mode_of(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 ? st.st_mode & (S_IFMT | 0777) : 0;
}

static void
makes_folders(void **state)
{
	struct room *r = *state;
	char far[PATH_MAX + 8];
	mode_t mask = umask(0);

	assert_int_equal(path_make_above(room_path(r, "a/b/file"), 0750), 0);
	assert_int_equal(mode_of(room_path(r, "a")), S_IFDIR | 0750);
	assert_int_equal(mode_of(room_path(r, "a/b")), S_IFDIR | 0750);
	assert_int_equal(mode_of(room_path(r, "a/b/file")), 0);
	/* What is there stays; only what is missing is made. */
	assert_int_equal(path_make_above(room_path(r, "a/b/c/d/"), 0700), 0);
	assert_int_equal(mode_of(room_path(r, "a/b")), S_IFDIR | 0750);
	assert_int_equal(mode_of(room_path(r, "a/b/c/d")), S_IFDIR | 0700);
	umask(mask);
	room_put(r, "plain", "");
	assert_int_equal(path_make_above(room_path(r, "plain/x/y"), 0700), -1);
	assert_int_equal(errno, ENOTDIR);
	assert_int_equal(path_make_above("/file", 0700), 0);
	assert_int_equal(path_make_above("file", 0700), 0);
	assert_int_equal(path_make_above("", 0700), 0);
	memset(far, 'x', sizeof far);
	far[0] = far[sizeof far - 2] = '/';
	far[sizeof far - 1] = '\0';
	assert_int_equal(path_make_above(far, 0700), -1);
	assert_int_equal(errno, ENAMETOOLONG);
}

static void
reads_links(void **state)
{
	struct room *r = *state;
	const char *link = room_path(r, "link");
	char text[8];

	assert_int_equal(symlink("1234567", link), 0);
	assert_int_equal(path_read_link(AT_FDCWD, link, text, 8), 7);
	assert_string_equal(text, "1234567");
	assert_int_equal(path_read_link(AT_FDCWD, link, text, 7), -1);
	assert_int_equal(errno, ENAMETOOLONG);
	assert_string_equal(text, "");
	strcpy(text, "old");
	assert_int_equal(path_read_link(AT_FDCWD, r->dir, text, 8), -1);
	assert_int_equal(errno, EINVAL);
	assert_string_equal(text, "");
}

static void
follows_links(void **state)
{
	struct room *r = *state;
	struct arena *a = arena_new();
	const char *link = room_path(r, "way");

	assert_int_equal(symlink("proj/../proj/sub", link), 0);
	assert_string_equal(path_real(a, link), room_path(r, "proj/sub"));
	assert_string_equal(path_real_or_same(a, link),
	    room_path(r, "proj/sub"));
	assert_null(path_real(a, room_path(r, "way/none")));
	assert_int_equal(errno, ENOENT);
	assert_string_equal(path_real_or_same(a, room_path(r, "way/none")),
	    room_path(r, "way/none"));
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(parts),
		cmocka_unit_test_setup_teardown(makes_folders, room_enter,
		    room_leave),
		cmocka_unit_test_setup_teardown(reads_links, room_enter,
		    room_leave),
		cmocka_unit_test_setup_teardown(follows_links, room_enter,
		    room_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
