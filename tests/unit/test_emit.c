/*
 * policy/emit: what is shown is read back as the same policy, in both
 * notations and across them, for every template and a thousand policies made
 * by chance; schema and manual are what the files in the tree say.
 */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "platform/base/buf.h"
#include "platform/base/json.h"
#include "policy/emit.h"
#include "policy/keys.h"
#include "policy/merge.h"

static const struct policy_env env = { .workspace = "/ws",
    .home = "/home/u" };

static struct policy *
must(const char *text, enum policy_format format)
{
	struct errlist *errs = calloc(1, sizeof *errs);
	struct policy *p = NULL;

	assert_non_null(errs);
	if (policy_parse_all(text, strlen(text), "F", format, &env, &p,
	    errs) != 0)
		fail_msg("%s\n%s: %s: %s", text, errs->v[0].where,
		    errs->v[0].key, errs->v[0].msg);
	free(errs);
	return p;
}

static void
emit(const struct policy *p, enum policy_format format, unsigned flags,
    struct buf *b)
{
	buf_clear(b);
	if (format == POLICY_INI)
		emit_ini(p, flags, b);
	else
		emit_json(p, flags, b);
	assert_false(b->failed);
}

/* There and back in one notation, then on to the other and back. */
static void
round_trip(const struct policy *p)
{
	struct buf b;

	buf_init(&b, 0);
	for (unsigned i = 0; i < 8; i++) {
		enum policy_format first = i & 1 ? POLICY_INI : POLICY_JSONC;
		enum policy_format then = i & 2 ? POLICY_INI : POLICY_JSONC;
		unsigned flags = i & 4 ? EMIT_ORIGINS : 0;
		struct policy *q, *r;

		emit(p, first, flags, &b);
		q = must(b.data, first);
		if (!policy_equal(p, q))
			fail_msg("not the same:\n%s", b.data);
		emit(q, then, flags, &b);
		r = must(b.data, then);
		if (!policy_equal(p, r))
			fail_msg("not the same:\n%s", b.data);
		policy_free(q);
		policy_free(r);
	}
	buf_release(&b);
}

static void
templates(void **state)
{
	const char *name, *text;

	(void)state;
	for (size_t i = 0; (name = policy_builtin_name(i, &text)) != NULL;
	    i++) {
		struct policy *p = must(text, POLICY_JSONC);

		round_trip(p);
		policy_free(p);
	}
}

static uint32_t seed = 20261117;

