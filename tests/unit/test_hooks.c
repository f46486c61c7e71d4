/* What install and uninstall make of agents' files: texts in, texts out. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "launcher/hooks/entry.h"
#include "platform/base/jsonedit.h"

static const char *const args[] = { "hook", "X", "--settings", "/a b/'c",
    NULL };
static const struct entry_call call = { "/usr/bin/fence", args };

/* Our words for this agent. */
static struct entry_call
call_of(struct arena *a, const struct agent *g)
{
	const char **v = arena_alloc(a, sizeof args);

	memcpy(v, args, sizeof args);
	v[1] = g->name;
	return (struct entry_call){ call.program, v };
}

static const char *
added(struct arena *a, const struct agent *g, const char *text)
{
	struct entry_call c = call_of(a, g);
	const char *ret;
	struct err e = { 0 };
	struct buf b;

	buf_init(&b, 0);
	if (entry_add(a, g, &c, "F", text, strlen(text), &b, &e) != 0)
		fail_msg("%s: '%s': %s", g->name, text, e.msg);
	ret = arena_strndup(a, b.data, b.len);
	buf_release(&b);
	return ret;
}

static const char *
removed(struct arena *a, const struct agent *g, const char *text)
{
	const char *ret;
	struct err e = { 0 };
	struct buf b;

	buf_init(&b, 0);
	if (entry_remove(a, g, "F", text, strlen(text), &b, &e) != 0)
		fail_msg("%s: '%s': %s", g->name, text, e.msg);
	ret = arena_strndup(a, b.data, b.len);
	buf_release(&b);
	return ret;
}

static struct entry_found
found(struct arena *a, const struct agent *g, const char *text)
{
	struct entry_call c = call_of(a, g);
	struct entry_found f;
	struct err e = { 0 };

	if (entry_find(a, g, &c, "F", text, strlen(text), &f, &e) != 0)
		fail_msg("%s: '%s': %s", g->name, text, e.msg);
	return f;
}

/* Files that come back byte for byte without a memory of them. */
static const char *const exact[] = {
	"{\n  \"a\": 1\n}\n",
	"{\n\t\"a\": {\"b\": [1, 2]},\n\t\"c\": null\n}",
	"{\r\n    \"a\": 1\r\n}\r\n",
	"{\n  \"a\": 1, // one\n  /* two */ \"b\": 2 // three\n}\n",
	"{\n  \"a\": 1,\n}\n",
	"{\"a\":1}",
	"{\"a\": 1, \"b\": 2}\n",
	"// head\n{\n  // only a comment\n}\n// foot\n",
	"{\n  \"hooks\": {\n    \"Stop\": []\n  },\n  \"z\": 1\n}\n",
	"{\n  \"hooks\": {\n    \"PreToolUse\": [\n      {\"matcher\": \"x\", "
	    "\"hooks\": [{\"command\": \"mine\"}]} // mine\n    ]\n  }\n}\n",
	"{\n  \"hooks\": {\n    \"PreToolUse\": [{\"command\": \"mine\"}]\n"
	    "  }\n}\n",
};

/* Files that do not, since what was empty before goes, too. */
static const char *const other[] = {
	"", "\n", "// nothing\n", "{}", "{ }\n", "{\n}\n",
	"{\n  \"hooks\": {}\n}\n", "{\"hooks\":{\"PreToolUse\":[]}}",
	"{\n  \"hooks\": {\n    \"PreToolUse\": [\n    ]\n  }\n}\n",
	"{ \"a\": [\n  1 ] }",
	"{\n  \"hooks\": { \"Stop\": [ {} ], },\n}\n",
};

static void
check_text(struct arena *a, const struct agent *g, const char *text,
    bool is_exact)
{
	const char *with = added(a, g, text), *without;
	struct entry_found f = found(a, g, with);

	if (!f.is_as_wanted || strcmp(f.program, "/usr/bin/fence") != 0)
		fail_msg("%s: not found again in '%s'", g->name, with);
	assert_true(found(a, g, added(a, g, with)).is_as_wanted);
	without = removed(a, g, with);
	assert_int_equal(found(a, g, without).n, 0);
	if (is_exact && (!g->has_version))
		assert_string_equal(without, text);
	assert_string_equal(removed(a, g, without), without);
}

static void
test_json(void **state)
{
	struct arena *a = arena_new();

	(void)state;
	for (const struct agent *g = agents; g->name != NULL; g++) {
		if (g->file != AGENT_JSON)
			continue;
		for (size_t i = 0; i < sizeof exact / sizeof *exact; i++)
			check_text(a, g, exact[i], true);
		for (size_t i = 0; i < sizeof other / sizeof *other; i++)
			check_text(a, g, other[i], false);
	}
	arena_free(a);
}

