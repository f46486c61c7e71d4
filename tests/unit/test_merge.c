/* policy/merge: every row of the rules, and what "!x" takes away. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include <cmocka.h>

#include "platform/base/buf.h"
#include "policy/decide.h"
#include "policy/emit.h"
#include "policy/merge.h"

#define N_OF(a)		(sizeof (a) / sizeof *(a))

static const struct policy_env env = { .workspace = "/ws",
    .home = "/home/u" };

static struct policy *
parse(const char *text)
{
	struct policy *p = NULL;
	struct err e = { 0 };

	if (policy_parse(text, strlen(text), "F", &env, &p, &e) != 0)
		fail_msg("%s: %s: %s: %s", text, e.where, e.key, e.msg);
	return p;
}

#define NET(s)	"{\"network\":{" s "}}"
#define FS(s)	"{\"filesystem\":{" s "}}"
#define AD(s)	NET("\"allowedDomains\":[" s "]")

static void
rules(void **state)
{
	static const struct { const char *base, *child, *want; } cases[] = {
		{ "{}", "{}", "{}" },
		{ AD("\"a.b\""), "{}", AD("\"a.b\"") },
		{ "{}", AD("\"a.b\""), AD("\"a.b\"") },
		{ AD("\"a.b\",\"c.d\""), AD("\"e.f\",\"a.b\""),
		  AD("\"a.b\",\"c.d\",\"e.f\"") },
		{ AD("\"a.b\",\"a.b\""), "{}", AD("\"a.b\"") },
		{ "{}", AD("\"a.b\",\"a.b\""), AD("\"a.b\"") },
		{ AD("\"a.b\",\"c.d\""), AD("\"!a.b\""), AD("\"c.d\"") },
		{ AD("\"a.b\",\"c.d\""), AD("\"!A.B\",\"x\""),
		  AD("\"c.d\",\"x\"") },
		{ AD("\"a.b:443\",\"a.b\""), AD("\"!a.b\""),
		  AD("\"a.b:443\"") },
		{ FS("\"allowWrite\":[\".\",\"~/x\"]"),
		  FS("\"allowWrite\":[\"!/ws/\"]"),
		  FS("\"allowWrite\":[\"~/x\"]") },
		{ NET("\"allowLocalOutboundPorts\":[1,2]"),
		  NET("\"allowLocalOutboundPorts\":[2,3,\"!1\"]"),
		  NET("\"allowLocalOutboundPorts\":[2,3]") },
		/* Booleans: either. */
		{ "{\"allowPty\":true}", "{\"allowPty\":false}",
		  "{\"allowPty\":true}" },
		{ "{\"allowPty\":false}", "{\"allowPty\":true}",
		  "{\"allowPty\":true}" },
		{ FS("\"strictDenyRead\":true"), "{}",
		  FS("\"strictDenyRead\":true") },
		{ FS("\"defaultDenyRead\":true"),
		  FS("\"defaultDenyRead\":false"),
		  FS("\"defaultDenyRead\":true") },
		{ FS("\"strictDenyRead\":true"),
		  FS("\"defaultDenyRead\":false"),
		  FS("\"strictDenyRead\":true,\"defaultDenyRead\":true") },
		{ FS("\"defaultDenyRead\":false"),
		  FS("\"strictDenyRead\":true"),
		  FS("\"strictDenyRead\":true,\"defaultDenyRead\":true") },
		/* Three states: the child's, if it is written. */
		{ "{\"forceNewSession\":true}", "{\"forceNewSession\":false}",
		  "{\"forceNewSession\":false}" },
		{ "{\"forceNewSession\":true}", "{}",
		  "{\"forceNewSession\":true}" },
		{ "{\"forceNewSession\":true}", "{\"forceNewSession\":null}",
		  "{}" },
		{ NET("\"allowLocalOutbound\":false"), "{}",
		  NET("\"allowLocalOutbound\":false") },
		{ NET("\"allowLocalOutbound\":false"),
		  NET("\"allowLocalOutbound\":true"),
		  NET("\"allowLocalOutbound\":true") },
		{ FS("\"wslInterop\":true"), FS("\"wslInterop\":false"),
		  FS("\"wslInterop\":false") },
		{ FS("\"wslInterop\":false"), "{}",
		  FS("\"wslInterop\":false") },
		{ "{\"command\":{\"useDefaults\":false}}", "{}",
		  "{\"command\":{\"useDefaults\":false}}" },
		{ "{\"command\":{\"useDefaults\":false}}",
		  "{\"command\":{\"useDefaults\":true}}",
		  "{\"command\":{\"useDefaults\":true}}" },
		{ "{\"record\":{\"keep\":7}}", "{\"record\":{\"keep\":0}}",
		  "{\"record\":{\"keep\":0}}" },
		{ NET("\"httpProxyPort\":1"), NET("\"httpProxyPort\":2"),
		  NET("\"httpProxyPort\":2") },
		{ NET("\"httpProxyPort\":1"), "{}",
		  NET("\"httpProxyPort\":1") },
		{ NET("\"httpProxyPort\":1"), NET("\"httpProxyPort\":0"),
		  NET("\"httpProxyPort\":1") },
		{ NET("\"socksProxyPort\":1"), NET("\"socksProxyPort\":2"),
		  NET("\"socksProxyPort\":2") },
		{ NET("\"socksProxyPort\":1"), NET("\"socksProxyPort\":0"),
		  NET("\"socksProxyPort\":1") },
		{ NET("\"upstreamProxy\":\"http://a\""), "{}",
		  NET("\"upstreamProxy\":\"http://a\"") },
		{ NET("\"upstreamProxy\":\"http://a\","
		      "\"defaultAction\":\"proxy\""),
		  NET("\"defaultAction\":\"deny\""),
		  NET("\"upstreamProxy\":\"http://a\","
		      "\"defaultAction\":\"deny\"") },
		{ NET("\"upstreamProxy\":\"http://a\","
		      "\"defaultAction\":\"deny\""), "{}",
		  NET("\"upstreamProxy\":\"http://a\","
		      "\"defaultAction\":\"deny\"") },
		{ "{\"command\":{\"runtimeExecPolicy\":\"argv\"}}", "{}",
		  "{\"command\":{\"runtimeExecPolicy\":\"argv\"}}" },
		{ "{\"command\":{\"runtimeExecPolicy\":\"argv\"}}",
		  "{\"command\":{\"runtimeExecPolicy\":\"path\"}}",
		  "{\"command\":{\"runtimeExecPolicy\":\"path\"}}" },
		{ NET("\"upstreamProxy\":\"http://a\""),
		  NET("\"upstreamProxy\":\"http://b\""),
		  NET("\"upstreamProxy\":\"http://b\"") },
		{ "{\"devices\":{\"mode\":\"host\"}}", "{}",
		  "{\"devices\":{\"mode\":\"host\"}}" },
		{ "{\"devices\":{\"mode\":\"host\"}}",
		  "{\"devices\":{\"mode\":\"minimal\"}}",
		  "{\"devices\":{\"mode\":\"minimal\"}}" },
		{ "{\"limits\":{\"memory\":\"2G\"}}",
		  "{\"limits\":{\"memory\":\"1G\",\"time\":\"1h\"}}",
		  "{\"limits\":{\"memory\":\"1G\",\"time\":\"1h\"}}" },
		{ "{\"env\":{\"set\":{\"A\":\"1\",\"B\":\"2\",\"C\":\"3\"}}}",
		  "{\"env\":{\"set\":{\"B\":\"4\",\"!C\":\"\"}}}",
		  "{\"env\":{\"set\":{\"A\":\"1\",\"B\":\"4\"}}}" },
		{ "{\"command\":{\"deny\":[\"a\"]}}",
		  "{\"command\":{\"deny\":[\"b\"]}}",
		  "{\"command\":{\"deny\":[\"a\",\"b\"]}}" },
		{ "{}", "{\"extends\":\"code\"}", "{}" },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct policy *base = parse(cases[i].base);
		struct policy *child = parse(cases[i].child);
		struct policy *want = parse(cases[i].want);
		struct policy *got = policy_merge(base, child);
		struct buf b;

		policy_free(base);	/* the result is on its own */
		policy_free(child);
		buf_init(&b, 0);
		emit_json(got, 0, &b);
		if (!policy_equal(got, want))
			fail_msg("%s + %s: %s", cases[i].base,
			    cases[i].child, b.data);
		buf_release(&b);
		policy_free(got);
		policy_free(want);
	}
}

