#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "proxy/dnsmsg.h"

#define HEAD(flags, qd, an, ns, ar) \
	"\x12\x34" flags "\0" qd "\0" an "\0" ns "\0" ar
#define RD	"\1\0"
#define NAME	"\1a\4test\0"
#define OPT	"\0\0\x29\x04\xd0\0\0\0\0\0\0"
#define L63	"12345678901234567890123456789012345678901234567890" \
	"1234567890123"
#define LABEL	"\x3f" L63

#define Q(bytes)	bytes, sizeof bytes - 1

static const struct {
	const char	*bytes;
	size_t		 len;
	int		 rcode;
	const char	*name;
	unsigned	 qtype;
	int		 has_edns;
} t[] = {
	{ Q(HEAD(RD, "\1", "\0", "\0", "\0") NAME "\0\1\0\1"), DNS_NOERROR,
	    "a.test", 1, 0 },
	{ Q(HEAD(RD, "\1", "\0", "\0", "\1") NAME "\0\34\0\1" OPT),
	    DNS_NOERROR, "a.test", 28, 1 },
	{ Q(HEAD(RD, "\1", "\0", "\0", "\0") "\0\0\2\0\1"), DNS_NOERROR, "", 2,
	    0 },
	/* 255 bytes on the wire, and one more */
	{ Q(HEAD(RD, "\1", "\0", "\0", "\0") LABEL LABEL LABEL "\x3d"
	    "1234567890123456789012345678901234567890123456789012345678901"
	    "\0\0\1\0\1"), DNS_NOERROR, NULL, 1, 0 },
	{ Q(HEAD(RD, "\1", "\0", "\0", "\0") LABEL LABEL LABEL "\x3e"
	    "12345678901234567890123456789012345678901234567890123456789012"
	    "\0\0\1\0\1"), DNS_FORMERR, NULL, 0, 0 },
	{ Q("\x12\x34\1\0\0\1\0\0\0\0\0"), DNS_DROP, NULL, 0, 0 },
	{ Q(HEAD("\x81\0", "\1", "\0", "\0", "\0") NAME "\0\1\0\1"), DNS_DROP,
	    NULL, 0, 0 },
	{ Q(HEAD("\x28\0", "\1", "\0", "\0", "\0") NAME "\0\6\0\1"),
	    DNS_NOTIMP, NULL, 0, 0 },
	{ Q(HEAD(RD, "\0", "\0", "\0", "\0")), DNS_FORMERR, NULL, 0, 0 },
	{ Q(HEAD(RD, "\2", "\0", "\0", "\0") NAME "\0\1\0\1" NAME "\0\1\0\1"),
	    DNS_FORMERR, NULL, 0, 0 },
	{ Q(HEAD(RD, "\1", "\0", "\0", "\0") "\xc0\x0c\0\1\0\1"), DNS_FORMERR,
	    NULL, 0, 0 },
	{ Q(HEAD(RD, "\1", "\0", "\0", "\0") "\1a\xc0\x0c\0\1\0\1"),
	    DNS_FORMERR, NULL, 0, 0 },
	{ Q(HEAD(RD, "\1", "\0", "\0", "\0") "\x40" L63 "x\0\0\1\0\1"),
	    DNS_FORMERR, NULL, 0, 0 },
	{ Q(HEAD(RD, "\1", "\0", "\0", "\0") "\3a.b\0\0\1\0\1"), DNS_FORMERR,
	    NULL, 0, 0 },
	{ Q(HEAD(RD, "\1", "\0", "\0", "\0") "\3a\0b\0\0\1\0\1"), DNS_FORMERR,
	    NULL, 0, 0 },
	{ Q(HEAD(RD, "\1", "\0", "\0", "\0") "\3a b\0\0\1\0\1"), DNS_FORMERR,
	    NULL, 0, 0 },
	{ Q(HEAD(RD, "\1", "\0", "\0", "\0") "\2\xc3\xa9\0\0\1\0\1"),
	    DNS_FORMERR, NULL, 0, 0 },
	{ Q(HEAD(RD, "\1", "\0", "\0", "\0") NAME "\0\1\0\3"), DNS_REFUSED,
	    "a.test", 1, 0 },
	{ Q(HEAD(RD, "\1", "\0", "\0", "\0") NAME "\0\1\0"), DNS_FORMERR, NULL,
	    0, 0 },
	{ Q(HEAD(RD, "\1", "\0", "\0", "\0") NAME "\0\1\0\1x"), DNS_FORMERR,
	    NULL, 0, 0 },
	{ Q(HEAD(RD, "\1", "\0", "\0", "\1") NAME "\0\1\0\1"), DNS_FORMERR,
	    NULL, 0, 0 },
	{ Q(HEAD(RD, "\1", "\0", "\0", "\2") NAME "\0\1\0\1" OPT OPT),
	    DNS_FORMERR, NULL, 0, 0 },
	{ Q(HEAD(RD, "\1", "\1", "\0", "\0") NAME "\0\1\0\1" OPT),
	    DNS_FORMERR, NULL, 0, 0 },
	{ Q(HEAD(RD, "\1", "\0", "\0", "\1") NAME "\0\1\0\1"
	    "\0\0\x29\x04\xd0\0\1\0\0\0\0"), DNS_BADVERS, "a.test", 1, 1 },
	{ Q(HEAD(RD, "\1", "\0", "\0", "\1") NAME "\0\1\0\1"
	    "\0\0\x29\x04\xd0\0\0\0\0\0\1"), DNS_FORMERR, NULL, 0, 0 },
	{ Q(HEAD(RD, "\1", "\0", "\0", "\1") NAME "\0\1\0\1"
	    "\xc0\x0c\0\x10\0\1\0\0\0\0\0\0"), DNS_NOERROR, "a.test", 1, 0 },
};

