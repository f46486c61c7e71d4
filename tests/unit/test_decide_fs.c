/* policy/decide_fs: the longest match decides, and says who it is. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "platform/base/buf.h"
#include "platform/base/json.h"
#include "policy/decide.h"
#include "policy/guard.h"
#include "policy/pattern.h"
#include "tests/unit/verdict_words.h"

#define N_OF(a)		(sizeof (a) / sizeof *(a))

static struct policy *
parse_in(const char *workspace, const char *text)
{
	struct policy_env env = { .workspace = workspace, .home = "/home/u" };
	struct policy *p = NULL;
	struct err e = { 0 };

	if (policy_parse(text, strlen(text), "F", &env, &p, &e) != 0)
		fail_msg("%s: %s: %s", e.where, e.key, e.msg);
	return p;
}

static struct policy *
parse(const char *text)
{
	return parse_in("/ws", text);
}

static const char example[] =
    "{\"filesystem\":{\n"
    " \"allowWrite\": [\".\", \"~/open\", \"~/.ssh/known_hosts\", \"/same\",\n"
    "   \"/tmp/own\"],\n"
    " \"denyWrite\": [\".git/hooks\", \"**/*.lock\", \"/same\", \"/tmp/ro\"],\n"
    " \"denyRead\": [\"~/.ssh\", \"**/.env\", \"/home/u/open/secret\"]\n"
    "}}\n";

#define W	"filesystem.allowWrite"
#define DW	"filesystem.denyWrite"
#define DR	"filesystem.denyRead"

static void
longest_match(void **state)
{
	static const struct { enum fs_op op; const char *path;
	    enum action action; const char *rule; } cases[] = {
		{ FS_WRITE, "/ws", ACTION_ALLOW, W "[0]" },
		{ FS_WRITE, "/ws/a/b", ACTION_ALLOW, W "[0]" },
		{ FS_WRITE, "/wsx", ACTION_DENY, W },
		{ FS_WRITE, "/ws.x/y", ACTION_DENY, W },
		{ FS_WRITE, "/", ACTION_DENY, W },
		{ FS_WRITE, "/etc/passwd", ACTION_DENY, W },
		{ FS_WRITE, "/home/u", ACTION_DENY, W },
		{ FS_WRITE, "/ws/.git/hooks/x", ACTION_DENY, DW "[0]" },
		{ FS_WRITE, "/ws/.git/hooksx", ACTION_ALLOW, W "[0]" },
		{ FS_WRITE, "/ws/d/x.lock", ACTION_DENY, DW "[1]" },
		{ FS_WRITE, "/ws/d/x.lock/y", ACTION_DENY, DW "[1]" },
		{ FS_WRITE, "/ws/d/x.lockx", ACTION_ALLOW, W "[0]" },
		/* what tools fill and empty is theirs, to write only */
		{ FS_WRITE, "/ws/node_modules/a/x.lock", ACTION_ALLOW,
		  W "[0]" },
		{ FS_WRITE, "/ws/v/site-packages/x.lock", ACTION_ALLOW,
		  W "[0]" },
		{ FS_WRITE, "/ws/node_modules.lock", ACTION_DENY, DW "[1]" },
		{ FS_READ, "/ws/node_modules/a/.env", ACTION_DENY, DR "[1]" },
		{ FS_WRITE, "/same/x", ACTION_DENY, DW "[2]" },
		{ FS_WRITE, "/ws/a/.env", ACTION_DENY, DR "[1]" },
		{ FS_WRITE, "/home/u/open/x", ACTION_ALLOW, W "[1]" },
		{ FS_WRITE, "/home/u/open/secret", ACTION_DENY, DR "[2]" },
		{ FS_WRITE, "/home/u/.ssh/id", ACTION_DENY, DR "[0]" },
		{ FS_WRITE, "/home/u/.ssh/known_hosts", ACTION_ALLOW,
		  W "[2]" },
		{ FS_WRITE, "/tmp", ACTION_ALLOW, "built-in" },
		{ FS_WRITE, "/tmp/x/y", ACTION_ALLOW, "built-in" },
		{ FS_WRITE, "/tmpx", ACTION_DENY, W },
		{ FS_WRITE, "/tmp/own/x", ACTION_ALLOW, W "[4]" },
		{ FS_WRITE, "/tmp/ro/x", ACTION_DENY, DW "[3]" },
		{ FS_WRITE, "/dev/null", ACTION_ALLOW, "built-in" },
		{ FS_WRITE, "/dev/nullx", ACTION_DENY, W },
		{ FS_WRITE, "/dev/pts/3", ACTION_ALLOW, "built-in" },
		{ FS_WRITE, "/dev/sda", ACTION_DENY, W },
		{ FS_WRITE, "/dev", ACTION_DENY, W },
		{ FS_READ, "/etc/passwd", ACTION_ALLOW, DR },
		{ FS_READ, "/ws/x", ACTION_ALLOW, W "[0]" },
		{ FS_READ, "/ws/x.lock", ACTION_ALLOW, W "[0]" },
		{ FS_READ, "/ws/.env", ACTION_DENY, DR "[1]" },
		{ FS_READ, "/ws/a/.env/b", ACTION_DENY, DR "[1]" },
		{ FS_READ, "/other/.env", ACTION_ALLOW, DR },
		{ FS_READ, "/home/u/.ssh", ACTION_DENY, DR "[0]" },
		{ FS_READ, "/home/u/.sshx", ACTION_ALLOW, DR },
		{ FS_READ, "/home/u/.ssh/known_hosts", ACTION_ALLOW,
		  W "[2]" },
		{ FS_READ, "/home/u/open/secret/x", ACTION_DENY, DR "[2]" },
		{ FS_EXEC, "/home/u/.ssh/tool", ACTION_DENY, DR "[0]" },
		{ FS_EXEC, "/usr/bin/make", ACTION_ALLOW, DR },
	};
	struct policy *p = parse(example);
	struct verdict v;

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		decide_fs(p, cases[i].op, cases[i].path, &v);
		if (v.action != cases[i].action ||
		    strcmp(rule_words(&v), cases[i].rule) != 0)
			fail_msg("%s: %d by %s", cases[i].path, v.action,
			    rule_words(&v));
	}
	policy_free(p);
}

