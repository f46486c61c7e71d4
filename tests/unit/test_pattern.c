/* policy/pattern, policy/glob: what an entry means, and what it does not. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "platform/base/arena.h"
#include "policy/glob.h"
#include "policy/pattern.h"

#define N_OF(a)		(sizeof (a) / sizeof *(a))

static char *const environ_of_test[] = {
	"EMPTY=", "DIR=/opt/d", "REL=sub", "WILD=/w/[x]*", "D=/d", NULL
};
static const struct policy_env env = {
	.workspace = "/ws", .home = "/home/u", .environ = environ_of_test,
};

static void
domain_matches(void **state)
{
	static const struct { const char *pattern, *host; bool want; }
	    cases[] = {
		{ "example.com", "example.com", true },
		{ "Example.COM", "example.com", true },
		{ "example.com", "www.example.com", false },
		{ "example.com", "example.com.evil.org", false },
		{ "example.com", "xexample.com", false },
		{ "*.example.com", "a.example.com", true },
		{ "*.example.com", "a.b.example.com", true },
		{ "*.example.com", "example.com", false },
		{ "*.example.com", "aexample.com", false },
		{ "*.example.com", "evilexample.com", false },
		{ "*.example.com", "a.example.com.evil.org", false },
		{ "*.EXAMPLE.com", "a.example.com", true },
		{ "api.example.com", "api.example.com", true },
		{ "*.api.example.com", "v1.api.example.com", true },
		{ "*.api.example.com", "api.example.com", false },
		{ "*.example.com", "other.test", false },
		{ "localhost", "localhost", true },
		{ "localhost", "localhost.test", false },
		{ "example", "example", true },	/* a single label */
		{ "*", "anything", true }, { "*", "1.2.3.4", true },
		{ "*", "::1", true },
		{ "redis", "redis", true }, { "redis", "redis.x", false },
		{ "127.0.0.1", "2130706433", true },
		{ "127.0.0.1", "::ffff:127.0.0.1", true },
		{ "127.0.0.1", "0x7f.1", true },
		{ "127.0.0.1", "127.0.0.2", false },
		{ "::1", "[0::1]", true }, { "[::1]", "::1", true },
		{ "::1", "::2", false }, { "::1", "0.0.0.1", false },
		{ "2001:db8::1", "2001:DB8:0::1", true },
		{ "10.0.0.0/8", "10.255.0.1", true },
		{ "10.0.0.0/8", "11.0.0.1", false },
		{ "10.0.0.0/8", "::ffff:10.1.2.3", true },
		{ "10.0.0.0/8", "a.test", false },
		{ "0.0.0.0/0", "1.2.3.4", true },
		{ "0.0.0.0/0", "::1", false },
		{ "192.168.4.0/23", "192.168.5.9", true },
		{ "192.168.4.0/23", "192.168.6.0", false },
		{ "1.2.3.4/32", "1.2.3.4", true },
		{ "1.2.3.4/32", "1.2.3.5", false },
		{ "2001:db8::/32", "2001:db8:1::1", true },
		{ "2001:db8::/32", "2001:db9::1", false },
		{ "[fd00::/8]:22", "fd12::1", true },
		{ "::1/128", "::1", true },
		{ "b\xc3\xbc" "cher.de", "xn--bcher-kva.de", true },
		{ "B\xc3\x9c" "CHER.de", "xn--bcher-kva.de", true },
		{ "*.b\xc3\xbc" "cher.de", "a.xn--bcher-kva.de", true },
		{ "*.b\xc3\xbc" "cher.de", "xn--bcher-kva.de", false },
		{ "xn--bcher-kva.de", "xn--bcher-kva.de", true },
		/* The last dot of a host is no part of its name. */
		{ "example.com", "example.com.", true },
		{ "*.example.com", "A.Example.COM.", true },
		{ "*.example.com", "example.com.", false },
		{ "example.com", "example.com.evil.org.", false },
		{ "example.com", "com", false },
		{ "example.com", "example-com", false },
		{ "*.example.com", "com", false },
		{ "*.example.com", "a.xexample.com", false },
		{ "*.example.com", "x.example.com.", true },
		{ "localhost", "LocalHost.", true },
		{ "localhost", "127.0.0.1", false },
		{ "localhost", "::1", false },
		{ "localhost", "a.localhost", false },
		/* An entry may be spelt otherwise, too. */
		{ "127.1", "127.0.0.1", true },
		{ "0x7f000001", "127.0.0.1", true },
		{ "2130706433", "0177.1", true },
		{ "[::ffff:169.254.169.254]", "169.254.169.254", true },
		{ "169.254.169.254", "::ffff:a9fe:a9fe", true },
		{ "169.254.169.254", "2852039166", true },
		{ "169.254.169.254", "0251.0376.0251.0376", true },
		{ "169.254.169.254", "0xa9fea9fe", true },
		{ "169.254.169.254", "169.254.43518", true },
		{ "169.254.169.254", "169.254.169.254.", true },
		{ "169.254.169.254", "169.254.169.254.nip.io", false },
		{ "169.254.0.0/16", "2852039166", true },
		{ "10.0.0.0/8", "012.1.2.3", true },
		{ "10.0.0.0/8", "0xb000000", false },
		{ "127.0.0.0/8", "::1", false },
		{ "::/0", "1.2.3.4", false },
		{ "::/0", "::ffff:1.2.3.4", false },
		{ "fe80::/10", "febf::1", true },
		{ "fe80::/10", "fec0::1", false },
	};
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct pattern *p;
		struct err e;
		struct host h;

		if (pattern_domain(a, cases[i].pattern, &p, &e) != 0)
			fail_msg("%s: %s", cases[i].pattern, e.msg);
		assert_int_equal(host_canon(cases[i].host,
		    strlen(cases[i].host), &h), 0);
		if (pattern_match_host(p, &h) != cases[i].want)
			fail_msg("%s against %s", cases[i].pattern,
			    cases[i].host);
	}
	arena_free(a);
}

