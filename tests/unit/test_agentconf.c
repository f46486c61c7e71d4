/*
 * Agents' files: which keys stay the host's, what the text looks like
 * afterwards, and what cannot be read.
 */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/guard/agentconf.h"
#include "platform/base/buf.h"

#define NELEM(a)	(sizeof (a) / sizeof (a)[0])
#define CLAUDE		".claude.json"
#define CODEX		".codex/config.toml"
#define GEMINI		".gemini/settings.json"
#define CRUSH		".local/share/crush/crush.json"
#define CLINE_MCP	".cline/data/settings/cline_mcp_settings.json"

enum { SAME = AGENTCONF_SAME, CARRIED = AGENTCONF_CARRIED,
	SIFTED = AGENTCONF_SIFTED, UNREADABLE = AGENTCONF_UNREADABLE };

static const char claude_host[] =
    "{\n"
    "  \"numStartups\": 3,\n"
    "  \"theme\": \"dark\",\n"
    "  \"mcpServers\": {\n"
    "    \"mine\": {\n"
    "      \"command\": \"/opt/mine\"\n"
    "    }\n"
    "  },\n"
    "  \"projects\": {\n"
    "    \"/w\": {\n"
    "      \"allowedTools\": [\n"
    "        \"Bash(ls)\"\n"
    "      ],\n"
    "      \"history\": [],\n"
    "      \"hasTrustDialogAccepted\": true\n"
    "    }\n"
    "  }\n"
    "}\n";

static const char codex_host[] =
    "# mine\n"
    "model = \"gpt-5\" # the good one\n"
    "approval_policy = \"on-request\"\n"
    "notify = [\"notify-send\", \"codex\"]\n"
    "\n"
    "[mcp_servers.docs]\n"
    "command = \"docs\"\n"
    "args = [\n"
    "  \"--port\", # of it\n"
    "  \"80\",\n"
    "]\n"
    "\n"
    "[projects.\"/w\"]\n"
    "trust_level = \"trusted\"\n"
    "\n"
    "[tui]\n"
    "theme = \"a\"\n";

