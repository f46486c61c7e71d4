#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "launcher/record/suspect.h"

#define L40	"abcdefghijklmnopqrstuvwxyz234567abcdefgh"

static void
test_label(void **state)
{
	static const struct {
		const char	*name;
		const char	*domain;	/* NULL: nothing to tell */
	} t[] = {
		{ "www.a.test", NULL },
		{ L40 ".a.test", "a.test" },
		{ L40 ".a.test", NULL },	/* once */
		{ "x." L40 ".y.b.test", "b.test" },
		{ "abcdefghijklmnopqrstuvwxyz234567abcdefg.c.test", NULL },
		{ L40 ".test", NULL },		/* the domain itself */
		{ L40, NULL },
		{ "localhost", NULL },
	};
	struct suspect s = { .n = 0 };
	const char *domain;

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		domain = NULL;
		if (suspect_name(&s, t[i].name, &domain) !=
		    (t[i].domain != NULL))
			fail_msg("%s", t[i].name);
		if (t[i].domain != NULL)
			assert_string_equal(domain, t[i].domain);
	}
}

/* The same names again and again are none; ever new ones are. */
static void
test_many(void **state)
{
	struct suspect s = { .n = 0 };
	const char *domain;
	unsigned told = 0;
	char name[64];

	(void)state;
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof name, "h%d.a.test", i % 10);
		assert_false(suspect_name(&s, name, &domain));
	}
	for (int i = 0; i < 1000; i++) {
		snprintf(name, sizeof name, "h%d.b.test", i);
		if (suspect_name(&s, name, &domain)) {
			assert_true(i >= SUSPECT_NAMES - 1 && i < 60);
			told++;
		}
	}
	assert_int_equal(told, 1);
	for (int i = 0; i < 1000; i++) {	/* bounded */
		snprintf(name, sizeof name, "x.d%d.test", i);
		suspect_name(&s, name, &domain);
	}
	assert_int_equal(s.n, SUSPECT_DOMAINS);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_label),
		cmocka_unit_test(test_many),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