static void
domain_refusals(void **state)
{
	static const struct { const char *text, *msg, *hint; } cases[] = {
		{ "", "is not a domain pattern", "" },
		{ "*.", "'*.' is not a domain pattern", "every subdomain" },
		{ "a*b", "is not a domain pattern", "every subdomain" },
		{ "**", "is not a domain pattern", "" },
		{ "**.example.com", "is not a domain pattern", "" },
		{ "*.*.com", "is not a domain pattern", "" },
		{ "a.*.com", "is not a domain pattern", "" },
		{ "*example.com", "is not a domain pattern", "" },
		{ "*.a..b", "is not a domain pattern", "" },
		{ "*.a.b.", "is not a domain pattern", "" },
		{ "*.1.2.3.4", "is not a domain pattern", "" },
		{ "*.com", "too broad", "needs a dot" },
		{ "example.*.com", "is not a domain pattern", "" },
		{ "example.com.*", "is not a domain pattern", "" },
		{ ".example.com", "is not a domain pattern",
		  "'*.example.com'" },
		{ "example.com.", "is not a domain pattern", "last dot" },
		{ "https://example.com", "has a protocol", "" },
		{ "example.com/path", "has a path", "" },
		{ "a..b.com", "is not a domain pattern", "" },
		{ "http://x", "has a protocol", "host alone" },
		{ "x/y", "has a path", "host alone" },
		{ "x/8", "has a path", "" },
		{ ".x", "is not a domain pattern", "'*.x'" },
		{ "x.", "is not a domain pattern", "last dot" },
		{ "1.2.3.4.", "is not a domain pattern", "last dot" },
		{ "a..b", "is not a domain pattern", "" },
		{ "..", "is not a domain pattern", "" },
		{ "x:", "has no port", "every port" },
		{ "x:*", "has no port", "" },
		{ "x:0", "has no port", "" },
		{ "x:65536", "has no port", "" },
		{ "x:080", "has no port", "" },
		{ "x:+80", "has no port", "" },
		{ "x:http", "has no port", "" },
		{ "[::1]:", "has no port", "" },
		{ "[::1]443", "is not a domain pattern", "" },
		{ "[::1", "is not a domain pattern", "" },
		{ "[1.2.3.4]:80", "is not a domain pattern", "" },
		{ "[x]:80", "is not a domain pattern", "" },
		{ ":443", "is not a domain pattern", "" },
		{ "x.:443", "is not a domain pattern", "" },
		{ "10.0.0.0/33", "is not an address range", "0 to 32" },
		{ "10.0.0.0/", "is not an address range", "" },
		{ "10.0.0.0/08", "is not an address range", "" },
		{ "::/129", "is not an address range", "0 to 128" },
		{ "10.1.2.3/8", "first address", "'10.0.0.0/8'" },
		{ "fd00::1/8", "first address", "'fd00::/8'" },
		{ "x:80/8", "has a path", "" },
		{ "!x.y", "is not a domain pattern", "" },
		{ "\xef\xbc\x91.2.3.4", "is not a domain pattern", "" },
		{ "\xff.de", "is not a domain pattern", "" },
		{ "a\xe2\x80\xa8" ".de", "is not a domain pattern", "" },
		{ " x.y", "is not a domain pattern", "" },
		{ "1.2.3.256", "is not a domain pattern", "" },
		{ "fe80::1%eth0", "is not a domain pattern", "" },
		{ "*.example.com.", "is not a domain pattern", "" },
		{ "*..example.com", "is not a domain pattern", "" },
		{ "*.:443", "is not a domain pattern", "" },
		{ "*.com:443", "too broad", "" },
		{ "*.localhost", "too broad", "" },
		{ "*.[::1]", "is not a domain pattern", "" },
		{ "*.127.1", "is not a domain pattern", "" },
		{ "example.*", "is not a domain pattern", "" },
		{ "?.example.com", "is not a domain pattern", "" },
		{ ".", "is not a domain pattern", "" },
		{ "...", "is not a domain pattern", "" },
		{ "x..", "is not a domain pattern", "" },
		{ "u@x.y", "is not a domain pattern", "" },
		{ "0400.1", "is not a domain pattern", "" },
		{ "08", "is not a domain pattern", "" },
		{ "127.1.", "is not a domain pattern", "last dot" },
		{ "::ffff:10.0.0.0/104", "is not an address range", "" },
	};
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct pattern *p;
		struct err e = { 0 };

		if (pattern_domain(a, cases[i].text, &p, &e) == 0)
			fail_msg("%s accepted", cases[i].text);
		if (strstr(e.msg, cases[i].msg) == NULL ||
		    strstr(e.hint, cases[i].hint) == NULL)
			fail_msg("%s: %s (%s)", cases[i].text, e.msg, e.hint);
		assert_int_equal(e.code, ERR_POLICY);
	}
	arena_free(a);
}

