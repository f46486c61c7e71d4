/* policy/policy, jsonc, keys: files that are right, and how others are told. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "platform/base/json.h"
#include "policy/keys.h"
#include "policy/pattern.h"
#include "policy/policy.h"

#define N_OF(a)		(sizeof (a) / sizeof *(a))

static const struct policy_env env = {
	.workspace = "/ws", .home = "/home/u",
};

static struct policy *
must_parse(const char *text)
{
	struct policy *p = NULL;
	struct err e = { 0 };

	if (policy_parse(text, strlen(text), "F", &env, &p, &e) != 0)
		fail_msg("%s: %s: %s", e.where, e.key, e.msg);
	return p;
}

static void
reads_a_policy(void **state)
{
	struct policy *p = must_parse(
	    "// mine\n"
	    "{\n"
	    "  \"$schema\": \"https://x/y.json\",\n"
	    "  \"network\": { \"allowedDomains\": [\"a.test\", \"*.b.test\"],\n"
	    "    \"deniedDomains\": [ ] },\n"
	    "  \"filesystem\": {\n"
	    "    \"allowWrite\": [\".\",\n"
	    "      \"~/x\",],\n"
	    "  },\n"
	    "}\n");

	(void)state;
	assert_string_equal(p->name, "F");
	assert_string_equal(p->workspace, "/ws");
	assert_string_equal(p->home, "/home/u");
	assert_int_equal(p->net.allowed_domains.n, 2);
	assert_true(p->net.allowed_domains.is_set);
	assert_string_equal(p->net.allowed_domains.v[1].text, "*.b.test");
	assert_int_equal(p->net.allowed_domains.v[1].at.line, 4);
	assert_int_equal(p->net.allowed_domains.v[1].at.col, 45);
	assert_int_equal(p->net.allowed_domains.at.col, 34);
	assert_int_equal(p->net.denied_domains.n, 0);
	assert_true(p->net.denied_domains.is_set);
	assert_int_equal(p->fs.allow_write.n, 2);
	assert_string_equal(p->fs.allow_write.v[1].pattern->text,
	    "/home/u/x");
	assert_int_equal(p->fs.allow_write.v[1].at.line, 8);
	assert_int_equal(p->fs.allow_write.v[1].at.col, 7);
	/* Not written: the place is the section's. */
	assert_false(p->fs.deny_read.is_set);
	assert_int_equal(p->fs.deny_read.at.line, 6);
	assert_int_equal(p->fs.deny_read.at.col, 17);
	assert_int_equal(p->nwarnings, 0);
	policy_free(p);
}

static void
closed_base(void **state)
{
	struct policy *p = must_parse("\n\n{}");

	(void)state;
	assert_int_equal(p->net.allowed_domains.n, 0);
	assert_false(p->net.allowed_domains.is_set);
	assert_string_equal(p->net.allowed_domains.at.file, "F");
	assert_int_equal(p->net.allowed_domains.at.line, 1);
	assert_int_equal(p->net.allowed_domains.at.col, 1);
	policy_free(p);
	policy_free(NULL);
}

static void
other_letter_case_is_taken(void **state)
{
	struct policy *p = must_parse(
	    "{\"Network\": {\"ALLOWEDdomains\": [\"x\"]}}");

	(void)state;
	assert_int_equal(p->net.allowed_domains.n, 1);
	assert_int_equal(p->nwarnings, 2);
	assert_string_equal(p->warnings[0],
	    "F:1:2: 'Network' is taken as 'network'");
	assert_string_equal(p->warnings[1], "F:1:14: 'network.ALLOWEDdomains' "
	    "is taken as 'network.allowedDomains'");
	policy_free(p);
}

/* Sections without keys that restrict say nothing. */
static void
empty_sections_pass(void **state)
{
	(void)state;
	policy_free(must_parse("{\"network\":{},\"command\":{},"
	    "\"macos\":{\"mach\":{}}}"));
}

#define NET(s)	"{\"network\":{" s "}}"
#define FS(s)	"{\"filesystem\":{" s "}}"

/*
 * Every kind of value that a file of the Go program can hold.
 * FENCE_SHOW_RIGHT=FILE: added to it, for tests/validate-schema.
 */
