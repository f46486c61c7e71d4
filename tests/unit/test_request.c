/* request: options and the place where we stand, as a question for a policy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "launcher/plan/request.h"
#include "tests/unit/room.h"

static void
test_path(void **state)
{
	static const struct { const char *path, *want; } t[] = {
		{ "a", "/ws/a" }, { "./a//b/", "/ws/a/b" }, { "..", "/" },
		{ "../../x", "/x" }, { "/abs/./x/..", "/abs" }, { ".", "/ws" },
	};
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++)
		assert_string_equal(request_path(a, "/ws", t[i].path),
		    t[i].want);
	arena_free(a);
}

/* What stands there is handed on as it is. */
static void
test_make(void **state)
{
	struct room *r = *state;
	struct arena *a = arena_new();
	const char *allow[] = { "a.test" }, *write[] = { "out" },
	    *hide[] = { "key" }, *shown[] = { "x[1]" },
	    *vars[] = { "A=1", "TOKEN" };
	const struct run_options ro = { .settings = "p.json",
	    .allow = { allow, 1, 1 }, .write = { write, 1, 1 },
	    .deny_read = { hide, 1, 1 }, .expose_rw = { shown, 1, 1 },
	    .env = { vars, 2, 2 }, .force_new_session = TRI_TRUE };
	char home[128], *env[] = { home, NULL };
	struct resolve_request q;
	struct err e = { 0 };

	snprintf(home, sizeof home, "HOME=%s", room_path(r, "home"));
	assert_int_equal(chdir(room_path(r, "proj")), 0);
	assert_int_equal(request_make(a, &ro, env, &q, &e), 0);
	assert_string_equal(q.home, room_path(r, "home"));
	assert_string_equal(q.cwd, room_path(r, "proj"));
	assert_string_equal(q.settings, "p.json");
	assert_ptr_equal(q.environ, env);
	assert_int_equal(q.allow.n, 1);
	assert_string_equal(q.allow.v[0], "a.test");
	assert_string_equal(q.deny_read.v[0], "key");
	assert_int_equal(q.force_new_session, TRI_TRUE);
	/* An exposed path means itself, whatever is in it. */
	assert_int_equal(q.write.n, 2);
	assert_string_equal(q.write.v[0], "out");
	assert_string_equal(q.write.v[1], room_path(r, "proj/x\\[1]"));
	assert_int_equal(q.read.n, 0);
	assert_int_equal(q.env_set.n, 1);
	assert_string_equal(q.env_set.v[0], "A=1");
	assert_int_equal(q.env_allow.n, 1);
	assert_string_equal(q.env_allow.v[0], "TOKEN");
	assert_int_equal(chdir("/"), 0);
	arena_free(a);
}

/* A home that is a symlink is the place it leads to. */
static void
test_home(void **state)
{
	struct room *r = *state;
	struct arena *a = arena_new();
	const struct run_options ro = { 0 };
	char home[128], *env[] = { home, NULL };
	struct resolve_request q;
	struct err e = { 0 };

	assert_int_equal(symlink("home", room_path(r, "way")), 0);
	snprintf(home, sizeof home, "HOME=%s", room_path(r, "way"));
	assert_int_equal(request_make(a, &ro, env, &q, &e), 0);
	assert_string_equal(q.home, room_path(r, "home"));
	arena_free(a);
}

static void
test_env(void **state)
{
	static const struct { const char *var, *error; } t[] = {
		{ "FENCE_SANDBOX=0", "is fence's own" },
		{ "FENCE_SANDBOX", "is fence's own" },
		{ "LD_PRELOAD", "is never taken" },
		{ "HTTP_PROXY", "is never taken" },
		{ "HTTP_PROXY=http://x:1", NULL },
		{ "TOKEN", NULL }, { "A=", NULL },
	};
	struct room *r = *state;
	char home[128], *env[] = { home, NULL };
	struct arena *a = arena_new();

	snprintf(home, sizeof home, "HOME=%s", room_path(r, "home"));
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		const char *v[] = { t[i].var };
		const struct run_options ro = { .env = { v, 1, 1 } };
		struct resolve_request q;
		struct err e = { 0 };
		int rc = request_make(a, &ro, env, &q, &e);

		if (rc != (t[i].error != NULL ? -1 : 0) || (rc != 0 &&
		    strstr(e.msg, t[i].error) == NULL))
			fail_msg("%s: %d %s", t[i].var, rc, e.msg);
	}
	arena_free(a);
}

int
main(void)
{
#define IN_ROOM(f) cmocka_unit_test_setup_teardown(f, room_enter, room_leave)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_path),
		IN_ROOM(test_make),
		IN_ROOM(test_home),
		IN_ROOM(test_env),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
