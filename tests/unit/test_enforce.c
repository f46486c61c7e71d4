/* enforce, direct: what a policy asks that is not held, by key and place. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "launcher/plan/direct.h"
#include "launcher/plan/enforce.h"

static struct policy *
parse(const char *text)
{
	const struct policy_env env = { .workspace = "/ws", .home = "/h" };
	struct policy *p = NULL;
	struct err e = { 0 };

	if (policy_parse(text, strlen(text), "p.json", &env, &p, &e) != 0)
		fail_msg("%s: %s", text, e.msg);
	return p;
}

static const struct {
	const char	*text;
	const char	*key, *where;	/* of the error; NULL: there is none */
} enforced[] = {
	{ "{}", NULL, NULL },
	{ "{\"filesystem\":{\"guard\":\"watch\"}}", NULL, NULL },
	{ "{\"filesystem\":{\"guard\":\"broker\"}}", "filesystem.guard",
	    "p.json:1:24" },
	{ "{\"env\":{\"loader\":\"refuse\"}}", NULL, NULL },
	{ "{\"trace\":{\"calls\":[\"open(s,i):i\"]}}", NULL, NULL },
	{ "{\"trace\":{\"calls\":[]}}", NULL, NULL },
	{ "{\"command\":{\"deny\":[\"rm\",\"dd\"]},"
	    "\"ssh\":{\"deniedHosts\":[\"x.test\"]}}", NULL, NULL },
	{ "{\"command\":{\"deny\":[\"rm\"]},"
	    "\"filesystem\":{\"guard\":\"broker\"}}", "filesystem.guard",
	    "p.json:1:50" },
};

static void
test_enforce(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof enforced / sizeof enforced[0]; i++) {
		struct policy *p = parse(enforced[i].text);
		struct err e = { 0 };
		int rc = enforce_check(p, &e);

		if (rc != (enforced[i].key != NULL ? -1 : 0))
			fail_msg("row %zu: %d", i, rc);
		if (rc != 0) {
			assert_string_equal(e.key, enforced[i].key);
			assert_string_equal(e.where, enforced[i].where);
			assert_int_equal(e.code, ERR_POLICY);
			assert_string_not_equal(e.hint, "");
		}
		policy_free(p);
	}
}

/* Each in a policy of that mode; and what holds there is no error. */
static const struct {
	const char	*key;		/* NULL: it may be said */
	const char	*network;
} direct[] = {
	{ NULL, "" },
	{ NULL, ",\"allowedDomains\":[\"*\"]" },
	{ NULL, ",\"via\":\"direct\"" },
	{ NULL, ",\"sni\":\"off\"" },
	{ NULL, ",\"proxyVariables\":\"off\"" },
	{ NULL, ",\"allowUnixSockets\":[\"/run/x\"]" },
	{ "network.allowedDomains", ",\"allowedDomains\":[\"a.test\"]" },
	{ "network.allowedDomains", ",\"allowedDomains\":[]" },
	{ "network.allowedDomains", ",\"allowedDomains\":[\"*:443\"]" },
	{ "network.deniedDomains", ",\"deniedDomains\":[\"a.test\"]" },
	{ "network.allowPrivate", ",\"allowPrivate\":[\"10.0.0.0/8\"]" },
	{ "network.hostPorts", ",\"hostPorts\":[5432]" },
	{ "network.allowLocalOutboundPorts",
	    ",\"allowLocalOutboundPorts\":[5432]" },
	{ "network.allowLocalOutbound", ",\"allowLocalOutbound\":false" },
	{ "network.allowLocalBinding", ",\"allowLocalBinding\":false" },
	{ "network.via", ",\"via\":\"http://p.test:1\"" },
	{ "network.sni", ",\"sni\":\"enforce\"" },
	{ "network.proxyVariables", ",\"proxyVariables\":\"on\"" },
	{ "network.httpProxyPort", ",\"httpProxyPort\":8080" },
	{ "network.socksProxyPort", ",\"socksProxyPort\":8080" },
};

static void
check_direct(size_t i, struct policy *p, const char *where)
{
	struct err e = { 0 };
	int rc = direct_check(p, &e);

	if (rc != (direct[i].key != NULL ? -1 : 0))
		fail_msg("row %zu: %d, %s", i, rc, e.key);
	if (rc == 0)
		return;
	assert_string_equal(e.key, direct[i].key);
	assert_int_equal(strncmp(e.where, where, strlen(where)), 0);
	assert_non_null(strstr(e.msg, "network.mode \"direct\""));
	assert_string_not_equal(e.hint, "");
}

static void
test_direct(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof direct / sizeof direct[0]; i++) {
		struct policy *p, *first;
		char text[256];

		snprintf(text, sizeof text,
		    "{\"network\":{\"mode\":\"direct\"%s}}",
		    direct[i].network);
		p = parse(text);
		assert_true(direct_is(p));
		check_direct(i, p, "p.json:1:");
		/* Of a layer below, as well. */
		first = parse("{\"network\":{\"mode\":\"direct\"}}");
		first->also = p;
		check_direct(i, first, "p.json:1:");
		first->also = NULL;
		policy_free(first);
		policy_free(p);
	}
}

static void
test_gate(void **state)
{
	struct policy *p = parse("{}"), *gate =
	    parse("{\"network\":{\"mode\":\"gate\"}}");

	(void)state;
	assert_false(direct_is(p));
	assert_false(direct_is(gate));
	policy_free(p);
	policy_free(gate);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_enforce),
		cmocka_unit_test(test_direct),
		cmocka_unit_test(test_gate),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
