/* policy/decide_net: who may be reached, which rule said so, what helps. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "policy/decide.h"

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
		    strcmp(v.rule, cases[i].rule) != 0)
			fail_msg("%s: %d by %s", cases[i].host, v.action,
			    v.rule);
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
	assert_null(v.rule_text);
	assert_string_equal(v.at.file, "F");
	assert_int_equal(v.at.line, 2);
	assert_int_equal(v.at.col, 20);
	assert_string_equal(v.reason,
	    "no entry of network.allowedDomains matches");
	assert_string_equal(v.remedy_key, "network.allowedDomains");
	assert_string_equal(v.remedy_value, "evil.org");
	assert_string_equal(v.remedy_flag, "");
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
	assert_string_equal(v.rule_text, "x.example.com");
	assert_int_equal(v.at.line, 4);
	assert_int_equal(v.at.col, 20);
	assert_non_null(strstr(v.reason, "removing the entry"));
	assert_string_equal(v.remedy_key, "");
	assert_string_equal(v.remedy_value, "");
	policy_free(p);
}

/* The remedy is a line that really changes the answer. */
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
		    v.remedy_value);
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
		decide_net_addr(p, &h, a.addr, a.kind == HOST_IPV4 ? 4 : 16,
		    cases[i].is_own, &v);
		if (v.action != cases[i].action ||
		    strstr(v.reason, cases[i].reason) == NULL)
			fail_msg("%s at %s: %d, %s", cases[i].host,
			    cases[i].addr, v.action, v.reason);
		if (v.action == ACTION_DENY &&
		    strstr(v.reason, "no entry") == NULL) {
			assert_string_equal(v.rule, "network.allowedDomains");
			assert_string_equal(v.remedy_key, v.rule);
			assert_string_equal(v.remedy_value, a.text);
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
	decide_net_addr(p, &h, mapped, 16, 0, &v);
	assert_int_equal(v.action, ACTION_DENY);
	assert_string_equal(v.remedy_value, "127.0.0.1");
	policy_free(p);
}

static void
a_name_is_no_way_around_a_denied_address(void **state)
{
	struct policy *p = parse("{\"network\":{\"allowedDomains\":[\"*\"],"
	    "\"deniedDomains\":[\"1.2.3.4\"]}}");
	struct host h = host("a.test"), a = host("1.2.3.4");
	struct verdict v;

	(void)state;
	decide_net_addr(p, &h, a.addr, 4, 0, &v);
	assert_int_equal(v.action, ACTION_DENY);
	assert_string_equal(v.rule, "network.deniedDomains[0]");
	policy_free(p);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(names),
		cmocka_unit_test(verdict_of_no_entry),
		cmocka_unit_test(verdict_of_an_entry),
		cmocka_unit_test(remedy_helps),
		cmocka_unit_test(addresses),
		cmocka_unit_test(mapped_bytes),
		cmocka_unit_test(a_name_is_no_way_around_a_denied_address),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
