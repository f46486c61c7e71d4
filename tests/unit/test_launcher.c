/* The launcher's small parts: env, opt, addrbook, dial. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "launcher/gate/addrbook.h"
#include "launcher/gate/dial.h"
#include "launcher/plan/env.h"
#include "launcher/cli/opt.h"
#include "platform/base/arena.h"
#include "policy/layers.h"
#include "policy/policy.h"

/* ---- env ---- */

static const struct {
	const char	*host;
	const char	*name;
	const char	*want;	/* NULL: absent */
} env_cases[] = {
	{ "PATH=/bin", "PATH", "/bin" },
	{ "LD_PRELOAD=/x.so", "LD_PRELOAD", NULL },
	{ "LD_LIBRARY_PATH=/x", "LD_LIBRARY_PATH", NULL },
	{ "LD_=", "LD_", NULL },
	{ "LDFLAGS=-lx", "LDFLAGS", "-lx" },
	{ "DYLD_INSERT_LIBRARIES=x", "DYLD_INSERT_LIBRARIES", NULL },
	{ "http_proxy=http://corp:1", "http_proxy", "http://127.0.0.1:3128" },
	{ "HTTPS_PROXY=http://corp:1", "HTTPS_PROXY",
	    "http://127.0.0.1:3128" },
	{ "all_proxy=http://corp:1", "all_proxy", NULL },
	{ "A=1", "ALL_PROXY", NULL },
	{ "CLOUDSDK_PROXY_ADDRESS=corp", "CLOUDSDK_PROXY_ADDRESS", NULL },
	{ "CLOUDSDK_PROJECT=x", "CLOUDSDK_PROJECT", "x" },
	{ "PIP_PROXY=corp", "PIP_PROXY", NULL },
	{ "MAVEN_OPTS=-Xmx1g -Dhttp.proxyHost=corp\t-Dhttps.proxyPort=1 "
	    " -Dx= -DsocksProxyHost=c -Dhttp.nonProxyHosts=a|b -ea",
	    "MAVEN_OPTS", "-Xmx1g -Dx= -ea" },
	{ "JAVA_TOOL_OPTIONS=-Dhttp.proxyHost=corp", "JAVA_TOOL_OPTIONS",
	    "" },
	{ "GRADLE_OPTS=-Dproxy=1  -ea", "GRADLE_OPTS", "-Dproxy=1 -ea" },
	{ "_JAVA_OPTIONS=-Xmx1g  -ea", "_JAVA_OPTIONS", "-Xmx1g  -ea" },
	{ "CFLAGS=-Dhttp.proxyHost=corp", "CFLAGS", "-Dhttp.proxyHost=corp" },
	{ "NO_PROXY=*", "NO_PROXY", "localhost,127.0.0.1,::1" },
	{ "FTP_PROXY=http://corp:1", "FTP_PROXY", NULL },
	{ "A=1", "FENCE_SANDBOX", "1" },
	{ "FENCE_SANDBOX=0", "FENCE_SANDBOX", "1" },
	{ "FENCE_PRETEND=noshim", "FENCE_PRETEND", NULL },
	{ "XDG_RUNTIME_DIR=/run/user/1", "XDG_RUNTIME_DIR", NULL },
	{ "TMPDIR=/var/x", "TMPDIR", "/tmp" },
	{ "TMPDIRS=/var/x", "TMPDIRS", "/var/x" },
	{ "A=1", "TMPDIR", NULL },
	{ "Http_Proxy=http://corp:1", "Http_Proxy", NULL },
	{ "NPM_CONFIG_HTTPS_PROXY=http://u:p@corp:1",
	    "NPM_CONFIG_HTTPS_PROXY", NULL },
	{ "npm_config_noproxy=x", "npm_config_noproxy", NULL },
	{ "SOCKS_PROXY=x", "SOCKS_PROXY", NULL },
	{ "PROXY_MODE=x", "PROXY_MODE", "x" },
	{ "A=1", "ASAN_OPTIONS", "verify_asan_link_order=0" },
	{ "ASAN_OPTIONS=a=1", "ASAN_OPTIONS",
	    "a=1:verify_asan_link_order=0" },
	{ "AWS_SESSION=x", "AWS_SESSION", NULL },
	{ "AWS_REGION=x", "AWS_REGION", "x" },
	{ "GONE=x", "GONE", NULL },
	{ "GONER=x", "GONER", "x" },
	{ "CI=0", "CI", "1" },
	{ "A=1", "CI", "1" },
	{ "GITHUB_TOKEN=x", "GITHUB_TOKEN", NULL },
	{ "db_password=x", "db_password", NULL },
	{ "MY_TOKEN=x", "MY_TOKEN", "x" },
	{ "TOKENS=x", "TOKENS", "x" },
	{ "EMPTY=", "EMPTY", "" },
	{ "no-equals-sign", "no-equals-sign", NULL },
};

