/* policy/policy, jsonc, keys: files that are right, and how others are told. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cmocka.h>

#include "platform/base/arena.h"
#include "policy/keys.h"
#include "policy/pattern.h"
#include "policy/policy.h"

#define N_OF(a)		(sizeof (a) / sizeof *(a))

static const struct policy_env env = {
	.workspace = "/ws", .home = "/home/u",
};

static struct policy *
must_parse(const char *text)
{
	struct policy *p = NULL;
	struct err e = { 0 };

	if (policy_parse(text, strlen(text), "F", &env, &p, &e) != 0)
		fail_msg("%s: %s: %s", e.where, e.key, e.msg);
	return p;
}

static void
reads_a_policy(void **state)
{
	struct policy *p = must_parse(
	    "// mine\n"
	    "{\n"
	    "  \"$schema\": \"https://x/y.json\",\n"
	    "  \"network\": { \"allowedDomains\": [\"a.test\", \"*.b.test\"],\n"
	    "    \"deniedDomains\": [ ] },\n"
	    "  \"filesystem\": {\n"
	    "    \"allowWrite\": [\".\",\n"
	    "      \"~/x\",],\n"
	    "  },\n"
	    "}\n");

	(void)state;
	assert_string_equal(p->name, "F");
	assert_string_equal(p->workspace, "/ws");
	assert_string_equal(p->home, "/home/u");
	assert_int_equal(p->net.allowed_domains.n, 2);
	assert_true(p->net.allowed_domains.is_set);
	assert_string_equal(p->net.allowed_domains.v[1].text, "*.b.test");
	assert_int_equal(p->net.allowed_domains.v[1].at.line, 4);
	assert_int_equal(p->net.allowed_domains.v[1].at.col, 45);
	assert_int_equal(p->net.allowed_domains.at.col, 34);
	assert_int_equal(p->net.denied_domains.n, 0);
	assert_true(p->net.denied_domains.is_set);
	assert_int_equal(p->fs.allow_write.n, 2);
	assert_string_equal(p->fs.allow_write.v[1].pattern->text,
	    "/home/u/x");
	assert_int_equal(p->fs.allow_write.v[1].at.line, 8);
	assert_int_equal(p->fs.allow_write.v[1].at.col, 7);
	/* Not written: the place is the section's. */
	assert_false(p->fs.deny_read.is_set);
	assert_int_equal(p->fs.deny_read.at.line, 6);
	assert_int_equal(p->fs.deny_read.at.col, 17);
	assert_int_equal(p->nwarnings, 0);
	policy_free(p);
}

static void
closed_base(void **state)
{
	struct policy *p = must_parse("\n\n{}");

	(void)state;
	assert_int_equal(p->net.allowed_domains.n, 0);
	assert_false(p->net.allowed_domains.is_set);
	assert_string_equal(p->net.allowed_domains.at.file, "F");
	assert_int_equal(p->net.allowed_domains.at.line, 1);
	assert_int_equal(p->net.allowed_domains.at.col, 1);
	policy_free(p);
	policy_free(NULL);
}

static void
other_letter_case_is_taken(void **state)
{
	struct policy *p = must_parse(
	    "{\"Network\": {\"ALLOWEDdomains\": [\"x\"]}}");

	(void)state;
	assert_int_equal(p->net.allowed_domains.n, 1);
	assert_int_equal(p->nwarnings, 2);
	assert_string_equal(p->warnings[0],
	    "F:1:2: 'Network' is taken as 'network'");
	assert_string_equal(p->warnings[1], "F:1:14: 'network.ALLOWEDdomains' "
	    "is taken as 'network.allowedDomains'");
	policy_free(p);
}

/* Sections without keys that restrict say nothing. */
static void
empty_sections_pass(void **state)
{
	(void)state;
	policy_free(must_parse("{\"network\":{},\"command\":{},"
	    "\"macos\":{\"mach\":{}}}"));
}

#define NET(s)	"{\"network\":{" s "}}"
#define FS(s)	"{\"filesystem\":{" s "}}"

