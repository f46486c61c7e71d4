/* proxy/sshsay: a version and one packet, for texts of every length. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <cmocka.h>

#include "proxy/sshsay.h"

static const char version[] = "SSH-2.0-fence\r\n";

static uint32_t
get_u32(const uint8_t *p)
{
	return (uint32_t)p[0] << 24 | (uint32_t)p[1] << 16 |
	    (uint32_t)p[2] << 8 | p[3];
}

static void
check(const char *text)
{
	uint8_t buf[SSHSAY_MAX];
	size_t n = sshsay_refusal(buf, text), v = sizeof version - 1;
	const uint8_t *p = buf + v;
	uint32_t len;

	assert_true(n <= sizeof buf);
	assert_memory_equal(buf, version, v);
	assert_int_equal((n - v) % 8, 0);
	assert_int_equal(get_u32(p), n - v - 4);
	assert_in_range(p[4], 4, 255);
	assert_int_equal(p[5], 1);
	assert_int_equal(get_u32(p + 6), 1);
	len = get_u32(p + 10);
	assert_true(len <= strlen(text));
	assert_true(len == strlen(text) || len > 400);
	assert_memory_equal(p + 14, text, len);
	assert_int_equal(get_u32(p + 14 + len), 0);
	assert_int_equal(5 + 1 + 4 + 4 + len + 4 + p[4], n - v);
}

static void
test_lengths(void **state)
{
	char text[600];

	(void)state;
	for (size_t n = 0; n < sizeof text; n++) {
		memset(text, 'x', n);
		text[n] = '\0';
		check(text);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_lengths),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
