#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "proxy/upstream.h"

#define BYTES(s)	(s), sizeof(s) - 1
#define N_OF(a)		(sizeof(a) / sizeof(a)[0])

static const struct upstream_target plain = { "a.test", 443, NULL, NULL };
static const struct upstream_target login = { "a.test", 443, "user",
    "pass:word" };

struct told {
	enum upstream_status	st;
	enum upstream_why	why;
	int			code;
	size_t			used;
	uint8_t			out[4096];
	size_t			out_len;
};

static void
hear(struct upstream *u, struct told *t)
{
	memcpy(t->out + t->out_len, u->out, u->out_len);
	t->out_len += u->out_len;
	u->out_len = 0;
}

/* All of it, step bytes at a time, sending whatever is to be sent. */
static void
talk(enum upstream_kind kind, const struct upstream_target *target,
    const char *data, size_t len, size_t step, struct told *t)
{
	struct upstream u;
	size_t n, used;

	memset(t, 0, sizeof *t);
	assert_int_equal(upstream_init(&u, kind, target), 0);
	hear(&u, t);
	while (t->used < len && t->st == UPSTREAM_MORE) {
		n = len - t->used < step ? len - t->used : step;
		t->st = upstream_feed(&u, data + t->used, n, &used);
		assert_true(used <= n);
		assert_true(used == n || t->st != UPSTREAM_MORE ||
		    u.out_len > 0);
		t->used += used;
		hear(&u, t);
	}
	t->why = u.why;
	t->code = u.code;
}

/* rest: how many bytes behind the answer must be left alone. */
struct row {
	const char		*what;
	enum upstream_kind	 kind;
	const struct upstream_target *target;
	const char		*data;
	size_t			 len;
	enum upstream_status	 st;
	enum upstream_why	 why;
	int			 code;
	size_t			 rest;
};

