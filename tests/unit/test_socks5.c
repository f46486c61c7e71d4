#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "proxy/socks5.h"

#define MORE	SOCKS5_MORE
#define DONE	SOCKS5_DONE
#define BAD	SOCKS5_BAD

#define B(bytes)	bytes, sizeof bytes - 1

/* What the client says ... */
#define HI		"\5\1\0"
#define HI_PASSWORD	"\5\2\1\2"
#define PASSWORD	"\1\4user\3pwd"
#define CONNECT		"\5\1\0"
#define BIND		"\5\2\0"
#define UDP		"\5\3\0"
#define V4		"\1\300\0\2\1"
#define V6		"\4\x20\1\xd\xb8\0\0\0\0\0\0\0\0\0\0\0\1"
#define NAME		"\3\6a.test"
#define P443		"\1\xbb"
/* ... and what it hears. */
#define WELCOME		"\5\0"
#define GIVE_PASSWORD	"\5\2"
#define TRUSTED		"\1\0"
#define REPLY(code)	"\5" code "\0\1\0\0\0\0\0\0"
#define SOCKS4_NO	"\0\x5b\0\0\0\0\0\0"

static const struct {
	const char		*bytes;
	size_t			 len;
	enum socks5_status	 want;
	size_t			 surplus;	/* behind what is eaten */
	const char		*answer;
	size_t			 answer_len;
	unsigned		 command;
	const char		*host;
	unsigned		 port;
} t[] = {
	{ B(HI CONNECT V4 P443), DONE, 0, B(WELCOME), 1, "192.0.2.1", 443 },
	{ B(HI CONNECT V6 P443), DONE, 0, B(WELCOME), 1, "2001:db8::1", 443 },
	{ B(HI CONNECT NAME P443), DONE, 0, B(WELCOME), 1, "a.test", 443 },
	{ B(HI CONNECT NAME P443 "\x16\3\1"), DONE, 3, B(WELCOME), 1, "a.test",
	    443 },
	{ B(HI CONNECT "\3\1a" "\xff\xff"), DONE, 0, B(WELCOME), 1, "a",
	    65535 },
	{ B(HI CONNECT "\3\1a" "\0\1"), DONE, 0, B(WELCOME), 1, "a", 1 },
	/* Not checked here: that a name is a good one. */
	{ B(HI CONNECT "\3\4A \x80/" P443), DONE, 0, B(WELCOME), 1, "A \x80/",
	    443 },
	{ B(HI CONNECT "\4\0\0\0\0\0\0\0\0\0\0\xff\xff\x7f\0\0\1" P443), DONE,
	    0, B(WELCOME), 1, "::ffff:127.0.0.1", 443 },

	{ B("\5\3\0\1\2" CONNECT V4 P443), DONE, 0, B(WELCOME), 1,
	    "192.0.2.1", 443 },
	{ B("\5\3\2\1\0" CONNECT V4 P443), DONE, 0, B(WELCOME), 1,
	    "192.0.2.1", 443 },
	{ B(HI_PASSWORD PASSWORD CONNECT NAME P443 "x"), DONE, 1,
	    B(GIVE_PASSWORD TRUSTED), 1, "a.test", 443 },
	{ B(HI_PASSWORD "\1\0\0" CONNECT NAME P443), DONE, 0,
	    B(GIVE_PASSWORD TRUSTED), 1, "a.test", 443 },
	{ B(HI_PASSWORD "\1\0\1p" CONNECT NAME P443), DONE, 0,
	    B(GIVE_PASSWORD TRUSTED), 1, "a.test", 443 },
	{ B(HI_PASSWORD "\1\1\0\0" CONNECT NAME P443), DONE, 0,
	    B(GIVE_PASSWORD TRUSTED), 1, "a.test", 443 },
	{ B(HI_PASSWORD "\2\1u\1p"), BAD, 4, B(GIVE_PASSWORD "\1\1"), 0, NULL,
	    0 },

	{ B(""), MORE, 0, B(""), 0, NULL, 0 },
	{ B("\5"), MORE, 0, B(""), 0, NULL, 0 },
	{ B("\5\2\0"), MORE, 0, B(""), 0, NULL, 0 },
	{ B(HI), MORE, 0, B(WELCOME), 0, NULL, 0 },
	{ B(HI_PASSWORD), MORE, 0, B(GIVE_PASSWORD), 0, NULL, 0 },
	{ B(HI_PASSWORD PASSWORD), MORE, 0, B(GIVE_PASSWORD TRUSTED), 0, NULL,
	    0 },

	{ B("\5\0"), BAD, 0, B("\5\xff"), 0, NULL, 0 },
	{ B("\5\1\1"), BAD, 0, B("\5\xff"), 0, NULL, 0 },
	{ B("\5\2\x80\xff" CONNECT), BAD, 3, B("\5\xff"), 0, NULL, 0 },
	{ B(HI BIND V4 "\0\0"), BAD, 0, B(WELCOME REPLY("\7")), 2,
	    "192.0.2.1", 0 },
	{ B(HI BIND NAME P443 "x"), BAD, 1, B(WELCOME REPLY("\7")), 2,
	    "a.test", 443 },
	{ B(HI UDP "\1\0\0\0\0\0\0"), BAD, 0, B(WELCOME REPLY("\7")), 3,
	    "0.0.0.0", 0 },
	{ B(HI_PASSWORD PASSWORD UDP V6 P443), BAD, 0,
	    B(GIVE_PASSWORD TRUSTED REPLY("\7")), 3, "2001:db8::1", 443 },
	{ B(HI "\5\xf0\0" NAME "\0\0"), BAD, 0, B(WELCOME REPLY("\7")), 0xf0,
	    "a.test", 0 },
	{ B(HI "\5\0\0" NAME P443), BAD, 0, B(WELCOME REPLY("\7")), 0,
	    NULL, 0 },
	{ B(HI CONNECT "\2" P443), BAD, 2, B(WELCOME REPLY("\10")), 0, NULL,
	    0 },
	{ B(HI CONNECT "\0" P443), BAD, 2, B(WELCOME REPLY("\10")), 0, NULL,
	    0 },
	{ B(HI CONNECT NAME "\0\0"), BAD, 0, B(WELCOME REPLY("\1")), 1,
	    "a.test", 0 },
	{ B(HI CONNECT "\3\0" P443), BAD, 2, B(WELCOME REPLY("\1")), 0, NULL,
	    0 },
	{ B(HI CONNECT "\3\3a\0b" P443), BAD, 3, B(WELCOME REPLY("\1")), 0,
	    NULL, 0 },
	{ B(HI CONNECT "\3\3a\nb" P443), BAD, 3, B(WELCOME REPLY("\1")), 0,
	    NULL, 0 },
	{ B(HI CONNECT "\3\3ab\x7f" P443), BAD, 2, B(WELCOME REPLY("\1")), 0,
	    NULL, 0 },
	{ B(HI "\4\1\0" V4 P443), BAD, 9, B(WELCOME REPLY("\1")), 0, NULL,
	    0 },
	{ B(HI "\5\1\1" V4 P443), BAD, 7, B(WELCOME REPLY("\1")), 0, NULL,
	    0 },

	{ B("\4\1" P443 "\300\0\2\1user\0"), BAD, 12, B(SOCKS4_NO), 0, NULL,
	    0 },
	{ B("\4\1" P443 "\0\0\0\1\0a.test\0"), BAD, 15, B(SOCKS4_NO), 0, NULL,
	    0 },
	{ B("\0"), BAD, 0, B(""), 0, NULL, 0 },
	{ B("\x16\3\1\2\0"), BAD, 4, B(""), 0, NULL, 0 },
	{ B("SSH-2.0-x\r\n"), BAD, 10, B(""), 0, NULL, 0 },
	{ B("GE"), MORE, 0, B(""), 0, NULL, 0 },
	{ B("GETS /"), BAD, 2, B(""), 0, NULL, 0 },
	{ B("get /"), BAD, 4, B(""), 0, NULL, 0 },
	{ B("POT "), BAD, 1, B(""), 0, NULL, 0 },
};