static void
right_files(void **state)
{
	static const char *const cases[] = {
		NET("\"allowedDomains\":[\"example.com\","
		    "\"api.example.com\",\"*\",\"*.example.com\","
		    "\"*.api.example.com\",\"localhost\"]"),
		/* Were errors there: a port, a single label. */
		NET("\"deniedDomains\":[\"example.com:443\",\"example\"]"),
		NET("\"upstreamProxy\":\"http://proxy.test:3128\""),
		NET("\"upstreamProxy\":\"http://proxy.test\""),
		NET("\"upstreamProxy\":\"socks5://proxy.test:1080\""),
		NET("\"upstreamProxy\":\"socks5h://u:p%40@proxy.test\""),
		NET("\"via\":\"http://u:p@proxy.test:3128\""),
		NET("\"defaultAction\":\"deny\""),
		NET("\"defaultAction\":\"deny\","
		    "\"upstreamProxy\":\"http://p:1\""),
		NET("\"defaultAction\":\"proxy\","
		    "\"upstreamProxy\":\"http://p:1\""),
		NET("\"allowLocalOutboundPorts\":[1,5432,65535]"),
		NET("\"httpProxyPort\":0,\"socksProxyPort\":65535"),
		NET("\"allowUnixSockets\":[\"/run/x.sock\"],"
		    "\"allowAllUnixSockets\":true"),
		NET("\"allowLocalBinding\":true,"
		    "\"allowLocalOutbound\":null"),
		FS("\"wslInterop\":true"), FS("\"wslInterop\":false"),
		FS("\"wslInterop\":null"), FS("\"allowGitConfig\":true"),
		FS("\"allowRead\":[\".\"],\"allowExecute\":[\"/bin/ls\"],"
		    "\"denyRead\":[\"~/.ssh\"],\"allowWrite\":[\"/tmp\"],"
		    "\"denyWrite\":[\"**/.env\"]"),
		"{\"devices\":{\"mode\":\"auto\"}}",
		"{\"devices\":{\"mode\":\"minimal\","
		    "\"allow\":[\"/dev/kvm\",\"/dev/dri/card0\"]}}",
		"{\"devices\":{\"mode\":\"host\"}}",
		"{\"macos\":{\"mach\":{\"lookup\":[\"com.example.service\","
		    "\"org.chromium.*\",\"*\"],\"register\":["
		    "\"com.example.service\",\"org.chromium.*\",\"*\"]}}}",
		"{\"command\":{\"deny\":[\"git push\"],\"allow\":[\"git\"],"
		    "\"useDefaults\":null,\"runtimeExecPolicy\":\"path\","
		    "\"acceptSharedBinaryCannotRuntimeDeny\":[\"dd\"]}}",
		"{\"command\":{\"runtimeExecPolicy\":\"argv\"}}",
		"{\"ssh\":{\"allowedHosts\":[\"server1\",\"example.com\","
		    "\"prod.example.com\",\"*.example.com\","
		    "\"prod-*.example.com\",\"192.168.1.1\",\"::1\","
		    "\"2001:db8::1\",\"localhost\"],\"deniedHosts\":["
		    "\"prod-*-*.example.com\",\"server1.*\","
		    "\"192.168.1.*\",\"*\"]}}",
		"{\"ssh\":{\"allowedCommands\":[\"uptime\"],"
		    "\"deniedCommands\":[\"rm\"],\"allowAllCommands\":true,"
		    "\"inheritDeny\":true}}",
	};

	const char *show = getenv("FENCE_SHOW_RIGHT");
	FILE *fp = show != NULL ? fopen(show, "a") : NULL;

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		policy_free(must_parse(cases[i]));
		if (fp != NULL)
			fprintf(fp, "%s\n", cases[i]);
	}
	if (fp != NULL)
		fclose(fp);
}

/* The keys of the Go program, with its types and what holds unwritten. */
static void
keys_of_the_go_program(void **state)
{
	static const struct { const char *name; enum key_type type;
	    const char *fallback; } cases[] = {
		{ "$schema", KEY_IGNORED, NULL },
		{ "extends", KEY_STRLIST, "[]" },	/* a list, too */
		{ "allowPty", KEY_BOOL, "false" },
		{ "forceNewSession", KEY_TRISTATE, "null" },
		{ "network.allowedDomains", KEY_STRLIST, "[]" },
		{ "network.deniedDomains", KEY_STRLIST, "[]" },
		{ "network.allowUnixSockets", KEY_STRLIST, "[]" },
		{ "network.allowAllUnixSockets", KEY_BOOL, "false" },
		{ "network.allowLocalBinding", KEY_BOOL, "false" },
		{ "network.allowLocalOutbound", KEY_TRISTATE, "null" },
		{ "network.allowLocalOutboundPorts", KEY_INTLIST, "[]" },
		{ "network.httpProxyPort", KEY_INT, "0" },
		{ "network.socksProxyPort", KEY_INT, "0" },
		{ "network.upstreamProxy", KEY_STRING, "\"\"" },
		{ "network.defaultAction", KEY_ENUM, "\"deny\"" },
		{ "filesystem.defaultDenyRead", KEY_BOOL, "false" },
		{ "filesystem.strictDenyRead", KEY_BOOL, "false" },
		{ "filesystem.wslInterop", KEY_TRISTATE, "null" },
		{ "filesystem.allowRead", KEY_STRLIST, "[]" },
		{ "filesystem.allowExecute", KEY_STRLIST, "[]" },
		{ "filesystem.denyRead", KEY_STRLIST, "[]" },
		{ "filesystem.allowWrite", KEY_STRLIST, "[]" },
		{ "filesystem.denyWrite", KEY_STRLIST, "[]" },
		{ "filesystem.allowGitConfig", KEY_BOOL, "false" },
		{ "devices.mode", KEY_ENUM, "\"auto\"" },
		{ "devices.allow", KEY_STRLIST, "[]" },
		{ "macos.mach.lookup", KEY_STRLIST, "[]" },
		{ "macos.mach.register", KEY_STRLIST, "[]" },
		{ "command.deny", KEY_STRLIST, "[]" },
		{ "command.allow", KEY_STRLIST, "[]" },
		{ "command.useDefaults", KEY_TRISTATE, "true" },
		{ "command.acceptSharedBinaryCannotRuntimeDeny", KEY_STRLIST,
		  "[]" },
		{ "command.runtimeExecPolicy", KEY_ENUM, "\"auto\"" },
		{ "command.unseen", KEY_ENUM, "\"allow\"" },
		{ "ssh.allowedHosts", KEY_STRLIST, "[]" },
		{ "ssh.deniedHosts", KEY_STRLIST, "[]" },
		{ "ssh.allowedCommands", KEY_STRLIST, "[]" },
		{ "ssh.deniedCommands", KEY_STRLIST, "[]" },
		{ "ssh.allowAllCommands", KEY_BOOL, "false" },
		{ "ssh.inheritDeny", KEY_BOOL, "false" },
	};
	char spelling[96];

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct key *key = NULL;

		if (keys_find(cases[i].name, &key, spelling,
		    sizeof spelling) != KEY_FOUND)
			fail_msg("no key %s", cases[i].name);
		assert_int_equal(key->type, cases[i].type);
		if (cases[i].fallback != NULL)
			assert_string_equal(key->fallback, cases[i].fallback);
	}
}

