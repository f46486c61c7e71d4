#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>

#include "launcher/gate/repeat.h"

static void
fill(struct repeat *r, int64_t now)
{
	for (int i = 0; i < REPEAT_MAX; i++)
		assert_false(repeat_is_loop(r, 7, "a.test", 443, now));
	assert_true(repeat_is_loop(r, 7, "a.test", 443, now));
}

static void
test_same(void **state)
{
	static struct repeat r;

	(void)state;
	fill(&r, 1000);
	assert_true(repeat_is_loop(&r, 7, "a.test", 443, 1000 +
	    REPEAT_QUIET_MS));
	assert_false(repeat_is_loop(&r, 8, "a.test", 443, 1000));
	assert_false(repeat_is_loop(&r, 7, "b.test", 443, 1000));
	assert_false(repeat_is_loop(&r, 7, "a.test", 80, 1000));
	fill(&r, 1001 + 2 * REPEAT_QUIET_MS);	/* it was quiet for long */
	for (int i = 0; i < REPEAT_MAX; i++)	/* nor are the unknown others */
		assert_false(repeat_is_loop(&r, 0, "a.test", 443, 1000));
	assert_true(repeat_is_loop(&r, 0, "a.test", 443, 1000));
}

/* One that goes on is not forgotten for many that come and go. */
static void
test_crowd(void **state)
{
	static struct repeat r;
	char host[32];

	(void)state;
	fill(&r, 1000);
	for (int i = 0; i < 10 * REPEAT_ENTRIES; i++) {
		snprintf(host, sizeof host, "%d.test", i);
		assert_false(repeat_is_loop(&r, 9, host, 443, 1001 + i));
		if (i % 32 == 0)
			assert_true(repeat_is_loop(&r, 7, "a.test", 443,
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
