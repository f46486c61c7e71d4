/* proxy/budget: which connection gives way. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include "proxy/serve.h"

enum { N = 4 };

static int64_t passed_ms;		/* as the server of one knows */

static int64_t
last_ms(const struct conn *c)
{
	(void)c;
	return passed_ms;
}

static void
the_longest_idle(void **state)
{
	static const struct { int64_t since[N]; int want; } cases[] = {
		{ { 10, 20, 30, 40 }, 0 },
		{ { 40, 30, 20, 10 }, 3 },
		{ { 40, 10, 20, 10 }, 1 },	/* of equals the oldest */
		{ { 7, 7, 7, 7 }, 0 },
		{ { 50, 50, 0, 50 }, 2 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct budget b = { 0 };
		struct conn c[N] = { 0 };

		assert_null(budget_idlest(&b));
		for (int k = 0; k < N; k++) {
			c[k].since_ms = cases[i].since[k];
			budget_add(&b, &c[k]);
		}
		assert_int_equal(b.n, N);
		assert_ptr_equal(budget_idlest(&b), &c[cases[i].want]);
		budget_remove(&c[cases[i].want]);
		assert_int_equal(b.n, N - 1);
		assert_ptr_not_equal(budget_idlest(&b), &c[cases[i].want]);
	}
}

/* Bytes count where they are later than the state, and nowhere else. */
static void
bytes_count(void **state)
{
	struct budget b = { 0 };
	struct conn quiet = { .since_ms = 20 };
	struct conn busy = { .since_ms = 10, .last_ms = last_ms };

	(void)state;
	budget_add(&b, &busy);
	budget_add(&b, &quiet);
	passed_ms = 5;
	assert_int_equal(budget_last_ms(&busy), 10);
	assert_ptr_equal(budget_idlest(&b), &busy);
	passed_ms = 25;
	assert_int_equal(budget_last_ms(&busy), 25);
	assert_ptr_equal(budget_idlest(&b), &quiet);
	budget_remove(&quiet);
	budget_remove(&busy);
	assert_null(budget_idlest(&b));
	assert_int_equal(b.n, 0);
}

/* Where all have room for `most` it is that; else none is without a part. */
static void
ceilings(void **state)
{
	static const struct {
		unsigned total, http, inside, want;	/* of HTTP */
	} cases[] = {
		{ 6 * 100, 0, 0, 100 }, { 6 * 100, 100, 100, 100 },
		{ 120, 0, 0, 70 }, { 120, 70, 10, 70 },
		{ 120, 20, 60, 20 }, { 120, 10, 70, 10 },
		{ 12, 0, 0, 7 }, { 11, 0, 0, 11 }, { 0, 0, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		struct budget all[BUDGET_KINDS] = {
			[BUDGET_HTTP] = { .n = cases[i].http },
			[BUDGET_INSIDE] = { .n = cases[i].inside },
		};

		assert_int_equal(budget_ceiling(all, BUDGET_HTTP, 100,
		    cases[i].total), cases[i].want);
	}
}

/* Filled in any order, all of them never hold more than `total`. */
static void
total_holds(void **state)
{
	struct budget all[BUDGET_KINDS] = { 0 };
	unsigned sum = 0, seed = 1;

	(void)state;
	for (int i = 0; i < 10000; i++) {
		unsigned kind = (seed = seed * 1103515245 + 12345) >> 16;

		kind %= BUDGET_KINDS;
		if (all[kind].n < budget_ceiling(all, kind, 100, 200)) {
			all[kind].n++;
			sum++;
		} else if ((seed & 1 << 20) != 0 && all[kind].n > 0) {
			all[kind].n--;
			sum--;
		}
		assert_true(sum <= 200);
		assert_true(budget_ceiling(all, kind, 100, 200) >= 200 / 12);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_longest_idle),
		cmocka_unit_test(bytes_count),
		cmocka_unit_test(ceilings),
		cmocka_unit_test(total_holds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
