/* policy/decide_net: who may be reached, which rule said so, what helps. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policy/decide.h"
#include "policy/pattern.h"
#include "tests/unit/verdict_words.h"

#define N_OF(a)		(sizeof (a) / sizeof *(a))

static const struct policy_env env = { .workspace = "/ws" };

static struct policy *
parse(const char *text)
{
	struct policy *p = NULL;
	struct err e = { 0 };

	if (policy_parse(text, strlen(text), "F", &env, &p, &e) != 0)
		fail_msg("%s: %s: %s", e.where, e.key, e.msg);
	return p;
}

static struct host
host(const char *text)
{
	struct host h;

	assert_int_equal(host_canon(text, strlen(text), &h), 0);
	return h;
}

static const char example[] =
    "{\"network\":{\n"
    " \"allowedDomains\": [\"example.com\", \"*.example.com\",\n"
    "   \"127.0.0.1\", \"::1\", \"redis\", \"10.1.2.3\"],\n"
    " \"deniedDomains\": [\"x.example.com\", \"*.bad.example.com\"]\n"
    "}}\n";

static void
names(void **state)
{
	static const struct { const char *host; enum action action;
	    const char *rule; } cases[] = {
		{ "example.com", ACTION_ALLOW, "network.allowedDomains[0]" },
		{ "EXAMPLE.com.", ACTION_ALLOW, "network.allowedDomains[0]" },
		{ "a.example.com", ACTION_ALLOW, "network.allowedDomains[1]" },
		{ "redis", ACTION_ALLOW, "network.allowedDomains[4]" },
		{ "2130706433", ACTION_ALLOW, "network.allowedDomains[2]" },
		{ "0177.0.0.1", ACTION_ALLOW, "network.allowedDomains[2]" },
		{ "0x7f000001", ACTION_ALLOW, "network.allowedDomains[2]" },
		{ "::ffff:127.0.0.1", ACTION_ALLOW,
		  "network.allowedDomains[2]" },
		{ "[::1]", ACTION_ALLOW, "network.allowedDomains[3]" },
		{ "x.example.com", ACTION_DENY, "network.deniedDomains[0]" },
		{ "X.EXAMPLE.COM.", ACTION_DENY, "network.deniedDomains[0]" },
		{ "a.b.bad.example.com", ACTION_DENY,
		  "network.deniedDomains[1]" },
		{ "bad.example.com", ACTION_ALLOW,
		  "network.allowedDomains[1]" },
		{ "y.x.example.com", ACTION_ALLOW,
		  "network.allowedDomains[1]" },
		{ "example.com.evil.org", ACTION_DENY,
		  "network.allowedDomains" },
		{ "evilexample.com", ACTION_DENY, "network.allowedDomains" },
		{ "example.co", ACTION_DENY, "network.allowedDomains" },
		{ "com", ACTION_DENY, "network.allowedDomains" },
		{ "example.com.evil.org.", ACTION_DENY,
		  "network.allowedDomains" },
		{ "a.example.com.evil.org", ACTION_DENY,
		  "network.allowedDomains" },
		{ "a.example.com.", ACTION_ALLOW, "network.allowedDomains[1]" },
		{ "redis.", ACTION_ALLOW, "network.allowedDomains[4]" },
		{ "redis.example.org", ACTION_DENY, "network.allowedDomains" },
		{ "127.1", ACTION_ALLOW, "network.allowedDomains[2]" },
		{ "127.0.0.1.nip.io", ACTION_DENY, "network.allowedDomains" },
		{ "localhost", ACTION_DENY, "network.allowedDomains" },
		{ "0x0a.1.515", ACTION_ALLOW, "network.allowedDomains[5]" },
		{ "127.0.0.2", ACTION_DENY, "network.allowedDomains" },
		{ "::2", ACTION_DENY, "network.allowedDomains" },
	};
	struct policy *p = parse(example);
	struct verdict v;

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct host h = host(cases[i].host);

		decide_net(p, &h, 443, &v);
		if (v.action != cases[i].action ||
		    strcmp(rule_words(&v), cases[i].rule) != 0)
			fail_msg("%s: %d by %s", cases[i].host, v.action,
			    rule_words(&v));
	}
	policy_free(p);
}

/* Under "*" a denial holds for every spelling of what it names. */
static void
denials_under_any(void **state)
{
	static const char text[] = "{\"network\":{\"allowedDomains\":[\"*\"],"
	    "\"deniedDomains\":[\"blocked.test\", \"*.bad.test\","
	    "\"8.8.8.8\", \"2001:db8::1\", \"9.9.0.0/16\","
	    "\"b\xc3\xbc" "cher.de\"]}}";
	static const struct { const char *host; int denied; } cases[] = {
		{ "blocked.test", 0 }, { "blocked.test.", 0 },
		{ "BLOCKED.Test.", 0 }, { "a.blocked.test", -1 },
		{ "blocked.test.evil.org", -1 }, { "xblocked.test", -1 },
		{ "blocked.tes", -1 }, { "test", -1 },
		{ "a.bad.test", 1 }, { "a.bad.test.", 1 },
		{ "A.B.BAD.test", 1 }, { "bad.test", -1 },
		{ "bad.test.", -1 }, { "abad.test", -1 },
		{ "a.bad.test.org", -1 },
		{ "8.8.8.8", 2 }, { "8.8.8.8.", 2 }, { "134744072", 2 },
		{ "0x8080808", 2 }, { "0x8.8.0x808", 2 }, { "010.8.8.8", 2 },
		{ "8.526344", 2 }, { "8.8.2056", 2 },
		{ "::ffff:8.8.8.8", 2 }, { "[::ffff:808:808]", 2 },
		{ "0:0:0:0:0:FFFF:0808:0808", 2 },
		{ "8.8.8.9", -1 }, { "8.8.8.8.nip.io", -1 },
		{ "64:ff9b::8.8.8.8", 2 }, { "64:ff9b::8.8.8.9", -1 },
		{ "::8.8.8.8", 2 }, { "64:ff9b:1::8.8.8.8", -1 },
		{ "2001:db8::1", 3 }, { "[2001:0DB8:0:0::0001]", 3 },
		{ "2001:db8::2", -1 },
		{ "9.9.9.9", 4 }, { "0x9090909", 4 }, { "::ffff:9.9.1.1", 4 },
		{ "9.10.0.0", -1 }, { "011.9.0.1", 4 },
		{ "xn--bcher-kva.de", 5 }, { "XN--BCHER-KVA.de.", 5 },
	};
	struct policy *p = parse(text);
	struct verdict v;
	char rule[64];

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct host h = host(cases[i].host);

		decide_net(p, &h, 443, &v);
		snprintf(rule, sizeof rule, "network.deniedDomains[%d]",
		    cases[i].denied);
		if (cases[i].denied < 0 ? v.action != ACTION_ALLOW :
		    v.action != ACTION_DENY || strcmp(rule_words(&v), rule) != 0)
			fail_msg("%s: %d by %s", cases[i].host, v.action,
			    rule_words(&v));
	}
	policy_free(p);
}