#define H(what, text, st, why, code, rest)				\
	{ what, UPSTREAM_HTTP, &plain, BYTES(text), UPSTREAM_##st,	\
	    UPSTREAM_##why, code, rest }
#define S(what, target, text, st, why, code, rest)			\
	{ what, UPSTREAM_SOCKS5, target, BYTES(text), UPSTREAM_##st,	\
	    UPSTREAM_##why, code, rest }

static const struct row rows[] = {
	H("200", "HTTP/1.1 200 OK\r\n\r\n", DONE, OPEN, 200, 0),
	H("1.0", "HTTP/1.0 200 Connection established\r\n\r\n", DONE, OPEN,
	    200, 0),
	H("headers", "HTTP/1.1 200 OK\r\nVia: x\r\nA: b\r\n\r\n", DONE, OPEN,
	    200, 0),
	H("no phrase", "HTTP/1.1 200\r\n\r\n", DONE, OPEN, 200, 0),
	H("any 2xx", "HTTP/1.1 299 Fine\r\n\r\n", DONE, OPEN, 299, 0),
	H("bare line feeds", "HTTP/1.1 200 OK\nA: b\n\n", DONE, OPEN, 200, 0),
	H("a server that speaks first", "HTTP/1.1 200 OK\r\n\r\nSSH-2.0-x\r\n",
	    DONE, OPEN, 200, 11),
	H("blank lines of its own", "HTTP/1.1 200 OK\r\n\r\n\r\n\r\n", DONE,
	    OPEN, 200, 4),
	H("a word before", "HTTP/1.1 100 Continue\r\n\r\n"
	    "HTTP/1.1 200 OK\r\nA: b\r\n\r\nx", DONE, OPEN, 200, 1),
	H("half", "HTTP/1.1 200 OK\r\nA: b\r\n", MORE, OPEN, 200, 0),
	H("nothing", "", MORE, OPEN, 0, 0),
	H("407", "HTTP/1.1 407 Proxy Authentication Required\r\n", FAILED,
	    LOGIN, 407, 0),
	H("401", "HTTP/1.0 401 Unauthorized\r\n", FAILED, LOGIN, 401, 0),
	H("403", "HTTP/1.1 403 No\r\nA: b\r\n\r\nbody", FAILED, REFUSED, 403,
	    12),
	H("502", "HTTP/1.0 502 x\r\n\r\n", FAILED, REFUSED, 502, 2),
	H("a redirection", "HTTP/1.1 302 x\r\n", FAILED, REFUSED, 302, 0),
	H("another protocol", "HTTP/1.1 101 x\r\n", FAILED, REFUSED, 101, 0),
	H("000", "HTTP/1.1 000 x\r\n", FAILED, REFUSED, 0, 0),
	H("ssh", "SSH-2.0-OpenSSH\r\n", FAILED, BAD, 0, 16),
	H("HTTP/2", "HTTP/2 200\r\n", FAILED, BAD, 0, 6),
	H("no number", "HTTP/1.1 2x0 OK\r\n", FAILED, BAD, 0, 6),
	H("too long a number", "HTTP/1.1 2000\r\n", FAILED, BAD, 0, 2),
	H("too short a line", "HTTP/1.1 20\r\n", FAILED, BAD, 0, 1),
	H("an empty line", "\r\n", FAILED, BAD, 0, 1),
	H("a return inside", "HTTP/\r.1 200\r\n", FAILED, BAD, 0, 8),
	H("NUL", "HTTP/1.1\0" "200 OK\r\n", FAILED, BAD, 0, 8),

	S("v4", &plain, "\5\0" "\5\0\0\1\1\2\3\4\0\x50", DONE, OPEN, 0, 0),
	S("v6", &plain, "\5\0" "\5\0\0\4" "0123456789abcdef\0\x50", DONE,
	    OPEN, 0, 0),
	S("a name", &plain, "\5\0" "\5\0\0\3\3abc\0\x50", DONE, OPEN, 0, 0),
	S("a long name", &plain, "\5\0" "\5\0\0\3\x40"
	    "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef"
	    "\0\x50", DONE, OPEN, 0, 0),
	S("no name", &plain, "\5\0" "\5\0\0\3\0\0\x50", DONE, OPEN, 0, 0),
	S("the server first", &plain, "\5\0" "\5\0\0\1\0\0\0\0\0\0+OK\r\n",
	    DONE, OPEN, 0, 5),
	S("a login", &login, "\5\2" "\1\0" "\5\0\0\1\0\0\0\0\0\0x", DONE,
	    OPEN, 0, 1),
	S("a login by version 5", &login, "\5\2" "\5\0"
	    "\5\0\0\1\0\0\0\0\0\0", DONE, OPEN, 0, 0),
	S("none is wanted", &login, "\5\0" "\5\0\0\1\0\0\0\0\0\0", DONE,
	    OPEN, 0, 0),
	S("half", &plain, "\5\0" "\5\0\0\1\0\0\0", MORE, OPEN, 0, 0),
	S("wants a login", &plain, "\5\xff", FAILED, LOGIN, 0xff, 0),
	S("takes what was not offered", &plain, "\5\2", FAILED, BAD, 0, 0),
	S("takes what nobody has", &login, "\5\1", FAILED, BAD, 0, 0),
	S("wants another login", &login, "\5\2" "\1\1", FAILED, LOGIN, 1, 0),
	S("not allowed", &plain, "\5\0" "\5\2\0\1\0\0\0\0\0\0", FAILED,
	    REFUSED, 2, 8),
	S("unreachable", &plain, "\5\0" "\5\4", FAILED, REFUSED, 4, 0),
	S("no such kind", &plain, "\5\0" "\5\0\0\2\0", FAILED, BAD, 0, 0),
	S("SOCKS4", &plain, "\0\x5a", FAILED, BAD, 0, 1),
	S("HTTP", &plain, "HTTP/1.1 400\r\n", FAILED, BAD, 0, 13),
	S("another reply", &plain, "\5\0" "\4\0", FAILED, BAD, 0, 1),
};

static void
answers(void **state)
{
	struct told whole, pieces;

	(void)state;
	for (size_t i = 0; i < N_OF(rows); i++) {
		const struct row *r = &rows[i];

		talk(r->kind, r->target, r->data, r->len, r->len + 1, &whole);
		if (whole.st != r->st || whole.why != r->why ||
		    whole.code != r->code || whole.used != r->len - r->rest)
			fail_msg("%s: status %d, why %d, code %d, %zu left",
			    r->what, whole.st, whole.why, whole.code,
			    r->len - whole.used);
		for (size_t step = 1; step < 8; step++) {
			talk(r->kind, r->target, r->data, r->len, step,
			    &pieces);
			if (memcmp(&whole, &pieces, sizeof whole) != 0)
				fail_msg("%s: differs by %zu bytes", r->what,
				    step);
		}
	}
}

/* What is said, all of it, to a proxy that agrees. */
static void
words(void **state)
{
	static const char http_ok[] = "HTTP/1.1 200 OK\r\n\r\n";
	static const char socks_ok[] = "\5\0\5\0\0\1\0\0\0\0\0\0";
	static const char login_ok[] = "\5\2\1\0\5\0\0\1\0\0\0\0\0\0";
	static const struct {
		enum upstream_kind kind;
		struct upstream_target target;
		const char *ok; size_t ok_len;
		const char *said; size_t said_len;
	} t[] = {
		{ UPSTREAM_HTTP, { "a.test", 22, NULL, NULL }, BYTES(http_ok),
		  BYTES("CONNECT a.test:22 HTTP/1.1\r\nHost: a.test:22\r\n"
		  "\r\n") },
		{ UPSTREAM_HTTP, { "2001:db8::1", 80, NULL, NULL },
		  BYTES(http_ok), BYTES("CONNECT [2001:db8::1]:80 HTTP/1.1\r\n"
		  "Host: [2001:db8::1]:80\r\n\r\n") },
		{ UPSTREAM_HTTP, { "a.test", 443, "user", "pass:word" },
		  BYTES(http_ok), BYTES("CONNECT a.test:443 HTTP/1.1\r\n"
		  "Host: a.test:443\r\nProxy-Authorization: Basic "
		  "dXNlcjpwYXNzOndvcmQ=\r\n\r\n") },
		{ UPSTREAM_HTTP, { "a", 1, "u", "" }, BYTES(http_ok),
		  BYTES("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n"
		  "Proxy-Authorization: Basic dTo=\r\n\r\n") },
		{ UPSTREAM_HTTP, { "a", 1, "u", "p" }, BYTES(http_ok),
		  BYTES("CONNECT a:1 HTTP/1.1\r\nHost: a:1\r\n"
		  "Proxy-Authorization: Basic dTpw\r\n\r\n") },
		{ UPSTREAM_SOCKS5, { "a.test", 443, NULL, NULL },
		  BYTES(socks_ok), BYTES("\5\1\0" "\5\1\0\3\6a.test\1\xbb") },
		{ UPSTREAM_SOCKS5, { "192.0.2.1", 80, NULL, NULL },
		  BYTES(socks_ok), BYTES("\5\1\0" "\5\1\0\1\xc0\0\2\1\0\x50") },
		{ UPSTREAM_SOCKS5, { "2001:db8::1", 80, NULL, NULL },
		  BYTES(socks_ok), BYTES("\5\1\0" "\5\1\0\4\x20\1\x0d\xb8"
		  "\0\0\0\0\0\0\0\0\0\0\0\1\0\x50") },
		{ UPSTREAM_SOCKS5, { "a", 1, "user", "pw" }, BYTES(login_ok),
		  BYTES("\5\2\0\2" "\1\4user\2pw" "\5\1\0\3\1a\0\1") },
	};
	struct told told;

	(void)state;
	for (size_t i = 0; i < N_OF(t); i++) {
		talk(t[i].kind, &t[i].target, t[i].ok, t[i].ok_len, 1, &told);
		assert_int_equal(told.st, UPSTREAM_DONE);
		if (told.out_len != t[i].said_len ||
		    memcmp(told.out, t[i].said, told.out_len) != 0)
			fail_msg("row %zu: '%.*s'", i, (int)told.out_len,
			    told.out);
	}
}

/* The longest of everything fits, and one byte more is refused. */
static void
longest(void **state)
{
	char host[257], user[257], password[257];
	struct upstream_target t = { host, 65535, user, password };
	struct upstream u;

	(void)state;
	memset(host, 'h', 256);
	memset(user, 'u', 256);
	memset(password, 'p', 256);
	for (int kind = UPSTREAM_HTTP; kind <= UPSTREAM_SOCKS5; kind++) {
		host[255] = user[255] = password[255] = '\0';
		assert_int_equal(upstream_init(&u, kind, &t), 0);
		assert_true(u.out_len < sizeof u.out);
		if (kind == UPSTREAM_HTTP)
			assert_memory_equal(u.out + u.out_len - 4,
			    "\r\n\r\n", 4);
		password[255] = 'p';
		password[256] = '\0';
		assert_int_equal(upstream_init(&u, kind, &t), -1);
		password[255] = '\0';
		host[255] = 'h';
		host[256] = '\0';
		assert_int_equal(upstream_init(&u, kind, &t), -1);
		host[0] = '\0';
		assert_int_equal(upstream_init(&u, kind, &t), -1);
		host[0] = 'h';
	}
}

/* An answer without an end does not go on for ever. */
static void
endless(void **state)
{
	static char head[UPSTREAM_HEAD_MAX + 100];
	struct told told;

	(void)state;
	memset(head, 'x', sizeof head);
	memcpy(head, "HTTP/1.1 200 OK\r\n", 17);
	talk(UPSTREAM_HTTP, &plain, head, sizeof head, sizeof head, &told);
	assert_int_equal(told.st, UPSTREAM_FAILED);
	assert_int_equal(told.why, UPSTREAM_BAD);
	assert_true(told.used <= UPSTREAM_HEAD_MAX + 1);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(answers),
		cmocka_unit_test(words),
		cmocka_unit_test(longest),
		cmocka_unit_test(endless),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