/* Every list: both, without doubles. */
static void
every_list(void **state)
{
	static const struct { const char *section, *key, *a, *b; } cases[] = {
		{ "network", "allowedDomains", "a.b", "c.d" },
		{ "network", "deniedDomains", "a.b", "c.d" },
		{ "network", "allowUnixSockets", "/a", "/b" },
		{ "filesystem", "allowRead", "/a", "/b" },
		{ "filesystem", "allowExecute", "/a", "/b" },
		{ "filesystem", "denyRead", "/a", "/b" },
		{ "filesystem", "allowWrite", "/a", "/b" },
		{ "filesystem", "denyWrite", "/a", "/b" },
		{ "devices", "allow", "/dev/a", "/dev/b" },
		{ "macos\":{\"mach", "lookup", "a", "b" },
		{ "macos\":{\"mach", "register", "a", "b" },
		{ "command", "deny", "a", "b" },
		{ "command", "allow", "a", "b" },
		{ "command", "acceptSharedBinaryCannotRuntimeDeny", "a",
		  "b" },
		{ "ssh", "allowedHosts", "a", "b" },
		{ "ssh", "deniedHosts", "a", "b" },
		{ "ssh", "allowedCommands", "a", "b" },
		{ "ssh", "deniedCommands", "a", "b" },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct policy *p[3], *got;
		char text[3][160];
		const char *end = strchr(cases[i].section, '{') != NULL ?
		    "}}}" : "}}";

		for (size_t k = 0; k < N_OF(p); k++) {
			snprintf(text[k], sizeof text[k],
			    "{\"%s\":{\"%s\":[\"%s\"%s%s%s]%s",
			    cases[i].section, cases[i].key,
			    k == 1 ? cases[i].b : cases[i].a,
			    k == 0 ? "" : ",\"", k == 0 ? "" : k == 1 ?
			    cases[i].a : cases[i].b, k == 0 ? "" : "\"", end);
			p[k] = parse(text[k]);
		}
		got = policy_merge(p[0], p[1]);
		if (!policy_equal(got, p[2]))
			fail_msg("%s and %s", text[0], text[1]);
		policy_free(got);
		for (size_t k = 0; k < N_OF(p); k++)
			policy_free(p[k]);
	}
}

