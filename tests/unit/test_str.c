/* platform/base/str: numbers, escapes, distances, paths. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "platform/base/str.h"

#define N_OF(a)		(sizeof (a) / sizeof *(a))

static void
equality(void **state)
{
	(void)state;
	assert_true(str_eq(str_of("abc"), "abc"));
	assert_false(str_eq(str_of("abc"), "abcd"));
	assert_false(str_eq(str_of("abc"), "ab"));
	assert_false(str_eq(str_of("abc"), "ABC"));
	assert_true(str_caseeq(str_of("aBc"), "AbC"));
	assert_false(str_caseeq(str_of("abc"), "abd"));
	assert_true(str_eq((struct str){ "abc", 2 }, "ab"));
}

static void
numbers(void **state)
{
	static const struct { const char *text; uint64_t max; int rv;
	    uint64_t want; } cases[] = {
		{ "0", 10, 0, 0 }, { "10", 10, 0, 10 }, { "11", 10, -1, 0 },
		{ "", 10, -1, 0 }, { "01", 10, -1, 0 }, { "-1", 10, -1, 0 },
		{ "+1", 10, -1, 0 }, { " 1", 10, -1, 0 }, { "1 ", 10, -1, 0 },
		{ "1x", 99, -1, 0 }, { "9", 5, -1, 0 }, { "5", 5, 0, 5 },
		{ "65535", 65535, 0, 65535 }, { "65536", 65535, -1, 0 },
		{ "18446744073709551615", UINT64_MAX, 0, UINT64_MAX },
		{ "18446744073709551616", UINT64_MAX, -1, 0 },
		{ "99999999999999999999999", UINT64_MAX, -1, 0 },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		uint64_t v = 0;

		if (str_to_u64(str_of(cases[i].text), cases[i].max, &v) !=
		    cases[i].rv || v != cases[i].want)
			fail_msg("'%s'", cases[i].text);
	}
}

static void
escapes(void **state)
{
	static const struct { const char *text; size_t len; char quote;
	    const char *want; } cases[] = {
		{ "plain", 5, 0, "plain" },
		{ "a\nb\x1b[31m", 8, 0, "a\\x0ab\\x1b[31m" },
		{ "a\0b", 3, 0, "a\\x00b" },
		{ "a\\b", 3, 0, "a\\\\b" },
		{ "a\"b", 3, 0, "a\"b" }, { "a\"b", 3, '"', "a\\\"b" },
		{ "\xc3\xa9", 2, 0, "\xc3\xa9" },
		{ "\xc3", 1, 0, "\\xc3" }, { "\xff", 1, 0, "\\xff" },
		{ "\xc2\x9b", 2, 0, "\\xc2\\x9b" },
		{ "\xe2\x80\xae", 3, 0, "\\xe2\\x80\\xae" },
		{ "\xc0\xaf", 2, 0, "\\xc0\\xaf" },
		{ "\x7f", 1, 0, "\\x7f" },
	};
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	for (size_t i = 0; i < N_OF(cases); i++) {
		buf_clear(&b);
		str_escape(&b, cases[i].text, cases[i].len, cases[i].quote);
		assert_string_equal(b.data, cases[i].want);
	}
	buf_release(&b);
}

static void
utf8(void **state)
{
	static const struct { const char *text; size_t len, want;
	    uint32_t cp; } cases[] = {
		{ "a", 1, 1, 'a' }, { "\xc3\xa9", 2, 2, 0xe9 },
		{ "\xe2\x82\xac", 3, 3, 0x20ac },
		{ "\xf0\x9f\x98\x80", 4, 4, 0x1f600 },
		{ "", 0, 0, 0 }, { "\x80", 1, 0, 0 }, { "\xc3", 1, 0, 0 },
		{ "\xc1\xbf", 2, 0, 0 }, { "\xe0\x80\x80", 3, 0, 0 },
		{ "\xed\xa0\x80", 3, 0, 0 }, { "\xf8\x88\x80\x80", 4, 0, 0 },
		{ "\xf4\x90\x80\x80", 4, 0, 0 }, { "\xc3(", 2, 0, 0 },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		uint32_t cp = 0;

		assert_int_equal(str_utf8(cases[i].text, cases[i].len, &cp),
		    cases[i].want);
		if (cases[i].want != 0)
			assert_int_equal(cp, cases[i].cp);
	}
}

static void
distances(void **state)
{
	char longer[80];

	(void)state;
	assert_int_equal(str_distance("abc", "abc"), 0);
	assert_int_equal(str_distance("abc", "ABC"), 0);
	assert_int_equal(str_distance("abc", "acb"), 1);
	assert_int_equal(str_distance("abc", "ab"), 1);
	assert_int_equal(str_distance("abc", "xabc"), 1);
	assert_int_equal(str_distance("", "abc"), 3);
	assert_int_equal(str_distance("kitten", "sitting"), 3);
	memset(longer, 'a', sizeof longer - 1);
	longer[sizeof longer - 1] = '\0';
	assert_true(str_distance(longer, "a") >= 64);
}

static void
paths(void **state)
{
	static const struct { const char *path, *root; bool want; }
	    cases[] = {
		{ "/a/b", "/a", true }, { "/a", "/a", true },
		{ "/ab", "/a", false }, { "/", "/a", false },
		{ "/a", "/", true }, { "/", "/", true },
		{ "/a", "/a/b", false },
	};

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++)
		assert_int_equal(str_path_below(cases[i].path, cases[i].root),
		    cases[i].want);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(equality),
		cmocka_unit_test(numbers),
		cmocka_unit_test(escapes),
		cmocka_unit_test(utf8),
		cmocka_unit_test(distances),
		cmocka_unit_test(paths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