/* Small policies, each with what it must and must not mean. */
static void
lists(void **state)
{
	static const struct { const char *fs; enum fs_op op; const char *path;
	    bool may; } cases[] = {
		{ "", FS_WRITE, "/home/u/x", false },
		{ "", FS_WRITE, "/ws/x", false },
		{ "", FS_READ, "/etc/passwd", true },
		{ "\"denyWrite\":[\"/ws/s\"]", FS_WRITE, "/ws/x", false },
#define STRICT	"\"strictDenyRead\":true,"
#define PROJ	"\"allowWrite\":[\"/w/proj\"]"
		{ PROJ, FS_WRITE, "/w/proj", true },
		{ PROJ, FS_WRITE, "/w/proj/a/b", true },
		{ PROJ, FS_WRITE, "/w/projector", false },
		{ PROJ, FS_WRITE, "/w/other", false },
		{ PROJ, FS_WRITE, "/w", false },
#define SECRET	"\"allowWrite\":[\"/w\"],\"denyWrite\":[\"/w/secrets\"]"
		{ SECRET, FS_WRITE, "/w/secrets/k", false },
		{ SECRET, FS_WRITE, "/w/secrets", false },
		{ SECRET, FS_WRITE, "/w/secretsx", true },
		{ SECRET, FS_WRITE, "/w/other", true },
		{ SECRET, FS_READ, "/w/secrets/k", true },
		/* A longer grant is an exception of the denial around it. */
#define INSIDE	"\"denyWrite\":[\"/w\"],\"allowWrite\":[\"/w/out\"]"
		{ INSIDE, FS_WRITE, "/w/out/x", true },
		{ INSIDE, FS_WRITE, "/w/outx", false },
#define UNREAD	"\"denyRead\":[\"/s\"],\"allowRead\":[\"/s/pub\",\"/s\"]"
		{ UNREAD, FS_READ, "/s/pub/x", true },
		{ UNREAD, FS_READ, "/s/public", false },
		{ UNREAD, FS_READ, "/s", false },
		{ UNREAD, FS_READ, "/sx", true },
		{ UNREAD, FS_WRITE, "/s/pub/x", false },
#define LOGS	"\"allowWrite\":[\"/w/**/*.log\"]"
		{ LOGS, FS_WRITE, "/w/run.log", true },
		{ LOGS, FS_WRITE, "/w/a/b/run.log", true },
		{ LOGS, FS_WRITE, "/w/run.txt", false },
		{ LOGS, FS_WRITE, "/w", false },
		{ LOGS, FS_WRITE, "/wx/run.log", false },
		/* '**' in the middle denies, too. */
#define MIDDLE	"\"allowWrite\":[\".\",\"/a\"],\"denyWrite\":" \
		"[\"/a/**/b\",\"src/**/*.c\"],\"denyRead\":[\"~/x/**/y.txt\"]"
		{ MIDDLE, FS_WRITE, "/a/b", false },
		{ MIDDLE, FS_WRITE, "/a/x/y/b/z", false },
		{ MIDDLE, FS_WRITE, "/a/x/y/bz", true },
		{ MIDDLE, FS_WRITE, "/ws/src/d/e.c", false },
		{ MIDDLE, FS_WRITE, "/ws/src/d/e.cc", true },
		{ MIDDLE, FS_WRITE, "/ws/e.c", true },
		{ MIDDLE, FS_READ, "/home/u/x/y.txt", false },
		{ MIDDLE, FS_READ, "/home/u/x/a/b/y.txt", false },
		{ MIDDLE, FS_READ, "/home/u/y.txt", true },
		{ MIDDLE, FS_READ, "/home/u/xy.txt", true },
		/* '[' in a name, and as a class. */
#define BRACKET	"\"allowWrite\":[\"/app\"],\"denyWrite\":" \
		"[\"/app/\\\\[id]\",\"/app/[xy]\"]"
		{ BRACKET, FS_WRITE, "/app/[id]/f", false },
		{ BRACKET, FS_WRITE, "/app/i", true },
		{ BRACKET, FS_WRITE, "/app/x", false },
		{ BRACKET, FS_WRITE, "/app/[xy]", true },
		{ "\"denyRead\":[\"/s/\"]", FS_READ, "/s/x", false },
		{ "\"denyRead\":[\"/s/**\"]", FS_READ, "/s", false },
		{ "\"denyRead\":[\"/s/*\"]", FS_READ, "/s", true },
		{ "\"denyRead\":[\"/\"]", FS_READ, "/etc/x", false },
		{ "\"denyRead\":[\"../s\"]", FS_READ, "/s/x", false },
		{ "\"denyRead\":[\"**/*.pem\"]", FS_READ, "/ws/a/k.pem",
		  false },
		{ "\"denyRead\":[\"*.pem\"]", FS_READ, "/ws/a/k.pem", true },
		{ "\"allowWrite\":[\"/tmp\"]", FS_WRITE, "/tmp/x", true },
		{ "", FS_WRITE, "/dev/stdout", true },
		{ "", FS_WRITE, "/dev/stderr", true },
		{ "", FS_WRITE, "/dev/tty", true },
		{ "", FS_WRITE, "/dev/ttyS0", false },
		{ STRICT "\"allowExecute\":[\"/x\"]", FS_READ, "/x/d", true },
		{ STRICT "\"allowExecute\":[\"/x\"]", FS_LIST, "/x", false },
		{ STRICT "\"allowExecute\":[\"/x\"]", FS_LIST, "/x/d", false },
		{ STRICT "\"allowExecute\":[\"/x\"],\"allowRead\":[\"/x/d\"]",
		    FS_LIST, "/x/d/e", true },
		{ STRICT "\"allowExecute\":[\"/x/d\"],\"allowRead\":[\"/x\"]",
		    FS_LIST, "/x/d/e", true },
		{ STRICT "\"allowExecute\":[\"/x/d\"],\"allowRead\":[\"/x\"],"
		    "\"denyRead\":[\"/x\"]", FS_LIST, "/x/d/e", false },
		{ "\"defaultDenyRead\":true,\"allowExecute\":[\"/opt/x\"]",
		    FS_LIST, "/opt/x", true },
		{ "\"allowExecute\":[\"/x\"]", FS_LIST, "/x", true },
		{ "\"allowWrite\":[\"/\"]", FS_WRITE, "/opt/x", true },
		{ "\"allowWrite\":[\"/\"]", FS_WRITE, "/etcx", true },
		{ "\"allowWrite\":[\"/\"]", FS_WRITE, "/etc/x", false },
		{ "\"allowWrite\":[\"/\"]", FS_WRITE, "/proc/sys/x", false },
		{ "\"allowWrite\":[\"/\"]", FS_WRITE, "/sys", false },
		{ "\"allowWrite\":[\"/\"]", FS_WRITE, "/run/x", false },
		{ "\"allowWrite\":[\"/\"]", FS_WRITE, "/tmp/x", true },
		{ "\"allowWrite\":[\"/\",\"/etc/x\"]", FS_WRITE, "/etc/x/y",
		    true },
		{ "\"allowWrite\":[\"/\"],\"defaultDenyRead\":true", FS_READ,
		    "/home/u/x", true },
	};
	struct verdict v;
	char text[256];

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct policy *p;

		snprintf(text, sizeof text, "{\"filesystem\":{%s}}",
		    cases[i].fs);
		p = parse(text);
		decide_fs(p, cases[i].op, cases[i].path, &v);
		if ((v.action == ACTION_ALLOW) != cases[i].may)
			fail_msg("%s: %s: %d by %s", text, cases[i].path,
			    v.action, rule_words(&v));
		policy_free(p);
	}
}