static void
test_yaml(void **state)
{
	static const struct { const char *text; bool is_exact; } rows[] = {
		{ "", true },
		{ "model: x\n", true },
		{ "# head\nmodel: x\nhooks:\n  on_stop:\n    - command: a\n",
		    true },
		{ "hooks:\n  pre_tool_call:\n  - matcher: x\n    command: y\n"
		    "  # end\nother: 1\n", true },
		{ "hooks:\n    pre_tool_call:   # mine\n        - command: 'a'"
		    "\n          matcher: b\n\n    post: []\nz: 1\n", true },
		{ "a: 1\r\nhooks:\r\n  x: 1\r\n", true },
		{ "model: x", false },
		{ "hooks: {}\nz: 1\n", false },
		{ "hooks:\nz: 1\n", false },
		{ "hooks: # c\n  pre_tool_call: []\n", false },
		{ "hooks:\n  pre_tool_call:\n", false },
	};
	static const char *const bad[] = {
		"hooks: {pre_tool_call: []}\n",
		"hooks:\n  pre_tool_call: [{command: x}]\n",
		"a: 1\n---\nhooks:\n", "\"hooks\": {}\n",
		"hooks:\n\tpre_tool_call:\n", "hooks: &x\n  a: 1\n",
	};
	const struct agent *g = agent_find("hermes");
	struct arena *a = arena_new();
	struct entry_call c = call_of(a, g);
	struct buf b;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		check_text(a, g, rows[i].text, rows[i].is_exact);
	for (size_t i = 0; i < sizeof bad / sizeof *bad; i++) {
		struct err e = { 0 };

		buf_init(&b, 0);
		assert_int_equal(entry_add(a, g, &c, "F", bad[i],
		    strlen(bad[i]), &b, &e), -1);
		assert_int_equal(strncmp(e.where, "F:", 2), 0);
		buf_release(&b);
	}
	arena_free(a);
}

static void
test_calls(void **state)
{
	static const struct { const char *line; bool is; } rows[] = {
		{ "fence --claude-pre-tool-use", true },
		{ "PATH=/x /usr/local/bin/fence --claude-pre-tool-use "
		    "--settings '/a b'", true },
		{ "'/opt/my fence/fence' hook claude", true },
		{ "fence hook claude --template code", true },
		{ "fence hook codex", false },
		{ "echo --claude-pre-tool-use", false },
		{ "fence --claude-pre-tool-use-suffix", false },
		{ "other-fence --claude-pre-tool-use", false },
		{ "fence --codex-pre-tool-use", false },
		{ "fence hook", false }, { "", false }, { "A=1", false },
	};
	const struct agent *g = agent_find("claude");
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++)
		if (entry_is_call(a, g, rows[i].line, NULL) != rows[i].is)
			fail_msg("'%s'", rows[i].line);
	arena_free(a);
}

/* The Go program's entries, and ours with other options, give way. */
static void
test_old(void **state)
{
	static const char old[] =
	    "{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Bash\",\"hooks\":["
	    "{\"type\":\"command\",\"command\":\"fence "
	    "--claude-pre-tool-use\"},{\"command\":\"mine\"}]},{\"hooks\":[{"
	    "\"command\":\"/x/fence hook claude\"}]}]}}";
	const struct agent *g = agent_find("claude");
	struct arena *a = arena_new();
	struct entry_found f = found(a, g, old);
	const char *with;

	(void)state;
	assert_int_equal(f.n, 2);
	assert_false(f.is_as_wanted);
	with = added(a, g, old);
	f = found(a, g, with);
	assert_int_equal(f.n, 1);
	assert_true(f.is_as_wanted);
	assert_non_null(strstr(with, "\"mine\""));
	assert_string_equal(removed(a, g, with),
	    "{\"hooks\":{\"PreToolUse\":[{\"matcher\":\"Bash\",\"hooks\":["
	    "{\"command\":\"mine\"}]}]}}");
	arena_free(a);
}

/* What is there is of another kind: an error with its place. */
static void
test_wrong(void **state)
{
	static const struct { const char *text, *where; } rows[] = {
		{ "{", "F:1:2" }, { "[]", "F:1:1" }, { "{} x", "F:1:4" },
		{ "{\n\"hooks\": []}", "F:2:10" },
		{ "{\"hooks\":{\"PreToolUse\":{}}}", "F:1:24" },
	};
	const struct agent *g = agent_find("claude");
	struct arena *a = arena_new();
	struct entry_call c = call_of(a, g);
	struct buf b;

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct err e = { 0 };

		buf_init(&b, 0);
		assert_int_equal(entry_add(a, g, &c, "F", rows[i].text,
		    strlen(rows[i].text), &b, &e), -1);
		assert_string_equal(e.where, rows[i].where);
		buf_release(&b);
	}
	arena_free(a);
}

/* Cutting each value of a text leaves one that can be read. */
static void
test_cut(void **state)
{
	static const char *const texts[] = {
		"{\"a\":1,\"b\":[1, 2,3],\"c\":{}}",
		"{\n  \"a\": 1, // x\n  \"b\": [ // y\n    1,\n    2 /* z */,\n"
		    "    3 ],\n  \"c\": {}, // end\n}\n",
	};
	struct arena *a = arena_new();
	struct err e = { 0 };

	(void)state;
	for (size_t i = 0; i < sizeof texts / sizeof *texts; i++)
		for (unsigned n = 1; n < 7; n++) {
			struct jsonedit j;
			const struct jnode *at;

			assert_int_equal(jsonedit_init(&j, a, "F", texts[i],
			    strlen(texts[i]), &e), 0);
			at = j.root->child;
			for (unsigned k = 1; k < n && at != NULL; k++)
				at = at->child != NULL ? at->child :
				    at->next != NULL ? at->next :
				    at->parent->next;
			if (at != NULL && jsonedit_cut(&j, at, &e) != 0)
				fail_msg("%u of '%s': %s", n, texts[i], e.msg);
		}
	arena_free(a);
}

int
main(void)
{
	static const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_json), cmocka_unit_test(test_yaml),
		cmocka_unit_test(test_calls), cmocka_unit_test(test_old),
		cmocka_unit_test(test_wrong), cmocka_unit_test(test_cut),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