/* FENCE_SHOW_WRONG=FILE: for a validator outside (tests/validate-schema). */
static void
show_wrong(FILE *fp, const char *text)
{
	struct buf b;

	if (fp == NULL)
		return;
	buf_init(&b, 0);
	json_put_string(&b, text, strlen(text));
	fprintf(fp, "%s\n", b.data);
	buf_release(&b);
}

static void
wrong_files(void **state)
{
	static const struct { const char *text, *where, *key, *msg, *hint; }
	    cases[] = {
		{ "", "F:1:1", "", "says nothing", "'{}'" },
		{ "// nothing\n", "F:2:1", "", "says nothing", "'{}'" },
		{ " \n\t\n", "F:3:1", "", "says nothing", "'{}'" },
		{ "{invalid json}", "F:1:2", "", "expected a key", "" },
		{ "[]", "F:1:1", "", "expected an object, found a list", "" },
		{ "null", "F:1:1", "", "expected an object, found null", "" },
		{ "{} x", "F:1:4", "", "expected the end of the file", "" },
		{ "{\n'a': 1}", "F:2:1", "", "expected a key",
		  "double quotes" },
		{ "{\"netwrok\": {}}", "F:1:2", "netwrok", "unknown key",
		  "did you mean 'network'?" },
		{ NET("\n \"allowedDomian\": []"), "F:2:2",
		  "network.allowedDomian", "unknown key",
		  "did you mean 'network.allowedDomains'?" },
		{ "{\"allowedDomains\":[]}", "F:1:2", "allowedDomains",
		  "unknown key", "did you mean 'network.allowedDomains'?" },
		{ "{\"network.allowedDomains\":[]}", "F:1:2",
		  "network.allowedDomains", "unknown key", "" },
		{ FS("\"colour\":1"), "F:1:16", "filesystem.colour",
		  "unknown key", "keys here: defaultDenyRead, strictDenyRead" },
		{ "{\"zzzzzzzz\":1}", "F:1:2", "zzzzzzzz", "unknown key",
		  "keys here: $schema, extends, allowPty" },
		{ "{\"\":1}", "F:1:2", "", "unknown key", "keys here" },
		{ "{\"ssh\":{\"zzzzzzzz\":1}}", "F:1:9", "ssh.zzzzzzzz",
		  "unknown key", "keys here: allowedHosts" },
		{ "{\"extends\":\"\"}", "F:1:12", "extends[0]",
		  "empty string", "'@base'" },
		{ "{\"extends\":1}", "F:1:12", "extends",
		  "expected a string or a list of strings, found a number",
		  "" },
		{ "{\"extends\":[\"code\", 1]}", "F:1:21", "extends[1]",
		  "expected a string", "" },
		{ FS("\"defaultDenyRead\":\"yes\""), "F:1:34",
		  "filesystem.defaultDenyRead",
		  "expected true or false, found a string", "" },
		{ FS("\"defaultDenyRead\":null"), "F:1:34",
		  "filesystem.defaultDenyRead",
		  "expected true or false, found null", "" },
		{ FS("\"wslInterop\":0"), "F:1:29",
		  "filesystem.wslInterop",
		  "expected true, false or null, found a number", "" },
		{ "{\"profile\":\"strct\"}", "F:1:12", "profile",
		  "'strct' is not a value", "did you mean 'strict'?" },
		{ "{\"profile\":\"zzz\"}", "F:1:12", "profile",
		  "'zzz' is not a value", "it is 'standard' or 'strict'" },
		{ "{\"profile\":true}", "F:1:12", "profile",
		  "expected a string, found true", "" },
		{ NET("\"allowLocalOutboundPorts\":[0]"), "F:1:40",
		  "network.allowLocalOutboundPorts[0]",
		  "'0' is not a number from 1 to 65535", "" },
		{ NET("\"allowLocalOutboundPorts\":[1, 70000]"), "F:1:43",
		  "network.allowLocalOutboundPorts[1]", "'70000' is not", "" },
		{ NET("\"allowLocalOutboundPorts\":[1.0]"), "F:1:40",
		  "network.allowLocalOutboundPorts[0]", "'1.0' is not", "" },
		{ NET("\"allowLocalOutboundPorts\":[-1]"), "F:1:40",
		  "network.allowLocalOutboundPorts[0]", "'-1' is not", "" },
		{ NET("\"allowLocalOutboundPorts\":[\"80\"]"), "F:1:40",
		  "network.allowLocalOutboundPorts[0]",
		  "expected a number, found a string", "" },
		{ NET("\"httpProxyPort\":65536"), "F:1:29",
		  "network.httpProxyPort", "from 0 to 65535", "" },
		{ NET("\"httpProxyPort\":\"80\""), "F:1:29",
		  "network.httpProxyPort", "expected a number", "" },
		{ NET("\"upstreamProxy\":\"p:1\""), "F:1:29",
		  "network.upstreamProxy", "has no scheme", "http://" },
		{ NET("\"upstreamProxy\":\"https://p:1\""), "F:1:29",
		  "network.upstreamProxy", "scheme that is not known", "" },
		{ NET("\"upstreamProxy\":\"ftp://p:1\""), "F:1:29",
		  "network.upstreamProxy", "scheme that is not known", "" },
		{ NET("\"upstreamProxy\":\"\""), "F:1:29",
		  "network.upstreamProxy", "has no scheme", "" },
		{ NET("\"upstreamProxy\":\"http://\""), "F:1:29",
		  "network.upstreamProxy", "is not a proxy's URL", "" },
		{ NET("\"upstreamProxy\":\"http://u:sec%ret@h\""), "F:1:29",
		  "network.upstreamProxy", "'http://***@h' has a user or "
		  "password that cannot be", "" },
		{ NET("\"upstreamProxy\":\"http://h:99999\""), "F:1:29",
		  "network.upstreamProxy", "is not a proxy's URL", "" },
		{ NET("\"defaultAction\":\"allow\""), "F:1:29",
		  "network.defaultAction", "'allow' is not a value",
		  "it is 'deny' or 'proxy'" },
		{ NET("\"defaultAction\":\"\""), "F:1:29",
		  "network.defaultAction", "'' is not a value", "" },
		{ NET("\"defaultAction\":\"proxy\""), "F:1:29",
		  "network.defaultAction", "needs network.upstreamProxy",
		  "" },
		{ NET("\"via\":\"x\""), "F:1:19", "network.via",
		  "has no scheme", "'auto'" },
		{ NET("\"allowPrivate\":[\"10.0.0.0/8:1\"]"), "F:1:29",
		  "network.allowPrivate[0]", "has a port", "" },
		{ FS("\"allowRead\":[\"\"]"), "F:1:29",
		  "filesystem.allowRead[0]", "empty string", "" },
		{ FS("\"allowWrite\":[\"\"]"), "F:1:30",
		  "filesystem.allowWrite[0]", "empty string", "" },
		{ FS("\"denyWrite\":[\"\"]"), "F:1:29",
		  "filesystem.denyWrite[0]", "empty string", "" },
		{ FS("\"allowExecute\":[\"\"]"), "F:1:32",
		  "filesystem.allowExecute[0]", "empty string", "" },
		{ FS("\"denyWrite\":[\"!\"]"), "F:1:29",
		  "filesystem.denyWrite[0]", "nothing to take away", "'!x'" },
		{ FS("\"denyWrite\":[\"!!x\"]"), "F:1:29",
		  "filesystem.denyWrite[0]", "nothing to take away", "" },
		{ FS("\"guard\":\"wach\""), "F:1:24", "filesystem.guard",
		  "'wach'", "did you mean 'watch'?" },
		{ "{\"devices\":{\"mode\":\"all\"}}", "F:1:20",
		  "devices.mode", "'all'", "'auto', 'minimal' or 'host'" },
		{ "{\"devices\":{\"allow\":[\"/dev\"]}}", "F:1:22",
		  "devices.allow[0]", "too broad", "/dev/kvm" },
		{ "{\"devices\":{\"allow\":[\"\"]}}", "F:1:22",
		  "devices.allow[0]", "empty string", "" },
		{ "{\"devices\":{\"allow\":[\"/dev/\"]}}", "F:1:22",
		  "devices.allow[0]", "too broad", "" },
		{ "{\"devices\":{\"allow\":[\"/tmp/not-a-device\"]}}",
		  "F:1:22", "devices.allow[0]", "not below /dev", "" },
		{ "{\"devices\":{\"allow\":[\"/dev/../etc\"]}}", "F:1:22",
		  "devices.allow[0]", "not below /dev", "" },
		{ "{\"devices\":{\"allow\":[\"/tmp/x\"]}}", "F:1:22",
		  "devices.allow[0]", "not below /dev", "" },
		{ "{\"macos\":{\"mach\":{\"lookup\":[\"a.*.b\"]}}}", "F:1:29",
		  "macos.mach.lookup[0]", "not a service name", "" },
		{ "{\"macos\":{\"mach\":{\"register\":[\"a.**\"]}}}",
		  "F:1:31", "macos.mach.register[0]", "not a service name",
		  "" },
		{ "{\"macos\":{\"mach\":{\"lookup\":[\"\"]}}}", "F:1:29",
		  "macos.mach.lookup[0]", "not a service name", "" },
		{ "{\"macos\":{\"mach\":{\"register\":[\"\"]}}}",
		  "F:1:31", "macos.mach.register[0]", "not a service name",
		  "" },
		{ "{\"command\":{\"deny\":[\"\"]}}", "F:1:21",
		  "command.deny[0]", "is not a command", "" },
		{ "{\"command\":{\"allow\":[\"\"]}}", "F:1:22",
		  "command.allow[0]", "is not a command", "" },
		{ "{\"ssh\":{\"allowedCommands\":[\"\"]}}", "F:1:28",
		  "ssh.allowedCommands[0]", "is not a command", "" },
		{ "{\"ssh\":{\"deniedCommands\":[\"\"]}}", "F:1:27",
		  "ssh.deniedCommands[0]", "is not a command", "" },
		{ "{\"ssh\":{\"allowedHosts\":[\"\"]}}", "F:1:25",
		  "ssh.allowedHosts[0]", "is not a host pattern", "" },
		{ "{\"ssh\":{\"allowedHosts\":[\"example.com/path\"]}}",
		  "F:1:25", "ssh.allowedHosts[0]", "has a path", "" },
		{ "{\"command\":{\"deny\":[\" \"]}}", "F:1:21",
		  "command.deny[0]", "is not a command", "'git push'" },
		{ "{\"command\":{\"runtimeExecPolicy\":\"x\"}}", "F:1:33",
		  "command.runtimeExecPolicy", "'x'",
		  "'auto', 'path', 'argv' or 'off'" },
		{ "{\"command\":{\"unseen\":\"ask\"}}", "F:1:22",
		  "command.unseen", "'ask'", "'allow' or 'deny'" },
		{ "{\"command\":{\"deny\":[\"re:(\"]}}", "F:1:21",
		  "command.deny[0]", "missing closing parenthesis",
		  "Perl regular expression" },
		{ "{\"ssh\":{\"allowedCommands\":[\"re:a{2,1}\"]}}",
		  "F:1:28", "ssh.allowedCommands[0]", "out of order", "" },
		{ "{\"command\":{\"allow\":[\"''\"]}}", "F:1:22",
		  "command.allow[0]", "names no command", "'git push'" },
		{ "{\"ssh\":{\"allowedHosts\":[\"h:22\"]}}", "F:1:25",
		  "ssh.allowedHosts[0]", "has a port", "" },
		{ "{\"ssh\":{\"deniedHosts\":[\"u@h\"]}}", "F:1:24",
		  "ssh.deniedHosts[0]", "has a user", "" },
		{ "{\"ssh\":{\"deniedHosts\":[\"ssh://h\"]}}", "F:1:24",
		  "ssh.deniedHosts[0]", "has a protocol", "" },
		{ "{\"trace\":{\"calls\":[\"getenv\"]}}", "F:1:20",
		  "trace.calls[0]", "is not a signature", "getenv(s):s" },
		{ "{\"trace\":{\"calls\":[\"a():v\",\n\"b(x):i\"]}}",
		  "F:2:1", "trace.calls[1]", "is one of i, u, p", "" },
		{ "{\"env\":{\"allow\":[\"A=B\"]}}", "F:1:18",
		  "env.allow[0]", "not a variable's name", "'AWS_*'" },
		{ "{\"env\":{\"deny\":[\"1X\"]}}", "F:1:17",
		  "env.deny[0]", "not a variable's name", "" },
		{ "{\"env\":{\"set\":[]}}", "F:1:15", "env.set",
		  "expected an object of strings, found a list", "" },
		{ "{\"env\":{\"set\":{\"A B\":\"1\"}}}", "F:1:16",
		  "env.set.A B", "not a variable's name", "" },
		{ "{\"env\":{\"set\":{\"A\":1}}}", "F:1:20", "env.set",
		  "expected a string", "" },
		{ "{\"env\":{\"set\":{\"A\":\"1\",\"A\":\"2\"}}}",
		  "F:1:24", "env.set", "'A' is written twice", "" },
		{ "{\"env\":{\"set\":{\"!A\":\"1\"}}}", "F:1:16",
		  "env.set.!A", "has no value", "" },
		{ "{\"limits\":{\"memory\":2}}", "F:1:21", "limits.memory",
		  "expected a size such as", "" },
		{ "{\"limits\":{\"memory\":\"2g\"}}", "F:1:21",
		  "limits.memory", "'2g' is not a size", "'2G'" },
		{ "{\"limits\":{\"memory\":\"0G\"}}", "F:1:21",
		  "limits.memory", "'0G' is not a size", "" },
		{ "{\"limits\":{\"tmp\":\"9999999T\"}}", "F:1:18",
		  "limits.tmp", "is not a size", "" },
		{ "{\"limits\":{\"time\":\"30\"}}", "F:1:19",
		  "limits.time", "'30' is not a duration", "'30m'" },
		{ "{\"limits\":{\"processes\":0}}", "F:1:24",
		  "limits.processes", "from 1 to", "" },
		{ "{\"network\": []}", "F:1:13", "network",
		  "expected an object, found a list", "" },
		{ NET("\"allowedDomains\": \"x\""), "F:1:31",
		  "network.allowedDomains",
		  "expected a list of strings, found a string", "" },
		{ NET("\"allowedDomains\": null"), "F:1:31",
		  "network.allowedDomains",
		  "expected a list of strings, found null", "" },
		{ NET("\"allowedDomains\": [\"a\", 1]"), "F:1:37",
		  "network.allowedDomains[1]",
		  "expected a string, found a number", "" },
		{ NET("\"allowedDomains\": [[\"a\"]]"), "F:1:32",
		  "network.allowedDomains[0]",
		  "expected a string, found a list", "" },
		{ "{\"$schema\": 1}", "F:1:13", "$schema",
		  "expected a string, found a number", "" },
		{ NET("\"allowedDomains\":[\"a\",\n\"b\",\n  \"*.\"]"),
		  "F:3:3", "network.allowedDomains[2]",
		  "'*.' is not a domain pattern", "'*.example.com'" },
		{ NET("\"deniedDomains\":[\"x:0\"]"), "F:1:30",
		  "network.deniedDomains[0]", "has no port", "every port" },
		{ FS("\"denyRead\":[\"\"]"), "F:1:28",
		  "filesystem.denyRead[0]", "empty string", "" },
		{ FS("\"allowWrite\":[\"/a\", \"$NO/x\"]"), "F:1:36",
		  "filesystem.allowWrite[1]", "variable 'NO' is not set", "" },
		{ FS("\"denyWrite\":[\"~x\"]"), "F:1:29",
		  "filesystem.denyWrite[0]", "another user's home", "" },
		{ NET("\"allowedDomains\":[],\n\"allowedDomains\":[]"),
		  "F:2:1", "network.allowedDomains", "written twice",
		  "line 1, column 13" },
		{ NET("\"allowedDomains\":[],\"alloweddomains\":[]"),
		  "F:1:33", "network.allowedDomains", "written twice", "" },
		{ "{\"network\":{},\"network\":{}}", "F:1:15", "network",
		  "written twice", "" },
		{ "{\"$schema\":\"\",\"$schema\":\"\"}", "F:1:15", "$schema",
		  "written twice", "" },
		{ NET("\"allowedDomains\":[\"a\" \"b\"]"), "F:1:35",
		  "network.allowedDomains", "expected ',' or ']'", "" },
		{ NET("\"allowedDomains\":[\"a\\u0000\"]"), "F:1:33",
		  "network.allowedDomains", "\\u0000", "" },
		{ "{\"network\":{", "F:1:13", "network",
		  "found the end of the file", "" },
		{ "\xef\xbb\xbf{}", "F:1:1", "", "byte order mark", "" },
	};

	const char *show = getenv("FENCE_SHOW_WRONG");
	FILE *fp = show != NULL ? fopen(show, "w") : NULL;

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct policy *p = NULL;
		struct err e = { 0 };

		show_wrong(fp, cases[i].text);
		if (policy_parse(cases[i].text, strlen(cases[i].text), "F",
		    &env, &p, &e) == 0)
			fail_msg("accepted: %s", cases[i].text);
		if (strcmp(e.where, cases[i].where) != 0 ||
		    strcmp(e.key, cases[i].key) != 0 ||
		    strstr(e.msg, cases[i].msg) == NULL ||
		    strstr(e.hint, cases[i].hint) == NULL)
			fail_msg("%s\ngot %s: %s: %s (%s)", cases[i].text,
			    e.where, e.key, e.msg, e.hint);
		assert_int_equal(e.code, ERR_POLICY);
		assert_null(p);
	}
	if (fp != NULL)
		fclose(fp);
}

