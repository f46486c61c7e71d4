/* Both sides of a conversation, whole and byte by byte: the same answers. */
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>

#include "proxy/peek.h"
#include "tests/unit/hello.h"

static struct peek peek;
static uint8_t held[TLSHELLO_MAX_BYTES];
static size_t nheld, npassed;
static char story[512];		/* the names that were to be judged */
static enum peek_step last;

static void
start(void)
{
	peek_init(&peek);
	nheld = npassed = 0;
	story[0] = '\0';
	last = PEEK_HOLD;
}

/* A name with an 'x' in front is not allowed. */
static void
look(void)
{
	size_t n, used = strlen(story);

	for (;;) {
		last = peek_client(&peek, held, nheld, &n);
		if (last == PEEK_JUDGE) {
			used += (size_t)snprintf(story + used,
			    sizeof story - used, "%s ", peek.hello.sni);
			if (peek.hello.sni[0] == 'x')
				return;
			peek_allow(&peek);
			continue;
		}
		if (last == PEEK_OVER)
			n = nheld;
		if (last != PEEK_PASS && last != PEEK_OVER)
			return;
		assert_true(n <= nheld);
		memmove(held, held + n, nheld - n);
		nheld -= n;
		npassed += n;
		if (last == PEEK_OVER)
			return;
	}
}

static void
client(const uint8_t *p, size_t len, size_t step)
{
	for (size_t n; len > 0 && last != PEEK_BAD && last != PEEK_JUDGE;
	    p += n, len -= n) {
		n = step < len ? step : len;
		assert_true(nheld + n <= sizeof held);
		memcpy(held + nheld, p, n);
		nheld += n;
		look();
	}
}

static void
server(const uint8_t *p, size_t len, size_t step)
{
	for (size_t n; len > 0; p += n, len -= n) {
		n = step < len ? step : len;
		peek_server(&peek, p, n);
	}
	look();
}

#define CCS	"\x14\3\3\0\1\1"
#define WARNING	"\x15\3\3\0\2\1\0"

static const struct {
	const char	*what;
	const char	*sni[2];	/* hellos; the second after a retry */
	const char	*before;	/* of the server, before its hello */
	const char	*between;	/* of the client, before the second */
	enum peek_step	 first, last;	/* after the first hello; at the end */
	const char	*story;
} cases[] = {
	{ "one name", { "a" }, "", "", PEEK_HOLD, PEEK_OVER, "a " },
	{ "no name", { NULL }, "", "", PEEK_HOLD, PEEK_OVER, "" },
	{ "a bad name", { "x" }, "", "", PEEK_JUDGE, PEEK_JUDGE, "x " },
	{ "the same twice", { "a", "a" }, "", "", PEEK_HOLD, PEEK_OVER,
	    "a a " },
	{ "two names", { "a", "xb" }, "", "", PEEK_HOLD, PEEK_JUDGE,
	    "a xb " },
	{ "none, then a name", { NULL, "xb" }, "", "", PEEK_HOLD, PEEK_JUDGE,
	    "xb " },
	{ "behind a change of cipher", { "a", "xb" }, "", CCS, PEEK_HOLD,
	    PEEK_JUDGE, "a xb " },
	{ "behind a warning", { "a", "xb" }, "", WARNING, PEEK_HOLD,
	    PEEK_JUDGE, "a xb " },
	{ "behind two", { "a", "b" }, "", WARNING CCS, PEEK_HOLD, PEEK_OVER,
	    "a b " },
	{ "a server that warns first", { "a", "xb" }, WARNING, "", PEEK_HOLD,
	    PEEK_JUDGE, "a xb " },
	{ "no record at all", { "a", "b" }, "", "GET / HTTP/1.1\r\n",
	    PEEK_HOLD, PEEK_BAD, "a " },
};

static size_t
length(const char *records)	/* they hold NULs */
{
	size_t n = 0;

	if (records[0] == 'G')
		return strlen(records);
	while (records[n] != '\0')
		n += 5 + (size_t)records[n + 4];
	return n;
}

