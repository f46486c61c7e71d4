#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "launcher/gate/proxy_error.h"
#include "launcher/plan/noproxy.h"
#include "launcher/plan/via.h"
#include "proxy/upstream.h"
#include "tests/unit/verdict_words.h"

#define N_OF(a)	(sizeof(a) / sizeof(a)[0])

static struct host
host(const char *text)
{
	struct host h;

	assert_int_equal(host_canon(text, strlen(text), &h), 0);
	return h;
}

static void
urls(void **state)
{
	static const struct {
		const char	*text, *why;	/* NULL: it is one */
		int		 kind;
		const char	*host;
		int		 port;
		const char	*user, *password;	/* NULL: none */
	} t[] = {
		{ "http://p.test:3128", NULL, PROXYURL_HTTP, "p.test", 3128,
		  NULL, NULL },
		{ "HTTP://P.Test/", NULL, PROXYURL_HTTP, "p.test", 80, NULL,
		  NULL },
		{ "socks5://127.0.0.1", NULL, PROXYURL_SOCKS5, "127.0.0.1",
		  1080, NULL, NULL },
		{ "socks5h://[::1]:9/", NULL, PROXYURL_SOCKS5, "::1", 9, NULL,
		  NULL },
		{ "http://u:p@h:1", NULL, PROXYURL_HTTP, "h", 1, "u", "p" },
		{ "http://u@h:1", NULL, PROXYURL_HTTP, "h", 1, "u", "" },
		{ "http://u%40x:p%3a%2F%25@h:1", NULL, PROXYURL_HTTP, "h", 1,
		  "u@x", "p:/%" },
		{ "http://u:p@w:x@h:1", NULL, PROXYURL_HTTP, "h", 1, "u",
		  "p@w:x" },
		{ "http://u:p/w@h", NULL, PROXYURL_HTTP, "h", 80, "u", "p/w" },
		{ "h:1", NULL, PROXYURL_HTTP, "h", 1, NULL, NULL },
		{ "u:p@h", NULL, PROXYURL_HTTP, "h", 80, "u", "p" },
#define BAD(text, why)	{ text, why, 0, NULL, 0, NULL, NULL }
		BAD("https://h", "scheme"),
		BAD("socks4://h", "scheme"),
		BAD("://h", "scheme"),
		BAD("http://", "URL"),
		BAD("http:///", "URL"),
		BAD("", "URL"),
		BAD("http://h:0", "URL"),
		BAD("http://h:65536", "URL"),
		BAD("http://h:", "URL"),
		BAD("http://h:1x", "URL"),
		BAD("http://h:1/path", "URL"),
		BAD("http://h/x", "URL"),
		BAD("http://[::1", "URL"),
		BAD("http://[::1]x", "URL"),
		BAD("http://a b", "URL"),
		BAD("http://h\r\nX: y", "URL"),
		BAD("http://@h", "password"),
		BAD("http://:p@h", "password"),
		BAD("http://u%0d%0a:p@h", "password"),
		BAD("http://u:%00@h", "password"),
		BAD("http://u:%4@h", "password"),
		BAD("http://u:%zz@h", "password"),
		BAD("http://u%3ax:p@h", "password"),
	};
	struct proxyurl u;
	char text[600];

	(void)state;
	for (size_t i = 0; i < N_OF(t); i++) {
		const char *why = proxyurl_parse(t[i].text, false, &u);

		if ((why == NULL) != (t[i].why == NULL) ||
		    (why != NULL && strstr(why, t[i].why) == NULL))
			fail_msg("'%s': %s", t[i].text,
			    why != NULL ? why : "is one");
		if (why != NULL)
			continue;
		if ((int)u.kind != t[i].kind || u.port != t[i].port ||
		    strcmp(u.host.text, t[i].host) != 0 ||
		    u.has_login != (t[i].user != NULL) ||
		    strcmp(u.user, t[i].user != NULL ? t[i].user : "") != 0 ||
		    strcmp(u.password, t[i].user != NULL ? t[i].password :
		    "") != 0)
			fail_msg("'%s': %s:%u as '%s' '%s'", t[i].text,
			    u.host.text, u.port, u.user, u.password);
	}
	assert_non_null(proxyurl_parse("h:1", true, &u));
	memset(text, 'x', sizeof text);
	memcpy(text, "http://", 7);
	strcpy(text + 7 + 255, "@h");
	assert_null(proxyurl_parse(text, true, &u));
	text[7 + 255] = 'x';
	strcpy(text + 7 + 256, "@h");
	assert_non_null(proxyurl_parse(text, true, &u));
}