/* Every key, in one file. */
static void
every_type(void **state)
{
	struct policy *p = must_parse("{\"extends\":[\"code\",\"./x\"],"
	    "\"allowPty\":true,\"forceNewSession\":null,\"profile\":"
	    "\"strict\",\"network\":{\"allowLocalOutbound\":false,"
	    "\"allowLocalOutboundPorts\":[1,65535,\"!80\"],"
	    "\"httpProxyPort\":8080,\"upstreamProxy\":\"socks5://[::1]:9\","
	    "\"allowedDomains\":[\"!a.test\",\"b.test\"]},"
	    "\"filesystem\":{\"strictDenyRead\":true},"
	    "\"env\":{\"set\":{\"A\":\"1 ;\",\"!B\":\"\"}},"
	    "\"limits\":{\"memory\":\"2G\",\"time\":\"30m\"}}");

	(void)state;
	assert_int_equal(p->extends.n, 2);
	assert_string_equal(p->extends.v[1].text, "./x");
	assert_true(p->allow_pty.value);
	assert_int_equal(p->force_new_session.value, TRI_AUTO);
	assert_true(p->force_new_session.is_set);
	assert_int_equal(p->profile.value, PROFILE_STRICT);
	assert_int_equal(p->net.allow_local_outbound.value, TRI_FALSE);
	assert_int_equal(p->net.allow_local_outbound_ports.list.n, 2);
	assert_int_equal(
	    p->net.allow_local_outbound_ports.list.v[1].number, 65535);
	assert_int_equal(
	    p->net.allow_local_outbound_ports.list.without[0].number, 80);
	assert_int_equal(p->net.http_proxy_port.value, 8080);
	assert_int_equal(p->net.allowed_domains.n, 1);
	assert_int_equal(p->net.allowed_domains.nwithout, 1);
	assert_string_equal(p->net.allowed_domains.without[0].text, "a.test");
	assert_true(p->fs.default_deny_read.value);
	assert_string_equal(p->env.set.list.v[0].name, "A");
	assert_string_equal(p->env.set.list.v[0].text, "1 ;");
	assert_string_equal(p->env.set.list.without[0].name, "B");
	assert_int_equal(p->limits.memory.num.value, 2LL << 30);
	assert_int_equal(p->limits.time.num.value, 30 * 60 * 1000);
	policy_free(p);
	p = must_parse("{\"extends\":\"@base\"}");
	assert_int_equal(p->extends.n, 1);
	policy_free(p);
}

