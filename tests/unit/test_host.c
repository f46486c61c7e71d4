/* policy/host: one spelling of a host, and what kind of place it is. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <string.h>

#include <arpa/inet.h>
#include <cmocka.h>

#include "policy/host.h"

#define N_OF(a)		(sizeof (a) / sizeof *(a))
#define L63 "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"

static void
one_spelling(void **state)
{
	static const struct { const char *in; enum host_kind kind;
	    const char *want; } cases[] = {
		{ "example.com", HOST_NAME, "example.com" },
		{ "EXAMPLE.Com.", HOST_NAME, "example.com" },
		{ "localhost", HOST_NAME, "localhost" },
		{ "_dmarc.example.com", HOST_NAME, "_dmarc.example.com" },
		{ "xn--bcher-kva.example", HOST_NAME, "xn--bcher-kva.example" },
		{ "r3---sn.example", HOST_NAME, "r3---sn.example" },
		{ "1.2.3.4.example", HOST_NAME, "1.2.3.4.example" },
		{ "0xg", HOST_NAME, "0xg" },
		{ "1a", HOST_NAME, "1a" },
		{ L63 ".b", HOST_NAME, L63 ".b" },
		{ "127.0.0.1", HOST_IPV4, "127.0.0.1" },
		{ "127.0.0.1.", HOST_IPV4, "127.0.0.1" },
		{ "2130706433", HOST_IPV4, "127.0.0.1" },
		{ "017700000001", HOST_IPV4, "127.0.0.1" },
		{ "0x7f000001", HOST_IPV4, "127.0.0.1" },
		{ "0X7F.1", HOST_IPV4, "127.0.0.1" },
		{ "127.1", HOST_IPV4, "127.0.0.1" },
		{ "127.0.1", HOST_IPV4, "127.0.0.1" },
		{ "0177.0.0.01", HOST_IPV4, "127.0.0.1" },
		{ "0", HOST_IPV4, "0.0.0.0" },
		{ "4294967295", HOST_IPV4, "255.255.255.255" },
		{ "1.16777215", HOST_IPV4, "1.255.255.255" },
		{ "192.168.65535", HOST_IPV4, "192.168.255.255" },
		{ "2852039166", HOST_IPV4, "169.254.169.254" },
		{ "0251.0376.0251.0376", HOST_IPV4, "169.254.169.254" },
		{ "0xA9.0xFE.0xA9.0xFE", HOST_IPV4, "169.254.169.254" },
		{ "169.0xfea9fe.", HOST_IPV4, "169.254.169.254" },
		{ "0000177.0.0.1", HOST_IPV4, "127.0.0.1" },
		{ "0x000000007f000001", HOST_IPV4, "127.0.0.1" },
		{ "127.0.0.1.nip.io", HOST_NAME, "127.0.0.1.nip.io" },
		{ "0x7f000001.a", HOST_NAME, "0x7f000001.a" },
		{ "LOCALHOST.", HOST_NAME, "localhost" },
		{ "::1", HOST_IPV6, "::1" },
		{ "[::1]", HOST_IPV6, "::1" },
		{ "0:0:0:0:0:0:0:1", HOST_IPV6, "::1" },
		{ "2001:DB8:0:0::1", HOST_IPV6, "2001:db8::1" },
		{ "::ffff:127.0.0.1", HOST_IPV4, "127.0.0.1" },
		{ "::FFFF:7f00:1", HOST_IPV4, "127.0.0.1" },
		{ "[::ffff:10.0.0.1]", HOST_IPV4, "10.0.0.1" },
		{ "0:0:0:0:0:ffff:a9fe:a9fe", HOST_IPV4, "169.254.169.254" },
		{ "0000:0000::0001", HOST_IPV6, "::1" },
		{ "::fffe:127.0.0.1", HOST_IPV6, "::fffe:7f00:1" },
	};
	struct host h;

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		if (host_canon(cases[i].in, strlen(cases[i].in), &h) != 0)
			fail_msg("%s refused", cases[i].in);
		assert_string_equal(h.text, cases[i].want);
		assert_int_equal(h.kind, cases[i].kind);
	}
}

static void
refusals(void **state)
{
	static const struct { const char *in; size_t len; } cases[] = {
#define S(s)	{ s, sizeof s - 1 }
		S(""), S("."), S(".."), S(".a"), S("a.."), S("a..b"),
		S(" a"), S("a "), S("a b"), S("a\tb"), S("a\nb"), S("a\0b"),
		S("a\0"), S("\0"), S("a%b"), S("%00"), S("\xc3\xa9.test"),
		S("a/b"), S("a@b"), S("a:80"), S("a*b"), S("*.a"), S("a\\b"),
		S("http://a"), S("a?b"), S("a#b"), S("\x7f"), S("a,b"),
		S(L63 "a.b"), S(L63 "." L63 "." L63 "." L63),
		S("256.1.1.1"), S("1.2.3.256"), S("1.2.3.4.5"), S("1.2.3.4.."),
		S("4294967296"), S("08"), S("1.2.3.08"), S("0x"),
		S("1.0x"), S("1.16777216"), S("192.168.65536"),
		S("99999999999999999999999"), S("a.1"), S("a.0x7f"),
		S("1.2.-3.4"), S("1.2.0xg.4"),
		S("[]"), S("[1.2.3.4]"), S("[a]"), S("[::1"), S("::1]"),
		S("[::1]:80"), S("::1%lo"), S("[fe80::1%25eth0]"), S(":::"),
		S("1::2::3"), S("12345::"), S("::1\0"), S("::1\0evil"),
		S("::1."), S("::256.0.0.1"), S("[[::1]]"),
		S("1:2:3:4:5:6:7:8:9"), S("::ffff:0127.0.0.1"),
		S("example.com.."), S("127.0.0.1.."), S("..example.com"),
		S("127..1"), S(".127.0.0.1"), S("0x100000000"),
		S("040000000000"), S("0400.0.0.1"), S("0x100.0.0.1"),
		S("127.0x1000000"), S("1.2.3.4.0"), S("::ffff:0x7f.0.0.1"),
		S("::ffff:2130706433"), S("[::ffff:127.0.0.1]."), S("[::1].a"),
		S("127.0.0.1/8"), S("example.com:443"), S("u@example.com"),
#undef S
	};
	struct host h;

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++)
		if (host_canon(cases[i].in, cases[i].len, &h) == 0)
			fail_msg("case %zu '%s' became %s", i, cases[i].in,
			    h.text);
}

/* 253 bytes are a name, 254 are not; the dot at the end does not count. */
static void
name_length(void **state)
{
	char name[300];
	struct host h;

	(void)state;
	for (size_t i = 0; i < sizeof name; i++)
		name[i] = i % 2 == 0 ? 'a' : '.';
	assert_int_equal(host_canon(name, 253, &h), 0);
	assert_int_equal(strlen(h.text), 253);
	assert_int_equal(host_canon(name, 254, &h), 0);	/* last is a dot */
	assert_int_equal(host_canon(name, 255, &h), -1);
}