static void
verdict_of_no_entry(void **state)
{
	struct policy *p = parse(example);
	struct host h = host("Evil.Org.");
	struct verdict v;

	(void)state;
	memset(&v, 'x', sizeof v);
	decide_net(p, &h, 443, &v);
	assert_int_equal(v.action, ACTION_DENY);
	assert_null(v.rule.text);
	assert_string_equal(v.rule.at.file, "F");
	assert_int_equal(v.rule.at.line, 2);
	assert_int_equal(v.rule.at.col, 20);
	assert_string_equal(v.reason,
	    "no entry of network.allowedDomains matches");
	assert_string_equal(remedy_key_words(&v), "network.allowedDomains");
	assert_string_equal(remedy_value_words(&v), "evil.org");
	assert_string_equal(remedy_flag(&v.remedy), "-a");
	policy_free(p);
}

static void
verdict_of_an_entry(void **state)
{
	struct policy *p = parse(example);
	struct host h = host("x.example.com");
	struct verdict v;

	(void)state;
	memset(&v, 'x', sizeof v);
	decide_net(p, &h, 443, &v);
	assert_string_equal(v.rule.text, "x.example.com");
	assert_int_equal(v.rule.at.line, 4);
	assert_int_equal(v.rule.at.col, 20);
	assert_non_null(strstr(v.reason, "removing the entry"));
	assert_string_equal(remedy_key_words(&v), "");
	assert_string_equal(remedy_value_words(&v), "");
	policy_free(p);
}

/* The remedy is a line that really changes the answer. */
/* A socket's path is a pattern in the list: it has to mean itself alone. */
static void
socket_remedy(void **state)
{
	struct policy *closed = parse("{}"), *opened;
	struct verdict v;

	(void)state;
	decide_unix(closed, "/run/s*", &v);
	assert_int_equal(v.action, ACTION_DENY);
	assert_string_equal(v.remedy.value, "/run/s\\*");
	opened = parse("{\"network\":{\"allowUnixSockets\":[\"/run/s\\\\*\"]}}");
	decide_unix(opened, "/run/s*", &v);
	assert_int_equal(v.action, ACTION_ALLOW);
	decide_unix(opened, "/run/sx", &v);
	assert_int_equal(v.action, ACTION_DENY);
	policy_free(opened);
	policy_free(closed);
}