static void
path_meanings(void **state)
{
	static const struct { const char *text; enum pattern_kind kind;
	    const char *want; } cases[] = {
		{ ".", PATTERN_PATH, "/ws" },
		{ "./", PATTERN_PATH, "/ws" },
		{ "src", PATTERN_PATH, "/ws/src" },
		{ "./a//b/./c/", PATTERN_PATH, "/ws/a/b/c" },
		{ "../x", PATTERN_PATH, "/x" },
		{ "../../../x", PATTERN_PATH, "/x" },
		{ "/", PATTERN_PATH, "/" },
		{ "//a/../b", PATTERN_PATH, "/b" },
		{ "~", PATTERN_PATH, "/home/u" },
		{ "~/.ssh", PATTERN_PATH, "/home/u/.ssh" },
		{ "a~", PATTERN_PATH, "/ws/a~" },
		{ "\\~", PATTERN_PATH, "/ws/~" },
		{ "$DIR", PATTERN_PATH, "/opt/d" },
		{ "$DIR/x", PATTERN_PATH, "/opt/d/x" },
		{ "${DIR}x", PATTERN_PATH, "/opt/dx" },
		{ "$D/x", PATTERN_PATH, "/d/x" },
		{ "$REL/x", PATTERN_PATH, "/ws/sub/x" },
		{ "a/$REL", PATTERN_PATH, "/ws/a/sub" },
		{ "\\$DIR", PATTERN_PATH, "/ws/$DIR" },
		{ "$WILD", PATTERN_PATH, "/w/[x]*" },	/* taken literally */
		{ "$WILD/*", PATTERN_GLOB, "/w/\\[x]\\*/*" },
		{ "/a/**", PATTERN_PATH, "/a" },
		{ "**", PATTERN_PATH, "/ws" },
		{ "/**", PATTERN_PATH, "/" },
		{ "/a/**/**", PATTERN_PATH, "/a" },
		{ "*.key", PATTERN_GLOB, "/ws/*.key" },
		{ "**/.env", PATTERN_GLOB, "/ws/**/.env" },
		{ "**/.env/**", PATTERN_GLOB, "/ws/**/.env" },
		{ "~/*", PATTERN_GLOB, "/home/u/*" },
		{ "a\\*b", PATTERN_PATH, "/ws/a*b" },
		{ "a\\\\b", PATTERN_PATH, "/ws/a\\b" },
		{ "a\\[b*", PATTERN_GLOB, "/ws/a\\[b*" },
		{ "a]b", PATTERN_PATH, "/ws/a]b" },
		{ "{a}", PATTERN_PATH, "/ws/a" },
		{ "\\{a,b\\}", PATTERN_PATH, "/ws/{a,b}" },
		{ "a,b}", PATTERN_PATH, "/ws/a,b}" },
		{ "!x", PATTERN_PATH, "/ws/!x" },
		{ "~/", PATTERN_PATH, "/home/u" },
		{ "~/../v", PATTERN_PATH, "/home/v" },
		{ "./~", PATTERN_PATH, "/ws/~" },
		{ "..", PATTERN_PATH, "/" }, { "...", PATTERN_PATH, "/ws/..." },
		{ "..a/b..", PATTERN_PATH, "/ws/..a/b.." },
		{ "/a/", PATTERN_PATH, "/a" },
		{ "/a/**/", PATTERN_PATH, "/a" },
		{ "/app/\\[id]", PATTERN_PATH, "/app/[id]" },
		{ "/app/\\[id\\]/*", PATTERN_GLOB, "/app/\\[id\\]/*" },
		{ "src/*.o", PATTERN_GLOB, "/ws/src/*.o" },
		{ "~/x/**/y.txt", PATTERN_GLOB, "/home/u/x/**/y.txt" },
		{ "src/**/*.c", PATTERN_GLOB, "/ws/src/**/*.c" },
		/* Several: where they all are. */
		{ "{a,b}", PATTERN_GLOB, "/ws/**" },
		{ "/x/{a,b}/c", PATTERN_GLOB, "/x/**" },
		/* "/x/a?" is no child of "/x/a". */
		{ "/x/a{/?,?}", PATTERN_GLOB, "/x/**" },
		{ "/x/y{,/z}", PATTERN_GLOB, "/x/**" },
		{ "{/x/a,/y}", PATTERN_GLOB, "/**" },
		{ "/x/[a]*/{b,c}", PATTERN_GLOB, "/x/**" },
	};
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct pattern *p;
		struct err e;

		if (pattern_path(a, cases[i].text, &env, &p, &e) != 0)
			fail_msg("%s: %s", cases[i].text, e.msg);
		assert_string_equal(p->text, cases[i].want);
		assert_int_equal(p->kind, cases[i].kind);
	}
	arena_free(a);
}