static void
equal_length_denies(void **state)
{
	struct policy *p = parse("{\"filesystem\":{\"denyRead\":[\"/a\"],"
	    "\"allowWrite\":[\"/a\",\"/b\"],\"denyWrite\":[\"/b\",\"/tmp\"]}}");
	struct verdict v;

	(void)state;
	decide_fs(p, FS_READ, "/a/x", &v);
	assert_int_equal(v.action, ACTION_DENY);
	decide_fs(p, FS_WRITE, "/a/x", &v);
	assert_int_equal(v.action, ACTION_DENY);
	decide_fs(p, FS_WRITE, "/b/x", &v);
	assert_int_equal(v.action, ACTION_DENY);
	decide_fs(p, FS_WRITE, "/tmp/x", &v);
	assert_int_equal(v.action, ACTION_DENY);
	assert_string_equal(rule_words(&v), DW "[1]");
	policy_free(p);
}

static void
verdict_of_no_entry(void **state)
{
	struct policy *p = parse(example);
	struct verdict v;

	(void)state;
	memset(&v, 'x', sizeof v);
	decide_fs(p, FS_WRITE, "/home/u/.cache/x", &v);
	assert_null(v.rule.text);
	assert_int_equal(v.rule.at.line, 2);
	assert_int_equal(v.rule.at.col, 16);
	assert_string_equal(v.reason,
	    "no entry of filesystem.allowWrite matches");
	assert_string_equal(remedy_key_words(&v), W);
	assert_string_equal(remedy_value_words(&v), "~/.cache/x");
	assert_string_equal(remedy_flag(&v.remedy), "-w");
	decide_fs(p, FS_WRITE, "/home/ux/y", &v);
	assert_string_equal(remedy_value_words(&v), "/home/ux/y");
	policy_free(p);
}

static void
verdict_of_an_entry(void **state)
{
	struct policy *p = parse(example);
	struct verdict v;

	(void)state;
	memset(&v, 'x', sizeof v);
	decide_fs(p, FS_READ, "/home/u/.ssh/id", &v);
	assert_string_equal(v.rule.text, "~/.ssh");
	assert_int_equal(v.rule.at.line, 5);
	assert_int_equal(v.rule.at.col, 15);
	assert_string_equal(v.reason, "denied by path");
	assert_string_equal(remedy_key_words(&v), "filesystem.allowRead");
	assert_string_equal(remedy_value_words(&v), "~/.ssh/id");
	assert_string_equal(remedy_flag(&v.remedy), "-r");
	/* No entry is longer than the path itself. */
	decide_fs(p, FS_READ, "/home/u/.ssh", &v);
	assert_string_equal(remedy_key_words(&v), DR);
	assert_string_equal(remedy_value_words(&v), "(remove \"~/.ssh\")");
	assert_string_equal(remedy_flag(&v.remedy), "");
	decide_fs(p, FS_WRITE, "/home/u/.ssh/id", &v);
	assert_string_equal(remedy_key_words(&v), W);
	assert_string_equal(remedy_flag(&v.remedy), "-w");
	assert_string_equal(v.reason, "denied by path");
	/* Removing it helps where something else grants the path. */
	decide_fs(p, FS_WRITE, "/ws/.git/hooks", &v);
	assert_string_equal(remedy_value_words(&v), "(remove \".git/hooks\")");
	assert_string_equal(v.reason, "denied by path");
	decide_fs(p, FS_WRITE, "/home/u/.ssh", &v);
	assert_string_equal(remedy_value_words(&v), "(remove \"~/.ssh\")");
	assert_string_equal(v.reason,
	    "denied by path; remove the entry, and allow the path");
	decide_fs(p, FS_WRITE, "/tmp/ro", &v);
	assert_string_equal(v.reason, "denied by path");
	decide_fs(p, FS_WRITE, "/dev/null", &v);
	assert_string_equal(v.rule.text, "/dev/null");
	assert_string_equal(remedy_key_words(&v), "");
	policy_free(p);
}

/* A remedy opens what was asked for, and no neighbour of it. */
static void
remedy_is_exact(void **state)
{
	static const struct { const char *path, *neighbour; } cases[] = {
		{ "/opt/plain", "/opt/plainx" },
		{ "/opt/a*", "/opt/ab" },
		{ "/opt/a?c", "/opt/abc" },
		{ "/opt/[ab]", "/opt/a" },
		{ "/opt/**", "/opt/x" },
		{ "/opt/$HOME", "/opt/x" },
		{ "/opt/a\\*b", "/opt/a*b" },
		{ "/opt/\"q\"", "/opt/q" },
		{ "/opt/{a,b}", "/opt/a" },
		{ "/opt/a,b}", "/opt/b" },
		{ "/home/u/~", "/home/u" },
	};
	struct policy *closed = parse("{}"), *opened;
	struct verdict v;
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	for (size_t i = 0; i < N_OF(cases); i++) {
		decide_fs(closed, FS_WRITE, cases[i].path, &v);
		assert_int_equal(v.action, ACTION_DENY);
		buf_clear(&b);
		buf_puts(&b, "{\"filesystem\":{\"allowWrite\":[");
		json_put_string(&b, remedy_value_words(&v), strlen(remedy_value_words(&v)));
		buf_puts(&b, "]}}");
		opened = parse(b.data);
		decide_fs(opened, FS_WRITE, cases[i].path, &v);
		assert_int_equal(v.action, ACTION_ALLOW);
		decide_fs(opened, FS_WRITE, cases[i].neighbour, &v);
		assert_int_equal(v.action, ACTION_DENY);
		policy_free(opened);
	}
	buf_release(&b);
	policy_free(closed);
}

