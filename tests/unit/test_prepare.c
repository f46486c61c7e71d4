/* prepare: what a plan lists as missing is made, and goes or stays. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "launcher/run/prepare.h"
#include "tests/unit/room.h"

static bool
is_there(struct room *r, const char *name)
{
	struct stat st;

	return lstat(room_path(r, name), &st) == 0;
}

/* Prepares in a room whose home is "home", and makes these. */
static int
prepare(struct room *r, const struct missing_dir *v, size_t n,
    struct prepared **ret, struct err *e)
{
	const struct plan plan = { .missing = v, .nmissing = n };
	char home[4096];
	char *env[] = { home, NULL };

	snprintf(home, sizeof home, "HOME=%s", room_path(r, "home"));
	*ret = prepare_new(env);
	return prepare_make(*ret, &plan, e);
}

static void
test_granted_goes_own_stays(void **state)
{
	struct room *r = *state;
	char granted[4096], own[4096];
	const struct missing_dir dirs[] = {
		{ .path = granted },
		{ .path = own, .what = "your own policies" },
	};
	struct prepared *p;
	struct err e = { 0 };

	snprintf(granted, sizeof granted, "%s", room_path(r, "home/cache/x"));
	snprintf(own, sizeof own, "%s", room_path(r, "home/.config/fence"));
	assert_int_equal(prepare(r, dirs, 2, &p, &e), 0);
	assert_true(is_there(r, "home/cache/x"));
	assert_true(is_there(r, "home/.config/fence"));
	prepare_free(p);
	assert_false(is_there(r, "home/cache"));
	assert_true(is_there(r, "home/.config/fence"));
}

/* One that cannot be made is an error for fence's own alone. */
static void
test_cannot_be_made(void **state)
{
	struct room *r = *state;
	char path[4096];
	struct prepared *p;
	struct err e = { 0 };

	room_put(r, "home/file", "x");
	snprintf(path, sizeof path, "%s", room_path(r, "home/file/below"));
	assert_int_equal(prepare(r, &(struct missing_dir){ .path = path }, 1,
	    &p, &e), 0);
	prepare_free(p);
	assert_int_equal(prepare(r, &(struct missing_dir){ .path = path,
	    .what = "fence's state" }, 1, &p, &e), -1);
	assert_non_null(strstr(e.msg, "fence's state"));
	prepare_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(test_granted_goes_own_stays,
		    room_enter, room_leave),
		cmocka_unit_test_setup_teardown(test_cannot_be_made,
		    room_enter, room_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
