/* Jumps that reach just far enough, and those that need a step between. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "platform/linux/seccomp_code.h"
#include "tests/unit/bpf.h"

enum { NUMBER = offsetof(struct seccomp_data, nr),
	ARCH = offsetof(struct seccomp_data, arch) };

static struct code code;

/* n instructions that nothing leads to, each another one. */
static void
fill(size_t n)
{
	size_t place = code_return(&code, 33);

	for (size_t i = 1; i < n; i++)
		place = code_and(&code, i, place);
}

static uint32_t
answer(size_t start, int nr)
{
	struct seccomp_data d = { .nr = nr, .arch = 7 };
	size_t most = 0;
	struct buf b;
	uint32_t got;

	buf_init(&b, 0);
	assert_int_equal(code_export(&code, start, &b), 0);
	got = bpf_run(&b, &d, &most);
	buf_release(&b);
	return got;
}

/* Both ways of a question lie between and beyond a jump's reach. */
static void
test_reach(void **state)
{
	(void)state;
	for (size_t apart = 1; apart < 12; apart++)
		for (size_t n = 240; n < 270; n++) {
			size_t way[2], start;

			for (unsigned first = 0; first < 2; first++) {
				memset(&code, 0, sizeof code);
				way[first] = code_load(&code, ARCH,
				    code_return(&code, 10 + first));
				fill(apart);
				way[!first] = code_load(&code, ARCH,
				    code_return(&code, 10 + !first));
				fill(n);
				start = code_if(&code, BPF_JEQ, 5, way[1],
				    way[0]);
				start = code_load(&code, NUMBER, start);
				assert_int_equal(answer(start, 5), 11);
				assert_int_equal(answer(start, 6), 10);
			}
		}
}

/* The same instruction with the same continuation is one. */
static void
test_shared(void **state)
{
	size_t yes, no, place, n;

	(void)state;
	memset(&code, 0, sizeof code);
	yes = code_return(&code, 1);
	no = code_return(&code, 2);
	assert_int_equal(code_return(&code, 1), yes);
	place = code_if(&code, BPF_JEQ, 5, yes, no);
	place = code_and(&code, 0xff, place);
	place = code_load(&code, NUMBER, place);
	n = code.n;
	assert_int_equal(code_load(&code, NUMBER, code_and(&code, 0xff,
	    code_if(&code, BPF_JEQ, 5, yes, no))), place);
	assert_int_equal(code.n, n);
	/* A question whose answers lead to one place is none. */
	assert_int_equal(code_if(&code, BPF_JGE, 9, no, no), no);
	assert_int_equal(answer(place, 0x105), 1);
	assert_int_equal(answer(place, 0x501), 2);
}

static void
test_too_long(void **state)
{
	size_t place;
	struct buf b;

	(void)state;
	memset(&code, 0, sizeof code);
	place = code_return(&code, 1);
	for (size_t i = 0; i < CODE_MAX + 10; i++)
		place = code_and(&code, i, place);
	buf_init(&b, 0);
	assert_int_equal(code_export(&code, place, &b), -1);
	assert_int_equal(b.len, 0);
	buf_release(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_reach),
		cmocka_unit_test(test_shared),
		cmocka_unit_test(test_too_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