static void
remedy_helps(void **state)
{
	static const char *const hosts[] = { "evil.org", "1.2.3.4",
	    "2001:db8::1", "single" };
	struct policy *closed = parse("{}"), *opened;
	struct verdict v;
	char text[512];

	(void)state;
	for (size_t i = 0; i < N_OF(hosts); i++) {
		struct host h = host(hosts[i]);

		decide_net(closed, &h, 1, &v);
		assert_int_equal(v.action, ACTION_DENY);
		snprintf(text, sizeof text,
		    "{\"network\":{\"allowedDomains\":[\"%.200s\"]}}",
		    remedy_value_words(&v));
		opened = parse(text);
		decide_net(opened, &h, 1, &v);
		assert_int_equal(v.action, ACTION_ALLOW);
		policy_free(opened);
	}
	policy_free(closed);
}

static void
addresses(void **state)
{
	static const struct { const char *policy, *host, *addr; int is_own;
	    enum action action; const char *reason; } cases[] = {
		{ "\"a.test\"", "a.test", "1.1.1.1", 0, ACTION_ALLOW, "" },
		{ "\"a.test\"", "a.test", "198.18.0.9", 0, ACTION_ALLOW, "" },
		{ "\"a.test\"", "b.test", "1.1.1.1", 0, ACTION_DENY,
		  "no entry of" },
		{ "\"a.test\"", "a.test", "127.0.0.1", 0, ACTION_DENY,
		  "a.test resolves to a loopback address" },
		{ "\"localhost\"", "localhost", "::1", 0, ACTION_DENY,
		  "localhost resolves to a loopback address" },
		{ "\"a.test\"", "a.test", "169.254.169.254", 0, ACTION_DENY,
		  "a cloud metadata address" },
		{ "\"a.test\"", "a.test", "fd00:ec2::254", 0, ACTION_DENY,
		  "metadata" },
		{ "\"a.test\"", "a.test", "fe80::1", 0, ACTION_DENY,
		  "link-local" },
		{ "\"a.test\"", "a.test", "10.0.0.1", 0, ACTION_DENY,
		  "a private address" },
		{ "\"a.test\"", "a.test", "0.0.0.0", 0, ACTION_DENY,
		  "an unspecified address" },
		{ "\"a.test\"", "a.test", "64:ff9b::127.0.0.1", 0,
		  ACTION_DENY, "loopback" },
		{ "\"a.test\"", "a.test", "224.0.0.1", 0, ACTION_DENY,
		  "multicast" },
		{ "\"a.test\"", "a.test", "255.255.255.255", 0, ACTION_DENY,
		  "reserved" },
		{ "\"a.test\"", "a.test", "1.1.1.1", 1, ACTION_DENY,
		  "an address of this machine" },
		{ "\"*\"", "a.test", "127.0.0.1", 0, ACTION_DENY, "loopback" },
		{ "\"*\"", "127.0.0.1", "127.0.0.1", 0, ACTION_DENY,
		  "127.0.0.1 is a loopback address" },
		{ "\"*\"", "1.1.1.1", "1.1.1.1", 0, ACTION_ALLOW, "" },
		{ "\"127.0.0.1\"", "127.0.0.1", "127.0.0.1", 0, ACTION_ALLOW,
		  "" },
		{ "\"*\", \"127.0.0.1\"", "127.0.0.1", "127.0.0.1", 0,
		  ACTION_ALLOW, "" },
		{ "\"::1\"", "::1", "::1", 0, ACTION_ALLOW, "" },
		{ "\"10.1.2.3\"", "10.1.2.3", "10.1.2.3", 0, ACTION_ALLOW,
		  "" },
		{ "\"1.1.1.1\"", "1.1.1.1", "1.1.1.1", 1, ACTION_ALLOW, "" },
		{ "\"a.test\"", "a.test", "192.168.1.1", 0, ACTION_DENY,
		  "a private address" },
		{ "\"a.test\"", "a.test", "172.16.0.1", 0, ACTION_DENY,
		  "a private address" },
		{ "\"a.test\"", "a.test", "100.64.0.1", 0, ACTION_DENY,
		  "a private address" },
		{ "\"a.test\"", "a.test", "fd00::1", 0, ACTION_DENY,
		  "a private address" },
		{ "\"a.test\"", "a.test", "10.0.0.1", 1, ACTION_DENY,
		  "an address of this machine" },
		{ "\"a.test\"", "a.test", "127.255.255.254", 0, ACTION_DENY,
		  "loopback" },
		{ "\"a.test\"", "a.test", "169.254.1.1", 0, ACTION_DENY,
		  "link-local" },
		{ "\"a.test\"", "a.test", "::", 0, ACTION_DENY,
		  "unspecified" },
		{ "\"a.test\"", "a.test", "::ffff:10.0.0.1", 0, ACTION_DENY,
		  "a private address" },
		{ "\"a.test\"", "a.test", "2002:a9fe:a9fe::1", 0,
		  ACTION_DENY, "metadata" },
		{ "\"*.a.test\"", "b.a.test", "10.0.0.1", 0,
		  ACTION_DENY, "private" },
		{ "\"*\"", "a.test", "169.254.169.254", 0, ACTION_DENY,
		  "a cloud metadata address" },
		{ "\"*\"", "0xa9fea9fe", "169.254.169.254", 0, ACTION_DENY,
		  "169.254.169.254 is a cloud metadata address" },
		{ "\"*\"", "::ffff:169.254.169.254", "169.254.169.254", 0,
		  ACTION_DENY, "169.254.169.254 is a cloud metadata address" },
		{ "\"*\"", "localhost", "127.0.0.1", 0, ACTION_DENY,
		  "localhost resolves to a loopback address" },
		{ "\"169.254.169.254\"", "2852039166", "169.254.169.254", 0,
		  ACTION_ALLOW, "" },
		{ "\"127.1\"", "127.0.0.1", "127.0.0.1", 0, ACTION_ALLOW,
		  "" },
		/* A name is no literal, and v4 loopback is not v6 loopback. */
		{ "\"localhost\", \"127.0.0.1\"", "localhost", "::1", 0,
		  ACTION_DENY, "loopback" },
		{ "\"localhost\", \"127.0.0.1\"", "localhost", "127.0.0.1",
		  0, ACTION_ALLOW, "" },
		/* The literal was named; another address was not. */
		{ "\"10.1.2.3\"", "10.1.2.3", "10.1.2.4", 0, ACTION_DENY,
		  "private" },
		/* ... and where it is named, an allowed name leads to it. */
		{ "\"*\", \"127.0.0.1\"", "a.test", "127.0.0.1", 0,
		  ACTION_ALLOW, "" },
	};
	struct verdict v;
	char text[256];

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct host h = host(cases[i].host), a = host(cases[i].addr);
		struct policy *p;

		snprintf(text, sizeof text,
		    "{\"network\":{\"allowedDomains\":[%s]}}",
		    cases[i].policy);
		p = parse(text);
		decide_net_dial(p, &h, 0, a.addr,
		    a.kind == HOST_IPV4 ? 4 : 16, cases[i].is_own, &v);
		if (v.action != cases[i].action ||
		    strstr(v.reason, cases[i].reason) == NULL)
			fail_msg("%s at %s: %d, %s", cases[i].host,
			    cases[i].addr, v.action, v.reason);
		if (v.action == ACTION_DENY &&
		    strstr(v.reason, "no entry") == NULL) {
			assert_string_equal(rule_words(&v), "network.allowedDomains");
			assert_string_equal(remedy_key_words(&v), rule_words(&v));
			assert_string_equal(remedy_value_words(&v), a.text);
		}
		policy_free(p);
	}
}

