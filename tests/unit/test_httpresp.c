#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/httpresp.h"

enum { MAX_HEAD = 1024 };

#define V	"HTTP/1.1 "
#define END	"\r\n\r\n"
#define LAST	"Connection: close\r\n\r\n"

enum { BAD = -1, MORE = -2, HEAD = 1 };

/* What is certain and kept: 2; certain: 1; where the end is in doubt: 0. */
static const struct {
	const char		*head;
	int			 code;
	int			 sure;
	enum httpbody_kind	 body;
	uint64_t		 bytes;
	const char		*rewritten;	/* NULL: as it came */
	int			 is_head;
} t[] = {
	{ V "200 OK\r\nContent-Length: 5" END, 200, 2, HTTPBODY_LENGTH, 5,
	    NULL, 0 },
	{ V "200 OK\r\nContent-Length: 5" END, 200, 2, HTTPBODY_NONE, 5, NULL,
	    HEAD },
	{ V "200\r\nContent-Length: 0" END, 200, 2, HTTPBODY_LENGTH, 0, NULL,
	    0 },
	{ V "200 \r\ncontent-length:0" END, 200, 2, HTTPBODY_LENGTH, 0, NULL,
	    0 },
	{ V "200 OK\r\nTransfer-Encoding: Chunked\r\nTrailer: X" END, 200, 2,
	    HTTPBODY_CHUNKED, 0, NULL, 0 },
	{ V "200 OK" END, 200, 0, HTTPBODY_UNTIL_END, 0, V "200 OK\r\n" LAST,
	    0 },
	{ V "204 No Content" END, 204, 2, HTTPBODY_NONE, 0, NULL, 0 },
	/* A length there is none of ours to pass on: some clients believe it. */
	{ V "204 No\r\nContent-Length: 5\r\nTransfer-Encoding: chunked\r\n"
	    "A: b" END, 204, 0, HTTPBODY_NONE, 5, V "204 No\r\nA: b\r\n" LAST,
	    0 },
	{ V "204 No\r\nContent-Length: 5" END, 204, 2, HTTPBODY_NONE, 5,
	    V "204 No" END, 0 },
	{ V "103 Early\r\nContent-Length: 5" END, 103, 2, HTTPBODY_NONE, 5,
	    V "103 Early" END, 0 },
	{ V "304 Not Modified\r\nContent-Length: 7" END, 304, 2,
	    HTTPBODY_NONE, 7, NULL, 0 },
	{ V "100 Continue" END, 100, 2, HTTPBODY_NONE, 0, NULL, 0 },
	{ V "103 Early Hints\r\nLink: <a>" END, 103, 2, HTTPBODY_NONE, 0,
	    NULL, 0 },
	{ V "101 Go\r\nUpgrade: websocket\r\nConnection: Upgrade" END, 101, 2,
	    HTTPBODY_NONE, 0, NULL, 0 },
	{ "HTTP/1.0 200 OK\r\nContent-Length: 1" END, 200, 1, HTTPBODY_LENGTH,
	    1, V "200 OK\r\nContent-Length: 1" END, 0 },
	{ V "200 OK\r\nContent-Length: 1\r\nConnection: a, CLOSE" END, 200, 1,
	    HTTPBODY_LENGTH, 1, V "200 OK\r\nContent-Length: 1" END, 0 },
	/* Only for the next hop, and what only fence says. */
	{ V "200 OK\r\nConnection: X-One, content-length\r\nx-one: 1\r\n"
	    "Keep-Alive: 5\r\nContent-Length: 1\r\nProxy-Authenticate: Basic"
	    "\r\nProxy-Connection: x\r\nUpgrade: h2c\r\nX-Fence-Error: lie"
	    "\r\nX-Two:  2 \r\nSet-Cookie: a\r\nSet-Cookie: b" END, 200, 2,
	    HTTPBODY_LENGTH, 1, V "200 OK\r\nContent-Length: 1\r\n"
	    "X-Two:  2 \r\nSet-Cookie: a\r\nSet-Cookie: b" END, 0 },
	/* Where the end is in doubt. */
	{ V "200 OK\nContent-Length: 1\n\n", 200, 0, HTTPBODY_LENGTH, 1,
	    V "200 OK\r\nContent-Length: 1\r\n" LAST, 0 },
	{ V "200 OK\r\nContent-Length: 5\r\nTransfer-Encoding: chunked" END,
	    200, 0, HTTPBODY_CHUNKED, 5, V "200 OK\r\n"
	    "Transfer-Encoding: chunked\r\n" LAST, 0 },
	{ V "200 OK\r\nTransfer-Encoding: gzip, chunked" END, 200, 0,
	    HTTPBODY_CHUNKED, 0, V "200 OK\r\n"
	    "Transfer-Encoding: gzip, chunked\r\n" LAST, 0 },
	{ V "200 OK\r\nTransfer-Encoding: chunked, chunked" END, 200, 0,
	    HTTPBODY_UNTIL_END, 0, V "200 OK\r\n"
	    "Transfer-Encoding: chunked, chunked\r\n" LAST, 0 },
	{ V "200 OK\r\nTransfer-Encoding: chunked\r\n"
	    "Transfer-Encoding: identity" END, 200, 0, HTTPBODY_UNTIL_END, 0,
	    V "200 OK\r\nTransfer-Encoding: chunked\r\n"
	    "Transfer-Encoding: identity\r\n" LAST, 0 },
	{ V "200 OK\r\nTransfer-Encoding: identity" END, 200, 0,
	    HTTPBODY_UNTIL_END, 0, V "200 OK\r\n"
	    "Transfer-Encoding: identity\r\n" LAST, 0 },
	{ "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked" END, 200, 0,
	    HTTPBODY_CHUNKED, 0, V "200 OK\r\nTransfer-Encoding: chunked\r\n"
	    LAST, 0 },
	{ V "200 OK\r\nContent-Length: 5, 5" END, 200, 0, HTTPBODY_LENGTH, 5,
	    V "200 OK\r\nContent-Length: 5, 5\r\n" LAST, 0 },
	{ V "200 OK\r\nContent-Length: 5\r\nContent-Length: 5" END, 200, 0,
	    HTTPBODY_LENGTH, 5, V "200 OK\r\nContent-Length: 5\r\n"
	    "Content-Length: 5\r\n" LAST, 0 },
	{ V "200 OK\r\nContent-Length : 5\r\nno colon\r\nb\xe4""d: 1" END, 200,
	    0, HTTPBODY_LENGTH, 5, V "200 OK\r\nContent-Length: 5\r\n" LAST,
	    0 },
	/* Not yet, or never. */
	{ "", MORE, 0, 0, 0, NULL, 0 },
	{ V "200 OK\r\nA: b\r\n", MORE, 0, 0, 0, NULL, 0 },
	{ V "200 OK\r\n\r", MORE, 0, 0, 0, NULL, 0 },
	{ "\r\n" V "200 OK" END, BAD, 0, 0, 0, NULL, 0 },
	{ "ICY 200 OK" END, BAD, 0, 0, 0, NULL, 0 },
	{ "SSH-2.0-x" END, BAD, 0, 0, 0, NULL, 0 },
	{ "HTTP/2 200" END, BAD, 0, 0, 0, NULL, 0 },
	{ "HTTP/1.1\t200" END, BAD, 0, 0, 0, NULL, 0 },
	{ V "OK" END, BAD, 0, 0, 0, NULL, 0 },
	{ V "20" END, BAD, 0, 0, 0, NULL, 0 },
	{ V "099" END, BAD, 0, 0, 0, NULL, 0 },
	{ V "600" END, BAD, 0, 0, 0, NULL, 0 },
	{ V "2000 OK" END, BAD, 0, 0, 0, NULL, 0 },
	{ V " 200 OK" END, BAD, 0, 0, 0, NULL, 0 },
	{ V "200 OK\r\nA: b\r\n folded" END, BAD, 0, 0, 0, NULL, 0 },
	{ V "200 OK\r\nA: b\rC: d" END, BAD, 0, 0, 0, NULL, 0 },
	{ V "200 OK\r\nContent-Length: 5\r\nContent-Length: 6" END, BAD, 0, 0,
	    0, NULL, 0 },
	{ V "200 OK\r\nContent-Length: -1" END, BAD, 0, 0, 0, NULL, 0 },
	{ V "200 OK\r\nContent-Length: 5," END, BAD, 0, 0, 0, NULL, 0 },
	{ V "200 OK\r\nContent-Length:" END, BAD, 0, 0, 0, NULL, 0 },
};