static void
path_refusals(void **state)
{
	static const struct { const char *text, *msg; } cases[] = {
		{ "", "empty string" },
		{ "~root", "another user's home" },
		{ "~root/x", "another user's home" },
		{ "$UNSET/x", "variable 'UNSET' is not set" },
		{ "${UNSET}", "variable 'UNSET' is not set" },
		{ "$EMPTY/x", "variable 'EMPTY' is not set" },
		{ "$DI", "variable 'DI' is not set" },
		{ "$DIRX", "variable 'DIRX' is not set" },
		{ "a$", "'$' without" }, { "$/x", "'$' without" },
		{ "$1", "'$' without" }, { "${DIR", "'$' without" },
		{ "${}", "'$' without" }, { "${D-x}", "'$' without" },
		{ "a\\", "backslash" }, { "a\\/b", "backslash" },
		{ "[a", "'[' without" }, { "x[a/b]", "'[' without" },
		{ "[]", "'[' without" }, { "[!]", "'[' without" },
		{ "[[:alpha:]]", "character classes" },
		{ "a**", "'**' stands alone" },
		{ "**.c", "'**' stands alone" },
		{ "x/***", "'**' stands alone" },
		{ "*/../x", "'..' behind a wildcard" },
		{ "**/..", "'..' behind a wildcard" },
		{ "{a,b", "'{' without" }, { "a{b{c}", "'{' without" },
		{ "[{]", "'{' without" },
		{ "{a,*}/..", "'..' behind a wildcard" },
		{ "{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}{a,b}", "more than 64" },
	};
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct pattern *p;
		struct err e = { 0 };

		if (pattern_path(a, cases[i].text, &env, &p, &e) == 0)
			fail_msg("%s accepted as %s", cases[i].text, p->text);
		if (strstr(e.msg, cases[i].msg) == NULL)
			fail_msg("%s: %s", cases[i].text, e.msg);
	}
	arena_free(a);
}