/* v4-mapped bytes, as a resolver may hand them over, are the v4 address. */
static void
mapped_bytes(void **state)
{
	static const uint8_t mapped[16] = { [10] = 0xff, [11] = 0xff,
	    [12] = 127, [15] = 1 };
	struct policy *p = parse(
	    "{\"network\":{\"allowedDomains\":[\"*\"]}}");
	struct host h = host("a.test");
	struct verdict v;

	(void)state;
	decide_net_dial(p, &h, 0, mapped, 16, 0, &v);
	assert_int_equal(v.action, ACTION_DENY);
	assert_string_equal(remedy_value_words(&v), "127.0.0.1");
	policy_free(p);
}

static void
a_name_is_no_way_around_a_denied_address(void **state)
{
	static const struct { const char *addr; enum action action; }
	    cases[] = {
		{ "1.2.3.4", ACTION_DENY }, { "1.2.3.5", ACTION_ALLOW },
		{ "::ffff:1.2.3.4", ACTION_DENY },
		/* A translator on the way makes these the same place. */
		{ "64:ff9b::1.2.3.4", ACTION_DENY },
		{ "64:ff9b::1.2.3.5", ACTION_ALLOW },
	};
	struct policy *p = parse("{\"network\":{\"allowedDomains\":[\"*\"],"
	    "\"deniedDomains\":[\"1.2.3.4\"]}}");
	struct host h = host("a.test");
	struct verdict v;

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct host a = host(cases[i].addr);

		decide_net_dial(p, &h, 0, a.addr,
		    a.kind == HOST_IPV4 ? 4 : 16, 0, &v);
		if (v.action != cases[i].action)
			fail_msg("%s: %d", cases[i].addr, v.action);
		if (v.action == ACTION_DENY)
			assert_string_equal(rule_words(&v),
			    "network.deniedDomains[0]");
		/* Nor does the literal itself. */
		decide_net_dial(p, &a, 443, a.addr,
		    a.kind == HOST_IPV4 ? 4 : 16, 0, &v);
		assert_int_equal(v.action, cases[i].action);
	}
	policy_free(p);
}