/* Half a path would be another path. */
static void
no_remedy_rather_than_half(void **state)
{
	struct policy *p = parse("{}");
	struct verdict v;
	char path[4096];

	(void)state;
	memset(path, '*', sizeof path);
	path[0] = '/';
	path[4095] = '\0';
	decide_fs(p, FS_WRITE, path, &v);
	assert_int_equal(v.action, ACTION_DENY);
	assert_string_equal(remedy_key_words(&v), "");
	assert_string_equal(remedy_value_words(&v), "");
	policy_free(p);
}

/* A workspace below /tmp is the host's, not the jail's own /tmp. */
static void
workspace_below_tmp(void **state)
{
	struct policy *closed = parse_in("/tmp/ws", "{}");
	struct policy *opened = parse_in("/tmp/ws",
	    "{\"filesystem\":{\"allowWrite\":[\".\"]}}");
	struct verdict v;

	(void)state;
	decide_fs(closed, FS_WRITE, "/tmp/ws/x", &v);
	assert_int_equal(v.action, ACTION_DENY);
	decide_fs(closed, FS_WRITE, "/tmp/wsx", &v);
	assert_int_equal(v.action, ACTION_ALLOW);
	decide_fs(opened, FS_WRITE, "/tmp/ws/x", &v);
	assert_string_equal(rule_words(&v), W "[0]");
	policy_free(closed);
	policy_free(opened);
}

/* fence's own files stay closed inside a grant, and say so. */
static void
own_files(void **state)
{
	static const char text[] =
	    "{ \"filesystem\": { \"allowWrite\": [\".\", \"/ws/p.json\"] } }";
	const struct policy_env env = { .workspace = "/ws", .home = "/h" };
	struct policy *p = NULL;
	struct verdict v;
	struct err e;

	(void)state;
	assert_int_equal(policy_parse(text, sizeof text - 1, "p.json", &env,
	    &p, &e), 0);
	policy_own(p, "/ws/p.json", "the policy in force");
	policy_own(p, "/ws/t.json", "the record of this run");
	decide_fs(p, FS_WRITE, "/ws/p.json", &v);
	assert_int_equal(v.action, ACTION_DENY);
	assert_string_equal(rule_words(&v), "built-in");
	assert_string_equal(v.rule.text, "the policy in force");
	assert_string_equal(remedy_key_words(&v), "");
	decide_fs(p, FS_WRITE, "/ws/t.json", &v);
	assert_int_equal(v.action, ACTION_DENY);
	decide_fs(p, FS_READ, "/ws/p.json", &v);
	assert_int_equal(v.action, ACTION_ALLOW);
	decide_fs(p, FS_WRITE, "/ws/p.json2", &v);
	assert_int_equal(v.action, ACTION_ALLOW);
	policy_free(p);
}

static void
read_modes(void **state)
{
	static const char lists[] = "\"allowRead\":[\".\",\"~/.ssh/known\"],"
	    "\"allowExecute\":[\"/x/bin\"],\"allowWrite\":[\"/w\"],"
	    "\"denyRead\":[\"~/.ssh\",\"/usr/secret\",\"**/.env\"]";
	static const struct { const char *path; bool open, deny, strict; }
	    cases[] = {
		{ "/etc/passwd", true, true, false },
		{ "/usr/lib/x", true, true, false },
		{ "/usr/secret/x", false, false, false },
		{ "/usr/secretx", true, true, false },
		{ "/usrx", true, false, false },
		{ "/", true, false, false },
		{ "/home/u", true, false, false },
		{ "/home/u/bin/x", true, true, false },
		{ "/home/u/.local/bin/x", true, true, false },
		{ "/home/u/.local/share/x", true, false, false },
		{ "/home/v/.cargo/bin/x", true, false, false },
		{ "/ws/.bashrc", true, true, true },	/* guarded, readable */
		{ "/x/binx", true, false, false },
		{ "/opt/x", true, true, false },
		{ "/nix/x", true, true, false },
		{ "/srv/x", true, false, false },
		{ "/home/u/x", true, false, false },
		{ "/home/u/.cargo/bin/x", true, true, false },
		{ "/home/u/.cargo/x", true, false, false },
		{ "/home/u/binx", true, false, false },
		{ "/ws/x", true, true, true },
		{ "/ws/a/.env", false, false, false },
		{ "/wsx", true, false, false },
		{ "/home/u/.ssh/id", false, false, false },
		{ "/home/u/.ssh/known", true, true, true },
		{ "/x/bin/tool", true, true, true },
		{ "/x/other", true, false, false },
		{ "/w/x", true, true, true },
		{ "/tmp/x", true, true, true },
		{ "/dev/null", true, true, true },
		{ "/proc/self/status", true, true, true },
	};
	static const char *const modes[] = { "", "\"defaultDenyRead\":true,",
	    "\"strictDenyRead\":true," };
	char text[512];
	struct verdict v;

	(void)state;
	for (size_t m = 0; m < 3; m++) {
		struct policy *p;

		snprintf(text, sizeof text, "{\"filesystem\":{%s%s}}",
		    modes[m], lists);
		p = parse(text);
		for (size_t i = 0; i < N_OF(cases); i++) {
			bool want = m == 0 ? cases[i].open : m == 1 ?
			    cases[i].deny : cases[i].strict;

			decide_fs(p, FS_READ, cases[i].path, &v);
			if ((v.action == ACTION_ALLOW) != want)
				fail_msg("mode %zu: %s by %s", m,
				    cases[i].path, rule_words(&v));
			decide_fs(p, FS_EXEC, cases[i].path, &v);
			assert_int_equal(v.action == ACTION_ALLOW, want);
		}
		policy_free(p);
	}
}