/* One reading tells all that is wrong, in order, up to a syntax error. */
static void
all_errors(void **state)
{
	static const char text[] = "{\"netwrok\":{\"a\":[1,{}]},\n"
	    "\"network\":{\"allowedDomains\":[\"*.\",1,\"a.test\"],\n"
	    "\"sni\":\"x\"},\n\"filesystem\":[],\n"
	    "\"allowPty\":1 x";
	static const char *const where[] = { "F:1:2", "F:2:30", "F:2:35",
	    "F:3:7", "F:4:14", "F:5:12", "F:5:14" };
	struct errlist *errs = errlist_new();
	static const char odd[] = "{\"x\":[{}],\"allowPty\":true}";
	struct policy_env lax = env;
	struct policy *p = NULL;

	(void)state;
	assert_non_null(errs);
	assert_int_equal(policy_parse_all(text, strlen(text), "F",
	    POLICY_JSONC, &env, &p, errs), -1);
	assert_int_equal(errs->n, N_OF(where));
	for (size_t i = 0; i < N_OF(where); i++)
		assert_string_equal(errs->v[i].where, where[i]);
	/* By name, unknown keys may stay. */
	lax.ignore_unknown = true;
	assert_int_equal(policy_parse_all(odd, strlen(odd), "F", POLICY_JSONC,
	    &lax, &p, errs), 0);
	assert_int_equal(p->nwarnings, 1);
	policy_free(p);
	free(errs);
}