static void
test_env(void **state)
{
	static const struct env_dirs dirs = { .tmp = "/tmp" };
	static const char text[] = "{ \"env\": { \"deny\": [\"AWS_*\", "
	    "\"GONE\"], \"allow\": [\"AWS_REGION\", \"MY_TOKEN\"], "
	    "\"set\": { \"CI\": \"1\" }, \"denySecrets\": true } }";
	const struct policy_env env = { .workspace = "/ws", .home = "/h" };
	struct arena *a = arena_new();
	struct policy *p = NULL;
	struct err e;

	(void)state;
	assert_int_equal(policy_parse(text, sizeof text - 1, "p.json", &env,
	    &p, &e), 0);
	for (size_t i = 0; i < sizeof env_cases / sizeof env_cases[0]; i++) {
		char *host[] = { (char *)env_cases[i].host, NULL };
		char **out = env_compose(a, host, p, &dirs);
		const char *got = env_get(out, env_cases[i].name);
		unsigned times = 0;
		size_t n = strlen(env_cases[i].name);

		if ((got == NULL) != (env_cases[i].want == NULL) ||
		    (got != NULL && strcmp(got, env_cases[i].want) != 0))
			fail_msg("%s: %s is %s", env_cases[i].host,
			    env_cases[i].name, got != NULL ? got : "absent");
		for (char **v = out; *v != NULL; v++)
			times += strncmp(*v, env_cases[i].name, n) == 0 &&
			    (*v)[n] == '=';
		assert_int_equal(times, env_cases[i].want != NULL);
	}
	policy_free(p);
	arena_free(a);
}

/* git's own configuration by variables goes on behind the host's. */
static void
test_env_reflogs(void **state)
{
	static const struct {
		const char	*host, *set, *name, *want;
		bool		 keeps;
	} rows[] = {
		{ "A=1", "", "GIT_CONFIG_COUNT", NULL, false },
		{ "A=1", "", "GIT_CONFIG_COUNT", "2", true },
		{ "A=1", "", "GIT_CONFIG_KEY_0", "gc.reflogExpire", true },
		{ "A=1", "", "GIT_CONFIG_VALUE_0", "never", true },
		{ "A=1", "", "GIT_CONFIG_KEY_1", "gc.reflogExpireUnreachable",
		    true },
		{ "GIT_CONFIG_COUNT=3", "", "GIT_CONFIG_COUNT", "3", false },
		{ "GIT_CONFIG_COUNT=3", "", "GIT_CONFIG_COUNT", "5", true },
		{ "GIT_CONFIG_COUNT=3", "", "GIT_CONFIG_KEY_0", NULL, true },
		{ "GIT_CONFIG_COUNT=3", "", "GIT_CONFIG_VALUE_4", "never",
		    true },
		{ "GIT_CONFIG_COUNT=x", "", "GIT_CONFIG_COUNT", "x", true },
		{ "GIT_CONFIG_COUNT=x", "", "GIT_CONFIG_KEY_0", NULL, true },
		{ "A=1", "\"GIT_CONFIG_COUNT\":\"0\"", "GIT_CONFIG_COUNT", "0",
		    true },
	};
	const struct policy_env env = { .workspace = "/ws", .home = "/h" };
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const struct env_dirs dirs = { .keeps_reflogs = rows[i].keeps };
		char *host[] = { (char *)rows[i].host, NULL }, text[128];
		struct policy *p = NULL;
		const char *got;
		unsigned times = 0;
		struct err e;
		char **out;

		snprintf(text, sizeof text, "{\"env\":{\"set\":{%s}}}",
		    rows[i].set);
		assert_int_equal(policy_parse(text, strlen(text), "p", &env,
		    &p, &e), 0);
		out = env_compose(a, host, p, &dirs);
		got = env_get(out, rows[i].name);
		if ((got == NULL) != (rows[i].want == NULL) ||
		    (got != NULL && strcmp(got, rows[i].want) != 0))
			fail_msg("%s: %s is %s", rows[i].host, rows[i].name,
			    got != NULL ? got : "absent");
		for (char **v = out; *v != NULL; v++)
			times += strncmp(*v, "GIT_CONFIG_COUNT=", 17) == 0;
		assert_in_range(times, 0, 1);
		policy_free(p);
	}
	arena_free(a);
}

