/* platform/base/arena: many small things, one end. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "platform/base/arena.h"

static void
is_zeroed_aligned_and_apart(void **state)
{
	struct arena *a = arena_new();
	unsigned char *p[500];

	(void)state;
	for (size_t i = 0; i < 500; i++) {
		size_t n = i % 97 + 1;

		p[i] = arena_alloc(a, n);
		assert_int_equal((uintptr_t)p[i] % 16, 0);
		for (size_t k = 0; k < n; k++)
			assert_int_equal(p[i][k], 0);
		memset(p[i], (int)(i & 0xff) | 1, n);
	}
	for (size_t i = 0; i < 500; i++)
		for (size_t k = 0; k < i % 97 + 1; k++)
			assert_int_equal(p[i][k], (i & 0xff) | 1);
	arena_free(a);
	arena_free(NULL);
}

static void
takes_large_and_empty(void **state)
{
	struct arena *a = arena_new();
	char *small = arena_alloc(a, 1), *large, *next;

	(void)state;
	assert_non_null(arena_alloc(a, 0));
	large = arena_alloc(a, 1 << 20);
	memset(large, 'x', 1 << 20);
	next = arena_alloc(a, 16);
	assert_int_equal(next[0], 0);
	assert_int_equal(small[0], 0);
	arena_free(a);
}

static void
copies_text(void **state)
{
	struct arena *a = arena_new();
	char text[] = "hello";
	char *copy = arena_strdup(a, text);

	(void)state;
	text[0] = 'x';
	assert_string_equal(copy, "hello");
	assert_string_equal(arena_strndup(a, "hello", 2), "he");
	assert_string_equal(arena_printf(a, "%s-%d", "a", 7), "a-7");
	assert_true(arena_has(a, copy) && arena_has(a, copy + 5));
	assert_false(arena_has(a, text) || arena_has(a, NULL));
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(is_zeroed_aligned_and_apart),
		cmocka_unit_test(takes_large_and_empty),
		cmocka_unit_test(copies_text),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