static void
wrong_files(void **state)
{
	static const struct { const char *text, *where, *key, *msg, *hint; }
	    cases[] = {
		{ "", "F:1:1", "", "says nothing", "'{}'" },
		{ "// nothing\n", "F:2:1", "", "says nothing", "'{}'" },
		{ "[]", "F:1:1", "", "expected an object, found a list", "" },
		{ "null", "F:1:1", "", "expected an object, found null", "" },
		{ "{} x", "F:1:4", "", "expected the end of the file", "" },
		{ "{\n'a': 1}", "F:2:1", "", "expected a key",
		  "double quotes" },
		{ "{\"netwrok\": {}}", "F:1:2", "netwrok", "unknown key",
		  "did you mean 'network'?" },
		{ NET("\n \"allowedDomian\": []"), "F:2:2",
		  "network.allowedDomian", "unknown key",
		  "did you mean 'network.allowedDomains'?" },
		{ "{\"allowedDomains\":[]}", "F:1:2", "allowedDomains",
		  "unknown key", "did you mean 'network.allowedDomains'?" },
		{ "{\"network.allowedDomains\":[]}", "F:1:2",
		  "network.allowedDomains", "unknown key", "" },
		{ FS("\"colour\":1"), "F:1:16", "filesystem.colour",
		  "unknown key", "keys here: allowWrite, denyWrite, denyRead" },
		{ "{\"zzzzzzzz\":1}", "F:1:2", "zzzzzzzz", "unknown key",
		  "keys here: $schema, network, filesystem" },
		{ "{\"\":1}", "F:1:2", "", "unknown key", "keys here" },
		{ "{\"ssh\":{\"zzzzzzzz\":1}}", "F:1:9", "ssh.zzzzzzzz",
		  "unknown key", "no key of this section" },
		{ "{\"extends\":\"@base\"}", "F:1:2", "extends",
		  "not in this version", "" },
		{ FS("\"DefaultDenyRead\":true"), "F:1:16",
		  "filesystem.defaultDenyRead", "not in this version", "" },
		{ "{\"command\":{\"deny\":[]}}", "F:1:13", "command.deny",
		  "not in this version", "" },
		{ "{\"macos\":{\"mach\":{\"lookup\":[]}}}", "F:1:19",
		  "macos.mach.lookup", "not in this version", "" },
		{ "{\"network\": []}", "F:1:13", "network",
		  "expected an object, found a list", "" },
		{ NET("\"allowedDomains\": \"x\""), "F:1:31",
		  "network.allowedDomains",
		  "expected a list of strings, found a string", "" },
		{ NET("\"allowedDomains\": null"), "F:1:31",
		  "network.allowedDomains",
		  "expected a list of strings, found null", "" },
		{ NET("\"allowedDomains\": [\"a\", 1]"), "F:1:37",
		  "network.allowedDomains[1]",
		  "expected a string, found a number", "" },
		{ NET("\"allowedDomains\": [[\"a\"]]"), "F:1:32",
		  "network.allowedDomains[0]",
		  "expected a string, found a list", "" },
		{ "{\"$schema\": 1}", "F:1:13", "$schema",
		  "expected a string, found a number", "" },
		{ NET("\"allowedDomains\":[\"a\",\n\"b\",\n  \"*.\"]"),
		  "F:3:3", "network.allowedDomains[2]",
		  "'*.' is not a domain pattern", "'*.example.com'" },
		{ NET("\"deniedDomains\":[\"x:1\"]"), "F:1:30",
		  "network.deniedDomains[0]", "has a port", "every port" },
		{ FS("\"denyRead\":[\"\"]"), "F:1:28",
		  "filesystem.denyRead[0]", "empty string", "" },
		{ FS("\"allowWrite\":[\"/a\", \"$NO/x\"]"), "F:1:36",
		  "filesystem.allowWrite[1]", "variable 'NO' is not set", "" },
		{ FS("\"denyWrite\":[\"~x\"]"), "F:1:29",
		  "filesystem.denyWrite[0]", "another user's home", "" },
		{ NET("\"allowedDomains\":[],\n\"allowedDomains\":[]"),
		  "F:2:1", "network.allowedDomains", "written twice",
		  "line 1, column 13" },
		{ NET("\"allowedDomains\":[],\"alloweddomains\":[]"),
		  "F:1:33", "network.allowedDomains", "written twice", "" },
		{ "{\"network\":{},\"network\":{}}", "F:1:15", "network",
		  "written twice", "" },
		{ "{\"$schema\":\"\",\"$schema\":\"\"}", "F:1:15", "$schema",
		  "written twice", "" },
		{ NET("\"allowedDomains\":[\"a\" \"b\"]"), "F:1:35",
		  "network.allowedDomains", "expected ',' or ']'", "" },
		{ NET("\"allowedDomains\":[\"a\\u0000\"]"), "F:1:33",
		  "network.allowedDomains", "\\u0000", "" },
		{ "{\"network\":{", "F:1:13", "network",
		  "found the end of the file", "" },
		{ "\xef\xbb\xbf{}", "F:1:1", "", "byte order mark", "" },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		struct policy *p = NULL;
		struct err e = { 0 };

		if (policy_parse(cases[i].text, strlen(cases[i].text), "F",
		    &env, &p, &e) == 0)
			fail_msg("accepted: %s", cases[i].text);
		if (strcmp(e.where, cases[i].where) != 0 ||
		    strcmp(e.key, cases[i].key) != 0 ||
		    strstr(e.msg, cases[i].msg) == NULL ||
		    strstr(e.hint, cases[i].hint) == NULL)
			fail_msg("%s\ngot %s: %s: %s (%s)", cases[i].text,
			    e.where, e.key, e.msg, e.hint);
		assert_int_equal(e.code, ERR_POLICY);
		assert_null(p);
	}
}

static void
long_unknown_keys(void **state)
{
	char text[2000];
	struct policy *p;
	struct err e = { 0 };

	(void)state;
	memset(text, 'n', sizeof text);
	memcpy(text, "{\"network.", 10);
	memcpy(text + sizeof text - 5, "\":1}", 4);
	assert_int_equal(policy_parse(text, sizeof text - 1, "F", &env, &p,
	    &e), -1);
	assert_string_equal(e.msg, "unknown key");
}