static void
ports(void **state)
{
	static const struct { const char *text; unsigned port; } cases[] = {
		{ "x.y", 0 }, { "x.y:443", 443 }, { "example.com:443", 443 },
		{ "*:1", 1 },
		{ "*.x.y:65535", 65535 }, { "1.2.3.4:22", 22 },
		{ "10.0.0.0/8:22", 22 }, { "[::1]:443", 443 },
		{ "[::1]", 0 }, { "::1", 0 }, { "[fd00::/8]:22", 22 },
		{ "fd00::/8", 0 },
	};
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct pattern *p;
		struct err e;

		if (pattern_domain(a, cases[i].text, &p, &e) != 0)
			fail_msg("%s: %s", cases[i].text, e.msg);
		assert_int_equal(p->port, cases[i].port);
	}
	arena_free(a);
}

static void
braces(void **state)
{
	static const struct { const char *text, *path; size_t want; }
	    cases[] = {
		{ "{a,b}", "/ws/a", 5 }, { "{a,b}", "/ws/b/c", 5 },
		{ "{a,b}", "/ws/c", 0 }, { "{a,b}", "/ws", 0 },
		{ "{a,b}", "/ws/{a,b}", 0 },
		{ "x{,/y}", "/ws/x/y/z", 7 }, { "x{,/y}", "/ws/x/q", 5 },
		{ "**/*.{key,pem}", "/ws/d/k.pem", 11 },
		{ "**/*.{key,pem}", "/ws/d/k.pe", 0 },
		{ "{a,b{c,d}}", "/ws/bd", 6 }, { "{a,b{c,d}}", "/ws/b", 0 },
		{ "{a\\,b,c}", "/ws/a,b", 7 }, { "{a\\,b,c}", "/ws/b", 0 },
		{ "/{x,y}/**/n", "/y/p/q/n", 8 },
		{ "$DIR/{a,b}", "/opt/d/b", 8 },
	};
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct pattern *p;
		struct err e;

		if (pattern_path(a, cases[i].text, &env, &p, &e) != 0)
			fail_msg("%s: %s", cases[i].text, e.msg);
		if (pattern_match_path(p, cases[i].path) != cases[i].want)
			fail_msg("%s against %s", cases[i].text,
			    cases[i].path);
		/* Whoever walks for it begins where all of them are. */
		if (p->nalts != 0 && cases[i].want != 0)
			assert_true(glob_match(p->text, cases[i].path) != 0 ||
			    strcmp(p->text, "/**") == 0);
	}
	arena_free(a);
}

static void
path_without_a_home(void **state)
{
	struct policy_env bare = { .workspace = "/ws" };
	struct arena *a = arena_new();
	const struct pattern *p;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(pattern_path(a, "~/x", &bare, &p, &e), -1);
	assert_non_null(strstr(e.msg, "home directory"));
	assert_int_equal(pattern_path(a, "$HOME", &bare, &p, &e), -1);
	arena_free(a);
}

/* A denial means both homes, whatever else is in it. */
static void
denial_of_two_homes(void **state)
{
	static const struct { const char *text, *path; bool is_grant,
	    is_denial; } cases[] = {
		{ "~/.ssh", "/home/u/.ssh/id", true, true },
		{ "~/.ssh", "/root/.ssh/id", false, true },
		{ "~", "/root/x", false, true },
		{ "~/*.{key,pem}", "/root/a.pem", false, true },
		{ "~/*.{key,pem}", "/home/u/a.key", true, true },
		{ "~/*.{key,pem}", "/root/a.txt", false, false },
		{ "/root/x", "/root/x", true, true },
		{ "x", "/root/x", false, false },
	};
	struct policy_env two = env;
	struct arena *a = arena_new();
	const struct pattern *p;
	struct err e = { 0 };

	(void)state;
	two.other_home = "/root";
	for (size_t i = 0; i < N_OF(cases); i++) {
		assert_int_equal(pattern_path(a, cases[i].text, &two, &p, &e),
		    0);
		assert_int_equal(pattern_match_path(p, cases[i].path) != 0,
		    cases[i].is_grant);
		assert_int_equal(pattern_denial(a, cases[i].text, &two, &p,
		    &e), 0);
		assert_int_equal(pattern_match_path(p, cases[i].path) != 0,
		    cases[i].is_denial);
	}
	assert_int_equal(pattern_denial(a, "~/[", &two, &p, &e), -1);
	arena_free(a);
}

