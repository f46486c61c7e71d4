/* shadow_diff, and the shadow as its user sees it. */
#include <fcntl.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <unistd.h>

#include <cmocka.h>

#include "launcher/shadow/shadow_diff.h"
#include "launcher/shadow/shadow_user.h"
#include "platform/base/vec.h"
#include "tests/unit/room.h"

static const struct {
	const char	*name, *a, *b, *want;
} rows[] = {
	{ "the same", "a\nb\n", "a\nb\n", "" },
	{ "nothing, and something", "", "a\n", "@@ -0,0 +1,1 @@\n+a\n" },
	{ "something, and nothing", "a\n", "", "@@ -1,1 +0,0 @@\n-a\n" },
	{ "one line", "a\nb\nc\n", "a\nx\nc\n",
	    "@@ -1,3 +1,3 @@\n a\n-b\n+x\n c\n" },
	{ "no newline at the end", "a", "a\n", "@@ -1,1 +1,1 @@\n-a\n"
	    "\\ No newline at end of file\n+a\n" },
	{ "far apart: two hunks", "1\n2\n3\n4\n5\n6\n7\n8\n9\n",
	    "x\n2\n3\n4\n5\n6\n7\n8\ny\n",
	    "@@ -1,4 +1,4 @@\n-1\n+x\n 2\n 3\n 4\n"
	    "@@ -6,4 +6,4 @@\n 6\n 7\n 8\n-9\n+y\n" },
	{ "near: one hunk", "1\n2\n3\n4\n5\n6\n7\n",
	    "x\n2\n3\n4\n5\n6\ny\n",
	    "@@ -1,7 +1,7 @@\n-1\n+x\n 2\n 3\n 4\n 5\n 6\n-7\n+y\n" },
	{ "moved", "a\nb\nc\n", "b\nc\na\n",
	    "@@ -1,3 +1,3 @@\n-a\n b\n c\n+a\n" },
	{ "escaped", "", "\033[2Jx\t\\y\xff\n",
	    "@@ -0,0 +1,1 @@\n+\\x1b[2Jx\t\\y\\xff\n" },
};

static void
test_lines(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct buf b;

		buf_init(&b, 0);
		diff_lines(&b, rows[i].a, strlen(rows[i].a), rows[i].b,
		    strlen(rows[i].b));
		if (strcmp(b.data, rows[i].want) != 0)
			fail_msg("%s: %s", rows[i].name, b.data);
		buf_release(&b);
	}
}

/* Applied to a, the difference is b: for many texts of few lines. */
static void
test_applies(void **state)
{
	unsigned seed = 1;

	(void)state;
	for (int round = 0; round < 2000; round++) {
		char a[64] = "", b[64] = "", got[256] = "";
		size_t na = 0, nb = 0, at = 0;
		struct buf d;

		for (int i = 0; i < 24; i++) {
			seed = seed * 1103515245 + 12345;
			if ((seed >> 16) % 3 != 0) {
				a[na++] = (char)('a' + (seed >> 20) % 3);
				a[na++] = '\n';
			}
			if ((seed >> 24) % 3 != 0) {
				b[nb++] = (char)('a' + (seed >> 26) % 3);
				b[nb++] = '\n';
			}
		}
		buf_init(&d, 0);
		diff_lines(&d, a, na, b, nb);
		for (const char *p = d.data; *p != '\0';
		    p += strcspn(p, "\n") + 1) {
			size_t line = 0;

			if (sscanf(p, "@@ -%zu", &line) == 1) {
				line = strstr(p, ",0 +") != NULL &&
				    strstr(p, ",0 +") < strchr(p, '+') ?
				    line : line - 1;
				strncat(got, a + at, line * 2 - at);
				at = line * 2;
			} else if (p[0] == '-') {
				at += 2;
			} else {
				strncat(got, p + 1, 2);
				at += p[0] == ' ' ? 2 : 0;
			}
		}
		strcat(got, a + at);
		assert_string_equal(got, b);
		buf_release(&d);
	}
}

