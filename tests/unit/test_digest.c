/* digest: refusals by rule, and a block that is a policy. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <string.h>

#include "launcher/record/digest.h"
#include "policy/policy.h"
#include "tests/unit/verdict_words.h"

static void
add(struct digest *d, const char *path, enum remedy_kind kind,
    const char *key, const char *value)
{
	struct event e = { .kind = EVENT_OPEN, .count = 1, .path = path,
	    .verdict.action = ACTION_DENY };

	e.verdict.rule = rule_from("filesystem.allowWrite", NULL, "f.json", 3,
	    5);
	if (kind != REMEDY_NONE)
		remedy_from(&e.verdict.remedy, kind, key, value);
	digest_add(d, &e);
}

static void
add_host(struct digest *d, const char *host)
{
	struct event e = { .kind = EVENT_DNS, .count = 2, .host = host,
	    .verdict.action = ACTION_DENY };

	e.verdict.rule = rule_from("network.allowedDomains", NULL, NULL, 0,
	    0);
	remedy_from(&e.verdict.remedy, REMEDY_ADD, "network.allowedDomains",
	    host);
	digest_add(d, &e);
}

static void
assert_is_policy(const char *text)
{
	const struct policy_env env = { .workspace = "/ws", .home = "/home/u" };
	const char *block = strstr(text, "\n{\n");
	struct policy *p;
	struct err e = { 0 };

	assert_non_null(block);
	if (policy_parse(block, strlen(block), "told", &env, &p, &e) != 0)
		fail_msg("%s: %s", block, e.msg);
	policy_free(p);
}

static void
test_words(void **state)
{
	struct digest *d = digest_new("/home/u");
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	digest_text(d, &b);
	assert_string_equal(b.data, "");
	add(d, "/home/u/x", REMEDY_ADD, "filesystem.allowWrite", "~/x");
	add(d, "/home/u/x", REMEDY_ADD, "filesystem.allowWrite", "~/x");
	add(d, "/home/u/y\n", REMEDY_ADD, "filesystem.allowWrite",
	    "~/y\"\\\n");
	add(d, "/home/u/z", REMEDY_REMOVE, "filesystem.denyWrite", "**/z");
	add(d, "/proc/x", REMEDY_NONE, NULL, NULL);
	add(d, "/u", REMEDY_SET, "allowNestedSandbox", "true");
	add_host(d, "a.test");
	digest_text(d, &b);
	assert_string_equal(b.data, "fence: 8 refusals, by rule:\n"
	    "       6  filesystem.allowWrite f.json:3:5: ~/x and others\n"
	    "       2  network.allowedDomains: a.test\n"
	    "fence: a policy that allows some of them:\n"
	    "{\n"
	    "  // filesystem.denyWrite (remove \"**/z\")\n"
	    "  \"filesystem\": {\n"
	    "    \"allowWrite\": [\"~/x\", \"~/y\\\"\\\\\\n\"]\n"
	    "  },\n"
	    "  \"allowNestedSandbox\": true,\n"
	    "  \"network\": {\n"
	    "    \"allowedDomains\": [\"a.test\"]\n"
	    "  }\n"
	    "}\n");
	digest_lost(d, 3, true);
	buf_clear(&b);
	digest_text(d, &b);
	assert_memory_equal(b.data, "fence: at least 8 refusals", 26);
	assert_non_null(strstr(b.data, "\n       3  or more reports that "
	    "were dropped\n"));
	buf_release(&b);
	digest_free(d);
	digest_free(NULL);
}

/* A value with a newline is no path of a policy; without it the block is. */
static void
test_block(void **state)
{
	static const char *const values[] = { "~/x", "/a b/\\*\"'", "/u/\\[",
	    "/\xe6\xbc\xa2", "/x//y" };
	struct digest *d = digest_new(NULL);
	struct buf b;

	(void)state;
	for (size_t i = 0; i < sizeof values / sizeof *values; i++)
		add(d, "/x", REMEDY_ADD, "filesystem.allowWrite", values[i]);
	add(d, "/x", REMEDY_MUST_EXIST, "filesystem.allowWrite", NULL);
	add_host(d, "a.test");
	add_host(d, "198.51.100.7");
	buf_init(&b, 0);
	digest_text(d, &b);
	assert_is_policy(b.data);
	buf_release(&b);
	digest_free(d);
}

/* Nothing grows without end, and what is left out is said. */
static void
test_bound(void **state)
{
	struct digest *d = digest_new("/");
	char host[64];
	struct buf b;

	(void)state;
	for (int i = 0; i < 1000; i++) {
		snprintf(host, sizeof host, "h%d.test", i);
		add_host(d, host);
	}
	buf_init(&b, 0);
	digest_text(d, &b);
	assert_non_null(strstr(b.data, "2000 refusals"));
	assert_non_null(strstr(b.data, "more than fit here"));
	assert_true(b.len < 4096);
	assert_is_policy(b.data);
	buf_release(&b);
	digest_free(d);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words), cmocka_unit_test(test_block),
		cmocka_unit_test(test_bound),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
