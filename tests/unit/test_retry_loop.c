#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "launcher/gate/retry_loop.h"

static void
fill(struct retry_loop *r, int64_t now)
{
	for (int i = 0; i < RETRY_LOOP_MAX; i++)
		assert_false(retry_loop_refused(r, 7, "a.test", 443, now));
	assert_true(retry_loop_refused(r, 7, "a.test", 443, now));
}

static void
test_same(void **state)
{
	static struct retry_loop r;

	(void)state;
	fill(&r, 1000);
	assert_true(retry_loop_refused(&r, 7, "a.test", 443, 1000 +
	    RETRY_LOOP_QUIET_MS));
	assert_false(retry_loop_refused(&r, 8, "a.test", 443, 1000));
	assert_false(retry_loop_refused(&r, 7, "b.test", 443, 1000));
	assert_false(retry_loop_refused(&r, 7, "a.test", 80, 1000));
	fill(&r, 1001 + 2 * RETRY_LOOP_QUIET_MS);	/* it was quiet for long */
	for (int i = 0; i < RETRY_LOOP_MAX; i++)	/* nor are the unknown others */
		assert_false(retry_loop_refused(&r, 0, "a.test", 443, 1000));
	assert_true(retry_loop_refused(&r, 0, "a.test", 443, 1000));
}

/* One that goes on is not forgotten for many that come and go. */
static void
test_crowd(void **state)
{
	static struct retry_loop r;
	char host[32];

	(void)state;
	fill(&r, 1000);
	for (int i = 0; i < 10 * RETRY_LOOP_ENTRIES; i++) {
		snprintf(host, sizeof host, "%d.test", i);
		assert_false(retry_loop_refused(&r, 9, host, 443, 1001 + i));
		if (i % 32 == 0)
			assert_true(retry_loop_refused(&r, 7, "a.test", 443,
			    1001 + i));
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_same),
		cmocka_unit_test(test_crowd),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