/* text NULL: not looked at; of the verdict it follows what it is. */
static const struct {
	const char	*file, *before, *after;
	int		 verdict;
	const char	*text, *keys;
} cases[] = {
	{ CLAUDE, "{}", "{}", SAME, NULL, "" },
	{ CLAUDE, "x", "x", SAME, NULL, "" },
	{ CLAUDE, NULL, "{\"a\":1}", CARRIED, NULL, "" },
	{ CLAUDE, "", "{\"a\":1}", CARRIED, NULL, "" },
	{ CLAUDE, "{\"a\":1}", "{\"a\":2,\"b\":[{\"c\":null}]}", CARRIED,
	  NULL, "" },
	/* A server is added, changed, taken away. */
	{ CLAUDE, NULL, "{\"mcpServers\":{\"x\":{\"command\":\"y\"}}}",
	  SIFTED, "{}", "mcpServers.x" },
	{ CLAUDE, "{\"a\":1}",
	  "{\"a\":2,\"mcpServers\":{\"x\":{\"command\":\"y\"}}}", SIFTED,
	  "{\"a\":2}", "mcpServers.x" },
	{ CLAUDE, "{\"mcpServers\":{\"x\":{\"command\":\"y\"}},\"a\":1}",
	  "{\"mcpServers\":{\"x\":{\"command\":\"z\"}},\"a\":2}", SIFTED,
	  "{\"mcpServers\":{\"x\":{\"command\":\"y\"}},\"a\":2}",
	  "mcpServers.x" },
	{ CLAUDE, "{\"mcpServers\":{\"x\":{\"command\":\"y\"}},\"a\":1}",
	  "{\"a\":2}", SIFTED,
	  "{\"a\":2,\"mcpServers\":{\"x\":{\"command\":\"y\"}}}",
	  "mcpServers.x" },
	/* The order of keys says nothing; what is empty neither. */
	{ CLAUDE, "{\"env\":{\"A\":\"1\",\"B\":\"2\"}}",
	  "{\"env\":{\"B\":\"2\",\"A\":\"1\"}}", CARRIED, NULL, "" },
	{ CLAUDE, "{}", "{\"mcpServers\":{},\"env\":null,\"projects\":{"
	  "\"/w\":{\"allowedTools\":[],\"hasTrustDialogAccepted\":false}}}",
	  CARRIED, NULL, "" },
	/* Projects */
	{ CLAUDE, "{}", "{\"projects\":{\"/w\":{\"history\":[\"h\"],"
	  "\"hasTrustDialogAccepted\":true}}}", SIFTED,
	  "{\"projects\":{\"/w\":{\"history\":[\"h\"]}}}",
	  "projects./w.hasTrustDialogAccepted" },
	{ CLAUDE, "{\"projects\":{\"/w\":{\"disabledMcpjsonServers\":"
	  "[\"bad\"],\"h\":1}}}", "{\"projects\":{}}", SIFTED,
	  "{\"projects\":{\"/w\":{\"disabledMcpjsonServers\":[\"bad\"]}}}",
	  "projects./w.disabledMcpjsonServers" },
	{ CLAUDE, "{\"projects\":{\"/w\":{\"allowedTools\":[\"a\"]}}}",
	  "{\"projects\":\"gone\"}", SIFTED,
	  "{\"projects\":{\"/w\":{\"allowedTools\":[\"a\"]}}}", "projects" },
	{ CLAUDE, "{}", "{\"projects\":[{\"allowedTools\":[\"a\"]}]}",
	  SIFTED, "{}", "projects" },
	{ CLAUDE, "{}", "{\"projects\":[]}", CARRIED, NULL, "" },
	/* Keys in other spellings. */
	{ CLAUDE, "{}", "{\"mcp\\u0053ervers\":{\"x\":{}}}", SIFTED, "{}",
	  "mcpServers.x" },
	{ CLAUDE, "{}", "{\"MCPSERVERS\":{\"x\":{}}}", SIFTED, "{}",
	  "MCPSERVERS.x" },
	{ CLAUDE, "{}", "{\"mcpServer\\u017f\":{\"x\":1}}", SIFTED, "{}",
	  NULL },
	{ CLAUDE, "{}", "{\"HooK\\u017f\":{\"x\":1},\"hoo\\u212as\":[1]}",
	  SIFTED, "{}", NULL },
	{ CLAUDE, "{}", "{\"__proto__\":{\"mcpServers\":{\"x\":{}}}}",
	  SIFTED, "{}", "__proto__.mcpServers" },
	{ CLAUDE, "{}", "{\"a\":{\"b\":{\"hooks\":{\"x\":1}},\"c\":1}}",
	  SIFTED, "{\"a\":{\"b\":{},\"c\":1}}", "a.b.hooks.x" },
	{ CLAUDE, "{}", "{\"a\":[{\"b\":{\"apiKeyHelper\":\"x\"}}]}",
	  SIFTED, "{}", "a" },
	{ CLAUDE, "{\"a\":{\"hooks\":[1]}}", "{\"a\":1}", SIFTED,
	  "{\"a\":{\"hooks\":[1]}}", "a" },
	/* The server's switches: quietly the host's. */
	{ CLAUDE, "{\"cachedGrowthBookFeatures\":{\"a\":true}}",
	  "{\"cachedGrowthBookFeatures\":{\"a\":false},\"b\":1}", SIFTED,
	  "{\"cachedGrowthBookFeatures\":{\"a\":true},\"b\":1}", "" },
	/* The style of the jail's text stays. */
	{ CLAUDE, "{}", "{\n\t\"a\": 1,\n\t\"env\": {\n\t\t\"LD_PRELOAD\": "
	  "\"x\"\n\t},\n\t\"b\": [\n\t\t1\n\t]\n}\n", SIFTED,
	  "{\n\t\"a\": 1,\n\t\"b\": [\n\t\t1\n\t]\n}\n", "env.LD_PRELOAD" },
	/* What nobody reads like another. */
	{ CODEX, "", "model = \"a\\e\"\n", UNREADABLE, NULL, "" },
	{ CODEX, "", "model = \"\"\"a\\ b\"\"\"\n", UNREADABLE, NULL, "" },
	{ CODEX, "", "model = \"\"\"a\"\"\"\"\"\"\n", UNREADABLE, NULL, "" },
	{ CODEX, "", "model = '''a''''''\n", UNREADABLE, NULL, "" },
	{ CODEX, "", "model = \"\"\"a\"\"\"\"\"\n", CARRIED, NULL, "" },
	{ CODEX, "", "model = \"\"\"a\\ \n b\"\"\"\n", CARRIED, NULL, "" },
	{ CLAUDE, "{}", "", UNREADABLE, NULL, "" },
	{ CLAUDE, "{}", "{", UNREADABLE, NULL, "" },
	{ CLAUDE, "{}", "[]", UNREADABLE, NULL, "" },
	{ CLAUDE, "{}", "{\"a\":1,\"a\":2}", UNREADABLE, NULL, "" },
	{ CLAUDE, "{}", "{\"a\":1,\"\\u0061\":2}", UNREADABLE, NULL, "" },
	{ CLAUDE, "{}", "{\"b\":[{\"a\":1,\"a\":2}]}", UNREADABLE, NULL, "" },
	{ CLAUDE, "{}", "{\"a\":1} // c", UNREADABLE, NULL, "" },
	{ CLAUDE, "{}", "{\"a\":1,}", UNREADABLE, NULL, "" },
	{ CLAUDE, "{}", "{\"a\":\"\\u0000\"}", UNREADABLE, NULL, "" },
	{ CLAUDE, "{}", "{\"a\":\"\xff\"}", UNREADABLE, NULL, "" },
	{ CLAUDE, "{}", "\xef\xbb\xbf{}", UNREADABLE, NULL, "" },
	{ CLAUDE, "nonsense", "{}", UNREADABLE, NULL, "" },
	{ CLAUDE, "{}", "{\"a\":\"/* , } \\\" // */\"}", CARRIED, NULL, "" },
	/* Configuration: what no row knows is the host's. */
	{ GEMINI, "{\"ui\":{\"theme\":\"a\"}}", "{\"ui\":{\"theme\":\"b\"}}",
	  CARRIED, NULL, "" },
	{ GEMINI, "// mine\n{\n  \"tools\": {\"exclude\": [\"x\"]},\n"
	  "  \"ui\": {\"theme\": \"a\"}\n}\n",
	  "// mine\n{\n  \"tools\": {\"allowed\": [\"x\"]},\n"
	  "  \"ui\": {\"theme\": \"b\"}\n}\n", SIFTED,
	  "// mine\n{\n  \"tools\": {\n    \"exclude\": [\n      \"x\"\n"
	  "    ]\n  },\n  \"ui\": {\"theme\": \"b\"}\n}\n",
	  "tools.allowed|tools.exclude" },
	{ GEMINI, "{}", "{\"unheardOf\":1,\"security\":{\"auth\":{"
	  "\"selectedType\":\"oauth-personal\",\"useExternal\":true}}}",
	  SIFTED, "{\"security\":{\"auth\":{"
	  "\"selectedType\":\"oauth-personal\"}}}",
	  "unheardOf|security.auth.useExternal" },
	{ GEMINI, "{}", "{\"UI\":{\"theme\":\"x\"}}", SIFTED, "{}",
	  "UI.theme" },
	{ GEMINI, "{}", "{\"ui\":[{\"theme\":\"x\"}]}", SIFTED, "{}", "ui" },
	{ CRUSH, "{}", "{\"providers\":{\"x\":{\"api_key\":\"sk-1\"}}}",
	  CARRIED, NULL, "" },
	{ CRUSH, "{}", "{\"providers\":{\"x\":{\"api_key\":\"$(evil)\","
	  "\"oauth\":{\"a\":\"b\"}}}}", SIFTED,
	  "{\"providers\":{\"x\":{\"oauth\":{\"a\":\"b\"}}}}",
	  "providers.x.api_key" },
	{ CRUSH, "{}", "{\"lsp\":{\"go\":{\"command\":\"x\"}}}", SIFTED,
	  "{}", "lsp.go" },
	{ CLINE_MCP, NULL, "{\"mcpServers\":{\"x\":{\"command\":\"y\"}}}",
	  SIFTED, "{}", "mcpServers.x" },
	/* TOML */
	{ CODEX, "model = \"a\"\n", "model = \"b\"\n", CARRIED, NULL, "" },
	{ CODEX, "", "[projects.\"/w\"]\ntrust_level = \"trusted\"\n",
	  SIFTED, "", "projects./w" },
	{ CODEX, "model = \"a\"\n", "# top\nmodel = \"b\"\nnotify = [\n"
	  "  \"x\",\n]  # ring\n\n[tui]\ntheme = \"t\"\n", SIFTED,
	  "# top\nmodel = \"b\"\n\n[tui]\ntheme = \"t\"\n", "notify" },
	{ CODEX, "notify = [\"a\"]\n", "model = \"b\"\n", SIFTED,
	  "notify = [ \"a\" ]\nmodel = \"b\"\n", "notify" },
	{ CODEX, "approval_policy = \"untrusted\"\n",
	  "approval_policy = \"never\" # quick\n", SIFTED,
	  "approval_policy = \"untrusted\" # quick\n", "approval_policy" },
	{ CODEX, "", "mcp_servers.x.command = \"y\"\nmodel = \"b\"\n",
	  SIFTED, "model = \"b\"\n", "mcp_servers.x" },
	{ CODEX, "", "mcp_servers = { x = { command = \"y\" } }\n", SIFTED,
	  "", "mcp_servers.x" },
	{ CODEX, "", "\"mcp\\u005fservers\".x = { command = \"y\" }\n",
	  SIFTED, "", "mcp_servers.x" },
	{ CODEX, "", "tui = { theme = \"a\", notifications = [\"x\"] }\n",
	  SIFTED, "tui = { theme = \"a\" }\n", "tui.notifications" },
	{ CODEX, "", "[[hooks.PreToolUse]]\nmatcher = \"x\"\n"
	  "[[hooks.PreToolUse.hooks]]\ncommand = \"y\"\n[tui]\n"
	  "theme = \"a\"\n", SIFTED, "[tui]\ntheme = \"a\"\n",
	  "hooks.PreToolUse" },
	{ CODEX, "[[hooks.Stop]]\ncommand = \"y\"\n", "model = \"x\"\n",
	  SIFTED, "model = \"x\"\n\n[hooks]\nStop = [ { command = \"y\" } ]\n",
	  "hooks.Stop" },
	{ CODEX, "[profiles.p]\nmodel_provider = \"a\"\n",
	  "[tui]\ntheme = \"a\"", SIFTED,
	  "[tui]\ntheme = \"a\"\n\n[profiles.p]\nmodel_provider = \"a\"\n",
	  "profiles.p" },
	{ CODEX, "", "a = 1\na = 2\n", UNREADABLE, NULL, "" },
	{ CODEX, "", "[a]\nb = 1\n[a]\nc = 2\n", UNREADABLE, NULL, "" },
	{ CODEX, "", "a.b = 1\n[a]\nc = 2\n", UNREADABLE, NULL, "" },
	{ CODEX, "", "a = {}\n[a.b]\nc = 2\n", UNREADABLE, NULL, "" },
	{ CODEX, "", "model = \"a\n", UNREADABLE, NULL, "" },
	{ CODEX, "", "# \x01\n", UNREADABLE, NULL, "" },
	{ CODEX, "", "# \xff\n", UNREADABLE, NULL, "" },
};