static void
more_errors_than_room(void **state)
{
	struct errlist *errs = errlist_new();
	struct policy *p = NULL;
	char text[4096] = "{\"network\":{\"allowedDomains\":[";

	(void)state;
	assert_non_null(errs);
	for (unsigned i = 0; i < 100; i++)
		strcat(text, "\"*.\",");
	strcat(text, "]}}");
	assert_int_equal(policy_parse_all(text, strlen(text), "F",
	    POLICY_JSONC, &env, &p, errs), -1);
	assert_int_equal(errs->n, 64);
	assert_int_equal(errs->unlisted, 36);
	free(errs);
}

static void
long_unknown_keys(void **state)
{
	char text[2000];
	struct policy *p;
	struct err e = { 0 };

	(void)state;
	memset(text, 'n', sizeof text);
	memcpy(text, "{\"network.", 10);
	memcpy(text + sizeof text - 5, "\":1}", 4);
	assert_int_equal(policy_parse(text, sizeof text - 1, "F", &env, &p,
	    &e), -1);
	assert_string_equal(e.msg, "unknown key");
}

/* Rows are unique, have help, and are found under their own name. */
static void
the_table(void **state)
{
	char spelling[96];

	(void)state;
	for (size_t i = 0; i < policy_nkeys; i++) {
		const struct key *key = NULL;

		assert_non_null(policy_keys[i].help);
		assert_int_equal(keys_find(policy_keys[i].name, &key,
		    spelling, sizeof spelling), KEY_FOUND);
		assert_ptr_equal(key, &policy_keys[i]);
		assert_string_equal(spelling, policy_keys[i].name);
		if (key->type == KEY_STRLIST)
			assert_non_null(key->check);
		/* What the manual says of unwritten keys is what holds. */
		if (key->type == KEY_ENUM) {
			snprintf(spelling, sizeof spelling, "\"%s\"",
			    key->words[0]);
			assert_string_equal(key->fallback, spelling);
		} else if (key->type == KEY_BOOL) {
			assert_string_equal(key->fallback, "false");
		}
	}
}

