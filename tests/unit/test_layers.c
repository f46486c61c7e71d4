#include <stdarg.h>
#include <setjmp.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "policy/diff.h"
#include "policy/layers.h"
#include "tests/unit/room.h"
#include "tests/unit/generate.h"
#include "tests/unit/verdict_words.h"

static struct policy *
parse(const char *text)
{
	struct policy_env env = { .workspace = "/w", .home = "/h" };
	struct policy *p = NULL;
	struct err e = { 0 };

	if (policy_parse(text, strlen(text), "p.json", &env, &p, &e) != 0)
		fail_msg("%s: %s: %s in %s", e.where, e.key, e.msg, text);
	return p;
}

/* ---- settling ---- */

static void
settle(struct policy **a, struct policy **b, const char *first,
    const char *second)
{
	*a = parse(first);
	*b = parse(second);
	layers_add(*a, *b);
	layers_settle(*a);
}

static void
drop(struct policy *a, struct policy *b)
{
	policy_free(a);
	policy_free(b);
}

/* Grants need both; restrictions are either's. */
static void
test_settle(void **state)
{
	struct policy *a, *b;

	(void)state;
	settle(&a, &b, "{\"allowPty\":true,\"network\":{"
	    "\"allowLocalBinding\":true,\"mode\":\"direct\",\"sni\":\"off\","
	    "\"allowUnixSockets\":[\"/a\",\"/b\",\"/d/{a,b}\"]},"
	    "\"devices\":{\"mode\":\"host\"},"
	    "\"limits\":{\"memory\":\"2G\",\"files\":100},"
	    "\"command\":{\"deny\":[\"x\"],\"allow\":[\"y\",\"z\"],"
	    "\"runtimeExecPolicy\":\"off\",\"useDefaults\":false},"
	    "\"env\":{\"set\":{\"A\":\"1\"}}}",
	    "{\"network\":{\"allowUnixSockets\":[\"/b\",\"/c\",\"/d/{c,d}\"]},"
	    "\"devices\":{\"mode\":\"minimal\"},"
	    "\"limits\":{\"memory\":\"1G\",\"processes\":5,\"files\":200},"
	    "\"command\":{\"deny\":[\"x\",\"v\"],\"allow\":[\"z\"]},"
	    "\"env\":{\"denySecrets\":true,\"deny\":[\"K\"],"
	    "\"set\":{\"B\":\"2\"}},\"profile\":\"strict\"}");
	assert_false(a->allow_pty.value);
	assert_false(a->net.allow_local_binding.value);
	assert_int_equal(a->net.mode.value, NET_MODE_GATE);
	assert_int_equal(a->net.sni.value, NET_SNI_ENFORCE);
	assert_int_equal(a->net.allow_unix_sockets.n, 1);
	assert_string_equal(a->net.allow_unix_sockets.v[0].text, "/b");
	assert_int_equal(a->devices.mode.value, DEVICES_MINIMAL);
	assert_int_equal(a->limits.memory.num.value, 1ull << 30);
	assert_int_equal(a->limits.processes.value, 5);
	assert_int_equal(a->limits.files.value, 100);
	/* Rules about commands stay each layer's: decide_exec asks both. */
	assert_int_equal(a->command.deny.n, 1);
	assert_int_equal(a->command.allow.n, 2);
	assert_int_equal(a->command.use_defaults.value, TRI_FALSE);
	assert_int_equal(a->command.runtime_exec_policy.value,
	    EXEC_POLICY_AUTO);
	assert_int_equal(a->env.set.list.n, 1);
	assert_string_equal(a->env.set.list.v[0].name, "A");
	assert_int_equal(a->profile.value, PROFILE_STRICT);
	drop(a, b);
	/* What is looser in the second changes nothing. */
	settle(&a, &b, "{}", "{\"allowPty\":true,\"network\":{\"mode\":"
	    "\"direct\"},\"devices\":{\"mode\":\"host\"}}");
	assert_false(a->allow_pty.value);
	assert_int_equal(a->net.mode.value, NET_MODE_GATE);
	assert_int_equal(a->devices.mode.value, DEVICES_AUTO);
	drop(a, b);
}

