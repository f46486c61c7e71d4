/* platform/base/ip: IPv4 addresses written as IPv6 ones. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>

#include <cmocka.h>

#include <arpa/inet.h>

#include "platform/base/ip.h"

static void
forms(void **state)
{
	static const struct { const char *text, *v4; } cases[] = {
		{ "::ffff:192.0.2.1", "192.0.2.1" },
		{ "::ffff:0.0.0.0", "0.0.0.0" },
		{ "::ffff:255.255.255.255", "255.255.255.255" },
		{ "::192.0.2.1", NULL },
		{ "::ffff:0:192.0.2.1", NULL },
		{ "64:ff9b::192.0.2.1", NULL },
		{ "1::ffff:192.0.2.1", NULL },
		{ "::fffe:192.0.2.1", NULL },
		{ "::1", NULL },
		{ "::", NULL },
	};

	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++) {
		uint8_t addr[16], was[16], v4[16] = { 0 };
		const char *want = cases[i].v4;

		assert_int_equal(inet_pton(AF_INET6, cases[i].text, was), 1);
		memcpy(addr, was, sizeof addr);
		if (want != NULL)
			assert_int_equal(inet_pton(AF_INET, want, v4), 1);
		assert_int_equal(ip_is_mapped(addr), want != NULL);
		assert_int_equal(ip_unmap(addr), want != NULL);
		assert_memory_equal(addr, want != NULL ? v4 : was, 16);
		if (want == NULL)
			continue;
		memset(addr, 0x55, sizeof addr);
		ip_map(v4, addr);
		assert_memory_equal(addr, was, 16);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(forms),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