static void
verdict_of_a_mode(void **state)
{
	struct policy *p = parse("{\"filesystem\":\n{\"defaultDenyRead\":"
	    "true}}");
	struct verdict v;

	(void)state;
	decide_fs(p, FS_READ, "/home/u/x", &v);
	assert_string_equal(rule_words(&v), "filesystem.defaultDenyRead");
	assert_int_equal(v.rule.at.line, 2);
	assert_string_equal(remedy_key_words(&v), "filesystem.allowRead");
	assert_string_equal(remedy_value_words(&v), "~/x");
	assert_string_equal(remedy_flag(&v.remedy), "-r");
	policy_free(p);
}

/* Copies of the jail's own may be written; what the policy denies may not. */
static void
shadowed_names(void **state)
{
	static const char text[] = "{\"filesystem\":{\"allowWrite\":"
	    "[\"~/.claude\",\"~/.codex/rules\",\"~/.codex\"],"
	    "\"denyWrite\":[\"~/.claude/hooks\"]}}";
	static const struct { const char *path; enum rule_id by; } cases[] = {
		{ "/home/u/.claude/settings.json", RULE_SHADOW },
		{ "/home/u/.claude/plugins", RULE_SHADOW },
		{ "/home/u/.claude/plugins/a/.git/hooks/x", RULE_SHADOW },
		{ "/home/u/.claude/settings.jsonx", RULE_ENTRY },
		{ "/home/u/.claude/local", RULE_GUARD },
		{ "/home/u/.claude/hooks/x", RULE_ENTRY },
		{ "/home/u/.codex/rules/x", RULE_ENTRY },
		{ "/home/u/.codex/config.toml", RULE_GUARD },
		{ "/home/u/.claude/own", RULE_OWN },
		{ "/home/u/.codex/a.config.toml", RULE_SHADOW },
		{ "/home/u/.codex/.config.toml", RULE_SHADOW },
		{ "/home/u/.codex/a.config.tom", RULE_ENTRY },
		{ "/home/u/.codex/a.config.toml.x", RULE_ENTRY },
		{ "/home/u/.codex/d/a.config.toml", RULE_ENTRY },
	};
	struct guard_at at[2], shadows[5];
	struct guard_places places = { .v = at, .n = 2, .shadows = shadows,
	    .nshadows = 5 };
	struct policy *p = parse(text);
	struct verdict v;

	(void)state;
	guard_place_set(&at[0], "/home/u", GUARD_IN_HOME);
	guard_place_set(&at[1], "/home/u/.claude/plugins/a/.git",
	    GUARD_IN_GIT);
	guard_place_set(&shadows[0], "/home/u/.claude/settings.json", 0);
	guard_place_set(&shadows[1], "/home/u/.claude/plugins", 0);
	guard_place_set(&shadows[2], "/home/u/.claude/hooks", 0);
	guard_place_set(&shadows[3], "/home/u/.codex/rules", 0);
	guard_place_set(&shadows[4], "/home/u/.codex/*.config.toml",
	    GUARD_PATTERN);
	policy_own(p, "/home/u/.claude/own", "the record");
	p->places = &places;
	for (size_t i = 0; i < N_OF(cases); i++) {
		decide_fs(p, FS_WRITE, cases[i].path, &v);
		if (v.rule.id != cases[i].by)
			fail_msg("%s: by %s (%s)", cases[i].path,
			    rule_words(&v), v.reason);
		assert_int_equal(v.action == ACTION_ALLOW,
		    v.rule.id == RULE_SHADOW || (v.rule.id == RULE_ENTRY &&
		    strstr(cases[i].path, "/hooks/") == NULL));
	}
	policy_free(p);
}

