/* ranges: addresses that patterns name, and whether a route covers them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>

#include "launcher/plan/ranges.h"
#include "platform/base/buf.h"
#include "policy/policy.h"

/* The patterns as a policy has them. */
static struct policy *
parse(const char *pattern)
{
	const struct policy_env env = { .workspace = "/ws", .home = "/h" };
	struct policy *p = NULL;
	struct err e = { 0 };
	char text[128];

	snprintf(text, sizeof text,
	    "{\"network\":{\"allowedDomains\":[\"%s\"]}}", pattern);
	if (policy_parse(text, strlen(text), "p.json", &env, &p, &e) != 0)
		fail_msg("%s: %s", pattern, e.msg);
	return p;
}

static size_t
ranges(const char *pattern, struct jail_range ret[RANGES_MAX])
{
	struct policy *p = parse(pattern);
	size_t n = ranges_of(p->net.allowed_domains.v[0].pattern, ret);

	policy_free(p);
	return n;
}

static void
test_of(void **state)
{
	static const struct { const char *pattern, *want; } t[] = {
		{ "a.test", "" }, { "*.a.test:443", "" },
		{ "*", "0.0.0.0/0 ::/0 " }, { "*:443", "0.0.0.0/0 ::/0 " },
		{ "192.0.2.1", "192.0.2.1/32 " },
		{ "192.0.2.1:80", "192.0.2.1/32 " },
		{ "10.0.0.0/8", "10.0.0.0/8 " },
		{ "2001:db8::1", "2001:db8::1/128 " },
		{ "2001:db8::/32", "2001:db8::/32 " },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct jail_range r[RANGES_MAX];
		size_t n = ranges(t[i].pattern, r);
		char text[INET6_ADDRSTRLEN];
		struct buf b;

		buf_init(&b, 0);
		for (size_t k = 0; k < n; k++)
			buf_printf(&b, "%s/%u ", inet_ntop(r[k].family,
			    r[k].addr, text, sizeof text), r[k].bits);
		if (strcmp(b.data, t[i].want) != 0)
			fail_msg("%s: %s", t[i].pattern, b.data);
		buf_release(&b);
	}
}

static void
test_cover(void **state)
{
	static const struct { const char *outer, *inner; bool is; } t[] = {
		{ "10.0.0.0/8", "10.1.2.3", true },
		{ "10.0.0.0/8", "10.1.0.0/16", true },
		{ "10.0.0.0/8", "10.0.0.0/8", true },
		{ "10.0.0.0/8", "11.0.0.0", false },
		{ "10.1.0.0/16", "10.0.0.0/8", false },
		{ "192.0.2.128/25", "192.0.2.127", false },
		{ "192.0.2.128/25", "192.0.2.255", true },
		{ "192.0.2.1", "192.0.2.1", true },
		{ "192.0.2.1", "192.0.2.2", false },
		{ "*", "203.0.113.9", true },
		/* Of both families the first is asked about. */
		{ "2001:db8::/33", "2001:db8:8000::", false },
		{ "2001:db8::/33", "2001:db8:7fff::1", true },
		{ "2001:db8::/32", "10.0.0.0/8", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct jail_range outer[RANGES_MAX], inner[RANGES_MAX];
		size_t n = ranges(t[i].outer, outer);

		assert_true(ranges(t[i].inner, inner) > 0);
		if (ranges_cover(outer, n, inner) != t[i].is)
			fail_msg("%s, %s", t[i].outer, t[i].inner);
		assert_false(ranges_cover(NULL, 0, inner));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_of),
		cmocka_unit_test(test_cover),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