static void
parse(size_t i, struct dns_query *q, int *rcode)
{
	/* Exactly as long as it is, so that a sanitizer sees a step beyond. */
	uint8_t *copy = malloc(t[i].len);

	memcpy(copy, t[i].bytes, t[i].len);
	*rcode = dnsmsg_parse(copy, t[i].len, q);
	free(copy);
}

static void
test_parse(void **state)
{
	struct dns_query q;
	int rcode;

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		parse(i, &q, &rcode);
		if (rcode != t[i].rcode)
			fail_msg("row %zu: %d", i, rcode);
		if (rcode != DNS_DROP)
			assert_int_equal(q.id, 0x1234);
		if (t[i].name == NULL)
			continue;
		assert_string_equal(q.name, t[i].name);
		assert_int_equal(q.name_len, strlen(t[i].name));
		assert_int_equal(q.qtype, t[i].qtype);
		assert_int_equal(q.has_edns, t[i].has_edns);
	}
}

/* Each kind of answer to each query is short, and is itself dropped. */
static void
test_answers(void **state)
{
	static const uint8_t addr[4] = { 198, 18, 1, 2 };
	uint8_t out[DNS_MAX_ANSWER];
	char why[300];
	struct dns_query q, again;
	size_t len[6];
	int rcode;

	(void)state;
	memset(why, 'w', sizeof why);
	why[sizeof why - 1] = '\0';
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		parse(i, &q, &rcode);
		len[0] = dnsmsg_error(&q, DNS_SERVFAIL, out);
		len[1] = dnsmsg_a(&q, addr, out);
		len[2] = dnsmsg_ptr(&q, "host.a.test", out);
		len[3] = dnsmsg_nothing(&q, DNS_NXDOMAIN, why, out);
		len[4] = dnsmsg_nothing(&q, DNS_NOERROR, NULL, out);
		len[5] = dnsmsg_ptr(&q, t[3].bytes, out);
		for (size_t k = 0; k < 6; k++)
			assert_in_range(len[k], 12, DNS_MAX_ANSWER);
		assert_int_equal(dnsmsg_parse(out, len[5], &again), DNS_DROP);
	}
}

static void
test_golden(void **state)
{
	static const uint8_t addr[4] = { 198, 18, 1, 2 };
	static const char want_a[] = "\x12\x34\x81\x80\0\1\0\1\0\0\0\1" NAME
	    "\0\34\0\1" "\xc0\x0c\0\1\0\1\0\0\0\x3c\0\4\306\22\1\2" OPT;
	static const char want_ptr[] = "\x12\x34\x81\x80\0\1\0\1\0\0\0\0" NAME
	    "\0\1\0\1" "\xc0\x0c\0\x0c\0\1\0\0\0\x3c\0\x08\1b\4test\0";
	static const char want_nx[] = "\x12\x34\x81\x83\0\1\0\0\0\1\0\1" NAME
	    "\0\34\0\1" "\0\0\6\0\1\0\0\0\x3c\0\x34"
	    "\5fence\10internal\0\6nobody\7invalid\0"
	    "\0\0\0\1\0\0\x0e\x10\0\0\2\x58\0\1\x51\x80\0\0\0\x3c"
	    "\0\0\x29\x04\xd0\0\0\0\0\0\x0a\0\x0f\0\6\0\x0frule";
	uint8_t out[DNS_MAX_ANSWER];
	struct dns_query q;
	int rcode;

	(void)state;
	parse(1, &q, &rcode);
	assert_int_equal(dnsmsg_a(&q, addr, out), sizeof want_a - 1);
	assert_memory_equal(out, want_a, sizeof want_a - 1);
	assert_int_equal(dnsmsg_nothing(&q, DNS_NXDOMAIN, "rule", out),
	    sizeof want_nx - 1);
	assert_memory_equal(out, want_nx, sizeof want_nx - 1);
	parse(0, &q, &rcode);
	assert_int_equal(dnsmsg_ptr(&q, "b.test", out), sizeof want_ptr - 1);
	assert_memory_equal(out, want_ptr, sizeof want_ptr - 1);
}

static void
test_reverse(void **state)
{
	static const struct {
		const char	*name;
		bool		 is_reverse, has_addr;
	} r[] = {
		{ "4.3.18.198.in-addr.arpa", true, true },
		{ "4.3.18.198.IN-ADDR.ARPA", true, true },
		{ "3.18.198.in-addr.arpa", true, false },
		{ "5.4.3.18.198.in-addr.arpa", true, false },
		{ "256.3.18.198.in-addr.arpa", true, false },
		{ "04.3.18.198.in-addr.arpa", true, false },
		{ "in-addr.arpa", true, false },
		{ "xin-addr.arpa", false, false },
		{ "1.0.ip6.arpa", true, false },
		{ "a.test", false, false },
		{ "", false, false },
	};
	struct dns_query q = { 0 };
	uint8_t addr[4];
	bool has_addr;

	(void)state;
	for (size_t i = 0; i < sizeof r / sizeof r[0]; i++) {
		strcpy(q.name, r[i].name);
		q.name_len = (uint16_t)strlen(r[i].name);
		if (dnsmsg_is_reverse(&q, addr, &has_addr) != r[i].is_reverse
		    || has_addr != r[i].has_addr)
			fail_msg("row %zu", i);
		if (has_addr)
			assert_memory_equal(addr, "\306\22\3\4", 4);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_parse),
		cmocka_unit_test(test_answers),
		cmocka_unit_test(test_golden),
		cmocka_unit_test(test_reverse),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