static const struct agentconf_file *
row(const char *name)
{
	const struct agentconf_file *f = agentconf_find(name);

	assert_non_null(f);
	return f;
}

static void
sift(struct arena *a, const char *file, const char *before,
    const char *after, struct agentconf_answer *ret)
{
	agentconf_sift(a, row(file), before, before != NULL ?
	    strlen(before) : 0, after, strlen(after), ret);
}

static void
put_keys(const struct agentconf_answer *w, struct buf *b)
{
	for (size_t i = 0; i < w->nkeys; i++)
		buf_printf(b, "%s%s", i > 0 ? "|" : "", w->keys[i]);
}

static void
test_cases(void **state)
{
	struct arena *a = arena_new();
	struct agentconf_answer w;
	struct buf keys;

	(void)state;
	buf_init(&keys, 0);
	for (size_t i = 0; i < NELEM(cases); i++) {
		const char *want = cases[i].verdict == SIFTED ?
		    cases[i].text : cases[i].verdict == CARRIED ?
		    cases[i].after : cases[i].before;

		sift(a, cases[i].file, cases[i].before, cases[i].after, &w);
		buf_clear(&keys);
		put_keys(&w, &keys);
		if ((int)w.verdict != cases[i].verdict || (cases[i].keys !=
		    NULL && strcmp(keys.len > 0 ? keys.data : "",
		    cases[i].keys) != 0) || (want == NULL) !=
		    (w.text == NULL) || (want != NULL && (strlen(want) !=
		    w.len || memcmp(w.text, want, w.len) != 0)))
			fail_msg("%zu: %s\nof %s\nis %d keys %s\n%.*s\n%s", i,
			    cases[i].after, cases[i].before, w.verdict,
			    keys.data, (int)w.len, w.text, w.why);
	}
	buf_release(&keys);
	arena_free(a);
}