static unsigned
chance(unsigned below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

/* Each value a check could like is in some pool. */
static const struct { const char *key; const char *pool[10]; } pools[] = {
	{ "network.allowedDomains", { "a.b", "*.c.d:443", "*", "10.0.0.0/8",
	  "[::1]:22", "2001:db8::/32", "b\xc3\xbc" "cher.de", "!x.y" } },
	{ "network.deniedDomains", { "q", "1.2.3.4:5", "!*" } },
	{ "network.allowPrivate", { "10.0.0.0/8", "*.corp.x" } },
	{ "network.allowUnixSockets", { "/run/x.sock", "~/s ;x" } },
	{ "network.upstreamProxy", { "http://p:1", "socks5://[::1]:2/" } },
	{ "network.via", { "auto", "direct", "http://h" } },
	{ "devices.allow", { "/dev/kvm", "/dev/nvidia*", "!/dev/x" } },
	{ "macos.mach.lookup", { "com.x", "com.y*", "*" } },
	{ "macos.mach.register", { "a" } },
	{ "command.deny", { "git push", " x ", "\"q\"", "a ;b", "; c",
	  "\t;" } },
	{ "command.allow", { "git push\norigin", "#x", "x=y" } },
	{ "command.acceptSharedBinaryCannotRuntimeDeny", { "dd" } },
	{ "ssh.allowedHosts", { "prod-*", "::1", "192.168.1.*" } },
	{ "ssh.deniedHosts", { "db" } },
	{ "ssh.allowedCommands", { "uptime" } },
	{ "ssh.deniedCommands", { "shutdown", "!x" } },
	{ "env.allow", { "A", "B_*", "*" } },
	{ "env.deny", { "C", "!D" } },
	{ "trace.calls", { "getenv(s):s", "write( i, b16,u64 ) : i64" } },
	{ "extends", { "code", "@base", "./x ;y" } },
};
static const char *const paths[] = { ".", "~/x", "/a/**/n", "*.{key,pem}",
    "a b", "/c;d", "x ;y", "[ab]?", "\\{x", "!./gone", "/\xc3\xa4",
    "#h", "= e", "\"q\"" };

static const char *
from_pool(const char *key)
{
	for (size_t i = 0; i < sizeof pools / sizeof *pools; i++) {
		size_t n = 0;

		if (strcmp(pools[i].key, key) != 0)
			continue;
		while (n < 10 && pools[i].pool[n] != NULL)
			n++;
		return pools[i].pool[chance((unsigned)n)];
	}
	return paths[chance(sizeof paths / sizeof *paths)];
}

static void
put_string(struct buf *b, const char *s)
{
	json_put_string(b, s, strlen(s));
}

static void
put_value(const struct key *key, struct buf *b)
{
	unsigned n = chance(5);

	switch (key->type) {
	case KEY_IGNORED:
		buf_puts(b, "\"x\"");
		break;
	case KEY_STRLIST:
	case KEY_INTLIST:
		buf_putc(b, '[');
		for (unsigned i = 0; i < n; i++) {
			buf_puts(b, i != 0 ? "," : "");
			if (key->type == KEY_INTLIST)
				buf_printf(b, "%u", 1 + chance(65535));
			else
				put_string(b, from_pool(key->name));
		}
		buf_putc(b, ']');
		break;
	case KEY_STRMAP:
		buf_printf(b, "{\"A\":\" x ;\",\"B%u\":\"\",\"!C\":\"\","
		    "\"D\":\"\\n\\\"\"}", n);
		break;
	case KEY_TRISTATE:
		buf_puts(b, n == 0 ? "null" : n < 3 ? "true" : "false");
		break;
	case KEY_BOOL:
		buf_puts(b, n < 3 ? "true" : "false");
		break;
	case KEY_INT:
		buf_printf(b, "%u", (unsigned)key->min + chance(1000));
		break;
	case KEY_SIZE:
		buf_printf(b, "\"%u%c\"", 1 + n, "KMGT"[chance(4)]);
		break;
	case KEY_DURATION:
		buf_printf(b, "\"%u%s\"", 1 + n, n == 0 ? "ms" : "h");
		break;
	case KEY_ENUM:
		for (n = 0; key->words[n + 1] != NULL && chance(2) == 0;)
			n++;
		put_string(b, key->words[n]);
		break;
	case KEY_STRING:
		put_string(b, from_pool(key->name));
		break;
	}
}

/* Rows of one section stand together in the table. */
static void
generate(struct buf *b)
{
	char section[64] = "";
	bool needs_comma = false;

	buf_clear(b);
	buf_puts(b, "{\"network\":{\"upstreamProxy\":\"http://u\"");
	snprintf(section, sizeof section, "network");
	for (size_t i = 0; i < policy_nkeys; i++) {
		const struct key *key = &policy_keys[i];
		const char *dot = strrchr(key->name, '.');
		size_t n = dot != NULL ? (size_t)(dot - key->name) : 0;

		needs_comma = true;
		if (chance(3) == 0 ||
		    strcmp(key->name, "network.upstreamProxy") == 0 ||
		    strncmp(key->name, "macos", 5) == 0)
			continue;
		if (strlen(section) != n ||
		    strncmp(section, key->name, n) != 0) {
			/* Those of the top and the first follow later. */
			if (n == 0)
				continue;
			buf_puts(b, "}");
			snprintf(section, sizeof section, "%.*s", (int)n,
			    key->name);
			buf_printf(b, ",\"%s\":{", section);
			needs_comma = false;
		}
		if (needs_comma && b->data[b->len - 1] != '{')
			buf_putc(b, ',');
		put_string(b, key->name + (n != 0 ? n + 1 : 0));
		buf_putc(b, ':');
		put_value(key, b);
	}
	buf_puts(b, "}");
	for (size_t i = 0; i < policy_nkeys; i++)
		if (strchr(policy_keys[i].name, '.') == NULL &&
		    chance(2) == 0) {
			buf_printf(b, ",\"%s\":", policy_keys[i].name);
			put_value(&policy_keys[i], b);
		}
	buf_puts(b, ",\"macos\":{\"mach\":{\"lookup\":[\"a*\"]}}}");
}

/* FENCE_SHOW_POLICIES=FILE: for a validator outside (tests/schema). */
static void
thousand_policies(void **state)
{
	const char *show = getenv("FENCE_SHOW_POLICIES");
	FILE *fp = show != NULL ? fopen(show, "w") : NULL;
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	for (unsigned i = 0; i < 1000; i++) {
		struct policy *p;

		generate(&b);
		if (fp != NULL)
			fprintf(fp, "%s\n", b.data);
		p = must(b.data, POLICY_JSONC);
		round_trip(p);
		policy_free(p);
	}
	buf_release(&b);
	if (fp != NULL)
		fclose(fp);
}

static void
shapes(void **state)
{
	struct policy *p = must("{\"allowPty\":true,\"env\":{\"set\":"
	    "{\"A\":\"1\"}},\"network\":{\"allowedDomains\":[\"a.b\",\"c.d\"],"
	    "\"deniedDomains\":[],\"sni\":\"off\"}}", POLICY_JSONC);
	struct policy *none = must("{}", POLICY_JSONC);
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	emit(p, POLICY_JSONC, 0, &b);
	assert_string_equal(b.data, "{\n  \"allowPty\": true,\n"
	    "  \"network\": {\n    \"allowedDomains\": [\n      \"a.b\",\n"
	    "      \"c.d\"\n    ],\n    \"sni\": \"off\"\n  },\n"
	    "  \"env\": {\n    \"set\": {\n      \"A\": \"1\"\n    }\n  }\n"
	    "}\n");
	emit(p, POLICY_INI, 0, &b);
	assert_string_equal(b.data, "allowPty = true\n\n[network]\n"
	    "allowedDomains = a.b\nallowedDomains = c.d\nsni = off\n\n"
	    "[env.set]\nA = 1\n");
	emit(p, POLICY_JSONC, EMIT_ORIGINS, &b);
	assert_non_null(strstr(b.data, "\"a.b\",  // F:1:"));
	emit(none, POLICY_JSONC, 0, &b);
	assert_string_equal(b.data, "{}\n");
	emit(none, POLICY_INI, 0, &b);
	assert_string_equal(b.data, "[network]\n");
	buf_release(&b);
	policy_free(p);
	policy_free(none);
}

/* What is left out, what stays, and in which order. */
static void
what_is_shown(void **state)
{
	static const struct { const char *text, *want; } cases[] = {
		{ "{\"network\":{},\"filesystem\":{},\"devices\":{},"
		  "\"macos\":{\"mach\":{}},\"command\":{},\"ssh\":{}}",
		  "{}\n" },
		{ "{\"allowPty\":false,\"network\":{\"allowedDomains\":[],"
		  "\"httpProxyPort\":0,\"allowLocalBinding\":false},"
		  "\"ssh\":{\"inheritDeny\":false}}", "{}\n" },
		{ "{\"forceNewSession\":null,\"filesystem\":"
		  "{\"wslInterop\":null}}", "{}\n" },
		{ "{\"forceNewSession\":false}",
		  "{\n  \"forceNewSession\": false\n}\n" },
		{ "{\"filesystem\":{\"wslInterop\":false}}",
		  "{\n  \"filesystem\": {\n    \"wslInterop\": false\n"
		  "  }\n}\n" },
		{ "{\"network\":{\"upstreamProxy\":\"http://p:1\"}}",
		  "{\n  \"network\": {\n    \"upstreamProxy\": "
		  "\"http://p:1\"\n  }\n}\n" },
		{ "{\"network\":{\"via\":\"socks5://u:secret@p:1\"}}",
		  "{\n  \"network\": {\n    \"via\": "
		  "\"socks5://***@p:1\"\n  }\n}\n" },
		{ "{\"network\":{\"upstreamProxy\":\"http://p:1\","
		  "\"defaultAction\":\"proxy\"}}",
		  "{\n  \"network\": {\n    \"defaultAction\": \"proxy\",\n"
		  "    \"upstreamProxy\": \"http://p:1\"\n  }\n}\n" },
		/* Left out, as by the Go program, it would be \"proxy\". */
		{ "{\"network\":{\"upstreamProxy\":\"http://p:1\","
		  "\"defaultAction\":\"deny\"}}",
		  "{\n  \"network\": {\n    \"defaultAction\": \"deny\",\n"
		  "    \"upstreamProxy\": \"http://p:1\"\n  }\n}\n" },
		/* JSON needs no escapes for HTML. */
		{ "{\"command\":{\"deny\":[\"a<b>&c\"]}}",
		  "{\n  \"command\": {\n    \"deny\": [\n"
		  "      \"a<b>&c\"\n    ]\n  }\n}\n" },
		{ "{\"ssh\":{\"inheritDeny\":true},\"command\":"
		  "{\"useDefaults\":false},\"macos\":{\"mach\":"
		  "{\"lookup\":[\"a\"]}},\"devices\":{\"mode\":\"host\"},"
		  "\"filesystem\":{\"allowGitConfig\":true},\"network\":"
		  "{\"allowLocalBinding\":true},\"forceNewSession\":true,"
		  "\"allowPty\":true,\"extends\":\"code\"}",
		  "{\n  \"extends\": [\n    \"code\"\n  ],\n"
		  "  \"allowPty\": true,\n  \"forceNewSession\": true,\n"
		  "  \"network\": {\n    \"allowLocalBinding\": true\n  },\n"
		  "  \"filesystem\": {\n    \"allowGitConfig\": true\n  },\n"
		  "  \"devices\": {\n    \"mode\": \"host\"\n  },\n"
		  "  \"macos\": {\n    \"mach\": {\n      \"lookup\": [\n"
		  "        \"a\"\n      ]\n    }\n  },\n"
		  "  \"command\": {\n    \"useDefaults\": false\n  },\n"
		  "  \"ssh\": {\n    \"inheritDeny\": true\n  }\n}\n" },
	};
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	for (size_t i = 0; i < sizeof cases / sizeof *cases; i++) {
		struct policy *p = must(cases[i].text, POLICY_JSONC);

		emit(p, POLICY_JSONC, 0, &b);
		assert_string_equal(b.data, cases[i].want);
		policy_free(p);
	}
	buf_release(&b);
}

/* Examples of the manual are files that are right. */
static void
examples(void **state)
{
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	for (size_t i = 0; i < policy_nkeys; i++) {
		const char *name = policy_keys[i].name;
		unsigned depth = 0;

		buf_clear(&b);
		buf_puts(&b, strcmp(name, "network.defaultAction") == 0 ?
		    "{\"extends\":\"x\"," : "{");
		for (;; depth++) {
			size_t n = strcspn(name, ".");

			buf_printf(&b, "\"%.*s\":", (int)n, name);
			if (name[n] == '\0')
				break;
			buf_puts(&b, "{");
			name += n + 1;
		}
		buf_puts(&b, policy_keys[i].example);
		for (; depth + 1 > 0; depth--)
			buf_puts(&b, "}");
		policy_free(must(b.data, POLICY_JSONC));
	}
	buf_release(&b);
}

static void
read_file(const char *path, struct buf *b)
{
	const char *top = getenv("srcdir");
	char full[4096], chunk[4096];
	FILE *fp;
	size_t n;

	snprintf(full, sizeof full, "%s/%s", top != NULL ? top : ".", path);
	fp = fopen(full, "r");
	assert_non_null(fp);
	while ((n = fread(chunk, 1, sizeof chunk, fp)) > 0)
		buf_add(b, chunk, n);
	fclose(fp);
}

static void
golden(void **state)
{
	struct buf want, got;

	(void)state;
	buf_init(&want, 0);
	buf_init(&got, 0);
	read_file("tests/golden/policy.schema.json", &want);
	emit_schema(&got);
	assert_string_equal(got.data, want.data);
	buf_clear(&want);
	buf_clear(&got);
	read_file("man/fence-policy.5", &want);
	emit_mdoc(&got);
	/* The messages of cmocka end after 1024 bytes. */
	if (strstr(want.data, got.data) == NULL) {
		fprintf(stderr, "--- fence-policy(5)\n%s---\n", got.data);
		fail_msg("man/fence-policy.5 does not hold the text above");
	}
	buf_release(&want);
	buf_release(&got);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(shapes),
		cmocka_unit_test(what_is_shown),
		cmocka_unit_test(templates),
		cmocka_unit_test(thousand_policies),
		cmocka_unit_test(examples),
		cmocka_unit_test(golden),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