static void
write_file(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), (ssize_t)len);
	close(fd);
}

/* The first error is e's. */
static int
load_file(const char *path, struct policy **ret, struct err *e)
{
	struct errlist *errs = errlist_new();
	int rv = policy_load_file_all(path, &env, ret, errs);

	if (rv != 0)
		*e = errs->v[0];
	free(errs);
	return rv;
}

static void
files(void **state)
{
	char dir[] = "/var/tmp/fence-policy-XXXXXX", path[64];
	char *big = calloc(1, POLICY_MAX_BYTES + 1);
	struct policy *p = NULL;
	struct err e = { 0 };

	(void)state;
	assert_non_null(big);
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/p.jsonc", dir);

	assert_int_equal(load_file(path, &p, &e), -1);
	assert_int_equal(e.code, ERR_POLICY);
	assert_int_equal(e.sys, 2);	/* ENOENT */
	assert_string_equal(e.where, path);

	e = (struct err){ 0 };
	assert_int_equal(load_file(dir, &p, &e), -1);
	assert_non_null(strstr(e.msg, "is a directory"));
	assert_int_equal(e.code, ERR_POLICY);
	assert_string_equal(e.where, dir);

	write_file(path, "{\"network\":{}}", 14);
	assert_int_equal(load_file(path, &p, &e), 0);
	assert_string_equal(p->name, path);
	policy_free(p);

	memset(big, ' ', POLICY_MAX_BYTES + 1);
	memcpy(big, "{}", 2);
	write_file(path, big, POLICY_MAX_BYTES + 1);
	assert_int_equal(load_file(path, &p, &e), -1);
	assert_non_null(strstr(e.msg, "longer than 1 MiB"));
	assert_string_equal(e.where, path);
	write_file(path, big, POLICY_MAX_BYTES);
	assert_int_equal(load_file(path, &p, &e), 0);
	policy_free(p);

	write_file(path, "{]", 2);
	assert_int_equal(load_file(path, &p, &e), -1);
	assert_non_null(strstr(e.where, "/p.jsonc:1:2"));
	unlink(path);
	rmdir(dir);
	free(big);
}