/* ---- what was refused ---- */

static const struct {
	const char	*user, *asked, *want;
} wishes[] = {
	{ "{}", "{}", "" },
	{ "{}", "{\"network\":{\"allowedDomains\":[\"a.test\"]}}",
	    "network.allowedDomains \"a.test\"" },
	{ "{\"network\":{\"allowedDomains\":[\"*.t.test\"]}}",
	    "{\"network\":{\"allowedDomains\":[\"a.t.test\",\"*.a.t.test\","
	    "\"t.test\",\"*\"]}}", "network.allowedDomains \"t.test\", "
	    "network.allowedDomains \"*\"" },
	{ "{\"network\":{\"allowedDomains\":[\"*\"],\"deniedDomains\":"
	    "[\"b.test\"]}}", "{\"network\":{\"allowedDomains\":[\"b.test\","
	    "\"c.test\"]}}", "network.allowedDomains \"b.test\"" },
	{ "{\"filesystem\":{\"allowWrite\":[\".\"]}}",
	    "{\"filesystem\":{\"allowWrite\":[\"./x\",\"*.c\",\"/opt/*/y\","
	    "\"..\"]}}", "filesystem.allowWrite \"/opt/*/y\", "
	    "filesystem.allowWrite \"..\"" },
	{ "{}", "{\"network\":{\"mode\":\"direct\"},\"env\":{\"set\":"
	    "{\"A\":\"v\"}}}", "network.mode \"direct\", env.set \"v\"" },
	/* Restrictions are no wishes. */
	{ "{}", "{\"network\":{\"deniedDomains\":[\"a.test\"]},"
	    "\"filesystem\":{\"denyRead\":[\"/x\"]}}", "" },
	{ "{}", "{\"allowNestedSandbox\":true,\"network\":{"
	    "\"via\":\"direct\",\"sni\":\"off\"},\"devices\":{"
	    "\"mode\":\"host\",\"allow\":[\"/dev/kvm\"]}}",
	    "allowNestedSandbox, network.via \"direct\", "
	    "network.sni \"off\", devices.mode \"host\", "
	    "devices.allow \"/dev/kvm\"" },
	{ "{}", "{\"network\":{\"via\":\"http://u:p@a:1\"}}",
	    "network.via \"http://***@a:1\"" },
	{ "{\"env\":{\"denySecrets\":true}}", "{\"env\":{\"allow\":["
	    "\"A_KEY\",\"B\",\"C_*\"]}}",
	    "env.allow \"A_KEY\", env.allow \"C_*\"" },
	{ "{}", "{\"env\":{\"denySecrets\":true,\"allow\":[\"A_KEY\"]},"
	    "\"network\":{\"via\":\"auto\",\"sni\":\"enforce\"}}", "" },
	{ "{\"allowNestedSandbox\":true,\"network\":{\"sni\":\"off\","
	    "\"via\":\"direct\"},\"devices\":{\"mode\":\"host\"}}",
	    "{\"allowNestedSandbox\":true,\"network\":{\"sni\":\"off\","
	    "\"via\":\"direct\"},\"devices\":{\"mode\":\"host\"}}",
	    "" },
};

static void
test_refused(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof wishes / sizeof *wishes; i++) {
		struct policy *user = parse(wishes[i].user);
		struct policy *asked = parse(wishes[i].asked);
		struct buf b;
		size_t n;

		buf_init(&b, 0);
		n = layers_refused(user, asked, 8, &b);
		assert_string_equal(b.data, wishes[i].want);
		assert_int_equal(n == 0, wishes[i].want[0] == '\0');
		buf_release(&b);
		drop(user, asked);
	}
}

/* ---- never wider: 10,000 questions ---- */

static void
resolve(struct room *r, const struct resolve_request *req,
    struct resolved *ret)
{
	struct err e = { 0 };

	if (policy_resolve(req, ret, &e) != 0)
		fail_msg("%s %s: %s: %s", r->dir, e.where, e.key, e.msg);
}

static size_t nallowed, ndenied;