static void
names_that_are_guarded(void **state)
{
	static const char text[] = "{\"filesystem\":{\"allowWrite\":[\".\","
	    "\"~\",\"/other\",\"~/.zshrc\",\"/other/.vscode/x\","
	    "\"/glob/*\", \"/ws/fence.json\", \"/{one,two}\","
	    "\"/deep/**/*\",\"/both\",\"/both/.vscode\","
	    "\"/both/**/*.json\"]}}";
	static const struct { const char *path; bool may; } cases[] = {
		{ "/ws/x", true }, { "/ws/.bashrc", false },
		{ "/ws/.bashrcx", true }, { "/ws/a/.bashrc", true },
		{ "/ws/.vscode", false }, { "/ws/.vscode/a/b", false },
		{ "/ws/notvscode", true },
		{ "/ws/.git/hooks/pre-commit", false },
		{ "/ws/.git/config", false }, { "/ws/.git/HEAD", true },
		{ "/ws/.git/refs/heads/config", true },
		{ "/ws/.git/info/attributes", false },
		{ "/ws/.git/modules/m/hooks/x", false },
		{ "/ws/a/b/c/.git/hooks", false },
		{ "/ws/a/b/c/d/.git/hooks", true },
		{ "/ws/node_modules/x/.git/hooks", true },
		{ "/ws/.github/workflows/ci.yml", false },
		{ "/ws/.github/x", true }, { "/ws/.github", true },
		{ "/home/u/.bashrc", false },
		{ "/home/u/.zshrc", true },	/* named */
		{ "/home/u/.config/fence/fence.json", false },
		{ "/home/u/.claude/x", true },
		{ "/home/u/.claude/settings.json", false },
		{ "/home/u/.claude/agents/x.md", false },
		{ "/home/u/.claude/commands/x.md", false },
		{ "/home/u/.claude/skills/x/SKILL.md", false },
		{ "/home/u/.claude/output-styles/x", false },
		{ "/home/u/.claude/rules/x", false },
		{ "/home/u/.claude/CLAUDE.md", false },
		{ "/home/u/.claude/shell-snapshots/x", false },
		{ "/home/u/.codex/agents/x", false },
		{ "/home/u/.codex/prompts/x", false },
		{ "/home/u/.codex/AGENTS.md", false },
		{ "/home/u/.codex/managed_config.toml", false },
		{ "/home/u/.codex/requirements.toml", false },
		{ "/home/u/.codex/work.config.toml", false },
		{ "/home/u/.codex/shell_snapshots/x", false },
		{ "/home/u/.agents/skills/x", false },
		{ "/home/u/.copilot/agents/x", false },
		{ "/home/u/.copilot/skills/x", false },
		{ "/home/u/.copilot/extensions/x", false },
		{ "/home/u/.copilot/lsp-config.json", false },
		{ "/home/u/.cursor/commands/x", false },
		{ "/home/u/.gemini/commands/x", false },
		{ "/home/u/.gemini/GEMINI.md", false },
		{ "/home/u/.qwen/commands/x", false },
		{ "/home/u/.qwen/QWEN.md", false },
		{ "/home/u/.config/opencode/command/x", false },
		{ "/home/u/.config/opencode/agents/x", false },
		{ "/home/u/.config/opencode/AGENTS.md", false },
		{ "/home/u/.config/amp/tools/x", false },
		{ "/home/u/.factory/droids/x", false },
		{ "/home/u/.factory/config.json", false },
		{ "/home/u/.kiro/agents/x", false },
		{ "/home/u/.kiro/steering/x", false },
		{ "/home/u/.pi/agent/skills/x", false },
		{ "/home/u/.pi/agent/SYSTEM.md", false },
		{ "/home/u/.continue/rules/x", false },
		{ "/home/u/.continue/permissions.yaml", false },
		{ "/home/u/.augment/agents/x", false },
		{ "/home/u/.augment/hooks/x", false },
		{ "/home/u/.cline/rules/x", false },
		{ "/home/u/.cline/agents/x", false },
		{ "/home/u/.qwen/channels/x", false },
		{ "/home/u/.gemini/system.md", false },
		{ "/home/u/.continue/skills/x", false },
		{ "/home/u/.local/share/opencode/plugin/x", false },
		{ "/home/u/.cline/workflows/x", false },
		{ "/home/u/.config/goose/recipes/x", false },
		{ "/home/u/.config/crush/skills/x", false },
		{ "/home/u/.claude/projects/x", true },
		{ "/home/u/.claude/commandsx", true },
		{ "/home/u/.claude/todos/x", true },
		{ "/home/u/.codex/sessions/x", true },
		{ "/home/u/.codex/config.tomlx", true },
		{ "/home/u/.codex/work.config.tom", true },
		{ "/home/u/.codex/a/work.config.toml", true },
		{ "/home/u/.copilot/session-state/x", true },
		{ "/home/u/.gemini/history/x", true },
		{ "/home/u/.qwen/projects/x", true },
		{ "/home/u/.kiro/sessions/x", true },
		{ "/home/u/.pi/agent/sessions/x", true },
		{ "/other/.envrc", false }, { "/other/.vscode/y", false },
		{ "/other/.vscode/x", true },
		{ "/ws/fence.json", false },	/* no line opens it */
		{ "/etc/x", false },
		{ "/ws/.gitconfig", false }, { "/ws/.gitmodules", false },
		{ "/ws/.bash_profile", false }, { "/ws/.bash_login", false },
		{ "/ws/.bash_logout", false }, { "/ws/.profile", false },
		{ "/ws/.zshrc", false }, { "/ws/.zshenv", false },
		{ "/ws/.zprofile", false }, { "/ws/.zlogin", false },
		{ "/ws/.ripgreprc", false }, { "/ws/.mcp.json", false },
		{ "/ws/.npmrc", false }, { "/ws/.envrc", false },
		{ "/ws/.idea/workspace.xml", false },
		{ "/ws/.ideas", true }, { "/ws/not.idea/x", true },
		{ "/ws/.husky/pre-commit", false },
		{ "/ws/.cursor/mcp.json", false },
		{ "/ws/.cursor/rules/x", false }, { "/ws/.cursor/x", true },
		{ "/ws/.claude/settings.json", false },
		{ "/ws/.claude/settings.local.json", false },
		{ "/ws/.claude/commands/x.md", true },
		{ "/ws/.claude/agents/x.md", true },
		{ "/ws/.claude/skills/foo/SKILL.md", true },
		{ "/ws/.claude/settings.jsonx", true },
		{ "/ws/fence.jsonc", false }, { "/ws/fence.ini", false },
		{ "/ws/fence.jsonx", true }, { "/ws/a/fence.json", true },
		{ "/ws/.github/workflowsx", true },
		{ "/ws/.github/hooks/x.json", false },
		{ "/ws/.hg/hgrc", false }, { "/ws/.hg/store/x", true },
		{ "/ws/.hg/sharedpath", false }, { "/ws/.hg", true },
		{ "/ws/.jj/repo/config.toml", false },
		{ "/ws/.opencode/tool/x.ts", false },
		{ "/ws/.opencode/opencode.json", false },
		{ "/ws/.opencode/agent/x.md", true },
		{ "/ws/crush.json", false }, { "/ws/a/crush.json", true },
		{ "/ws/.aider.conf.yml", false },
		{ "/ws/.aider.chat.history.md", true },
		{ "/ws/.helix/languages.toml", false },
		{ "/ws/.zed/settings.json", false }, { "/ws/.exrc", false },
		{ "/ws/.roo/mcp.json", false }, { "/ws/.roo/rules/x", true },
		{ "/ws/.windsurf/hooks.json", false },
		{ "/ws/.git", true }, { "/ws/.git/hooks", false },
		{ "/ws/.git/hooksx", true }, { "/ws/.git/configx", true },
		{ "/ws/.git/config.worktree", false },
		{ "/ws/.git/refs/heads/main", true },
		{ "/ws/.gitx/hooks/x", true }, { "/ws/x.git/hooks/x", true },
		{ "/ws/.git/info/attributesx", true },
		{ "/ws/.git/info/exclude", true },
		{ "/ws/.git/modules/m/config", false },
		{ "/ws/.git/modules/m/modules/n/hooks/x", false },
		{ "/ws/.git/modules/m/HEAD", true },
		{ "/ws/.git/modules/lib/m/hooks/x", false },
		{ "/ws/.git/modules/lib/m/config", false },
		{ "/ws/.git/modules/lib/m/HEAD", true },
		{ "/ws/.git/modules/m/refs/heads/config", true },
		{ "/ws/.git/modules/m/logs/refs/heads/hooks/x", true },
		{ "/ws/.git/modules", true }, { "/ws/.git/modules/m", true },
		{ "/ws/.git/worktrees/t/config.worktree", false },
		{ "/ws/.git/worktrees/t/HEAD", true },
		/* Names count in the root, repositories to depth 3. */
		{ "/ws/subdir/.zshrc", true }, { "/ws/a/b/.bashrc", true },
		{ "/ws/subdir/.vscode/x", true },
		{ "/ws/a/.git/hooks/x", false }, { "/ws/a/.git/config", false },
		{ "/ws/node_modules/pkg/.bashrc", true },
		{ "/ws/a/node_modules/x/.git/hooks", true },
		{ "/ws/node_modulesx/.git/hooks", false },
		{ "/home/u/.zlogout", false }, { "/home/u/.npmrc", false },
		{ "/home/u/.gitconfig", false },
		{ "/home/u/.config/git/config", false },
		{ "/home/u/.config/fish/config.fish", false },
		{ "/home/u/.config/fishx", true },
		{ "/home/u/.fence.json", false },
		{ "/home/u/.local/state/fence/x", false },
		{ "/home/u/.codex/config.toml", false },
		{ "/home/u/.codex/history", true },
		/* The roots of a glob, and of braces, are roots. */
		{ "/glob/x/y", true }, { "/glob/x/.bashrc", false },
		{ "/glob/x/.git/hooks/y", false },
		{ "/glob/x/.git/HEAD", true }, { "/glob/x/fence.json", false },
		{ "/glob/x/y/.bashrc", true },
		{ "/deep/x/.bashrc", false }, { "/deep/x/y/.bashrc", false },
		{ "/deep/x/y/bashrc", true },
		{ "/both/.vscode/settings.json", true },
		{ "/both/.vscode/x", true },
		{ "/both/.claude/settings.json", false },
		{ "/both/.mcp.json", false },
		{ "/one/y", true }, { "/one/.bashrc", false },
		{ "/two/a/.git/config", false }, { "/two/a/.bashrc", true },
	};
	static const struct { const char *path; bool may; } whole[] = {
		{ "/home/u/.zshrc", false }, { "/ws/.bashrc", false },
		{ "/ws/.git/hooks/pre-commit", false },
		{ "/ws/.git/config", false },
		{ "/ws/.vscode/settings.json", false },
		{ "/ws/.idea/workspace.xml", false },
		{ "/.bashrc", false }, { "/ws/.git/HEAD", true },
		{ "/ws/.claude/commands/x.md", true }, { "/opt/x", true },
		{ "/a/b/c/.git/hooks/x", false },
	};
	struct policy *p = parse(text);
	struct verdict v;

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct fs_question q = { .op = FS_WRITE,
		    .path = cases[i].path, .is_guarded = true };

		decide_fs_ask(p, &q, &v);
		if ((v.action == ACTION_ALLOW) != cases[i].may)
			fail_msg("%s: %d by %s (%s)", cases[i].path,
			    v.action, rule_words(&v), v.reason);
		q.op = FS_READ;		/* reading them is fine */
		decide_fs_ask(p, &q, &v);
		assert_int_equal(v.action, ACTION_ALLOW);
	}
	for (size_t i = 0; i < N_OF(whole); i++) {
		struct policy *all = parse("{\"filesystem\":"
		    "{\"allowWrite\":[\"/\"]}}");
		struct fs_question q = { .op = FS_WRITE,
		    .path = whole[i].path, .is_guarded = true };

		decide_fs_ask(all, &q, &v);
		if ((v.action == ACTION_ALLOW) != whole[i].may)
			fail_msg("with /: %s: %d by %s", whole[i].path,
			    v.action, rule_words(&v));
		policy_free(all);
	}
	/* What the run itself makes is its own. */
	decide_fs(p, FS_WRITE, "/ws/.git/hooks/x", &v);
	assert_int_equal(v.action, ACTION_ALLOW);
	policy_free(p);
	p = parse("{\"filesystem\":{\"allowWrite\":[\".\"],"
	    "\"allowGitConfig\":true}}");
	decide_fs_ask(p, &(struct fs_question){ .op = FS_WRITE,
	    .path = "/ws/.git/config", .is_guarded = true }, &v);
	assert_int_equal(v.action, ACTION_ALLOW);
	policy_free(p);
	p = parse("{\"filesystem\":{\"allowWrite\":[\".\"]}}");
	decide_fs_ask(p, &(struct fs_question){ .op = FS_WRITE,
	    .path = "/ws/.git/config", .is_guarded = true }, &v);
	assert_string_equal(remedy_key_words(&v), W);
	assert_string_equal(remedy_value_words(&v), "/ws/.git/config");
	assert_string_equal(remedy_flag(&v.remedy), "-w");
	decide_fs_ask(p, &(struct fs_question){ .op = FS_WRITE,
	    .path = "/ws/.bashrc", .is_guarded = true }, &v);
	assert_string_equal(remedy_key_words(&v), W);
	assert_string_equal(remedy_value_words(&v), "/ws/.bashrc");
	assert_string_equal(remedy_flag(&v.remedy), "-w");
	policy_free(p);
}

