/* proxyvars: which variables are set, which are ours to take away. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/plan/proxyvars.h"
#include "platform/base/buf.h"

static struct policy *
parse(const char *word)
{
	const struct policy_env env = { .workspace = "/ws", .home = "/h" };
	struct policy *p = NULL;
	struct err e = { 0 };
	char text[128];

	snprintf(text, sizeof text, "{\"network\":{\"proxyVariables\":\"%s\","
	    "\"httpProxyPort\":8888}}", word);
	assert_int_equal(policy_parse(text, strlen(text), "p.json", &env, &p,
	    &e), 0);
	return p;
}

/* tests/golden/proxyvars.* hold what a run prints; here, what is promised. */
static void
test_sets(void **state)
{
	static const char *const words[] = { "off", "auto", "on" };
	struct arena *a = arena_new();
	size_t last = 0;

	(void)state;
	for (size_t i = 0; i < 3; i++) {
		struct policy *p = parse(words[i]);
		size_t n = 0;
		char *var;

		while ((var = proxyvars_nth(a, p, n)) != NULL) {
			n++;
			assert_non_null(strchr(var, '='));
			assert_null(strchr(var, '\1'));
			assert_null(strchr(var, '\2'));
			if (strncmp(var, "HTTP_PROXY=", 11) == 0)
				assert_string_equal(var + 11,
				    "http://127.0.0.1:8888");
			if (strncmp(var, "ALL_PROXY=", 10) == 0)
				assert_string_equal(var + 10,
				    "socks5h://127.0.0.1:1080");
		}
		assert_true(n <= proxyvars_count());
		assert_true(i == 0 ? n == 0 : n > last);
		assert_null(proxyvars_nth(a, p, proxyvars_count()));
		last = n;
		policy_free(p);
	}
	arena_free(a);
}

static void
test_is(void **state)
{
	static const struct { const char *var; bool is; } t[] = {
		{ "HTTP_PROXY", true }, { "http_proxy=http://x", true },
		{ "Ftp_Proxy=", true }, { "NO_PROXY=*", true },
		{ "npm_config_https_proxy=x", true },
		{ "npm_config_noproxy=x", true }, { "PIP_PROXY=x", true },
		{ "CLOUDSDK_PROXY_PORT=1", true },
		{ "CLOUDSDK_CORE_PROJECT=x", false },
		{ "_PROXY=x", true }, { "PROXY=x", false },
		{ "PROXY_URL=http_proxy", false }, { "A=_proxy", false },
		{ "", false }, { "=", false },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++)
		if (proxyvars_is(t[i].var) != t[i].is)
			fail_msg("%s", t[i].var);
}

static void
test_scrub(void **state)
{
	static const struct { const char *var, *want; } t[] = {
		{ "JAVA_OPTS=-Dhttp.proxyHost=c", "JAVA_OPTS=" },
		{ "SBT_OPTS=-Xmx1g -Dhttps.proxyPort=1 -ea",
		  "SBT_OPTS=-Xmx1g -ea" },
		{ "JDK_JAVA_OPTIONS=-DsocksProxyHost=c\t-Da=b",
		  "JDK_JAVA_OPTIONS=-Da=b" },
		{ "JAVA_OPTS=-Djava.net.useSystemProxies=true -Da",
		  "JAVA_OPTS=-Da" },
		/* Others stay byte by byte. */
		{ "JAVA_OPTS=-Xmx1g   -ea", "JAVA_OPTS=-Xmx1g   -ea" },
		{ "OTHER=-Dhttp.proxyHost=c", "OTHER=-Dhttp.proxyHost=c" },
		{ "JAVA_OPTS=", "JAVA_OPTS=" }, { "JAVA_OPTS", "JAVA_OPTS" },
	};
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++)
		assert_string_equal(proxyvars_scrub(a, arena_strdup(a,
		    t[i].var)), t[i].want);
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_sets),
		cmocka_unit_test(test_is),
		cmocka_unit_test(test_scrub),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