struct told {
	size_t	 eaten;
	size_t	 answer_len;
	uint8_t	 answer[1024];
};

/* In pieces of `step`, each in memory of exactly its size. */
static enum socks5_status
feed(struct socks5 *s, const void *bytes, size_t len, size_t step,
    struct told *told)
{
	enum socks5_status st = MORE;
	size_t n, used;
	char *copy;

	told->eaten = told->answer_len = 0;
	while (told->eaten < len && st == MORE) {
		n = len - told->eaten < step ? len - told->eaten : step;
		copy = malloc(n);
		memcpy(copy, (const char *)bytes + told->eaten, n);
		st = socks5_feed(s, copy, n, &used);
		free(copy);
		assert_in_range(used, 0, n);
		if (st == MORE)
			assert_int_equal(used, n);
		told->eaten += used;
		assert_in_range(s->answer_len, 0, sizeof s->answer);
		memcpy(told->answer + told->answer_len, s->answer,
		    s->answer_len);
		told->answer_len += s->answer_len;
	}
	return st;
}

static void
check(size_t i, size_t step)
{
	enum socks5_status st;
	struct told told;
	struct socks5 s;
	size_t used;

	socks5_init(&s);
	st = feed(&s, t[i].bytes, t[i].len, step, &told);
	if (st != t[i].want || told.eaten != t[i].len - t[i].surplus ||
	    s.command != t[i].command)
		fail_msg("row %zu by %zu: %d after %zu, command %u (%s)", i,
		    step, st, told.eaten, s.command,
		    s.why != NULL ? s.why : "");
	if (told.answer_len != t[i].answer_len ||
	    memcmp(told.answer, t[i].answer, told.answer_len) != 0)
		fail_msg("row %zu by %zu: another answer", i, step);
	assert_int_equal(s.why != NULL, st == BAD);
	if (t[i].host != NULL) {
		assert_string_equal(s.host, t[i].host);
		assert_int_equal(s.port, t[i].port);
	}
	if (st == MORE)
		return;
	/* Final is final, and said once. */
	assert_int_equal(socks5_feed(&s, HI, 3, &used), st);
	assert_int_equal(used, 0);
	assert_int_equal(s.answer_len, 0);
}