static void
assert_narrower(struct room *r, const struct resolved *layered,
    const struct resolved *alone, unsigned questions, const char *what)
{
	for (unsigned i = 0; i < questions; i++) {
		struct gen_question q;
		struct verdict v, w;

		gen_question(&q, r->dir);
		gen_ask(layered->policy, &q, &v);
		gen_ask(alone->policy, &q, &w);
		nallowed += v.action == ACTION_ALLOW;
		ndenied += v.action == ACTION_DENY &&
		    w.action == ACTION_ALLOW;
		if (v.action == ACTION_ALLOW && w.action == ACTION_DENY)
			fail_msg("%s: %s op %d guarded %d is allowed by %s, "
			    "denied alone by %s", what, gen_name(&q),
			    (int)q.fs.op, q.fs.is_guarded, rule_words(&v), rule_words(&w));
		/* Nor does a layer make a direct way of one by proxy. */
		if (v.action == ACTION_ALLOW && w.via_upstream)
			assert_true(v.via_upstream);
	}
}

static void
test_untrusted_never_widens(void **state)
{
	static const char *const heads[] = { "", "", "",
	    "\"extends\":\"@base\",", "\"extends\":\"code\",",
	    "\"profile\":\"strict\"," };
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	struct resolved with, without;
	struct buf b;

	gen_state = 0x9e3779b97f4a7c15;
	nallowed = ndenied = 0;
	buf_init(&b, 0);
	for (unsigned i = 0; i < 200; i++) {
		room_remove(r, "home/.fence.json");
		if (gen(8) != 0) {
			gen_policy(&b, "", true);
			room_put(r, "home/.fence.json", b.data);
		}
		gen_policy(&b, heads[gen(GEN_COUNT(heads))], true);
		room_put(r, "proj/fence.json", b.data);
		req.ignore_project = false;
		resolve(r, &req, &with);
		assert_false(with.is_trusted);
		req.ignore_project = true;
		resolve(r, &req, &without);
		assert_narrower(r, &with, &without, 50, "untrusted");
		resolved_release(&with);
		resolved_release(&without);
	}
	buf_release(&b);
	/* Both happen, or nothing was asked. */
	assert_true(nallowed > 200);
	assert_true(ndenied > 200);
}

static void
test_ceiling_never_widens(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r), bare = req;
	struct resolved with, without, ceiling;
	struct buf b;

	gen_state = 0xd1b54a32d192ed03;
	nallowed = ndenied = 0;
	buf_init(&b, 0);
	bare.ceiling_dir = "/nonexistent";
	for (unsigned i = 0; i < 200; i++) {
		gen_policy(&b, "", true);
		room_put(r, "s.json", b.data);
		gen_policy(&b, "", false);
		room_put(r, "ceiling.d/c.json", b.data);
		req.settings = bare.settings = room_path(r, "s.json");
		resolve(r, &req, &with);
		resolve(r, &bare, &without);
		bare.settings = room_path(r, "ceiling.d/c.json");
		resolve(r, &bare, &ceiling);
		assert_narrower(r, &with, &without, 50, "ceiling");
		assert_narrower(r, &with, &ceiling, 50, "over the ceiling");
		resolved_release(&with);
		resolved_release(&without);
		resolved_release(&ceiling);
	}
	buf_release(&b);
	assert_true(nallowed > 200);
	assert_true(ndenied > 200);
}

/* ---- diff ---- */

/* Is there a line "+ KEY ..." with this entry, or with the key alone? */
static bool
has_line(const char *lines, char sign, const char *rule, const char *text)
{
	char want[512];
	int n = (int)strcspn(rule, "[");

	if (text != NULL)
		snprintf(want, sizeof want, "%c %.*s \"%s\"", sign, n, rule,
		    text);
	else
		snprintf(want, sizeof want, "%c %.*s ", sign, n, rule);
	return strstr(lines, want) != NULL;
}

static bool
is_covered(const char *lines, char sign, const struct verdict *allows,
    const struct verdict *denies)
{
	return (allows->rule.text != NULL && has_line(lines, sign,
	    rule_words(allows), allows->rule.text)) ||
	    (denies->rule.text != NULL && has_line(lines, sign, rule_words(denies),
	    denies->rule.text)) ||
	    has_line(lines, sign, "filesystem.defaultDenyRead", NULL) ||
	    has_line(lines, sign, "filesystem.strictDenyRead", NULL) ||
	    has_line(lines, sign, "network.upstreamProxy", NULL);
}