static enum httpresp_status
feed(struct httpresp *h, const char *data, size_t len, size_t step)
{
	enum httpresp_status st = HTTPRESP_MORE;
	bool is_head = h->is_head;

	httpresp_init(h, MAX_HEAD);
	h->is_head = is_head;
	for (size_t n = step; st == HTTPRESP_MORE; n += step) {
		if (n > len)
			n = len;
		st = httpresp_feed(h, data, n);
		if (n == len)
			break;
	}
	return st;
}

static void
check_rewritten(size_t i, const struct httpresp *h, const char *data)
{
	struct buf out;

	buf_init(&out, 0);
	httpresp_rewrite(h, data, t[i].sure == 0, &out);
	assert_string_equal(out.data, t[i].rewritten != NULL ?
	    t[i].rewritten : t[i].head);
	buf_release(&out);
}

static void
check(size_t i, size_t step)
{
	size_t len = strlen(t[i].head);
	struct httpresp h = { .is_head = t[i].is_head != 0 };
	enum httpresp_status st;
	/* Exactly as long as it is, so that a sanitizer sees a step beyond. */
	char *copy = malloc(len + (len == 0));

	memcpy(copy, t[i].head, len);
	st = feed(&h, copy, len, step);
	if (st != (t[i].code == BAD ? HTTPRESP_BAD : t[i].code == MORE ?
	    HTTPRESP_MORE : HTTPRESP_DONE))
		fail_msg("row %zu step %zu: status %d (%s)", i, step, st,
		    h.why != NULL ? h.why : "");
	if (st == HTTPRESP_DONE) {
		assert_int_equal(h.code, t[i].code);
		assert_int_equal(h.head_len, len);
		if (h.is_certain + h.is_kept != t[i].sure ||
		    h.body != t[i].body || h.body_bytes != t[i].bytes)
			fail_msg("row %zu step %zu: %d %d, body %d, %llu", i,
			    step, h.is_certain, h.is_kept, h.body,
			    (unsigned long long)h.body_bytes);
		assert_int_equal(h.is_switch, h.code == 101);
		assert_int_equal(h.is_interim, h.code == 100 || h.code == 103);
		check_rewritten(i, &h, copy);
	}
	free(copy);
}