/* Ports, ranges and who is asked without one. */
static void
ports_and_ranges(void **state)
{
	static const char text[] = "{\"network\":{\"allowedDomains\":["
	    "\"a.test:443\", \"*.b.test\", \"10.0.0.0/8\", \"*:8080\","
	    "\"[2001:db8::1]:22\", \"a.test:80\"],"
	    "\"deniedDomains\":[\"x.b.test:25\", \"10.9.0.0/16\"]}}";
	static const struct { const char *host; unsigned port; const char *rule;
	    enum action action; } cases[] = {
		{ "a.test", 443, "network.allowedDomains[0]", ACTION_ALLOW },
		{ "a.test", 80, "network.allowedDomains[5]", ACTION_ALLOW },
		{ "a.test", 22, "network.allowedDomains", ACTION_DENY },
		{ "a.test", 8080, "network.allowedDomains[3]", ACTION_ALLOW },
		{ "a.test", 0, "network.allowedDomains[0]", ACTION_ALLOW },
		{ "z.test", 0, "network.allowedDomains[3]", ACTION_ALLOW },
		{ "z.test", 443, "network.allowedDomains", ACTION_DENY },
		{ "x.b.test", 25, "network.deniedDomains[0]", ACTION_DENY },
		{ "x.b.test", 26, "network.allowedDomains[1]", ACTION_ALLOW },
		{ "x.b.test", 0, "network.allowedDomains[1]", ACTION_ALLOW },
		{ "10.1.2.3", 1, "network.allowedDomains[2]", ACTION_ALLOW },
		{ "0xa010203", 1, "network.allowedDomains[2]", ACTION_ALLOW },
		{ "10.9.0.1", 1, "network.deniedDomains[1]", ACTION_DENY },
		{ "11.0.0.1", 1, "network.allowedDomains", ACTION_DENY },
		{ "2001:db8::1", 22, "network.allowedDomains[4]",
		  ACTION_ALLOW },
		{ "2001:db8::1", 23, "network.allowedDomains", ACTION_DENY },
	};
	struct policy *p = parse(text);
	struct verdict v;

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct host h = host(cases[i].host);

		decide_net(p, &h, (uint16_t)cases[i].port, &v);
		if (v.action != cases[i].action ||
		    strcmp(rule_words(&v), cases[i].rule) != 0)
			fail_msg("%s:%u: %d by %s", cases[i].host,
			    cases[i].port, v.action, rule_words(&v));
	}
	policy_free(p);
}

