/* quota: who may say how much. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>

#include "launcher/record/quota.h"

static const struct quota_rule rule = { .each = 100, .each_per_second = 10,
    .all = 300, .all_per_second = 20, .least_per_second = 2 };

/* How many of n things each of the senders may say at once. */
static unsigned
say(struct quota *q, pid_t from, unsigned senders, unsigned n, int64_t ms)
{
	unsigned said = 0;

	for (unsigned i = 0; i < senders; i++)
		for (unsigned k = 0; k < n; k++)
			said += quota_take(q, from + (pid_t)i, ms);
	return said;
}

static int
setup(void **state)
{
	struct quota *q = calloc(1, sizeof *q);

	quota_init(q, &rule);
	*state = q;
	return 0;
}

static int
teardown(void **state)
{
	free(*state);
	return 0;
}

/* One has its store, and then what comes anew. */
static void
test_one(void **state)
{
	assert_int_equal(say(*state, 7, 1, 1000, 5000), 100);
	assert_int_equal(say(*state, 7, 1, 1000, 5000), 0);
	assert_int_equal(say(*state, 7, 1, 1000, 6000), 10);
	assert_int_equal(say(*state, 7, 1, 1000, 3606000), 100);
	/* A clock that goes back gives nothing. */
	assert_int_equal(say(*state, 7, 1, 1000, 1000), 0);
}

/* Another has its own. */
static void
test_others(void **state)
{
	assert_int_equal(say(*state, 7, 1, 1000, 5000), 100);
	assert_int_equal(say(*state, 8, 1, 60, 5000), 60);
}

/* Many empty what is common; then each has a little of its own. */
static void
test_many(void **state)
{
	assert_int_equal(say(*state, 10, 20, 100, 5000), 300 + 17 * 2);
	assert_int_equal(say(*state, 100, 1, 1000, 5000), 2);
	assert_int_equal(say(*state, 100, 1, 1000, 5999), 19);
	assert_int_equal(say(*state, 200, 1, 1000, 6000), 2);
	assert_int_equal(say(*state, 100, 1, 1000, 6000), 2);
}

/* More senders than there is room for: none is refused all. */
static void
test_crowd(void **state)
{
	for (pid_t pid = 1; pid < 100000; pid++)
		assert_true(quota_take(*state, pid, 5000 + pid / 1000));
	assert_true(quota_take(*state, 0, 9000));
}

int
main(void)
{
#define CASE(f)	cmocka_unit_test_setup_teardown(f, setup, teardown)
	const struct CMUnitTest tests[] = {
		CASE(test_one), CASE(test_others), CASE(test_many),
		CASE(test_crowd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