static void
path_matches(void **state)
{
	static const struct { const char *pattern, *path; size_t want; }
	    cases[] = {
		{ "/ws", "/ws", 3 }, { "/ws", "/ws/a/b", 3 },
		{ "/ws", "/wsx", 0 }, { "/ws", "/w", 0 }, { "/ws", "/", 0 },
		{ "/", "/", 1 }, { "/", "/a", 1 },
		{ "*.key", "/ws/a.key", 9 }, { "*.key", "/ws/a.key/b", 9 },
		{ "*.key", "/ws/.key", 8 }, { "*.key", "/ws/a.keys", 0 },
		{ "*.key", "/ws/d/a.key", 0 }, { "*.key", "/ws", 0 },
		{ "**/.env", "/ws/.env", 8 }, { "**/.env", "/ws/a/b/.env", 12 },
		{ "**/.env", "/ws/a.env", 0 }, { "**/.env", "/other/.env", 0 },
		{ "**/.env", "/ws/.env/x/.env/y", 15 },	/* the deepest */
		{ "/a/**/b", "/a/b", 4 }, { "/a/**/b", "/a/x/y/b", 8 },
		{ "/a/**/b/*.c", "/a/b/b/b/x.c", 12 },
		{ "/a/**/b/*.c", "/a/b/x.h", 0 },
		{ "/**/x", "/x", 2 }, { "/a/*/c", "/a/c", 0 },
		{ "/a/*/c", "/a/b/c", 6 }, { "/a/*/c", "/a/b/b/c", 0 },
		{ "/a?c", "/abc", 4 }, { "/a?c", "/ac", 0 },
		{ "/a?c", "/a/c", 0 }, { "/a?c", "/a\xc3\xa9" "c", 5 },
		{ "/a?c", "/a\xff" "c", 4 },
		{ "/[a-c]x", "/bx", 3 }, { "/[a-c]x", "/dx", 0 },
		{ "/[!a-c]x", "/dx", 3 }, { "/[^a-c]x", "/ax", 0 },
		{ "/[]]x", "/]x", 3 }, { "/[a-]x", "/-x", 3 },
		{ "/[\\]a]x", "/]x", 3 }, { "/[!a]", "/a/b", 0 },
		{ "/\\**", "/*x", 3 }, { "/\\**", "/xx", 0 },
		{ "/a*b*c", "/axxbyybzzc", 11 }, { "/a*b*c", "/axxbyy", 0 },
		{ "/*", "/", 0 }, { "/*", "/x/y", 2 },
		{ "/a*", "/a", 2 }, { "/*a", "/aaa", 4 },
		{ "/a/**/b", "/a", 0 }, { "/a/**/b", "/a/x", 0 },
		{ "/a/**/b", "/ax/b", 0 }, { "/a/**/b", "/x/a/b", 0 },
		{ "/a/**/b", "/a/xb", 0 }, { "/a/**/b", "/a/x/bx", 0 },
		{ "/a/**/b", "/a/x/b/y", 6 },
		{ "/w/**/*.log", "/w/run.log", 10 },
		{ "/w/**/*.log", "/w/a/b/run.log", 14 },
		{ "/w/**/*.log", "/w/run.txt", 0 },
		{ "/w/**/*.log", "/wx/run.log", 0 },
		{ "~/x/**/y.txt", "/home/u/x/a/b/y.txt", 19 },
		{ "~/x/**/y.txt", "/home/u/y.txt", 0 },
		{ "src/**/*.c", "/ws/src/a.c", 11 },
		{ "src/**/*.c", "/ws/a.c", 0 },
		{ "src/*.o", "/ws/src/d/a.o", 0 },
		{ "**/.env/**", "/ws/a/.env", 10 },
		{ "**/.env/**", "/ws/a/.env/b", 10 },
		{ "**/.env", "/wsx/.env", 0 }, { "**/.env", "/.env", 0 },
		{ "/ws/", "/wsx", 0 }, { "/ws/**", "/ws", 3 },
		{ "/ws/**", "/wsx", 0 }, { "/ws/*", "/ws", 0 },
		{ "/app/\\[id]", "/app/[id]/x", 9 },
		{ "/app/\\[id]", "/app/i", 0 },
		{ "/app/[id]", "/app/i", 6 }, { "/app/[id]", "/app/[id]", 0 },
		{ "/app/\\[*", "/app/[id]", 9 }, { "/app/\\[*", "/app/id", 0 },
	};
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		const struct pattern *p;
		struct err e;
		size_t got;

		if (pattern_path(a, cases[i].pattern, &env, &p, &e) != 0)
			fail_msg("%s: %s", cases[i].pattern, e.msg);
		got = pattern_match_path(p, cases[i].path);
		if (got != cases[i].want)
			fail_msg("%s against %s: %zu", cases[i].pattern,
			    cases[i].path, got);
	}
	arena_free(a);
}