/* Rows are unique, have help, and are found under their own name. */
static void
the_table(void **state)
{
	char spelling[96];

	(void)state;
	for (size_t i = 0; i < policy_nkeys; i++) {
		const struct key *key = NULL;

		assert_non_null(policy_keys[i].help);
		assert_int_equal(keys_find(policy_keys[i].name, &key,
		    spelling, sizeof spelling), KEY_FOUND);
		assert_ptr_equal(key, &policy_keys[i]);
		assert_string_equal(spelling, policy_keys[i].name);
		if (key->type == KEY_STRLIST)
			assert_non_null(key->check);
	}
}

static void
write_file(const char *path, const char *text, size_t len)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, text, len), (ssize_t)len);
	close(fd);
}

static void
files(void **state)
{
	char dir[] = "/var/tmp/fence-policy-XXXXXX", path[64];
	char *big = calloc(1, POLICY_MAX_BYTES + 1);
	struct policy *p = NULL;
	struct err e = { 0 };

	(void)state;
	assert_non_null(big);
	assert_non_null(mkdtemp(dir));
	snprintf(path, sizeof path, "%s/p.jsonc", dir);

	assert_int_equal(policy_load_file(path, &env, &p, &e), -1);
	assert_int_equal(e.code, ERR_POLICY);
	assert_int_equal(e.sys, 2);	/* ENOENT */
	assert_string_equal(e.where, path);

	e = (struct err){ 0 };
	assert_int_equal(policy_load_file(dir, &env, &p, &e), -1);
	assert_non_null(strstr(e.msg, "is a directory"));
	assert_int_equal(e.code, ERR_POLICY);
	assert_string_equal(e.where, dir);

	write_file(path, "{\"network\":{}}", 14);
	assert_int_equal(policy_load_file(path, &env, &p, &e), 0);
	assert_string_equal(p->name, path);
	policy_free(p);

	memset(big, ' ', POLICY_MAX_BYTES + 1);
	memcpy(big, "{}", 2);
	write_file(path, big, POLICY_MAX_BYTES + 1);
	assert_int_equal(policy_load_file(path, &env, &p, &e), -1);
	assert_non_null(strstr(e.msg, "longer than 1 MiB"));
	assert_string_equal(e.where, path);
	write_file(path, big, POLICY_MAX_BYTES);
	assert_int_equal(policy_load_file(path, &env, &p, &e), 0);
	policy_free(p);

	write_file(path, "{]", 2);
	assert_int_equal(policy_load_file(path, &env, &p, &e), -1);
	assert_non_null(strstr(e.where, "/p.jsonc:1:2"));
	unlink(path);
	rmdir(dir);
	free(big);
}

static bool
hides(const struct policy *p, const char *path)
{
	for (size_t i = 0; i < p->fs.deny_read.n; i++)
		if (pattern_match_path(p->fs.deny_read.v[i].pattern, path) != 0)
			return true;
	return false;
}

static void
built_in_policy(void **state)
{
	static const char *const hidden[] = {
		"/home/u/.ssh/id_rsa", "/home/u/.aws/credentials",
		"/home/u/.config/gh/hosts.yml", "/home/u/.netrc",
		"/home/u/.cargo/credentials.toml", "/etc/shadow",
		"/home/u/.mozilla/firefox/x/cookies.sqlite",
	};
	struct policy *p = NULL;
	struct err e = { 0 };

	(void)state;
	if (policy_load_builtin("workspace-write", &env, &p, &e) != 0)
		fail_msg("%s: %s", e.where, e.msg);
	assert_string_equal(p->name, "<built-in workspace-write>");
	assert_int_equal(p->net.allowed_domains.n, 0);
	assert_int_equal(p->fs.allow_write.n, 1);
	assert_string_equal(p->fs.allow_write.v[0].pattern->text, "/ws");
	/* A place in the file people can read, not in what awk made of it. */
	assert_int_equal(p->fs.allow_write.v[0].at.line, 16);
	assert_int_equal(p->fs.allow_write.v[0].at.col, 20);
	for (size_t i = 0; i < N_OF(hidden); i++)
		if (!hides(p, hidden[i]))
			fail_msg("%s is readable", hidden[i]);
	assert_false(hides(p, "/home/u/.npmrc"));
	assert_false(hides(p, "/home/u/.cargo/registry"));
	assert_false(hides(p, "/etc/passwd"));
	policy_free(p);
	assert_int_equal(policy_load_builtin("no-such", &env, &p, &e), -1);
	assert_int_equal(e.code, ERR_POLICY);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads_a_policy),
		cmocka_unit_test(closed_base),
		cmocka_unit_test(other_letter_case_is_taken),
		cmocka_unit_test(empty_sections_pass),
		cmocka_unit_test(wrong_files),
		cmocka_unit_test(long_unknown_keys),
		cmocka_unit_test(the_table),
		cmocka_unit_test(files),
		cmocka_unit_test(built_in_policy),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
