/* platform/base/clock: units, and clocks that the kernel does not know. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "platform/base/clock.h"

static int64_t
kernel_us(clockid_t clock)
{
	struct timespec ts;

	assert_int_equal(clock_gettime(clock, &ts), 0);
	return (int64_t)ts.tv_sec * 1000000 + ts.tv_nsec / 1000;
}

static void
units(void **state)
{
	static const clockid_t clocks[] = { CLOCK_MONOTONIC, CLOCK_REALTIME,
	    CLOCK_MONOTONIC_COARSE, CLOCK_PROCESS_CPUTIME_ID };

	(void)state;
	for (size_t i = 0; i < sizeof clocks / sizeof clocks[0]; i++) {
		int64_t before = kernel_us(clocks[i]);
		int64_t us = clock_us(clocks[i]), ms = clock_ms(clocks[i]);
		int64_t after = kernel_us(clocks[i]);

		assert_true(before <= us && us <= after);
		assert_true(before / 1000 <= ms && ms <= after / 1000);
	}
}

static void
unknown(void **state)
{
	(void)state;
	assert_true(clock_us((clockid_t)1000) == 0);
	assert_true(clock_ms((clockid_t)1000) == 0);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(units),
		cmocka_unit_test(unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