/* Whatever a text is, what stands before its last '@' is not seen. */
static void
hidden(void **state)
{
	static const char *const t[][2] = {
		{ "http://p:1", "http://p:1" }, { "auto", "auto" },
		{ "http://u:secret@p:1", "http://***@p:1" },
		{ "http://u:sec@ret@p:1", "http://***@p:1" },
		{ "u:secret@p:1", "***@p:1" },
		{ "ftp://u:secret@", "ftp://***@" },
		{ "u:secret@x://y", "***@x://y" },
	};
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < N_OF(t); i++)
		assert_string_equal(proxyurl_shown(a, t[i][0]), t[i][1]);
	arena_free(a);
}

static void
no_proxy(void **state)
{
	static const struct {
		const char	*list, *host;
		uint16_t	 port;
		bool		 has;
	} t[] = {
		{ "", "a.test", 80, false },
		{ "*", "a.test", 80, true }, { "*", "1.2.3.4", 80, true },
		{ "b.test,*", "a.test", 80, true },
		{ "a.test", "a.test", 80, true },
		{ "A.Test.", "a.test", 80, true },
		{ "a.test", "b.a.test", 80, true },
		{ "a.test", "ba.test", 80, false },
		{ "b.a.test", "a.test", 80, false },
		{ ".a.test", "b.a.test", 80, true },
		{ ".a.test", "a.test", 80, true },
		{ ".a.test", "ba.test", 80, false },
		{ "*.a.test", "b.a.test", 80, true },
		{ "*a.test", "ba.test", 80, false },
		{ "a.test:80", "a.test", 80, true },
		{ "a.test:80", "a.test", 443, false },
		{ ".a.test:80", "x.a.test", 80, true },
		{ "*:22", "a.test", 22, true }, { "*:22", "a.test", 23, false },
		{ "a.test:x", "a.test", 80, false },
		{ "a.test:", "a.test", 80, false },
		{ " x.test , \ta.test ", "a.test", 80, true },
		{ ",,,", "a.test", 80, false }, { "..", "a.test", 80, false },
		{ ".", "a.test", 80, false },
		{ "test", "a.test", 80, true },
		{ "1.2.3.4", "1.2.3.4", 80, true },
		{ "1.2.3.4", "1.2.3.5", 80, false },
		{ "1.2.3.4:80", "1.2.3.4", 443, false },
		{ "1.2.0.0/16", "1.2.3.4", 80, true },
		{ "1.2.0.0/16", "1.3.3.4", 80, false },
		{ "1.2.0.0/16", "a.test", 80, false },
		{ "0.0.0.0/0", "9.9.9.9", 80, true },
		{ "1.2.0.0/16:80", "1.2.3.4", 80, true },
		{ "1.2.0.0/33", "1.2.0.0", 80, false },
		{ "1.2.0.0/", "1.2.0.0", 80, false },
		{ "/16", "1.2.3.4", 80, false },
		{ "a.test/16", "a.test", 80, false },
		{ "::1", "::1", 80, true }, { "[::1]", "::1", 80, true },
		{ "[::1]:80", "::1", 80, true },
		{ "[::1]:80", "::1", 81, false },
		{ "[::1", "::1", 80, false }, { "[::1]x", "::1", 80, false },
		{ "2001:db8::/32", "2001:db8::5", 80, true },
		{ "2001:db8::/32", "2001:db9::5", 80, false },
		{ "2001:db8::/129", "2001:db8::", 80, false },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(t); i++) {
		struct host h = host(t[i].host);

		if (noproxy_has(t[i].list, &h, t[i].port) != t[i].has)
			fail_msg("'%s' and %s:%u", t[i].list, t[i].host,
			    t[i].port);
	}
}