/* A canonical text is its own canonical text. */
static void
is_a_fixed_point(void **state)
{
	static const char *const texts[] = { "a.b", "1.2.3.4", "2001:db8::1",
	    "::", "::1.2.3.4", "64:ff9b::1", "fe80::1" };
	struct host a, b;

	(void)state;
	for (size_t i = 0; i < N_OF(texts); i++) {
		assert_int_equal(host_canon(texts[i], strlen(texts[i]), &a), 0);
		assert_int_equal(host_canon(a.text, strlen(a.text), &b), 0);
		assert_string_equal(a.text, b.text);
		assert_memory_equal(a.addr, b.addr, 16);
	}
}

static void
classes(void **state)
{
	static const struct { const char *in; enum addr_class want; }
	    cases[] = {
		{ "1.1.1.1", ADDR_PUBLIC }, { "198.18.0.1", ADDR_PUBLIC },
		{ "126.255.255.255", ADDR_PUBLIC },
		{ "127.0.0.1", ADDR_LOOPBACK },
		{ "127.255.255.255", ADDR_LOOPBACK },
		{ "128.0.0.1", ADDR_PUBLIC },
		{ "0.0.0.0", ADDR_UNSPECIFIED }, { "0.0.0.1", ADDR_RESERVED },
		{ "169.254.0.1", ADDR_LINKLOCAL },
		{ "169.254.169.254", ADDR_METADATA },
		{ "169.254.169.253", ADDR_LINKLOCAL },
		{ "169.255.0.1", ADDR_PUBLIC },
		{ "100.100.100.200", ADDR_METADATA },
		{ "192.0.0.192", ADDR_METADATA },
		{ "168.63.129.16", ADDR_METADATA },
		{ "10.0.0.1", ADDR_PRIVATE }, { "11.0.0.1", ADDR_PUBLIC },
		{ "172.15.255.255", ADDR_PUBLIC },
		{ "172.16.0.0", ADDR_PRIVATE },
		{ "172.31.255.255", ADDR_PRIVATE },
		{ "172.32.0.0", ADDR_PUBLIC },
		{ "192.168.1.1", ADDR_PRIVATE },
		{ "100.64.0.1", ADDR_PRIVATE },
		{ "100.127.255.255", ADDR_PRIVATE },
		{ "100.128.0.0", ADDR_PUBLIC },
		{ "224.0.0.1", ADDR_MULTICAST },
		{ "239.255.255.255", ADDR_MULTICAST },
		{ "240.0.0.1", ADDR_RESERVED },
		{ "255.255.255.255", ADDR_RESERVED },
		{ "::", ADDR_UNSPECIFIED }, { "::1", ADDR_LOOPBACK },
		{ "::2", ADDR_RESERVED },	/* compatible: 0.0.0.2 */
		{ "::127.0.0.1", ADDR_LOOPBACK },
		{ "64:ff9b::10.0.0.1", ADDR_PRIVATE },
		{ "64:ff9b::1.1.1.1", ADDR_PUBLIC },
		{ "64:ff9b:1::1.1.1.1", ADDR_RESERVED },
		{ "2002:7f00:1::", ADDR_LOOPBACK },
		{ "2002:a9fe:a9fe::1", ADDR_METADATA },
		{ "2002:101:101::1", ADDR_PUBLIC },
		{ "::ffff:0:127.0.0.1", ADDR_LOOPBACK },
		{ "2001:0:1::1", ADDR_RESERVED },
		{ "2606:4700::1", ADDR_PUBLIC },
		{ "fe80::1", ADDR_LINKLOCAL },
		{ "febf::1", ADDR_LINKLOCAL },
		{ "fec0::1", ADDR_PRIVATE }, { "fc00::1", ADDR_PRIVATE },
		{ "fdff::1", ADDR_PRIVATE },
		{ "fd00:ec2::254", ADDR_METADATA },
		{ "fd20:ce::254", ADDR_METADATA },
		{ "ff02::1", ADDR_MULTICAST },
		{ "100::1", ADDR_RESERVED }, { "4000::1", ADDR_RESERVED },
	};
	struct host h;

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		enum addr_class got;

		assert_int_equal(host_canon(cases[i].in, strlen(cases[i].in),
		    &h), 0);
		got = host_addr_class(h.addr, h.kind == HOST_IPV4 ? 4 : 16);
		if (got != cases[i].want)
			fail_msg("%s is %s", cases[i].in,
			    host_addr_class_name(got));
	}
}