static void
test_table(void **state)
{
	static const size_t steps[] = { 1, 2, 3, 7, 1000 };

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++)
		for (size_t j = 0; j < sizeof steps / sizeof steps[0]; j++)
			check(i, steps[j]);
}

static void
test_is_name(void **state)
{
	struct told told;
	struct socks5 s;

	(void)state;
	socks5_init(&s);
	assert_int_equal(feed(&s, B(HI CONNECT "\3\11" "127.0.0.1" P443), 99,
	    &told), DONE);
	assert_true(s.is_name);
	socks5_init(&s);
	assert_int_equal(feed(&s, B(HI CONNECT V4 P443), 99, &told), DONE);
	assert_false(s.is_name);
}

/* A request cut short is no request, wherever it is cut. */
static void
test_truncation(void **state)
{
	struct told told;
	struct socks5 s;

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		if (t[i].want != DONE)
			continue;
		for (size_t n = 0; n < t[i].len - t[i].surplus; n++) {
			socks5_init(&s);
			assert_int_equal(feed(&s, t[i].bytes, n, n, &told),
			    MORE);
			assert_int_equal(s.command, 0);
		}
	}
}

/* Whatever a byte becomes, whole and in pieces say the same. */
static void
test_mutation(void **state)
{
	struct told whole, bytes;
	struct socks5 a, b;
	char copy[64];

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++)
		for (size_t k = 0; k < t[i].len * 256; k++) {
			memcpy(copy, t[i].bytes, t[i].len);
			copy[k / 256] = (char)k;
			socks5_init(&a);
			socks5_init(&b);
			assert_int_equal(feed(&a, copy, t[i].len, 64, &whole),
			    feed(&b, copy, t[i].len, 1, &bytes));
			assert_int_equal(whole.eaten, bytes.eaten);
			assert_int_equal(whole.answer_len, bytes.answer_len);
			assert_memory_equal(whole.answer, bytes.answer,
			    bytes.answer_len);
			assert_string_equal(a.host, b.host);
			assert_int_equal(a.port, b.port);
			assert_ptr_equal(a.why, b.why);
		}
}