static struct policy *
parse(const char *net)
{
	static const struct policy_env env = { .workspace = "/w",
	    .home = "/h" };
	struct policy *p;
	struct err e;
	char text[512];

	snprintf(text, sizeof text, "{\"network\":{%s}}", net);
	assert_int_equal(policy_parse(text, strlen(text), "F", &env, &p, &e),
	    0);
	return p;
}

/* By which proxy: its host, "-" for none. */
static void
picks(void **state)
{
	static const struct {
		const char	*net;
		const char	*env[5];
		const char	*host;
		uint16_t	 port;
		bool		 is_plain;
		const char	*proxy;
	} t[] = {
#define ENV(...)	{ __VA_ARGS__ }
		{ "", ENV(NULL), "a.test", 443, false, "-" },
		{ "", ENV("HTTPS_PROXY=http://s:1"), "a.test", 443, false,
		  "s" },
		{ "", ENV("HTTPS_PROXY=s:1"), "a.test", 22, false, "s" },
		{ "", ENV("HTTPS_PROXY=http://s:1"), "a.test", 80, false,
		  "-" },
		{ "", ENV("HTTP_PROXY=http://p:1"), "a.test", 443, false,
		  "-" },
		{ "", ENV("HTTP_PROXY=http://p:1"), "a.test", 80, false, "p" },
		{ "", ENV("HTTP_PROXY=http://p:1"), "a.test", 8080, true,
		  "p" },
		{ "", ENV("HTTP_PROXY=http://p:1", "http_proxy=http://l:1"),
		  "a.test", 80, false, "l" },
		{ "", ENV("HTTP_PROXY=http://p:1", "http_proxy="),
		  "a.test", 80, false, "p" },
		{ "", ENV("ALL_PROXY=socks5://all"), "a.test", 5432, false,
		  "all" },
		{ "", ENV("ALL_PROXY=socks5://all", "HTTPS_PROXY=http://s:1"),
		  "a.test", 443, false, "s" },
		{ "", ENV("ALL_PROXY=socks5h://all", "HTTPS_PROXY=http://s:1"),
		  "a.test", 80, false, "all" },
		{ "", ENV("HTTPS_PROXY=http://s:1", "NO_PROXY=a.test"),
		  "a.test", 443, false, "-" },
		{ "", ENV("HTTPS_PROXY=http://s:1", "no_proxy=.test"),
		  "a.test", 443, false, "-" },
		{ "", ENV("HTTPS_PROXY=http://s:1", "no_proxy=",
		  "NO_PROXY=10.0.0.0/8"), "10.1.2.3", 443, false, "-" },
		{ "", ENV("HTTPS_PROXY=http://s:1", "NO_PROXY=b.test"),
		  "a.test", 443, false, "s" },
		{ "", ENV("ALL_PROXY=http://s:1"), "localhost", 443, false,
		  "-" },
		{ "", ENV("ALL_PROXY=http://s:1"), "x.localhost", 443, false,
		  "-" },
		{ "", ENV("ALL_PROXY=http://s:1"), "127.9.9.9", 443, false,
		  "-" },
		{ "", ENV("ALL_PROXY=http://s:1"), "::1", 443, false, "-" },
		{ "", ENV("ALL_PROXY=http://s:1"), "10.0.0.1", 443, false,
		  "s" },
		{ "\"via\":\"auto\"", ENV("ALL_PROXY=http://s:1"), "a.test",
		  443, false, "s" },
		{ "\"via\":\"direct\"", ENV("ALL_PROXY=http://s:1"),
		  "a.test", 443, false, "-" },
		{ "\"via\":\"http://v:1\"", ENV("ALL_PROXY=http://s:1",
		  "NO_PROXY=*"), "a.test", 443, false, "v" },
		{ "\"via\":\"http://v:1\"", ENV(NULL), "a.test", 80, true,
		  "v" },
		{ "\"via\":\"http://v:1\"", ENV(NULL), "127.0.0.1", 80, true,
		  "-" },
	};
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < N_OF(t); i++) {
		struct policy *p = parse(t[i].net);
		struct host h = host(t[i].host);
		const struct via_proxy *got;
		struct via via;
		struct err e;

		assert_int_equal(via_make(a, p, (char *const *)t[i].env,
		    &via, &e), 0);
		got = via_pick(&via, &h, t[i].port, t[i].is_plain);
		if (strcmp(got != NULL ? got->url.host.text : "-",
		    t[i].proxy) != 0)
			fail_msg("row %zu: %s", i, got != NULL ? got->shown :
			    "-");
		policy_free(p);
	}
	arena_free(a);
}