/* A variable has to pass every layer, each by its own lists. */
static void
test_env_layers(void **state)
{
	static const struct {
		const char	*first, *layer, *want;
	} cases[] = {
		{ "{}", "{}", "x" },
		{ "{}", "{\"env\":{\"deny\":[\"A_KEY\"]}}", NULL },
		{ "{}", "{\"env\":{\"denySecrets\":true}}", NULL },
		/* What one layer brings back is its own denial. */
		{ "{}", "{\"env\":{\"denySecrets\":true,"
		    "\"allow\":[\"A_KEY\"]}}", "x" },
		{ "{\"env\":{\"denySecrets\":true}}",
		    "{\"env\":{\"allow\":[\"A_KEY\"]}}", NULL },
		{ "{\"env\":{\"deny\":[\"A_*\"]}}",
		    "{\"env\":{\"allow\":[\"*\"]}}", NULL },
		{ "{\"env\":{\"allow\":[\"A_KEY\"]}}",
		    "{\"env\":{\"denySecrets\":true}}", NULL },
		{ "{\"env\":{\"denySecrets\":true,\"allow\":[\"A_KEY\"]}}",
		    "{\"env\":{\"allow\":[\"B\"]}}", "x" },
		{ "{\"env\":{\"denySecrets\":true,\"allow\":[\"A_KEY\"]}}",
		    "{\"env\":{\"deny\":[\"A_KEY\"]}}", NULL },
	};
	const struct policy_env env = { .workspace = "/ws", .home = "/h" };
	char *host[] = { "A_KEY=x", NULL };
	const struct env_dirs dirs = { 0 };
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct policy *p = NULL, *l = NULL;
		const char *got;
		struct err e;

		assert_int_equal(policy_parse(cases[i].first,
		    strlen(cases[i].first), "user", &env, &p, &e), 0);
		assert_int_equal(policy_parse(cases[i].layer,
		    strlen(cases[i].layer), "layer", &env, &l, &e), 0);
		layers_add(p, l);
		layers_settle(p);
		got = env_get(env_compose(a, host, p, &dirs), "A_KEY");
		if ((got == NULL) != (cases[i].want == NULL))
			fail_msg("%s under %s: %s", cases[i].first,
			    cases[i].layer, got != NULL ? got : "absent");
		policy_free(p);
		policy_free(l);
	}
	arena_free(a);
}

/* ---- opt ---- */