/* Every field as long as it can be. */
static void
test_longest(void **state)
{
	uint8_t bytes[SOCKS5_MAX_BYTES + 1], *p = bytes;
	struct told told;
	struct socks5 s;

	(void)state;
	memset(bytes, 'n', sizeof bytes);
	*p++ = 5;
	*p++ = 255;
	p[254] = 2;
	p += 255;
	*p++ = 1;
	*p++ = 255;
	p += 255;
	*p++ = 255;
	p += 255;
	memcpy(p, CONNECT "\3\xff", 5);
	p += 5 + 255;
	memcpy(p, P443, 2);
	p += 2;
	assert_int_equal(p - bytes, SOCKS5_MAX_BYTES);
	for (size_t step = 1; step < 3000; step *= 5) {
		socks5_init(&s);
		assert_int_equal(feed(&s, bytes, sizeof bytes, step, &told),
		    DONE);
		assert_int_equal(told.eaten, SOCKS5_MAX_BYTES);
		assert_int_equal(strlen(s.host), 255);
		assert_int_equal(s.port, 443);
	}
}

static void
test_http(void **state)
{
	static const char *const verbs[] = { "GET ", "HEAD ", "POST ", "PUT ",
	    "PATCH ", "DELETE ", "CONNECT ", "OPTIONS ", "TRACE ", "PRI " };
	struct told told;
	struct socks5 s;

	(void)state;
	for (size_t i = 0; i < sizeof verbs / sizeof verbs[0]; i++)
		for (size_t step = 1; step < 20; step++) {
			socks5_init(&s);
			assert_int_equal(feed(&s, verbs[i], strlen(verbs[i]),
			    step, &told), BAD);
			told.answer[told.answer_len] = '\0';
			assert_ptr_equal(strstr((char *)told.answer,
			    "HTTP/1.1 501 "), told.answer);
			assert_non_null(strstr((char *)told.answer,
			    "\r\n\r\nfence: this port speaks SOCKS5"));
		}
}

static void
test_reply(void **state)
{
	static const struct {
		enum socks5_outcome	outcome;
		uint8_t			code;
	} r[] = {
		{ SOCKS5_GRANTED, 0 }, { SOCKS5_FAILURE, 1 },
		{ SOCKS5_NOT_ALLOWED, 2 }, { SOCKS5_NET_UNREACHABLE, 3 },
		{ SOCKS5_HOST_UNREACHABLE, 4 }, { SOCKS5_REFUSED, 5 },
		{ SOCKS5_TTL, 6 }, { SOCKS5_COMMAND, 7 },
		{ SOCKS5_ADDRESS_TYPE, 8 },
	};
	uint8_t out[SOCKS5_REPLY_BYTES];

	(void)state;
	for (size_t i = 0; i < sizeof r / sizeof r[0]; i++) {
		uint8_t want[] = { 5, r[i].code, 0, 1, 0, 0, 0, 0, 0, 0 };

		memset(out, 0xee, sizeof out);
		socks5_reply(r[i].outcome, out);
		assert_memory_equal(out, want, sizeof want);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_is_name),
		cmocka_unit_test(test_truncation),
		cmocka_unit_test(test_mutation),
		cmocka_unit_test(test_longest),
		cmocka_unit_test(test_http),
		cmocka_unit_test(test_reply),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
