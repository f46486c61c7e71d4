#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "launcher/record/recent.h"
#include "tests/unit/verdict_words.h"

static struct recent list;

static struct event
refused(const char *host)
{
	struct event e = { .kind = EVENT_CONNECT, .host = host, .port = 80,
	    .sys = ECONNRESET, .verdict = { .action = ACTION_DENY,
	    .rule = rule_from("network.allowedDomains", NULL, "f.json", 3,
	    5) } };

	remedy_from(&e.verdict.remedy, REMEDY_ADD, "network.allowedDomains",
	    host);
	return e;
}

static void
test_add(void **state)
{
	struct event e = refused("a.test");

	(void)state;
	memset(&list, 0, sizeof list);
	recent_add(&list, &e);
	assert_int_equal(list.n, 1);
	assert_string_equal(list.entry[0].what,
	    "connect(a.test:80) ECONNRESET");
	assert_string_equal(list.entry[0].rule,
	    "network.allowedDomains f.json:3:5");
	assert_string_equal(list.entry[0].remedy,
	    "network.allowedDomains += \"a.test\"");
	e.verdict.action = ACTION_ALLOW;
	recent_add(&list, &e);
	e.kind = EVENT_WORKER;
	recent_add(&list, &e);
	assert_int_equal(list.n, 1);
	assert_int_equal(list.entry[0].count, 1);
}

/* The last first; an equal one takes the place of the one before. */
static void
test_order(void **state)
{
	static const struct { const char *host, *order; } t[] = {
		{ "a", "a1 " }, { "b", "b1 a1 " }, { "c", "c1 b1 a1 " },
		{ "a", "a2 c1 b1 " }, { "a", "a3 c1 b1 " },
		{ "c", "c2 a3 b1 " },
	};
	char order[64];

	(void)state;
	memset(&list, 0, sizeof list);
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct event e = refused(t[i].host);

		recent_add(&list, &e);
		order[0] = '\0';
		for (unsigned k = 0; k < list.n; k++)
			snprintf(order + strlen(order), 8, "%s%u ",
			    list.entry[k].object, list.entry[k].count);
		assert_string_equal(order, t[i].order);
	}
}

static void
test_ceiling(void **state)
{
	char host[16];

	(void)state;
	memset(&list, 0, sizeof list);
	for (int i = 0; i < 3 * RECENT_MAX; i++) {
		struct event e = refused(host);

		snprintf(host, sizeof host, "h%d", i);
		recent_add(&list, &e);
	}
	assert_int_equal(list.n, RECENT_MAX);
	snprintf(host, sizeof host, "h%d", 3 * RECENT_MAX - 1);
	assert_string_equal(list.entry[0].object, host);
	assert_int_equal(list.entry[RECENT_MAX - 1].count, 1);
}

/* No half character, and of a long place its end. */
static void
test_words(void **state)
{
	struct verdict v = { .rule = rule_from("network.allowedDomains",
	    NULL, NULL, 12, 5) };
	char rule[RECENT_RULE], remedy[RECENT_REMEDY], file[400];

	(void)state;
	for (size_t n = 1; n < 190; n++) {
		for (size_t i = 0; i < n; i++)
			memcpy(file + 2 * i, "\xc3\xa9", 2);
		file[2 * n] = '\0';
		v.rule.at.file = file;
		remedy_from(&v.remedy, REMEDY_ADD, "env.allow", file);
		recent_words(&v, rule, remedy);
		assert_memory_equal(rule, "network.allowedDomains ", 23);
		assert_string_equal(rule + strlen(rule) - 5, ":12:5");
		for (char *p = rule + 23; *p == '\xc3' || *p == '\xa9'; p += 2)
			assert_memory_equal(p, "\xc3\xa9", 2);
		if (strlen(remedy) > 200)
			assert_true(remedy[strlen(remedy) - 1] != '\xc3');
	}
	v.rule.at.file = NULL;
	v.rule.at.line = 0;
	remedy_from(&v.remedy, REMEDY_REMOVE, "env.allow", "x");
	recent_words(&v, rule, remedy);
	assert_string_equal(rule, "network.allowedDomains");
	assert_string_equal(remedy, "env.allow (remove \"x\")");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_add),
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_ceiling),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