static const struct {
	const char	*words[6];
	int		 rest;		/* -1: refused */
	const char	*message;	/* part of it, or of the hint */
	const char	*settings;
	bool		 monitor;
} opt_cases[] = {
	{ { "make" }, 1, NULL, NULL, false },
	{ { "-m", "make", "-j" }, 2, NULL, NULL, true },
	{ { "--", "-m" }, 2, NULL, NULL, false },
	{ { "-s", "f", "x" }, 3, NULL, "f", false },
	{ { "-sf", "x" }, 2, NULL, "f", false },
	{ { "-ms", "f", "x" }, 3, NULL, "f", true },
	{ { "--settings=f", "x" }, 2, NULL, "f", false },
	{ { "--settings", "f", "--monitor", "x" }, 4, NULL, "f", true },
	{ { "-", "x" }, 1, NULL, NULL, false },
	{ { "--settings" }, -1, "wants a value", NULL, false },
	{ { "--settings=" }, -1, "wants a value", NULL, false },
	{ { "--monitor=1" }, -1, "takes no value", NULL, false },
	{ { "--setings", "f" }, -1, "did you mean --settings", NULL, false },
	{ { "--frobnicate" }, -1, "--help lists", NULL, false },
	{ { "-Z" }, -1, "unknown option", NULL, false },
	{ { "-t", "code", "x" }, 3, NULL, NULL, false },
	{ { "--monitor=true", "x" }, 2, NULL, NULL, true },
	{ { "--monitor=false", "x" }, 2, NULL, NULL, false },
	{ { "-m", "--monitor=false", "x" }, 3, NULL, NULL, false },
	{ { "--shell", "user", "x" }, 3, NULL, NULL, false },
	{ { "--shell=default", "x" }, 2, NULL, NULL, false },
	{ { "--shell=def", "x" }, -1, "none of default|user", NULL, false },
	{ { "--shell=user|", "x" }, -1, "none of", NULL, false },
	{ { "--shell=default|user", "x" }, -1, "none of", NULL, false },
	{ { "-cm", "x" }, 2, NULL, NULL, false },
	{ { "-c", "--", "x" }, 3, NULL, NULL, false },
	{ { "--weaker", "landlock" }, -1, "not in this version", NULL,
	    false },
};

static void
test_opt(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof opt_cases / sizeof opt_cases[0]; i++) {
		struct run_options ro = { 0 };
		struct err e = { 0 };
		char *argv[8] = { (char *)"fence-run" };
		int argc = 1, rest = -1, rc;

		while (argc < 7 && opt_cases[i].words[argc - 1] != NULL) {
			argv[argc] = (char *)opt_cases[i].words[argc - 1];
			argc++;
		}
		rc = opt_parse(argc, argv, &ro, &rest, &e);
		if (opt_cases[i].rest < 0) {
			assert_int_equal(rc, -1);
			assert_int_equal(e.code, ERR_USAGE);
			if (strstr(e.msg, opt_cases[i].message) == NULL &&
			    strstr(e.hint, opt_cases[i].message) == NULL)
				fail_msg("%s: %s (%s)", argv[1], e.msg,
				    e.hint);
			continue;
		}
		assert_int_equal(rc, 0);
		assert_int_equal(ro.monitor, opt_cases[i].monitor);
		if (opt_cases[i].settings != NULL)
			assert_string_equal(ro.settings,
			    opt_cases[i].settings);
		if (argc > opt_cases[i].rest)
			assert_int_equal(rest, opt_cases[i].rest);
	}
}

/* ---- addrbook ---- */