/* Would take longer than the universe with naive backtracking. */
static void
worst_cases_end(void **state)
{
	char glob[4000], path[4001];
	size_t n = 0;

	(void)state;
	glob[n++] = '/';
	for (int i = 0; i < 100; i++)
		n += (size_t)snprintf(glob + n, sizeof glob - n, "a*");
	snprintf(glob + n, sizeof glob - n, "b");
	memset(path, 'a', sizeof path);
	path[0] = '/';
	path[255] = '\0';
	assert_int_equal(glob_match(glob, path), 0);
	path[254] = 'b';
	assert_int_equal(glob_match(glob, path), 255);

	n = 0;
	for (int i = 0; i < 400; i++)
		n += (size_t)snprintf(glob + n, sizeof glob - n, "/**/a");
	snprintf(glob + n, sizeof glob - n, "/b");
	for (size_t i = 0; i + 1 < sizeof path; i += 2)
		memcpy(path + i, "/a", 2);
	path[4000] = '\0';
	assert_int_equal(glob_match(glob, path), 0);

	n = 0;
	for (int i = 0; i < 1300; i++)
		n += (size_t)snprintf(glob + n, sizeof glob - n, "/**");
	snprintf(glob + n, sizeof glob - n, "/b");
	assert_int_equal(glob_match(glob, path), 0);
	assert_int_equal(glob_match(glob, "/a/b"), 4);
	assert_int_equal(glob_match(glob, "/b/a"), 2);
}

/* As long as an entry may be, and one byte more. */
static void
length_limits(void **state)
{
	struct arena *a = arena_new();
	const struct pattern *p;
	struct err e = { 0 };
	char *big = malloc(100001);

	(void)state;
	assert_non_null(big);
	memset(big, 'a', 100000);
	big[0] = '/';
	big[100000] = '\0';
	assert_int_equal(pattern_path(a, big, &env, &p, &e), -1);
	assert_string_equal(e.msg, "path is too long");
	assert_int_equal(pattern_domain(a, big + 1, &p, &e), -1);
	assert_null(pattern_clean_path(a, "/ws", big));
	big[4096] = '\0';
	assert_int_equal(pattern_path(a, big, &env, &p, &e), -1);
	big[4095] = '\0';
	assert_int_equal(pattern_path(a, big, &env, &p, &e), 0);
	assert_int_equal(strlen(p->text), 4095);
	free(big);
	arena_free(a);
}

static void
clean_paths(void **state)
{
	static const struct { const char *base, *path, *want; } cases[] = {
		{ "/ws", "a", "/ws/a" }, { "/ws", "/a", "/a" },
		{ "/ws", "../..", "/" }, { "/ws", ".", "/ws" },
		{ "/", "a//b/", "/a/b" }, { "/ws", "a/../../b", "/b" },
		{ "/w*s", "x/../y", "/w*s/y" },	/* no glob here */
		{ "/ws", "a[b\\", "/ws/a[b\\" },
	};
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++)
		assert_string_equal(pattern_clean_path(a, cases[i].base,
		    cases[i].path), cases[i].want);
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(domain_matches),
		cmocka_unit_test(domain_refusals),
		cmocka_unit_test(path_meanings),
		cmocka_unit_test(path_refusals),
		cmocka_unit_test(ports),
		cmocka_unit_test(braces),
		cmocka_unit_test(path_without_a_home),
		cmocka_unit_test(denial_of_two_homes),
		cmocka_unit_test(path_matches),
		cmocka_unit_test(worst_cases_end),
		cmocka_unit_test(length_limits),
		cmocka_unit_test(clean_paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