/* Everything in files as the agents write them is put back at once. */
static void
test_whole_files(void **state)
{
	static const char claude_jail[] =
	    "{\n"
	    "  \"numStartups\": 4,\n"
	    "  \"mcpServers\": {\n"
	    "    \"evil\": {\n"
	    "      \"command\": \"/w/evil\"\n"
	    "    }\n"
	    "  },\n"
	    "  \"projects\": {\n"
	    "    \"/w\": {\n"
	    "      \"allowedTools\": [\n"
	    "        \"Bash(*)\"\n"
	    "      ],\n"
	    "      \"history\": [\"one\"],\n"
	    "      \"hasTrustDialogAccepted\": true\n"
	    "    },\n"
	    "    \"/\": {\n"
	    "      \"hasTrustDialogAccepted\": true\n"
	    "    }\n"
	    "  }\n"
	    "}\n";
	static const char claude_want[] =
	    "{\n"
	    "  \"numStartups\": 4,\n"
	    "  \"mcpServers\": {\n"
	    "    \"mine\": {\n"
	    "      \"command\": \"/opt/mine\"\n"
	    "    }\n"
	    "  },\n"
	    "  \"projects\": {\n"
	    "    \"/w\": {\n"
	    "      \"allowedTools\": [\n"
	    "        \"Bash(ls)\"\n"
	    "      ],\n"
	    "      \"history\": [\"one\"],\n"
	    "      \"hasTrustDialogAccepted\": true\n"
	    "    },\n"
	    "    \"/\": {\n"
	    "    }\n"
	    "  }\n"
	    "}\n";
	static const char codex_jail[] =
	    "# mine\n"
	    "model = \"gpt-6\" # the good one\n"
	    "approval_policy = \"never\"\n"
	    "\n"
	    "[mcp_servers.docs]\n"
	    "command = \"evil\"\n"
	    "[mcp_servers.evil]\n"
	    "command = \"evil\"\n"
	    "\n"
	    "[projects.\"/w\"]\n"
	    "trust_level = \"trusted\"\n"
	    "[projects.\"/\"]\n"
	    "trust_level = \"trusted\"\n"
	    "\n"
	    "[tui]\n"
	    "theme = \"b\"\n";
	static const char codex_want[] =
	    "notify = [ \"notify-send\", \"codex\" ]\n"
	    "# mine\n"
	    "model = \"gpt-6\" # the good one\n"
	    "approval_policy = \"on-request\"\n"
	    "\n"
	    "[mcp_servers.docs]\n"
	    "args = [ \"--port\", \"80\" ]\n"
	    "command = \"docs\"\n"
	    "\n"
	    "[projects.\"/w\"]\n"
	    "trust_level = \"trusted\"\n"
	    "\n"
	    "[tui]\n"
	    "theme = \"b\"\n";
	struct arena *a = arena_new();
	struct agentconf_answer w;

	(void)state;
	sift(a, CLAUDE, claude_host, claude_jail, &w);
	assert_int_equal(w.verdict, SIFTED);
	assert_string_equal(w.text, claude_want);
	assert_int_equal(w.nkeys, 4);
	sift(a, CODEX, codex_host, codex_jail, &w);
	assert_int_equal(w.verdict, SIFTED);
	assert_string_equal(w.text, codex_want);
	assert_int_equal(w.nkeys, 5);
	arena_free(a);
}

