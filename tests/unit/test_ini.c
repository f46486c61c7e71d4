/* policy/ini: what INI files say, and what is odd about them. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "platform/base/buf.h"
#include "policy/emit.h"
#include "policy/merge.h"
#include "policy/policy.h"

#define N_OF(a)		(sizeof (a) / sizeof *(a))

static const struct policy_env env = { .workspace = "/ws",
    .home = "/home/u" };

static int
parse(const char *text, size_t len, enum policy_format format,
    struct policy **ret, struct err *e)
{
	struct errlist *errs = calloc(1, sizeof *errs);
	int rv;

	assert_non_null(errs);
	rv = policy_parse_all(text, len, "F", format, &env, ret, errs);
	if (rv != 0)
		*e = errs->v[0];
	free(errs);
	return rv;
}

static struct policy *
must(const char *text, enum policy_format format)
{
	struct policy *p = NULL;
	struct err e;

	if (parse(text, strlen(text), format, &p, &e) != 0)
		fail_msg("%s\n%s: %s: %s", text, e.where, e.key, e.msg);
	return p;
}

static void
means_the_same(void **state)
{
	static const struct { const char *ini, *json; } cases[] = {
		{ "[network]", "{}" },
		{ "; c\n# d\n\n[network]\n", "{}" },
		{ "[network]\nallowedDomains = a.b\nallowedDomains=c.d:443\n",
		  "{\"network\":{\"allowedDomains\":[\"a.b\",\"c.d:443\"]}}" },
		{ "[network]\nallowedDomains =\n  a.b\n\t*.c.d ; why\n"
		  "  ; no\n  [::1]:443\n",
		  "{\"network\":{\"allowedDomains\":[\"a.b\",\"*.c.d\","
		  "\"[::1]:443\"]}}" },
		{ "[network]\r\nallowedDomains = a.b\r\n",
		  "{\"network\":{\"allowedDomains\":[\"a.b\"]}}" },
		{ "profile = strict\nallowPty = true\nextends = code\n"
		  "extends = ./x\n",
		  "{\"profile\":\"strict\",\"allowPty\":true,"
		  "\"extends\":[\"code\",\"./x\"]}" },
		{ "forceNewSession = false\n[filesystem]\nwslInterop = null\n",
		  "{\"forceNewSession\":false}" },
		{ "[network]\nallowLocalOutboundPorts = 1\n"
		  "allowLocalOutboundPorts = 2\nhttpProxyPort = 80\n",
		  "{\"network\":{\"allowLocalOutboundPorts\":[1,2],"
		  "\"httpProxyPort\":80}}" },
		{ "[macos.mach]\nlookup = com.x.*\n[limits]\nmemory = 2G\n"
		  "time = 30m\nprocesses = 5\n",
		  "{\"macos\":{\"mach\":{\"lookup\":[\"com.x.*\"]}},"
		  "\"limits\":{\"memory\":\"2G\",\"time\":\"30m\","
		  "\"processes\":5}}" },
		{ "[env]\ndenySecrets = true\n[env.set]\nCI = 1\nX = a = b\n"
		  "Q = \" \\u003b \"\n!Z =\n",
		  "{\"env\":{\"denySecrets\":true,\"set\":{\"CI\":\"1\","
		  "\"X\":\"a = b\",\"Q\":\" ; \",\"!Z\":\"\"}}}" },
		{ "[filesystem]\ndenyRead = \"/a b\"\ndenyRead = /c;d\n"
		  "denyRead = !x\n",
		  "{\"filesystem\":{\"denyRead\":[\"/a b\",\"/c;d\","
		  "\"!x\"]}}" },
		{ "[Network]\nALLOWEDdomains = x\n",
		  "{\"network\":{\"allowedDomains\":[\"x\"]}}" },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct policy *p = must(cases[i].ini, POLICY_INI);
		struct policy *q = must(cases[i].json, POLICY_JSONC);
		struct buf b;

		buf_init(&b, 0);
		emit_json(p, 0, &b);
		if (!policy_equal(p, q))
			fail_msg("%s\n%s", cases[i].ini, b.data);
		buf_release(&b);
		policy_free(p);
		policy_free(q);
	}
}

static void
places(void **state)
{
	struct policy *p = must("[network]\n\nallowedDomains = a.b\n"
	    "  c.d\n", POLICY_INI);

	(void)state;
	assert_int_equal(p->net.allowed_domains.v[0].at.line, 3);
	assert_int_equal(p->net.allowed_domains.v[0].at.col, 18);
	assert_int_equal(p->net.allowed_domains.v[1].at.line, 4);
	assert_int_equal(p->net.allowed_domains.v[1].at.col, 3);
	assert_int_equal(p->net.denied_domains.at.line, 1);
	assert_int_equal(p->fs.deny_read.at.line, 1);
	policy_free(p);
}

static const char long_line[] =
    "[network]\nallowedDomains = "
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
    "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa\n";

static void
oddities(void **state)
{
	static const struct { const char *text, *where, *msg, *hint; }
	    cases[] = {
		{ "", "F:1:1", "says nothing", "'[network]'" },
		{ "; only\n\n", "F:1:1", "says nothing", "" },
		{ "\xef\xbb\xbf[network]\n", "F:1:1", "byte order mark", "" },
		{ "[network\n", "F:1:1", "'[' without", "" },
		{ "[network] x\n", "F:1:11", "text behind", "" },
		{ "[netwrok]\n", "F:1:1", "unknown key", "'network'" },
		{ "[]\n", "F:1:1", "unknown key", "" },
		{ "[network.allowedDomains]\n", "F:1:1", "is a key", "" },
		{ "[aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa]",
		  "F:1:1", "unknown section", "" },
		{ "[network]\n[filesystem]\n[network]\n", "F:3:1",
		  "written twice", "line 1" },
		{ "network = 1\n", "F:1:1", "is a section", "" },
		{ "allowedDomains = x\n", "F:1:1", "unknown key",
		  "'network.allowedDomains'" },
		{ "[network]\nallowedDomain = x\n", "F:2:1", "unknown key",
		  "'network.allowedDomains'" },
		{ "[network]\nfilesystem.denyRead = x\n", "F:2:1",
		  "unknown key", "" },
		{ "[network]\nallowedDomains: x\n", "F:2:1",
		  "without its '='", "name = value" },
		{ "[network]\nallowedDomains\n", "F:2:1", "without its '='",
		  "" },
		{ "[network]\n= x\n", "F:2:1", "without its '='", "" },
		{ "[network]\n  a.b\n", "F:2:3", "continues nothing", "" },
		{ "allowPty = true\n  false\n", "F:2:3", "continues nothing",
		  "list" },
		{ "allowPty = true\nallowPty = true\n", "F:2:1",
		  "written twice", "line 1" },
		{ "allowPty = yes\n", "F:1:12", "expected true or false, "
		  "found 'yes'", "" },
		{ "allowPty =\n", "F:1:11", "found ''", "" },
		{ "allowPty = TRUE\n", "F:1:12", "found 'TRUE'", "" },
		{ "[network]\nhttpProxyPort = 99999\n", "F:2:17",
		  "from 0 to 65535", "" },
		{ "[network]\nhttpProxyPort = x\n", "F:2:17", "'x' is not",
		  "" },
		{ "[network]\nallowLocalOutboundPorts = a\n", "F:2:27",
		  "'a' is not a number", "" },
		{ "[network]\nsni = of\n", "F:2:7", "'of'", "'off'" },
		{ "[env]\nset = A=1\n", "F:2:1", "section of its own",
		  "[env.set]" },
		{ "[env.set]\nA = 1\nA = 2\n", "F:3:1", "written twice", "" },
		{ "[env.set]\nA B = 1\n", "F:2:1", "variable's name", "" },
		{ "[filesystem]\ndenyRead = \"/a ;b\"\n", "F:2:12",
		  "double quotes", "\\u003b" },
		{ "[filesystem]\ndenyRead = \"/a\" x\n", "F:2:12",
		  "double quotes", "" },
		{ "[filesystem]\ndenyRead = \"\"\n", "F:2:12",
		  "empty string", "" },
		{ "[filesystem]\ndenyRead = a\x01\n", "F:2:13", "control",
		  "" },
		{ "[filesystem]\ndenyRead = a\rb\n", "F:2:13", "control",
		  "" },
		{ "[filesystem]\ndenyRead = \xff\n", "F:2:12",
		  "invalid UTF-8", "" },
		{ long_line, "F:2:1", "longer than", "JSON" },
		{ "[network]\nallowedDomains = *.\n", "F:2:18",
		  "'*.' is not", "" },
		{ "[network]\ndefaultAction = proxy\n", "F:2:17",
		  "needs network.upstreamProxy", "" },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct policy *p = NULL;
		struct err e = { 0 };

		if (parse(cases[i].text, strlen(cases[i].text), POLICY_INI, &p,
		    &e) == 0)
			fail_msg("accepted: %s", cases[i].text);
		if (strcmp(e.where, cases[i].where) != 0 ||
		    strstr(e.msg, cases[i].msg) == NULL ||
		    strstr(e.hint, cases[i].hint) == NULL)
			fail_msg("%s\ngot %s: %s: %s (%s)", cases[i].text,
			    e.where, e.key, e.msg, e.hint);
		assert_int_equal(e.code, ERR_POLICY);
	}
}

static void
nul_bytes(void **state)
{
	static const char text[] = "[network]\nallowedDomains = a\0b\n";
	struct policy *p = NULL;
	struct err e = { 0 };

	(void)state;
	assert_int_equal(parse(text, sizeof text - 1, POLICY_INI, &p, &e),
	    -1);
	assert_string_equal(e.where, "F:2:19");
	assert_string_equal(e.msg, "NUL byte");
}

/* A refused line takes its indented lines with it, and no others. */
static void
all_errors(void **state)
{
	static const char text[] = "[network]\nallowedDomains = *.\n  b.c\n"
	    "nonsense = 1\n  x\n  y\ndeniedDomains = ..\n[bad]\nz = 1\n"
	    "[filesystem]\ndenyRead = ~x\n";
	static const char *const where[] = { "F:2:18", "F:4:1", "F:5:3",
	    "F:6:3", "F:7:17", "F:8:1", "F:11:12" };
	struct errlist *errs = calloc(1, sizeof *errs);
	struct policy *p = NULL;

	(void)state;
	assert_non_null(errs);
	assert_int_equal(policy_parse_all(text, strlen(text), "F", POLICY_INI,
	    &env, &p, errs), -1);
	for (size_t i = 0; i < errs->n && i < N_OF(where); i++)
		assert_string_equal(errs->v[i].where, where[i]);
	assert_int_equal(errs->n, N_OF(where));
	free(errs);
}

static void
format_by_name(void **state)
{
	(void)state;
	assert_int_equal(policy_format_of("/x/fence.ini"), POLICY_INI);
	assert_int_equal(policy_format_of("a.conf"), POLICY_INI);
	assert_int_equal(policy_format_of("fence.json"), POLICY_JSONC);
	assert_int_equal(policy_format_of("fence.jsonc"), POLICY_JSONC);
	assert_int_equal(policy_format_of("/dev/fd/3"), POLICY_JSONC);
	assert_int_equal(policy_format_of("x.ini.bak"), POLICY_JSONC);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(means_the_same),
		cmocka_unit_test(places),
		cmocka_unit_test(oddities),
		cmocka_unit_test(nul_bytes),
		cmocka_unit_test(all_errors),
		cmocka_unit_test(format_by_name),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