/* Longer than edits are counted: all out, all in, and in time. */
static void
test_long(void **state)
{
	struct buf a, b, d;

	(void)state;
	buf_init(&a, 0);
	buf_init(&b, 0);
	buf_init(&d, 0);
	for (int i = 0; i < 20000; i++) {
		buf_printf(&a, "a%d\n", i);
		buf_printf(&b, "b%d\n", i);
	}
	diff_lines(&d, a.data, a.len, b.data, b.len);
	assert_memory_equal(d.data, "@@ -1,20000 +1,20000 @@\n-a0\n", 28);
	buf_release(&a);
	buf_release(&b);
	buf_release(&d);
}

/* ---- the store ---- */

static const struct shadow_item items[] = {
	{ "settings.json", SHADOW_KEPT, false },
	{ "hooks", SHADOW_KEPT, true },
};

/* A run that leaves these words in its settings. */
static void
run_once(struct room *r, const char *state, const char *settings)
{
	const struct shadow_folder folder = { room_path(r, "home/.agent"),
	    items, 2, true };
	const struct shadow_config c = { .state = state, .run_id = "run",
	    .folders = &folder, .nfolders = 1 };
	struct arena *a = arena_new();
	struct err e = { 0 };
	struct shadow *s = shadow_begin(&c, &e);
	const char *source = shadow_source(a, state, folder.path);

	assert_non_null(s);
	room_put(r, arena_join(a, source + strlen(r->dir) + 1,
	    "settings.json"), settings);
	room_put(r, arena_join(a, source + strlen(r->dir) + 1, "hooks/x"),
	    "x");
	shadow_end(s, NULL, NULL);
	shadow_free(s);
	arena_free(a);
}

static void
test_user(void **state)
{
	struct room *r = *state;
	struct shadow_entries entries;
	struct arena *a = arena_new();
	const char *st = arena_strdup(a, room_path(r, "home/state/fence"));
	const char *settings = arena_strdup(a, room_path(r,
	    "home/.agent/settings.json"));
	struct err e = { 0 };
	struct buf b;
	size_t n;

	assert_int_equal(shadow_list(a, st, &entries, &e), 0);
	assert_int_equal(entries.n, 0);
	room_put(r, "home/.agent/settings.json", "host\n");
	run_once(r, st, "jail\n");
	assert_int_equal(shadow_list(a, st, &entries, &e), 0);
	assert_int_equal(entries.n, 2);
	assert_int_equal(entries.v[0].state, SHADOW_IS_NEW);
	assert_string_equal(entries.v[1].path, settings);
	assert_int_equal(entries.v[1].state, SHADOW_IS_CHANGED);
	assert_false(entries.v[1].is_host_newer);
	vec_release(&entries);
	buf_init(&b, 0);
	assert_int_equal(shadow_diff(a, st, settings, &b, &e), 0);
	assert_non_null(strstr(b.data, "@@ -1,1 +1,1 @@\n-host\n+jail\n"));
	buf_release(&b);
	assert_int_equal(shadow_keep(a, st, room_path(r,
	    "home/.agent/hooks/x"), NULL, NULL, &e), -1);
	assert_int_equal(shadow_keep(a, st, settings, NULL, NULL, &e), 0);
	assert_int_equal(shadow_drop(a, st, room_path(r, "home/.agent/hooks"),
	    &n, &e), 0);
	assert_int_equal(n, 1);
	assert_int_equal(shadow_drop(a, st, room_path(r, "home/.other"), &n,
	    &e), -1);
	assert_int_equal(shadow_reset(st, false, NULL, NULL, NULL, NULL, &e),
	    0);
	assert_int_equal(shadow_list(a, st, &entries, &e), 0);
	assert_int_equal(entries.n, 0);
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lines),
		cmocka_unit_test(test_applies),
		cmocka_unit_test(test_long),
		cmocka_unit_test_setup_teardown(test_user, room_enter,
		    room_leave),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