/* A variable that cannot be followed is an error, and keeps its secret. */
static void
wrong_variables(void **state)
{
	static const char *const t[][2] = {
		{ "HTTPS_PROXY=https://u:secret@s:1", "$HTTPS_PROXY: "
		  "'https://***@s:1' has a scheme" },
		{ "http_proxy=http://", "$http_proxy: 'http://' is not" },
		{ "ALL_PROXY=socks4://s", "$ALL_PROXY: 'socks4://s' has" },
	};
	struct policy *p = parse("");
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < N_OF(t); i++) {
		const char *env[] = { t[i][0], NULL };
		struct via via;
		struct err e = { 0 };

		assert_int_equal(via_make(a, p, (char *const *)env, &via, &e),
		    -1);
		assert_int_equal(e.code, ERR_POLICY);
		if (strstr(e.msg, t[i][1]) != e.msg ||
		    strstr(e.msg, "secret") != NULL ||
		    strstr(e.hint, "network.via") == NULL)
			fail_msg("%s", e.msg);
	}
	arena_free(a);
	policy_free(p);
}

static void
printed(void **state)
{
	const char *env[] = { "HTTPS_PROXY=http://u:secret@s:1",
	    "http_proxy=http://u:secret@p", NULL };
	struct policy *p = parse("\"upstreamProxy\":"
	    "\"socks5://u:secret@[::1]:2\"");
	struct arena *a = arena_new();
	struct via via;
	struct buf b;
	struct err e;

	(void)state;
	buf_init(&b, 0);
	assert_int_equal(via_make(a, p, (char *const *)env, &via, &e), 0);
	via_print(&via, &b);
	assert_string_equal(b.data,
	    "via   plain HTTP: http://p:80  ($http_proxy)\n"
	    "via   http://s:1  ($HTTPS_PROXY)\n"
	    "rest  to socks5://[::1]:2  (F:1:29)\n");
	assert_string_equal(via.upstream->url.password, "secret");
	buf_release(&b);
	arena_free(a);
	policy_free(p);
}