static void
test_table(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++)
		for (size_t step = 1; step < 2000; step = step * 3 + 1)
			check(i, step);
}

static void
test_nul(void **state)
{
	static const char data[] = V "200 OK\r\nA: \0b" END;
	struct httpresp h = { 0 };

	(void)state;
	assert_int_equal(feed(&h, data, sizeof data - 1, 1), HTTPRESP_BAD);
}

static void
test_ceilings(void **state)
{
	char data[MAX_HEAD + 64];
	struct httpresp h = { 0 };
	struct buf many;
	int n;

	(void)state;
	n = snprintf(data, sizeof data, V "200 OK\r\nX: ");
	memset(data + n, 'x', sizeof data - (size_t)n);
	assert_int_equal(feed(&h, data, MAX_HEAD, 1), HTTPRESP_MORE);
	assert_int_equal(feed(&h, data, MAX_HEAD + 1, 7), HTTPRESP_BAD);
	memcpy(data + MAX_HEAD - 4, END, 4);
	assert_int_equal(feed(&h, data, sizeof data, 7), HTTPRESP_DONE);
	buf_init(&many, 0);
	buf_puts(&many, V "200 OK\r\n");
	for (int i = 0; i < 300; i++)
		buf_puts(&many, "a:\r\n");
	buf_puts(&many, "\r\n");
	httpresp_init(&h, 1 << 20);
	assert_int_equal(httpresp_feed(&h, many.data, many.len),
	    HTTPRESP_BAD);
	buf_release(&many);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_ceilings),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