/* What a name may lead to, with ports, ranges and allowPrivate. */
static void
dialling(void **state)
{
	static const struct { const char *net, *host; unsigned port;
	    const char *addr; int is_own; enum action action; } cases[] = {
		{ "\"allowedDomains\":[\"a.test\"],"
		  "\"allowPrivate\":[\"10.0.0.0/8\"]", "a.test", 1,
		  "10.1.2.3", 0, ACTION_ALLOW },
		{ "\"allowedDomains\":[\"a.test\"],"
		  "\"allowPrivate\":[\"10.0.0.0/8\"]", "a.test", 1,
		  "192.168.0.1", 0, ACTION_DENY },
		{ "\"allowedDomains\":[\"a.test\"],"
		  "\"allowPrivate\":[\"10.0.0.0/8\"]", "a.test", 1,
		  "10.1.2.3", 1, ACTION_DENY },
		{ "\"allowedDomains\":[\"a.test\"],"
		  "\"allowPrivate\":[\"a.test\"]", "a.test", 1,
		  "192.168.0.1", 0, ACTION_ALLOW },
		{ "\"allowedDomains\":[\"*\"],"
		  "\"allowPrivate\":[\"*\"]", "b.test", 1,
		  "fd00::1", 0, ACTION_ALLOW },
		{ "\"allowedDomains\":[\"*\"],"
		  "\"allowPrivate\":[\"*\"]", "b.test", 1,
		  "127.0.0.1", 0, ACTION_DENY },
		{ "\"allowedDomains\":[\"*\"],"
		  "\"allowPrivate\":[\"*\"]", "b.test", 1,
		  "169.254.169.254", 0, ACTION_DENY },
		{ "\"allowPrivate\":[\"*\"]", "b.test", 1,
		  "10.0.0.1", 0, ACTION_DENY },
		/* A range names what can be nothing else. */
		{ "\"allowedDomains\":[\"10.0.0.0/8\"]", "10.1.1.1", 1,
		  "10.1.1.1", 0, ACTION_ALLOW },
		{ "\"allowedDomains\":[\"10.0.0.0/8\"]", "10.1.1.1", 1,
		  "10.1.1.1", 1, ACTION_DENY },
		{ "\"allowedDomains\":[\"127.0.0.0/8\"]", "127.0.0.9", 1,
		  "127.0.0.9", 0, ACTION_ALLOW },
		{ "\"allowedDomains\":[\"0.0.0.0/0\"]", "127.0.0.9", 1,
		  "127.0.0.9", 0, ACTION_DENY },
		{ "\"allowedDomains\":[\"0.0.0.0/0\"]", "1.1.1.1", 1,
		  "1.1.1.1", 0, ACTION_ALLOW },
		{ "\"allowedDomains\":[\"169.254.0.0/16\"]",
		  "169.254.169.254", 80, "169.254.169.254", 0, ACTION_DENY },
		/* The port of a literal is its own. */
		{ "\"allowedDomains\":[\"127.0.0.1:80\"]", "127.0.0.1", 80,
		  "127.0.0.1", 0, ACTION_ALLOW },
		{ "\"allowedDomains\":[\"*\", \"127.0.0.1:80\"]",
		  "127.0.0.1", 22, "127.0.0.1", 0, ACTION_DENY },
		{ "\"allowedDomains\":[\"*\"], "
		  "\"deniedDomains\":[\"1.2.0.0/16:25\"]", "a.test", 25,
		  "1.2.3.4", 0, ACTION_DENY },
		{ "\"allowedDomains\":[\"*\"], "
		  "\"deniedDomains\":[\"1.2.0.0/16:25\"]", "a.test", 26,
		  "1.2.3.4", 0, ACTION_ALLOW },
	};
	struct verdict v;
	char text[256];

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct host h = host(cases[i].host), a = host(cases[i].addr);
		struct policy *p;

		snprintf(text, sizeof text, "{\"network\":{%s}}",
		    cases[i].net);
		p = parse(text);
		decide_net_dial(p, &h, (uint16_t)cases[i].port, a.addr,
		    a.kind == HOST_IPV4 ? 4 : 16, cases[i].is_own, &v);
		if (v.action != cases[i].action)
			fail_msg("%s: %s at %s: %d, %s", text, cases[i].host,
			    cases[i].addr, v.action, v.reason);
		policy_free(p);
	}
}

static void
grey_zone(void **state)
{
	static const struct { const char *net, *host; enum action action;
	    bool via; } cases[] = {
#define UP	"\"upstreamProxy\":\"http://p:1\","
		{ UP "\"allowedDomains\":[\"a.test\"]", "a.test",
		  ACTION_ALLOW, false },
		{ UP "\"allowedDomains\":[\"a.test\"]", "b.test",
		  ACTION_ALLOW, true },
		{ UP "\"defaultAction\":\"deny\"", "b.test", ACTION_DENY,
		  false },
		{ UP "\"defaultAction\":\"proxy\"", "b.test", ACTION_ALLOW,
		  true },
		{ UP "\"deniedDomains\":[\"b.test\"]", "b.test",
		  ACTION_DENY, false },
		{ UP "\"deniedDomains\":[\"b.test\"]", "B.TEST.",
		  ACTION_DENY, false },
		{ UP "\"defaultAction\":\"deny\",\"allowedDomains\":"
		  "[\"a.test\"]", "a.test", ACTION_ALLOW, false },
		{ UP "\"allowedDomains\":[\"b.test\"],"
		  "\"deniedDomains\":[\"b.test\"]", "b.test",
		  ACTION_DENY, false },
		{ UP "\"defaultAction\":\"proxy\"", "localhost", ACTION_DENY,
		  false },
		{ UP "\"defaultAction\":\"proxy\"", "a.localhost",
		  ACTION_DENY, false },
		{ UP "\"allowedDomains\":[\"localhost\"]", "localhost",
		  ACTION_ALLOW, false },
		{ UP "\"defaultAction\":\"proxy\"", "notlocalhost",
		  ACTION_ALLOW, true },
		{ UP "\"defaultAction\":\"proxy\"", "9.9.9.9",
		  ACTION_ALLOW, true },
		{ "\"defaultAction\":\"deny\"", "b.test", ACTION_DENY, false },
		{ "\"allowedDomains\":[]", "b.test", ACTION_DENY, false },
	};
	struct verdict v;
	char text[256];

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct host h = host(cases[i].host);
		struct policy *p;

		snprintf(text, sizeof text, "{\"network\":{%s}}",
		    cases[i].net);
		p = parse(text);
		decide_net(p, &h, 443, &v);
		if (v.action != cases[i].action ||
		    v.via_upstream != cases[i].via)
			fail_msg("%s: %d", text, v.action);
		policy_free(p);
	}
}