/* The workspace's git directory: where no entry speaks, and no guard. */
static void
git_directory(void **state)
{
	static const struct {
		const char	*keys, *path;
		enum fs_op	 op;
		bool		 may;
	} rows[] = {
		{ "", "/m/.git", FS_WRITE, true },
		{ "", "/m/.git/index", FS_WRITE, true },
		{ "", "/m/.github", FS_WRITE, false },
		{ "", "/m/x", FS_WRITE, false },
		{ "\"denyWrite\":[\"/m\"]", "/m/.git/index", FS_WRITE, false },
		{ "\"denyWrite\":[\"/m/.git/refs\"]", "/m/.git/refs/x",
		    FS_WRITE, false },
		{ "\"denyWrite\":[\"/m/.git/refs\"]", "/m/.git/index",
		    FS_WRITE, true },
		{ "\"denyWrite\":[\"/**/index\"]", "/m/.git/index", FS_WRITE,
		    false },
		{ "\"denyRead\":[\"/m\"]", "/m/.git/index", FS_WRITE, false },
		{ "\"denyRead\":[\"/m\"]", "/m/.git/index", FS_READ, false },
		{ "\"defaultDenyRead\":true", "/m/.git/index", FS_READ, true },
		{ "\"strictDenyRead\":true", "/m/.git/index", FS_READ, true },
		{ "\"defaultDenyRead\":true", "/m/x", FS_READ, false },
	};
	static struct guard_at at[2];
	static const struct guard_places places = { .v = at, .n = 2 };
	struct verdict v;
	struct policy *p;

	(void)state;
	guard_place_set(&at[0], "/m/.git", GUARD_IN_GIT);
	guard_place_set(&at[1], "/m/.git/worktrees/o", GUARD_ITSELF);
	for (size_t i = 0; i < N_OF(rows); i++) {
		char text[256];

		snprintf(text, sizeof text, "{\"filesystem\":{%s}}",
		    rows[i].keys);
		p = parse(text);
		policy_git(p, "/m/.git", "/m");
		decide_fs(p, rows[i].op, rows[i].path, &v);
		if ((v.action == ACTION_ALLOW) != rows[i].may)
			fail_msg("%s: %s: %s", rows[i].keys, rows[i].path,
			    rule_words(&v));
		policy_free(p);
	}
	p = parse("{\"filesystem\":{\"allowWrite\":[\"/m/.git/config\"]}}");
	policy_git(p, "/m/.git", "/m");
	p->places = &places;
	decide_fs(p, FS_WRITE, "/m/.git/config", &v);
	assert_int_equal(v.action, ACTION_ALLOW);
	decide_fs(p, FS_WRITE, "/m/.git/hooks/x", &v);
	assert_int_equal(v.action, ACTION_DENY);
	assert_string_equal(remedy_value_words(&v), "/m/.git/hooks/x");
	decide_fs(p, FS_WRITE, "/m/.git/objects/info/alternates", &v);
	assert_int_equal(v.action, ACTION_DENY);
	decide_fs(p, FS_WRITE, "/m/.git/worktrees/o/HEAD", &v);
	assert_int_equal(v.action, ACTION_DENY);
	decide_fs(p, FS_WRITE, "/m/.git/worktrees/x/HEAD", &v);
	assert_int_equal(v.action, ACTION_ALLOW);
	/* A file of the work tree is replaced, which its folder has to let. */
	decide_fs(p, FS_WRITE, "/m/a/file", &v);
	assert_string_equal(remedy_value_words(&v), "/m");
	decide_fs(p, FS_WRITE, "/n", &v);
	assert_string_equal(remedy_value_words(&v), "/n");
	policy_free(p);
	/* Below /tmp it is bound into the jail's own, as a workspace is. */
	p = parse("{}");
	policy_git(p, "/tmp/m/.git", "/tmp/m");
	decide_fs(p, FS_WRITE, "/tmp/m/.git/index", &v);
	assert_int_equal(v.rule.id, RULE_JAIL);
	decide_fs(p, FS_WRITE, "/tmp/m/x", &v);
	assert_int_equal(v.rule.id, RULE_PLACE);
	policy_free(p);
}