static void
run_case(size_t i, size_t step)
{
	uint8_t hello[HELLO_MAX], answer[HELLO_MAX];
	size_t n = hello_client(hello, cases[i].sni[0]);
	bool is_retry = cases[i].sni[1] != NULL;

	start();
	client(hello, n, step);
	if (last != cases[i].first)
		fail_msg("%s: after the first: %d", cases[i].what, last);
	if (last == PEEK_HOLD) {
		assert_int_equal(npassed, n);
		/* Whatever the client adds now has to wait. */
		client((const uint8_t *)cases[i].between,
		    length(cases[i].between), step);
		if (is_retry)
			client(hello, hello_client(hello, cases[i].sni[1]),
			    step);
		assert_int_equal(npassed, n);
		server((const uint8_t *)cases[i].before,
		    length(cases[i].before), step);
		assert_int_equal(npassed, n);
		server(answer, hello_server(answer, is_retry), step);
	}
	if (last != cases[i].last || strcmp(story, cases[i].story) != 0)
		fail_msg("%s, %zu at a time: %d, \"%s\"", cases[i].what, step,
		    last, story);
	if (last == PEEK_OVER)
		assert_int_equal(nheld, 0);
}

static void
test_cases(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof cases / sizeof cases[0]; i++)
		for (size_t step = 1; step < 80; step += step < 8 ? 1 : 23)
			run_case(i, step);
}

static void
test_not_tls(void **state)
{
	static const char *const t[] = { "GET / HTTP/1.1\r\n", "SSH-2.0-x",
	    "\1", "\xff\xfb\1\xff" };

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		start();
		client((const uint8_t *)t[i], strlen(t[i]), 1);
		assert_int_equal(last, PEEK_OVER);
		assert_int_equal(npassed, strlen(t[i]));
	}
}

static void
test_bad(void **state)
{
	static const uint8_t alert_first[] = { 21, 3, 3, 0, 2, 1, 0 };

	(void)state;
	start();
	client(alert_first, sizeof alert_first, 1);
	assert_int_equal(last, PEEK_BAD);
	assert_non_null(peek.hello.why);
	assert_int_equal(npassed, 0);
}

/* The server may cut its hello as it likes; what is no hello is no retry. */
static void
test_server(void **state)
{
#define BYTES(s) (const uint8_t *)s, sizeof s - 1
	static const struct {
		const uint8_t	*bytes;
		size_t		 len;
		enum peek_step	 want;
	} t[] = {
		{ BYTES("\x16"), PEEK_HOLD },
		{ BYTES("\x16\3\3\0\1\2\x16\3\3\0\1"), PEEK_HOLD },
		{ BYTES("\x16\3\3\0\1\1"), PEEK_OVER },
		{ BYTES("\x17"), PEEK_OVER },
		{ BYTES("220 mail"), PEEK_OVER },
		{ BYTES("\x15\3\3\0\2\2\x28"), PEEK_HOLD },
	};
	uint8_t hello[HELLO_MAX], cut[HELLO_MAX], *p = cut;
	size_t n;

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		start();
		/* Said before the hello: no answer to it. */
		server((const uint8_t *)"\x17", 1, 1);
		client(hello, hello_client(hello, "a"), 1);
		assert_int_equal(last, PEEK_HOLD);
		server(t[i].bytes, t[i].len, 1);
		assert_int_equal(last, t[i].want);
	}
	n = hello_server(hello, 1) - 5;
	for (size_t i = 0; i < n; i++) {	/* a record for each byte */
		p[5] = hello[5 + i];
		p += hello_record(p, 22, 1);
		if (p + 6 > cut + sizeof cut)
			break;
	}
	start();
	client(hello, hello_client(hello, "a"), 1);
	client(hello, hello_client(hello, "xb"), 1);
	server(cut, (size_t)(p - cut), 1);
	assert_int_equal(last, PEEK_JUDGE);
	assert_string_equal(story, "a xb ");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_cases),
		cmocka_unit_test(test_not_tls),
		cmocka_unit_test(test_bad),
		cmocka_unit_test(test_server),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
