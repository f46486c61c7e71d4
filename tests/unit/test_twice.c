/* Which reports of the shim the listener's records take the place of. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include "launcher/record/twice.h"

static const struct event one = { .kind = EVENT_OPEN, .path = "/a" };
static const struct event other = { .kind = EVENT_OPEN, .path = "/b" };
static const struct event call = { .kind = EVENT_CALL, .call = "mount" };

/* One for one, of the same process and object, and for two seconds. */
static void
test_pairs(void **state)
{
	struct twice t = { .next = 0 };

	(void)state;
	assert_false(twice_was_told(&t, 7, &one, 0));
	twice_told(&t, 7, &one, 0);
	twice_told(&t, 7, &one, 0);
	twice_told(&t, 7, &call, 0);
	assert_false(twice_was_told(&t, 8, &one, 0));
	assert_false(twice_was_told(&t, 7, &other, 0));
	assert_true(twice_was_told(&t, 7, &one, 1));
	assert_true(twice_was_told(&t, 7, &one, 1));
	assert_false(twice_was_told(&t, 7, &one, 1));
	assert_true(twice_was_told(&t, 7, &call, TWICE_MS));
	twice_told(&t, 7, &one, 0);
	assert_false(twice_was_told(&t, 7, &one, TWICE_MS + 1));
	assert_false(twice_was_told(&t, 0, &one, 1));
}

static void
test_full(void **state)
{
	struct twice t = { .next = UINT32_MAX - 3 };

	(void)state;
	twice_told(&t, 7, &one, 0);
	for (pid_t i = 0; i < TWICE_MAX; i++)
		twice_told(&t, 100 + i, &one, 0);
	assert_false(twice_was_told(&t, 7, &one, 0));
	for (pid_t i = 0; i < TWICE_MAX; i++)
		assert_true(twice_was_told(&t, 100 + i, &one, 0));
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_pairs), cmocka_unit_test(test_full),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