/* The host's network: whatever else is written, nobody stands there. */
static void
direct(void **state)
{
	struct policy *p = parse("{\"network\":{\"mode\":\"direct\"}}");
	struct host h = host("x.test"), local = host("127.0.0.1");
	struct verdict v;

	(void)state;
	decide_net(p, &h, 443, &v);
	assert_int_equal(v.action, ACTION_ALLOW);
	assert_string_equal(rule_words(&v), "network.mode");
	decide_net_dial(p, &local, 443, local.addr, 4, 1, &v);
	assert_int_equal(v.action, ACTION_ALLOW);
	assert_false(v.via_upstream);
	policy_free(p);
}

/* An address that no list names is still of a class. */
static void
grey_addresses(void **state)
{
	static const struct { const char *net, *addr; enum action action; }
	    cases[] = {
		{ "", "9.9.9.9", ACTION_ALLOW },
		{ "", "127.0.0.1", ACTION_DENY },
		{ "", "169.254.169.254", ACTION_DENY },
		{ "", "10.1.2.3", ACTION_DENY },
		{ "", "::1", ACTION_DENY },
		{ ",\"allowPrivate\":[\"10.0.0.0/8\"]", "10.1.2.3",
		  ACTION_ALLOW },
		{ ",\"deniedDomains\":[\"9.0.0.0/8\"]", "9.9.9.9",
		  ACTION_DENY },
	};
	struct verdict v;
	char text[256];

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct host h = host(cases[i].addr);
		struct policy *p;

		snprintf(text, sizeof text, "{\"network\":{"
		    "\"upstreamProxy\":\"http://u:secret@p:1\"%s}}",
		    cases[i].net);
		p = parse(text);
		decide_net_dial(p, &h, 443, h.addr, h.kind == HOST_IPV4 ? 4 :
		    16, 0, &v);
		if (v.action != cases[i].action ||
		    v.via_upstream != (v.action == ACTION_ALLOW) ||
		    (v.rule.text != NULL && strstr(v.rule.text, "secret")))
			fail_msg("%s: %s", text, cases[i].addr);
		policy_free(p);
	}
}

/* A layer leaves hosts to the first layer's proxy, or to nobody. */
static void
grey_layers(void **state)
{
	struct policy *with = parse("{\"network\":{\"allowedDomains\":"
	    "[\"a.test\"],\"upstreamProxy\":\"http://p:1\"}}");
	struct policy *without = parse("{\"network\":{\"allowedDomains\":"
	    "[\"a.test\",\"b.test\"]}}");
	struct host a = host("a.test"), b = host("b.test"), c = host("c.test");
	struct verdict v;

	(void)state;
	with->also = without;
	decide_net(with, &a, 443, &v);
	assert_true(v.action == ACTION_ALLOW && !v.via_upstream);
	decide_net(with, &b, 443, &v);
	assert_true(v.action == ACTION_ALLOW && v.via_upstream);
	decide_net(with, &c, 443, &v);
	assert_true(v.action == ACTION_DENY);
	with->also = NULL;
	without->also = with;
	decide_net(without, &a, 443, &v);
	assert_true(v.action == ACTION_ALLOW && !v.via_upstream);
	decide_net(without, &b, 443, &v);
	assert_true(v.action == ACTION_DENY && !v.via_upstream);
	assert_string_equal(rule_words(&v), "network.upstreamProxy");
	policy_free(with);
	policy_free(without);
}

