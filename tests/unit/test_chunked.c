#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <string.h>

#include "proxy/chunked.h"

#define MORE CHUNKED_MORE
#define DONE CHUNKED_DONE
#define BAD CHUNKED_BAD

static const struct {
	const char		*text;
	enum chunked_status	 want;
	size_t			 used;		/* of a body that is DONE */
} t[] = {
	{ "0\r\n\r\n", DONE, 5 },
	{ "5\r\nhello\r\n0\r\n\r\n", DONE, 15 },
	{ "5\r\nhello\r\n0\r\n\r\nGET http://b/ HTTP/1.1\r\n", DONE, 15 },
	{ "000A\r\n0123456789\r\n00\r\n\r\nx", DONE, 24 },
	{ "a\r\n" "\r\n0\r\n\r\n0\r\n" "\r\n0\r\n\r\n", DONE, 20 },
	{ "1;a=b;c=\"d e\"\r\nx\r\n0;e\r\n\r\n", DONE, 25 },
	{ "0\r\nX-Sum: 1\r\nY:\r\n\r\n", DONE, 19 },
	{ "", MORE, 0 },
	{ "5", MORE, 0 },
	{ "5\r\nhell", MORE, 0 },
	{ "5\r\nhello\r\n", MORE, 0 },
	{ "5\r\nhello\r\n0\r\n", MORE, 0 },
	{ "0\r\nX: 1\r\n", MORE, 0 },
	{ "fffffffffffffff\r\nx", MORE, 0 },
	{ "1000000000000000\r\nx", BAD, 0 },	/* a digit too many */
	{ "\r\n", BAD, 0 },
	{ ";x\r\n", BAD, 0 },
	{ " 5\r\n", BAD, 0 },
	{ "5 \r\n", BAD, 0 },
	{ "5 ;x\r\n", BAD, 0 },
	{ "+5\r\n", BAD, 0 },
	{ "-1\r\n", BAD, 0 },
	{ "0x5\r\n", BAD, 0 },
	{ "5g\r\n", BAD, 0 },
	{ "5\nhello", BAD, 0 },
	{ "5\rhello", BAD, 0 },
	{ "5;a\nb\r\n", BAD, 0 },
	{ "5;a\rb\r\n", BAD, 0 },
	{ "5;\001\r\n", BAD, 0 },
	{ "5\r\nhello!\r\n", BAD, 0 },
	{ "5\r\nhello\n0\r\n\r\n", BAD, 0 },
	{ "5\r\nhello\r0\r\n\r\n", BAD, 0 },
	{ "0\r\n\n", BAD, 0 },
	{ "0\r\n\rx", BAD, 0 },
	{ "0\r\nGET / HTTP/1.1\r\n\r\n", BAD, 0 },
	{ "0\r\n: x\r\n\r\n", BAD, 0 },
	{ "0\r\n X: 1\r\n\r\n", BAD, 0 },
	{ "0\r\nX : 1\r\n\r\n", BAD, 0 },
	{ "0\r\nX: 1\n\r\n", BAD, 0 },
	{ "0\r\nX: 1\r\r\n", BAD, 0 },
	{ "0\r\nX: \001\r\n\r\n", BAD, 0 },
};

/* In pieces of `step`; *total is what belonged to the body. */
static enum chunked_status
feed(struct chunked *c, const char *text, size_t len, size_t step,
    size_t *total)
{
	enum chunked_status st = CHUNKED_MORE;
	size_t n, used;

	for (*total = 0; *total < len && st == CHUNKED_MORE; *total += used) {
		n = len - *total < step ? len - *total : step;
		st = chunked_feed(c, text + *total, n, &used);
		if (st == CHUNKED_MORE)
			assert_int_equal(used, n);
	}
	return st;
}

static void
test_table(void **state)
{
	static const size_t steps[] = { 1, 2, 3, 7, 1000 };

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++)
		for (size_t j = 0; j < sizeof steps / sizeof steps[0]; j++) {
			enum chunked_status st;
			struct chunked c;
			size_t total, used;

			chunked_init(&c);
			st = feed(&c, t[i].text, strlen(t[i].text), steps[j],
			    &total);
			if (st != t[i].want || (st == CHUNKED_DONE &&
			    total != t[i].used))
				fail_msg("'%s' by %zu: %d after %zu",
				    t[i].text, steps[j], st, total);
			/* Final is final. */
			if (st == CHUNKED_MORE)
				continue;
			assert_int_equal(chunked_feed(&c, "0\r\n\r\n", 5,
			    &used), st);
			assert_int_equal(used, 0);
		}
}

/* head, then `n` times 'a', then tail. */
static enum chunked_status
long_body(const char *head, size_t n, const char *tail)
{
	static char text[16384];
	struct chunked c;
	size_t total;

	strcpy(text, head);
	memset(text + strlen(head), 'a', n);
	strcpy(text + strlen(head) + n, tail);
	chunked_init(&c);
	return feed(&c, text, strlen(text), sizeof text, &total);
}

static void
test_ceilings(void **state)
{
	(void)state;
	assert_int_equal(long_body("0;", CHUNKED_MAX_LINE - 1, "\r\n\r\n"),
	    CHUNKED_DONE);
	assert_int_equal(long_body("0;", CHUNKED_MAX_LINE, "\r\n\r\n"),
	    CHUNKED_BAD);
	assert_int_equal(long_body("0\r\nX:", CHUNKED_MAX_TRAILERS - 4,
	    "\r\n\r\n"), CHUNKED_DONE);
	assert_int_equal(long_body("0\r\nX:", CHUNKED_MAX_TRAILERS,
	    "\r\n\r\n"), CHUNKED_BAD);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_ceilings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