static void
layers_must_agree(void **state)
{
	struct policy *p = parse("{\"filesystem\":{\"allowWrite\":[\"/\"]}}");
	struct policy *q = parse("{\"filesystem\":{\"allowWrite\":[\".\"],"
	    "\"denyRead\":[\"/s\"]}}");
	struct verdict v;

	(void)state;
	p->also = q;
	decide_fs(p, FS_WRITE, "/ws/x", &v);
	assert_int_equal(v.action, ACTION_ALLOW);
	decide_fs(p, FS_WRITE, "/x", &v);
	assert_int_equal(v.action, ACTION_DENY);
	assert_string_equal(remedy_flag(&v.remedy), "");
	decide_fs(p, FS_READ, "/s/x", &v);
	assert_int_equal(v.action, ACTION_DENY);
	policy_free(p);
	policy_free(q);
}

/* The index finds what a scan of the list finds. */
static void
index_against_scan(void **state)
{
	static const char *const entries[] = { "/", "/a", "/a/b", "/a/b/c",
	    "/a/**/n", "/**/n", "/a/b/**/n", "/**/*.c", "/a/*/c", "/a/n*",
	    "/a/{b,n}/c", "/**/c/*", "/a/[bn]", "/a/b*/**/n", "**/n", "/ab" };
	static const char *const paths[] = { "/", "/a", "/ab", "/a/b", "/a/n",
	    "/a/b/c", "/a/b/c/d", "/a/x/n", "/n", "/a/b/n/x", "/x/y.c",
	    "/a/b/x.c/n", "/a/n/c/n", "/ws/q/n/n" };
	unsigned seed = 7;

	(void)state;
	for (unsigned round = 0; round < 1000; round++) {
		char text[1024] = "{\"filesystem\":{\"allowWrite\":[";
		struct policy *p;
		struct verdict v;

		for (unsigned i = 0; i < 5; i++) {
			seed = seed * 1103515245 + 12345;
			snprintf(text + strlen(text), 64, "%s\"%s\"",
			    i == 0 ? "" : ",",
			    entries[(seed >> 16) % N_OF(entries)]);
		}
		strcat(text, "]}}");
		p = parse(text);
		for (size_t k = 0; k < N_OF(paths); k++) {
			const struct strlist *l = &p->fs.allow_write;
			char want[64] = W;
			size_t best = 0, n;

			for (size_t i = 0; i < l->n; i++) {
				n = pattern_match_path(l->v[i].pattern,
				    paths[k]);
				if (n <= best)
					continue;
				best = n;
				snprintf(want, sizeof want, W "[%zu]", i);
			}
			decide_fs(p, FS_WRITE, paths[k], &v);
			if (strcmp(rule_words(&v), want) != 0)
				fail_msg("%s: %s: %s, not %s", text, paths[k],
				    rule_words(&v), want);
		}
		policy_free(p);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(longest_match),
		cmocka_unit_test(lists),
		cmocka_unit_test(equal_length_denies),
		cmocka_unit_test(verdict_of_no_entry),
		cmocka_unit_test(verdict_of_an_entry),
		cmocka_unit_test(remedy_is_exact),
		cmocka_unit_test(no_remedy_rather_than_half),
		cmocka_unit_test(workspace_below_tmp),
		cmocka_unit_test(own_files),
		cmocka_unit_test(read_modes),
		cmocka_unit_test(verdict_of_a_mode),
		cmocka_unit_test(names_that_are_guarded),
		cmocka_unit_test(git_directory),
		cmocka_unit_test(shadowed_names),
		cmocka_unit_test(layers_must_agree),
		cmocka_unit_test(index_against_scan),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