static void
blamed(void **state)
{
#define LOGIN	"http://u:secret@p:1"
	static const struct {
		const char	*url;
		uint16_t	 port;
		struct ask_answer a;
		enum ask_status	 status;
		int		 sys;
		const char	*reason, *remedy;
	} t[] = {
		{ "http://p:1", 443, { .status = ASK_NOHOST },
		  ASK_PROXY_FAILED, 0, "http://p:1 does not resolve",
		  "(start the proxy, or set it to \"direct\")" },
		{ "http://p:1", 443, { .status = ASK_REFUSED,
		  .sys = ECONNREFUSED }, ASK_PROXY_FAILED, 0,
		  "cannot be reached", "(start the proxy" },
		{ "http://p:1", 443, { .status = ASK_REFUSED,
		  .sys = ETIMEDOUT }, ASK_PROXY_FAILED, 0, "does not answer",
		  "(start the proxy" },
		{ "http://p:1", 443, { .status = ASK_PROXY_FAILED,
		  .sys = ETIMEDOUT }, ASK_PROXY_FAILED, 0, "does not answer",
		  "(start the proxy" },
		{ "http://p:1", 443, { .status = ASK_PROXY_FAILED,
		  .sys = ECONNRESET }, ASK_PROXY_FAILED, 0,
		  "closed the connection", "(start the proxy" },
		{ "http://p:1", 443, { .status = ASK_FULL }, ASK_FULL, 0, NULL,
		  NULL },
#define SAID(w, c)	{ .status = ASK_PROXY_DENIED, .why = w, .code = c }
		{ "http://p:1", 443, SAID(UPSTREAM_LOGIN, 407),
		  ASK_PROXY_FAILED, 0, "http://p:1 wants a user and password",
		  "(USER:PASSWORD@ before the host in F)" },
		{ LOGIN, 443, SAID(UPSTREAM_LOGIN, 407), ASK_PROXY_FAILED, 0,
		  "http://p:1 does not take the user and password",
		  "(another USER:PASSWORD@ before the host in F)" },
		{ "http://p:1", 443, SAID(UPSTREAM_REFUSED, 403),
		  ASK_PROXY_DENIED, 0, "http://p:1 answered 403", "" },
		{ "http://p:1", 80, SAID(UPSTREAM_REFUSED, 403),
		  ASK_PROXY_DENIED, 0, "answered 403",
		  "(the proxy has to allow CONNECT to port 80)" },
		{ "http://p:1", 80, SAID(UPSTREAM_REFUSED, 503),
		  ASK_PROXY_FAILED, 0, "answered 503", "" },
		{ "http://p:1", 80, SAID(UPSTREAM_BAD, 0), ASK_PROXY_FAILED,
		  0, "http://p:1 is no http proxy",
		  "(name the right one in F)" },
		{ "socks5://p:1", 80, SAID(UPSTREAM_BAD, 0), ASK_PROXY_FAILED,
		  0, "socks5://p:1 is no socks5 proxy", "(name" },
		{ "socks5://p:1", 80, SAID(UPSTREAM_REFUSED, 2),
		  ASK_PROXY_DENIED, 0, "answered 2", "" },
		{ "socks5://p:1", 80, SAID(UPSTREAM_REFUSED, 1),
		  ASK_PROXY_FAILED, 0, "answered 1", "" },
		{ "socks5://p:1", 80, SAID(UPSTREAM_REFUSED, 4), ASK_REFUSED,
		  EHOSTUNREACH, NULL, NULL },
		{ "socks5://p:1", 80, SAID(UPSTREAM_REFUSED, 5), ASK_REFUSED,
		  ECONNREFUSED, NULL, NULL },
		{ "socks5://p:1", 80, SAID(UPSTREAM_REFUSED, 200),
		  ASK_PROXY_FAILED, 0, "answered 200", "" },
	};
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < N_OF(t); i++) {
		char net[100];
		struct policy *p;
		struct verdict v;
		struct via via;
		struct err e;
		int sys = 0;

		snprintf(net, sizeof net, "\"via\":\"%s\"", t[i].url);
		p = parse(net);
		assert_int_equal(via_make(a, p, (char *[]){ NULL }, &via, &e),
		    0);
		if (proxy_error(via.other, t[i].port, &t[i].a, &sys, &v) !=
		    t[i].status || sys != t[i].sys)
			fail_msg("row %zu: sys %d", i, sys);
		if (t[i].reason != NULL && (v.action != ACTION_DENY ||
		    strstr(v.reason, t[i].reason) == NULL ||
		    strstr(remedy_value_words(&v), t[i].remedy) == NULL ||
		    (t[i].remedy[0] == '\0') != (v.remedy.kind == REMEDY_NONE) ||
		    strcmp(rule_words(&v), "network.via") != 0 ||
		    strstr(v.reason, "secret") != NULL))
			fail_msg("row %zu: %s | %s", i, v.reason,
			    remedy_value_words(&v));
		policy_free(p);
	}
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(urls),
		cmocka_unit_test(hidden),
		cmocka_unit_test(no_proxy),
		cmocka_unit_test(picks),
		cmocka_unit_test(wrong_variables),
		cmocka_unit_test(printed),
		cmocka_unit_test(blamed),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