/* Every boolean: either. */
static void
every_boolean(void **state)
{
	static const char *const cases[] = {
		"{\"allowPty\":%s}",
		"{\"network\":{\"allowAllUnixSockets\":%s}}",
		"{\"network\":{\"allowLocalBinding\":%s}}",
		"{\"filesystem\":{\"defaultDenyRead\":%s}}",
		"{\"filesystem\":{\"strictDenyRead\":%s}}",
		"{\"filesystem\":{\"allowGitConfig\":%s}}",
		"{\"ssh\":{\"allowAllCommands\":%s}}",
		"{\"ssh\":{\"inheritDeny\":%s}}",
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases) * 4; i++) {
		static const char *const words[] = { "false", "true" };
		struct policy *base, *child, *want, *got;
		char text[3][80];

		snprintf(text[0], sizeof text[0], cases[i / 4], words[i & 1]);
		snprintf(text[1], sizeof text[1], cases[i / 4],
		    words[i / 2 & 1]);
		snprintf(text[2], sizeof text[2], cases[i / 4],
		    words[i % 4 != 0]);
		base = parse(text[0]);
		child = parse(text[1]);
		want = parse(text[2]);
		got = policy_merge(base, child);
		if (!policy_equal(got, want))
			fail_msg("%s and %s", text[0], text[1]);
		policy_free(base);
		policy_free(child);
		policy_free(want);
		policy_free(got);
	}
}

static void
places_stay(void **state)
{
	struct policy *base = parse(AD("\n\"a.b\""));
	struct policy *child = parse(AD("\n\n\"c.d\""));
	struct policy *p = policy_merge(base, child);
	struct host h = { .kind = HOST_NAME, .text = "a.b" };
	struct verdict v;

	(void)state;
	assert_int_equal(p->net.allowed_domains.v[0].at.line, 2);
	assert_int_equal(p->net.allowed_domains.v[1].at.line, 3);
	decide_net(p, &h, 1, &v);	/* and it is indexed */
	assert_int_equal(v.action, ACTION_ALLOW);
	policy_free(base);
	policy_free(child);
	policy_free(p);
}

static void
removals(void **state)
{
	struct policy *base = parse(AD("\"a.b\""));
	struct policy *good = parse(AD("\"!a.b\""));
	struct policy *bad = parse(AD("\n \"!x.y\""));
	struct err e = { 0 };

	(void)state;
	assert_int_equal(policy_check_removals(base, good, &e), 0);
	assert_int_equal(policy_check_removals(base, bad, &e), -1);
	assert_string_equal(e.where, "F:2:2");
	assert_string_equal(e.key, "network.allowedDomains");
	assert_non_null(strstr(e.msg, "'!x.y'"));
	assert_int_equal(policy_check_removals(NULL, good, &e), -1);
	assert_int_equal(policy_check_removals(NULL, base, &e), 0);
	policy_free(base);
	policy_free(good);
	policy_free(bad);
}

/* Two long lists, of which one takes the other away: in no time. */
static void
long_lists(void **state)
{
	struct policy *base, *child, *p;
	struct buf b, c;

	(void)state;
	buf_init(&b, 0);
	buf_init(&c, 0);
	buf_puts(&b, "{\"filesystem\":{\"denyRead\":[");
	buf_puts(&c, "{\"filesystem\":{\"denyRead\":[");
	for (unsigned i = 0; i < 40000; i++) {
		buf_printf(&b, "%s\"{a,%u}\"", i == 0 ? "" : ",", i);
		buf_printf(&c, "%s\"!{a,%u}\"", i == 0 ? "" : ",", i);
	}
	buf_puts(&b, "]}}");
	buf_puts(&c, "]}}");
	base = parse(b.data);
	child = parse(c.data);
	p = policy_merge(base, child);
	assert_int_equal(p->fs.deny_read.n, 0);
	assert_int_equal(policy_check_removals(base, child, NULL), 0);
	policy_free(p);
	policy_free(base);
	policy_free(child);
	buf_release(&b);
	buf_release(&c);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rules),
		cmocka_unit_test(every_list),
		cmocka_unit_test(every_boolean),
		cmocka_unit_test(places_stay),
		cmocka_unit_test(removals),
		cmocka_unit_test(long_lists),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