static void
test_addrbook(void **state)
{
	struct addrbook *b = addrbook_new();
	uint32_t a1, a2, again;
	char name[32];
	unsigned n = 0;

	(void)state;
	assert_int_equal(addrbook_get(b, "allowed.test", true, &a1), 0);
	assert_int_equal(addrbook_get(b, "other.test", true, &a2), 0);
	assert_int_equal(addrbook_get(b, "allowed.test", true, &again), 0);
	assert_int_equal(a1, again);
	assert_int_not_equal(a1, a2);
	assert_string_equal(addrbook_name(b, a1), "allowed.test");
	assert_true(addrbook_is_fake(a1));
	assert_true(a1 >= 0xc6120100);		/* never 198.18.0.0/24 */
	assert_null(addrbook_name(b, 0xc6120001));
	assert_null(addrbook_name(b, 0x01020304));
	assert_false(addrbook_is_fake(0xc6140000));
	/* Full: an error, and the first name keeps its address. */
	do
		snprintf(name, sizeof name, "n%u.test", n++);
	while (n < 200000 && addrbook_get(b, name, false, &a2) == 0);
	assert_in_range(n, 60000, 140000);
	assert_int_equal(addrbook_get(b, "allowed.test", false, &again), 0);
	assert_int_equal(a1, again);
	/* Not for names that are spelled out, of which as many fit. */
	for (n = 0; n < 60000; n++) {
		snprintf(name, sizeof name, "reserved%u.test", n);
		assert_int_equal(addrbook_get(b, name, true, &a2), 0);
		assert_string_equal(addrbook_name(b, a2), name);
	}
	do
		snprintf(name, sizeof name, "reserved%u.test", n++);
	while (n < 200000 && addrbook_get(b, name, true, &a2) == 0);
	assert_in_range(n, 60000, 140000);
	assert_int_equal(addrbook_get(b, "new.test", true, &a2), -1);
	assert_int_equal(addrbook_get(b, "reserved1.test", true, &a2), 0);
	addrbook_free(b);
}

/* ---- dial ---- */

struct dialled {
	struct loop	*loop;
	int		 fd, sys;
};

static void
on_dialled(int fd, int sys, void *arg)
{
	struct dialled *d = arg;

	d->fd = fd;
	d->sys = sys;
	loop_stop(d->loop, 0);
}

static uint16_t
listener(int *fd)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };
	socklen_t len = sizeof sin;

	*fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	assert_int_equal(bind(*fd, (struct sockaddr *)&sin, len), 0);
	assert_int_equal(listen(*fd, 4), 0);
	getsockname(*fd, (struct sockaddr *)&sin, &len);
	return ntohs(sin.sin_port);
}

static void
test_dial(void **state)
{
	/* A dead v6 address first: the v4 one still answers. */
	const struct dial_addr addrs[] = {
		{ AF_INET6, { 0xff, 0xff } },
		{ AF_INET, { 127, 0, 0, 1 } },
	};
	struct dialled d = { .loop = loop_new(), .fd = -1 };
	int fd, at_once;
	uint16_t port = listener(&fd);

	(void)state;
	assert_non_null(dial_start(d.loop, addrs, 2, port, on_dialled, &d,
	    &at_once));
	assert_int_equal(at_once, -1);
	loop_run(d.loop);
	assert_true(d.fd >= 0);
	close(d.fd);
	/* Nothing to wait for: no callback. */
	d.fd = -1;
	assert_null(dial_start(d.loop, &addrs[1], 1, port, on_dialled, &d,
	    &at_once));
	assert_true(at_once >= 0);
	assert_true((fcntl(at_once, F_GETFL) & O_NONBLOCK) != 0);
	assert_int_equal(d.fd, -1);
	close(at_once);
	close(fd);
	/* A failure comes by the loop, be it ever so quick. */
	assert_non_null(dial_start(d.loop, &addrs[1], 1, port, on_dialled,
	    &d, &at_once));
	assert_int_equal(at_once, -1);
	assert_int_equal(d.sys, 0);
	loop_run(d.loop);
	assert_int_equal(d.fd, -1);
	assert_int_equal(d.sys, ECONNREFUSED);
	assert_true(dial_is_own(&addrs[1]));
	assert_false(dial_is_own(&(struct dial_addr){ AF_INET,
	    { 192, 0, 2, 77 } }));
	loop_free(d.loop);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_env),
		cmocka_unit_test(test_env_layers),
		cmocka_unit_test(test_env_reflogs),
		cmocka_unit_test(test_opt),
		cmocka_unit_test(test_addrbook),
		cmocka_unit_test(test_dial),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