static bool
hides(const struct policy *p, const char *path)
{
	for (size_t i = 0; i < p->fs.deny_read.n; i++)
		if (pattern_match_path(p->fs.deny_read.v[i].pattern, path) != 0)
			return true;
	return false;
}

static void
built_in_policy(void **state)
{
	static const char *const hidden[] = {
		"/home/u/.ssh/id_rsa", "/home/u/.aws/credentials",
		"/home/u/.config/gh/hosts.yml", "/home/u/.netrc",
		"/home/u/.cargo/credentials.toml", "/etc/shadow",
		"/home/u/.mozilla/firefox/x/cookies.sqlite",
	};
	struct policy *p = NULL;
	struct err e = { 0 };
	const char *name;

	(void)state;
	for (size_t i = 0; (name = policy_builtin_name(i, NULL)) != NULL;
	    i++) {
		if (policy_load_builtin(name, &env, &p, &e) != 0)
			fail_msg("%s: %s: %s", e.where, e.key, e.msg);
		policy_free(p);
	}
	if (policy_load_builtin("workspace-write", &env, &p, &e) != 0)
		fail_msg("%s: %s", e.where, e.msg);
	assert_string_equal(p->name, "<built-in workspace-write>");
	assert_int_equal(p->net.allowed_domains.n, 0);
	assert_int_equal(p->fs.allow_write.n, 1);
	assert_string_equal(p->fs.allow_write.v[0].pattern->text, "/ws");
	/* A place in the file people can read, not in what awk made of it. */
	assert_int_equal(p->fs.allow_write.v[0].at.line, 16);
	assert_int_equal(p->fs.allow_write.v[0].at.col, 20);
	for (size_t i = 0; i < N_OF(hidden); i++)
		if (!hides(p, hidden[i]))
			fail_msg("%s is readable", hidden[i]);
	assert_false(hides(p, "/home/u/.npmrc"));
	assert_false(hides(p, "/home/u/.cargo/registry"));
	assert_false(hides(p, "/etc/passwd"));
	policy_free(p);
	assert_int_equal(policy_load_builtin("no-such", &env, &p, &e), -1);
	assert_int_equal(e.code, ERR_POLICY);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_policy),
		cmocka_unit_test(closed_base),
		cmocka_unit_test(other_letter_case_is_taken),
		cmocka_unit_test(empty_sections_pass),
		cmocka_unit_test(right_files),
		cmocka_unit_test(keys_of_the_go_program),
		cmocka_unit_test(wrong_files),
		cmocka_unit_test(every_type),
		cmocka_unit_test(all_errors),
		cmocka_unit_test(more_errors_than_room),
		cmocka_unit_test(long_unknown_keys),
		cmocka_unit_test(the_table),
		cmocka_unit_test(files),
		cmocka_unit_test(built_in_policy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