/* host_canon() makes mapped addresses v4, so they are asked for by bytes. */
static void
mapped_addresses(void **state)
{
	uint8_t addr[16];
	struct host h;

	(void)state;
	assert_int_equal(inet_pton(AF_INET6, "::ffff:169.254.169.254", addr),
	    1);
	assert_int_equal(host_addr_class(addr, 16), ADDR_METADATA);
	host_from_addr(addr, 16, &h);
	assert_int_equal(h.kind, HOST_IPV4);
	assert_string_equal(h.text, "169.254.169.254");
}

/* The v4 address inside a v6 address; "::1" has none. */
static void
embedded_addresses(void **state)
{
	static const struct { const char *in, *want; } cases[] = {
		{ "64:ff9b::1.2.3.4", "1.2.3.4" }, { "::1.2.3.4", "1.2.3.4" },
		{ "::ffff:0:1.2.3.4", "1.2.3.4" },
		{ "2002:102:304::5", "1.2.3.4" },
		{ "64:ff9b:1::1.2.3.4", NULL }, { "2001:db8::1.2.3.4", NULL },
		{ "::1", NULL }, { "::", NULL }, { "1.2.3.4", NULL },
		{ "a.test", NULL },
	};
	struct host h, v4;

	(void)state;
	for (size_t i = 0; i < N_OF(cases); i++) {
		assert_int_equal(host_canon(cases[i].in, strlen(cases[i].in),
		    &h), 0);
		if (host_embedded(&h, &v4) != (cases[i].want != NULL))
			fail_msg("%s", cases[i].in);
		if (cases[i].want != NULL)
			assert_string_equal(v4.text, cases[i].want);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(one_spelling),
		cmocka_unit_test(refusals),
		cmocka_unit_test(name_length),
		cmocka_unit_test(is_a_fixed_point),
		cmocka_unit_test(classes),
		cmocka_unit_test(mapped_addresses),
		cmocka_unit_test(embedded_addresses),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
