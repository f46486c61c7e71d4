/* name_filter: it never calls a name missing that is there. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <unistd.h>

#include <cmocka.h>

#include "platform/name_filter.h"
#include "tests/unit/room.h"

static void
test_small(void **state)
{
	struct room *r = *state;
	struct name_filter f;

	room_put(r, "proj/.claude/settings.json", "x");
	room_put(r, "proj/file", "x");
	assert_int_equal(symlink("nowhere", room_path(r, "proj/link")), 0);
	name_filter_read(&f, room_path(r, "proj"));
	assert_false(name_filter_lacks(&f, "file"));
	assert_false(name_filter_lacks(&f, "link"));
	/* Of a path only the first name is known. */
	assert_false(name_filter_lacks(&f, ".claude"));
	assert_false(name_filter_lacks(&f, ".claude/none"));
	assert_true(name_filter_lacks(&f, ".clau"));
	assert_true(name_filter_lacks(&f, ".codex/hooks"));
	assert_true(name_filter_lacks(&f, "file2"));
}

static void
test_unknown(void **state)
{
	struct room *r = *state;
	struct name_filter f;
	char name[64];

	room_put(r, "file", "x");
	name_filter_read(&f, room_path(r, "none"));
	assert_false(name_filter_lacks(&f, "x"));
	name_filter_read(&f, room_path(r, "file"));
	assert_false(name_filter_lacks(&f, "x"));
	/* Too much to be listed: nothing is called missing. */
	for (int i = 0; i < 2000; i++) {
		snprintf(name, sizeof name, "many/a-name-of-some-length-%d",
		    i);
		room_put(r, name, "");
	}
	name_filter_read(&f, room_path(r, "many"));
	assert_false(name_filter_lacks(&f, "none"));
	assert_false(name_filter_lacks(&f, "a-name-of-some-length-1999"));
}

/* ext4 with casefold, vfat and others take ".ENVRC" for ".envrc". */
static void
test_case(void **state)
{
	struct room *r = *state;
	struct name_filter f;

	room_put(r, "caps/.ENVRC", "x");
	room_put(r, "caps/.VsCode/settings.json", "x");
	name_filter_read(&f, room_path(r, "caps"));
	assert_false(name_filter_lacks(&f, ".envrc"));
	assert_false(name_filter_lacks(&f, ".vscode/settings.json"));
	assert_true(name_filter_lacks(&f, ".mcp.json"));
	room_put(r, "caps/.vscode-\xe2\x84\xaa", "x");	/* KELVIN SIGN */
	name_filter_read(&f, room_path(r, "caps"));
	assert_false(name_filter_lacks(&f, ".mcp.json"));
}

/* As many as are listed at all, each of them found again. */
static void
test_full(void **state)
{
	struct room *r = *state;
	struct name_filter f;
	unsigned lacking = 0;
	char name[64];

	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof name, "full/n%d", i);
		room_put(r, name, "");
	}
	name_filter_read(&f, room_path(r, "full"));
	for (int i = 0; i < 200; i++) {
		snprintf(name, sizeof name, "n%d", i);
		assert_false(name_filter_lacks(&f, name));
		snprintf(name, sizeof name, "m%d", i);
		lacking += name_filter_lacks(&f, name);
	}
	assert_true(lacking > 100);
}

int
main(void)
{
#define CASE(f) cmocka_unit_test_setup_teardown(f, room_enter, room_leave)
	const struct CMUnitTest tests[] = {
		CASE(test_small), CASE(test_unknown), CASE(test_full),
		CASE(test_case),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