static void
test_diff_covers(void **state)
{
	struct room *r = *state;
	struct resolve_request req = room_request(r);
	struct resolved a, b;
	struct buf text, out;
	size_t differ = 0;

	gen_state = 0x2545f4914f6cdd1d;
	buf_init(&text, 0);
	buf_init(&out, 0);
	for (unsigned i = 0; i < 200; i++) {
		gen_policy(&text, "", true);
		room_put(r, "a.json", text.data);
		gen_policy(&text, "", true);
		room_put(r, "b.json", text.data);
		req.settings = room_path(r, "a.json");
		resolve(r, &req, &a);
		req.settings = room_path(r, "b.json");
		resolve(r, &req, &b);
		buf_clear(&out);
		diff_policies(a.policy, b.policy, &out);
		for (unsigned k = 0; k < 50; k++) {
			struct gen_question q;
			struct verdict va, vb;

			gen_question(&q, r->dir);
			gen_ask(a.policy, &q, &va);
			gen_ask(b.policy, &q, &vb);
			if (va.action == vb.action)
				continue;
			differ++;
			if (!is_covered(out.data,
			    vb.action == ACTION_ALLOW ? '+' : '-',
			    vb.action == ACTION_ALLOW ? &vb : &va,
			    vb.action == ACTION_ALLOW ? &va : &vb))
				fail_msg("%s op %d: a %s (%s), b %s (%s), and "
				    "no line of:\n%s", gen_name(&q),
				    (int)q.fs.op, rule_words(&va), va.reason,
				    rule_words(&vb), vb.reason, out.data);
		}
		resolved_release(&a);
		resolved_release(&b);
	}
	buf_release(&text);
	buf_release(&out);
	assert_true(differ > 500);
}

static const struct {
	const char	*a, *b, *want;
	size_t		 more;
} diffs[] = {
	{ "{}", "{}", "", 0 },
	{ "{\"network\":{\"allowedDomains\":[\"a.test\",\"b.test\"],"
	    "\"deniedDomains\":[\"x.test\"]}}",
	    "{\"network\":{\"allowedDomains\":[\"b.test\",\"c.test\"]}}",
	    "+ network.allowedDomains \"c.test\"  p.json:1:40\n"
	    "+ network.deniedDomains \"x.test\" (no longer denied)  "
	    "p.json:1:67\n"
	    "- network.allowedDomains \"a.test\"  p.json:1:31\n", 2 },
	{ "{\"filesystem\":{\"defaultDenyRead\":true}}",
	    "{\"limits\":{\"files\":50},\"network\":{\"mode\":\"direct\"}}",
	    "+ network.mode direct, was gate  p.json:1:42\n"
	    "+ filesystem.defaultDenyRead false", 2 },
	{ "{\"limits\":{\"files\":50}}", "{}", "+ limits.files 0, was 50", 1 },
	/* "." and "/w" are one place here. */
	{ "{\"filesystem\":{\"allowWrite\":[\".\"]}}",
	    "{\"filesystem\":{\"allowWrite\":[\"/w\"]}}", "", 0 },
};

static void
test_diff(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof diffs / sizeof *diffs; i++) {
		struct policy *a = parse(diffs[i].a), *b = parse(diffs[i].b);
		struct buf out;

		buf_init(&out, 0);
		assert_int_equal(diff_policies(a, b, &out), diffs[i].more);
		if (strncmp(out.data, diffs[i].want,
		    strlen(diffs[i].want)) != 0 || (out.len == 0) !=
		    (diffs[i].want[0] == '\0'))
			fail_msg("%zu: %s", i, out.data);
		buf_release(&out);
		drop(a, b);
	}
}

int
main(void)
{
#define ROOM(test) cmocka_unit_test_setup_teardown(test, room_enter, \
	room_leave)
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_settle),
		cmocka_unit_test(test_refused),
		ROOM(test_untrusted_never_widens),
		ROOM(test_ceiling_never_widens),
		ROOM(test_diff_covers),
		cmocka_unit_test(test_diff),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