/* Hostile sizes end soon, one way or the other. */
static void
test_bounds(void **state)
{
	struct arena *a = arena_new();
	struct agentconf_answer w;
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	for (int i = 0; i < 100; i++)
		buf_puts(&b, "{\"a\":");
	sift(a, CLAUDE, "{}", b.data, &w);
	assert_int_equal(w.verdict, UNREADABLE);
	buf_clear(&b);
	buf_puts(&b, "{\"a\":[0");
	for (int i = 0; i < 600000; i++)
		buf_puts(&b, ",0");
	buf_puts(&b, "]}");
	sift(a, CLAUDE, "{}", b.data, &w);
	assert_int_equal(w.verdict, UNREADABLE);
	/* More changes than are made one by one: written anew. */
	buf_clear(&b);
	buf_puts(&b, "{\"z\":1,\"projects\":{\"p\":{}");
	for (int i = 0; i < 3000; i++)
		buf_printf(&b, ",\"%d\":{\"mcpServers\":{\"x\":{}}}", i);
	buf_puts(&b, "}}");
	sift(a, CLAUDE, "{}", b.data, &w);
	assert_int_equal(w.verdict, SIFTED);
	assert_int_equal(w.nkeys, AGENTCONF_KEYS_MAX);
	assert_true(w.has_more);
	assert_null(strstr(w.text, "mcpServers"));
	assert_non_null(strstr(w.text, "\"z\": 1"));
	buf_clear(&b);
	for (int i = 0; i < 300; i++)
		buf_printf(&b, "[profiles.p%d]\nx = \"y\"\n", i);
	buf_puts(&b, "[tui]\ntheme = \"\\u0001\\u007f\\\\\\\" \xc3\xa9\"\n");
	sift(a, CODEX, "model = \"x\"\n", b.data, &w);
	assert_int_equal(w.verdict, SIFTED);
	assert_string_equal(w.text,
	    "[tui]\ntheme = \"\\u0001\\u007f\\\\\\\" \xc3\xa9\"\n");
	buf_clear(&b);
	for (size_t i = 0; i <= AGENTCONF_MAX; i++)
		buf_putc(&b, ' ');
	sift(a, CLAUDE, "{}", b.data, &w);
	assert_int_equal(w.verdict, UNREADABLE);
	buf_release(&b);
	agentconf_sift(a, row(CLAUDE), "{}", 2, "{}\0 ", 4, &w);
	assert_int_equal(w.verdict, UNREADABLE);
	arena_free(a);
}

static void
test_find(void **state)
{
	(void)state;
	assert_non_null(agentconf_find(".claude.json"));
	assert_non_null(agentconf_find(".claude.json.backup"));
	assert_non_null(agentconf_find(".claude.json.backup.1731"));
	assert_null(agentconf_find(".claude.json.backup/x"));
	assert_null(agentconf_find(".claude.jso"));
	assert_null(agentconf_find(".claude/settings.json"));
	assert_null(agentconf_find("w/.codex/config.toml"));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_whole_files),
		cmocka_unit_test(test_bounds),
		cmocka_unit_test(test_find),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
