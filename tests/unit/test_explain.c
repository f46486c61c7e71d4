/* explain: what a policy says of a path as written, and where it leads. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "launcher/record/explain.h"
#include "tests/unit/tree_text.h"
#include "tests/unit/verdict_words.h"

static const char tree[] = "proj/a proj/secret/key proj/way>secret "
    "proj/out>../outside outside/x proj/circle>circle home/x";

static const char policy[] = "{ \"filesystem\": {\n"
    "  \"allowWrite\": [\".\", \"./late.txt\", \"./new-*\"],\n"
    "  \"denyWrite\": [\"./ro\"], \"denyRead\": [\"./secret\"] } }";

static const struct {
	enum fs_op	 op;
	const char	*path;		/* from proj */
	const char	*rule;		/* NULL: nothing refuses it */
	const char	*clean;		/* as it was written */
} paths[] = {
	{ FS_READ, "a", NULL, NULL }, { FS_WRITE, "a", NULL, NULL },
	{ FS_READ, "secret/key", "filesystem.denyRead[0]",
	  "@/proj/secret/key" },
	{ FS_WRITE, "./secret//key", "filesystem.denyRead[0]",
	  "@/proj/secret/key" },
	{ FS_WRITE, "ro/x", "filesystem.denyWrite[0]", "@/proj/ro/x" },
	{ FS_READ, "ro/x", NULL, NULL },
	{ FS_WRITE, "@/home/x", "filesystem.allowWrite", "@/home/x" },
	{ FS_READ, "@/home/x", NULL, NULL },
	{ FS_WRITE, "../home/x", "filesystem.allowWrite", "@/home/x" },
	/* Where it leads. */
	{ FS_READ, "way/key", "filesystem.denyRead[0]", "@/proj/way/key" },
	{ FS_WRITE, "out/x", "filesystem.allowWrite", "@/proj/out/x" },
	{ FS_READ, "out/x", NULL, NULL },
	{ FS_READ, "circle", NULL, NULL },
	{ FS_WRITE, ".bashrc", "built-in", "@/proj/.bashrc" },
	{ FS_READ, "", NULL, NULL },
};

struct scene {
	struct room	*r;
	struct policy	*policy;
	struct arena	*a;
	struct explain	 x;
	char		 cwd[128];
};

static void
scene_open(struct scene *s, struct room *r)
{
	char home[128];
	const struct policy_env env = { .workspace = s->cwd, .home = home };
	struct err e = { 0 };

	s->r = r;
	s->a = arena_new();
	(void)tree_make(r, tree);
	snprintf(s->cwd, sizeof s->cwd, "%s", room_path(r, "proj"));
	snprintf(home, sizeof home, "%s", room_path(r, "home"));
	if (policy_parse(policy, sizeof policy - 1, "p.json", &env,
	    &s->policy, &e) != 0)
		fail_msg("%s", e.msg);
	s->x.policy = s->policy;
}

static void
scene_close(struct scene *s)
{
	policy_free(s->policy);
	arena_free(s->a);
}

static void
test_path(void **state)
{
	struct scene s;

	scene_open(&s, *state);
	for (size_t i = 0; i < sizeof paths / sizeof paths[0]; i++) {
		char *path = room_expand(s.r, paths[i].path), *clean;
		struct explained ret;
		const char *got = explain_path(&s.x, s.a, paths[i].op, s.cwd,
		    path, &ret);

		if ((got == NULL) != (paths[i].rule == NULL) || (got != NULL &&
		    strcmp(rule_words(&ret.verdict), paths[i].rule) != 0))
			fail_msg("row %zu, %s: %s", i, paths[i].path,
			    got != NULL ? rule_words(&ret.verdict) :
			    "allowed");
		if (got != NULL) {
			clean = room_shorten(s.r, got);
			assert_string_equal(clean, paths[i].clean);
			assert_ptr_equal(got, ret.path);
			free(clean);
		}
		free(path);
	}
	scene_close(&s);
}

static void
test_place(void **state)
{
	static const struct {
		enum fs_op	 op;
		const char	*path, *real;
		bool		 is_denied;
	} t[] = {
		{ FS_READ, "way/key", "@/proj/secret/key", true },
		{ FS_READ, "out/x", "@/outside/x", false },
		{ FS_WRITE, "out/new/deep", "@/outside/new/deep", true },
		{ FS_WRITE, "a", "@/proj/a", false },
		{ FS_READ, "/proc/self/x", "/proc/self/x", false },
	};
	struct scene s;

	scene_open(&s, *state);
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct explained ret;
		char *real;

		if (explain_place(&s.x, s.a, t[i].op, s.cwd, t[i].path,
		    &ret) != t[i].is_denied)
			fail_msg("row %zu", i);
		real = room_shorten(s.r, ret.real);
		assert_string_equal(real, t[i].real);
		free(real);
	}
	scene_close(&s);
}

/* A grant is a mount of what was there when the run began. */
static void
test_late(void **state)
{
	static const struct { const char *path; bool is_late; } t[] = {
		{ "late.txt", true }, { "new-1", true }, { "ro/x", false },
		{ "../home/x", false },
	};
	struct scene s;

	scene_open(&s, *state);
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct verdict v;
		const char *got = explain_late(&s.x, s.a, s.cwd, t[i].path,
		    &v);

		if ((got != NULL) != t[i].is_late)
			fail_msg("row %zu", i);
		if (got == NULL)
			continue;
		assert_int_equal(v.action, ACTION_DENY);
		assert_int_equal(v.remedy.kind, REMEDY_MUST_EXIST);
	}
	scene_close(&s);
}

int
main(void)
{
#define IN_ROOM(f) cmocka_unit_test_setup_teardown(f, room_enter, room_leave)
	const struct CMUnitTest tests[] = {
		IN_ROOM(test_path),
		IN_ROOM(test_place),
		IN_ROOM(test_late),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