static void
layers_must_agree(void **state)
{
	struct policy *p = parse("{\"network\":{\"allowedDomains\":"
	    "[\"*.a.b.test\",\"*.a.test\", \"x.test\"]}}");
	struct policy *q = parse("{\"network\":{\"allowedDomains\":"
	    "[\"x.test\"]}}");
	struct host h = host("x.test"), other = host("b.a.test");
	struct verdict v;

	(void)state;
	p->also = q;
	decide_net(p, &h, 1, &v);
	assert_int_equal(v.action, ACTION_ALLOW);
	assert_string_equal(rule_words(&v), "network.allowedDomains[2]");
	decide_net(p, &other, 1, &v);
	assert_int_equal(v.action, ACTION_DENY);
	assert_string_equal(rule_words(&v), "network.allowedDomains");
	assert_string_equal(remedy_flag(&v.remedy), "");
	policy_free(p);
	policy_free(q);
}

/* The index finds what a scan of the list finds. */
static void
index_against_scan(void **state)
{
	static const char *const hosts[] = { "a.test", "b.a.test", "c.b.a.test",
	    "test", "1.2.3.4", "1.2.3.5", "1.2.9.9", "9.9.9.9", "::1",
	    "2001:db8::5", "2001:db9::" };
	static const char *const entries[] = { "a.test", "*.a.test", "*:1",
	    "b.a.test:2", "*.b.a.test:1", "1.2.3.4", "1.2.3.0/24:1",
	    "1.2.0.0/16", "0.0.0.0/0:2", "::1", "2001:db8::/32",
	    "[::/0]:1", "test", "a.test:1" };
	unsigned seed = 1;

	(void)state;
	for (unsigned round = 0; round < 500; round++) {
		char text[1024] = "{\"network\":{\"allowedDomains\":[";
		struct policy *p;
		struct verdict v;

		for (unsigned i = 0; i < 6; i++) {
			seed = seed * 1103515245 + 12345;
			snprintf(text + strlen(text), 64, "%s\"%s\"",
			    i == 0 ? "" : ",",
			    entries[(seed >> 16) % N_OF(entries)]);
		}
		strcat(text, "]}}");
		p = parse(text);
		for (unsigned k = 0; k < 3 * N_OF(hosts); k++) {
			struct host h = host(hosts[k / 3]);
			uint16_t port = (uint16_t)(k % 3);
			const struct strlist *l = &p->net.allowed_domains;
			char want[64] = "network.allowedDomains";

			for (size_t i = 0; i < l->n; i++) {
				const struct pattern *e = l->v[i].pattern;

				if (!pattern_match_host(e, &h) ||
				    (port != 0 && e->port != 0 &&
				    e->port != port))
					continue;
				snprintf(want, sizeof want,
				    "network.allowedDomains[%zu]", i);
				break;
			}
			decide_net(p, &h, port, &v);
			if (strcmp(rule_words(&v), want) != 0)
				fail_msg("%s: %s:%u: %s, not %s", text,
				    h.text, port, rule_words(&v), want);
		}
		policy_free(p);
	}
}

/* By an entry of its own, or merely by a wildcard? */
static void
entries(void **state)
{
	static const struct { const char *host; bool is_entry; } cases[] = {
		{ "example.com", true }, { "EXAMPLE.com.", true },
		{ "a.example.com", false }, { "redis", true },
		{ "x.example.com", false }, { "other.test", false },
		{ "com", false }, { "127.0.0.1", false },
	};
	struct policy *p = parse(example), *below = parse("{\"network\":"
	    "{\"allowedDomains\": [\"*\", \"a.example.com:443\"]}}");
	struct host h;

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		h = host(cases[i].host);
		if (decide_net_is_entry(p, &h) != cases[i].is_entry)
			fail_msg("%s", cases[i].host);
	}
	h = host("a.example.com");
	assert_true(decide_net_is_entry(below, &h));
	p->also = below;
	assert_true(decide_net_is_entry(p, &h));
	p->also = NULL;
	policy_free(below);
	policy_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(denials_under_any),
		cmocka_unit_test(verdict_of_no_entry),
		cmocka_unit_test(verdict_of_an_entry),
		cmocka_unit_test(remedy_helps),
		cmocka_unit_test(socket_remedy),
		cmocka_unit_test(addresses),
		cmocka_unit_test(mapped_bytes),
		cmocka_unit_test(a_name_is_no_way_around_a_denied_address),
		cmocka_unit_test(ports_and_ranges),
		cmocka_unit_test(dialling),
		cmocka_unit_test(grey_zone),
		cmocka_unit_test(direct),
		cmocka_unit_test(grey_addresses),
		cmocka_unit_test(grey_layers),
		cmocka_unit_test(layers_must_agree),
		cmocka_unit_test(index_against_scan),
		cmocka_unit_test(entries),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
