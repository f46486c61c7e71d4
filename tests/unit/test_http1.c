#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/http1.h"

enum { MAX_HEAD = 1024 };

#define V	" HTTP/1.1\r\n"

static const struct {
	const char	*head;
	int		 code;		/* 0: DONE, -1: MORE */
	const char	*host;
	unsigned	 port;
	const char	*rewritten;	/* NULL: CONNECT, or nothing to check */
} t[] = {
	{ "CONNECT a.test:443" V "\r\n", 0, "a.test", 443, NULL },
	{ "CONNECT a.test:443 HTTP/1.0\r\n\r\n", 0, "a.test", 443, NULL },
	{ "CONNECT [2001:db8::1]:22" V "\r\n", 0, "2001:db8::1", 22, NULL },
	{ "CONNECT a.test:443" V "Content-Length: 0\r\n\r\n", 0, "a.test", 443,
	    NULL },
	{ "GET http://a.test/x" V "Host: b\r\n\r\n", 0, "a.test", 80,
	    "GET /x" V "Host: a.test\r\n\r\n" },
	{ "GET HTTP://a.test" V "\r\n", 0, "a.test", 80,
	    "GET /" V "Host: a.test\r\n\r\n" },
	{ "GET http://a.test?q=/" V "\r\n", 0, "a.test", 80,
	    "GET /?q=/" V "Host: a.test\r\n\r\n" },
	/* As curl sends what it was given. */
	{ "GET http://a.test/\xc3\xa4?\xff" V "\r\n", 0, "a.test", 80,
	    "GET /\xc3\xa4?\xff" V "Host: a.test\r\n\r\n" },
	{ "OPTIONS http://a.test" V "\r\n", 0, "a.test", 80,
	    "OPTIONS *" V "Host: a.test\r\n\r\n" },
	{ "GET http://[::1]:8080/ HTTP/1.0\r\n\r\n", 0, "::1", 8080,
	    "GET / HTTP/1.0\r\nHost: [::1]:8080\r\n"
	    "Connection: close\r\n\r\n" },
	{ "GET http://a/" V "Connection: x, Close\r\nX: 1\r\n\r\n", 0, "a",
	    80, "GET /" V "Host: a\r\nConnection: close\r\n\r\n" },
	{ "GET http://a/" V "Proxy-Connection: close\r\n\r\n", 0, "a", 80,
	    "GET /" V "Host: a\r\nConnection: close\r\n\r\n" },
	{ "GET http://a/" V "Proxy-Connection: keep-alive\r\n\r\n", 0, "a", 80,
	    "GET /" V "Host: a\r\n\r\n" },
	{ "GET http://a/" V "Host: 127.0.0.1:3128\r\n\r\n", 0, "a", 80,
	    "GET /" V "Host: a\r\n\r\n" },
	{ "GET http://a/" V "TE: trailers\r\nKeep-Alive: 5\r\nUpgrade: h2c\r\n"
	    "Connection: upgrade, X-One,\tx-two\r\nx-one: 1\r\nX-Two: 2\r\n"
	    "X-Three: 3 \r\nConnection: x-four\r\nx-four:\r\n"
	    "Proxy-Authorization: Basic x\r\nTrailer: q\r\n\r\n", 0, "a", 80,
	    "GET /" V "Host: a\r\nX-Three: 3 \r\n\r\n" },
	{ "GET http://a/" V "Connection: keep-alive, Upgrade\r\n"
	    "Upgrade: WebSocket\r\nSec-WebSocket-Key: x\r\n\r\n", 0, "a", 80,
	    "GET /" V "Host: a\r\nSec-WebSocket-Key: x\r\n"
	    "Upgrade: websocket\r\nConnection: Upgrade\r\n\r\n" },
	{ "GET http://a/" V "Upgrade: websocket\r\n\r\n", 0, "a", 80,
	    "GET /" V "Host: a\r\n\r\n" },
	{ "GET http://a/" V "Upgrade: websocket, h2c\r\n"
	    "Connection: upgrade\r\n\r\n", 0, "a", 80,
	    "GET /" V "Host: a\r\n\r\n" },
	{ "GET http://a/" V "Upgrade: websocket\r\nConnection: upgrade\r\n"
	    "Content-Length: 1\r\n\r\n", 0, "a", 80, "GET /" V "Host: a\r\n"
	    "Content-Length: 1\r\n\r\n" },
	{ "PUT http://a/" V "transfer-encoding: CHUNKED\r\n\r\n", 0, "a", 80,
	    "PUT /" V "Host: a\r\ntransfer-encoding: CHUNKED\r\n\r\n" },

	{ "", -1, NULL, 0, NULL },
	{ "GET http://a/" V, -1, NULL, 0, NULL },
	{ "GET http://a/" V "\r", -1, NULL, 0, NULL },

	{ "\r\nGET http://a/" V "\r\n", 400, NULL, 0, NULL },
	{ " GET http://a/" V "\r\n", 400, NULL, 0, NULL },
	{ "GET  http://a/" V "\r\n", 400, NULL, 0, NULL },
	{ "GET http://a/  HTTP/1.1\r\n\r\n", 505, NULL, 0, NULL },
	{ "GET http://a/ HTTP/1.1\n\n", 400, NULL, 0, NULL },
	{ "GET http://a/" V "A: b\nC: d\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://a/" V "A: b\rC: d\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://a/" V "A: b\r\n folded\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://a/" V "A: b\r\n\tfolded\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://a/" V "A : b\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://a/" V ": b\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://a/" V "no colon\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://a/" V "A: \x01\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://a/" V "A: \x7f\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://a\x80/" V "\r\n", 400, NULL, 0, NULL },
	{ "GET http://a/\x7f" V "\r\n", 400, NULL, 0, NULL },
	{ "CONNECT a\x80:443" V "\r\n", 400, NULL, 0, NULL },
	{ "GET http://a/#f" V "\r\n", 400, NULL, 0, NULL },
	{ "GET http://u@a/" V "\r\n", 400, NULL, 0, NULL },
	{ "GET http://a:/" V "\r\n", 400, NULL, 0, NULL },
	{ "GET http://a:0/" V "\r\n", 400, NULL, 0, NULL },
	{ "GET http://a:65536/" V "\r\n", 400, NULL, 0, NULL },
	{ "GET http://a:080/" V "\r\n", 400, NULL, 0, NULL },
	{ "GET http://a:+80/" V "\r\n", 400, NULL, 0, NULL },
	{ "GET http:///x" V "\r\n", 400, NULL, 0, NULL },
	{ "GET http://a\\b/" V "\r\n", 400, NULL, 0, NULL },
	{ "GET http://%61/" V "\r\n", 400, NULL, 0, NULL },
	{ "GET http://[::1/" V "\r\n", 400, NULL, 0, NULL },
	{ "GET http://[::1]x/" V "\r\n", 400, NULL, 0, NULL },
	{ "GET http://[fe80::1%25lo]/" V "\r\n", 400, NULL, 0, NULL },
	{ "GET http://a:1:2/" V "\r\n", 400, NULL, 0, NULL },
	{ "GET https://a/" V "\r\n", 400, NULL, 0, NULL },
	{ "GET ftp://a/" V "\r\n", 400, NULL, 0, NULL },
	{ "GET /" V "Host: a\r\n\r\n", 400, NULL, 0, NULL },
	{ "OPTIONS *" V "\r\n", 400, NULL, 0, NULL },
	{ "CONNECT a.test" V "\r\n", 400, NULL, 0, NULL },
	{ "CONNECT a.test:" V "\r\n", 400, NULL, 0, NULL },
	{ "CONNECT :443" V "\r\n", 400, NULL, 0, NULL },
	{ "CONNECT ::1:443" V "\r\n", 400, NULL, 0, NULL },
	{ "CONNECT http://a:443" V "\r\n", 400, NULL, 0, NULL },
	{ "CONNECT a:443/" V "\r\n", 400, NULL, 0, NULL },
	{ "CONNECT a:443" V "Content-Length: 3\r\n\r\nabc", 400, NULL, 0,
	    NULL },
	{ "CONNECT a:443" V "Transfer-Encoding: chunked\r\n\r\n", 400, NULL, 0,
	    NULL },
	{ "GET http://a/" V "Host: a\r\nhost: a\r\n\r\n", 400, NULL, 0, NULL },
	{ "PUT http://a/" V "Content-Length: 1\r\nContent-Length: 1\r\n\r\n",
	    400, NULL, 0, NULL },
	{ "PUT http://a/" V "Content-Length: 1, 1\r\n\r\n", 400, NULL, 0,
	    NULL },
	{ "PUT http://a/" V "Content-Length: +1\r\n\r\n", 400, NULL, 0, NULL },
	{ "PUT http://a/" V "Content-Length: 0x1\r\n\r\n", 400, NULL, 0,
	    NULL },
	{ "PUT http://a/" V "Content-Length: 9223372036854775808\r\n\r\n", 400,
	    NULL, 0, NULL },
	{ "PUT http://a/" V "Content-Length:\r\n\r\n", 400, NULL, 0, NULL },
	{ "PUT http://a/" V "Content-Length: 1\r\n"
	    "Transfer-Encoding: chunked\r\n\r\n", 400, NULL, 0, NULL },
	{ "PUT http://a/" V "Transfer-Encoding: gzip, chunked\r\n\r\n", 501,
	    NULL, 0, NULL },
	{ "PUT http://a/" V "Transfer-Encoding: \vchunked\r\n\r\n", 400, NULL,
	    0, NULL },
	{ "PUT http://a/ HTTP/1.0\r\nTransfer-Encoding: chunked\r\n\r\n", 400,
	    NULL, 0, NULL },
	{ "GET http://a/" V "Connection: content-length\r\n\r\n", 400, NULL, 0,
	    NULL },
	{ "GET http://a/" V "Connection: close, Host\r\n\r\n", 400, NULL, 0,
	    NULL },
	/* Shapes that two readers take for different requests. */
	{ "PUT http://a/" V "Transfer-Encoding: chunked\r\n"
	    "Content-Length: 1\r\n\r\n", 400, NULL, 0, NULL },
	{ "PUT http://a/" V "Content-Length: 0\r\n"
	    "Transfer-Encoding: chunked\r\n\r\n", 400, NULL, 0, NULL },
	{ "PUT http://a/" V "Content-Length: 1\r\ncontent-length: 2\r\n\r\n",
	    400, NULL, 0, NULL },
	{ "PUT http://a/" V "Content-Length: 01\r\n\r\n", 400, NULL, 0,
	    NULL },
	{ "PUT http://a/" V "Content-Length: -1\r\n\r\n", 400, NULL, 0, NULL },
	{ "PUT http://a/" V "Content-Length: 1 2\r\n\r\n", 400, NULL, 0,
	    NULL },
	{ "PUT http://a/" V "Content-Length : 1\r\n\r\n", 400, NULL, 0,
	    NULL },
	{ "PUT http://a/" V "Content-Length: 1\r\n Transfer-Encoding: chunked"
	    "\r\n\r\n", 400, NULL, 0, NULL },
	{ "PUT http://a/" V "Transfer-Encoding : chunked\r\n\r\n", 400, NULL,
	    0, NULL },
	{ "PUT http://a/" V "Transfer-Encoding:\r\n chunked\r\n\r\n", 400,
	    NULL, 0, NULL },
	{ "PUT http://a/" V "Transfer-Encoding: chunked\r\n"
	    "Transfer-Encoding: chunked\r\n\r\n", 501, NULL, 0, NULL },
	{ "PUT http://a/" V "Transfer-Encoding: chunked\r\n"
	    "Transfer-Encoding: identity\r\n\r\n", 501, NULL, 0, NULL },
	{ "PUT http://a/" V "Transfer-Encoding: identity\r\n\r\n", 501, NULL,
	    0, NULL },
	{ "PUT http://a/" V "Transfer-Encoding: chunked, identity\r\n\r\n",
	    501, NULL, 0, NULL },
	{ "PUT http://a/" V "Transfer-Encoding: xchunked\r\n\r\n", 501, NULL,
	    0, NULL },
	{ "PUT http://a/" V "Transfer-Encoding: \"chunked\"\r\n\r\n", 501,
	    NULL, 0, NULL },
	{ "PUT http://a/" V "Transfer-Encoding: chunked;q=1\r\n\r\n", 501,
	    NULL, 0, NULL },
	{ "PUT http://a/" V "Transfer-Encoding:\r\n\r\n", 501, NULL, 0,
	    NULL },
	{ "PUT http://a/" V "X: a\nTransfer-Encoding: chunked\r\n\r\n", 400,
	    NULL, 0, NULL },
	{ "PUT http://a/" V "X: a\rTransfer-Encoding: chunked\r\n\r\n", 400,
	    NULL, 0, NULL },
	{ "PUT http://a/" V "X: a\r\r\nTransfer-Encoding: chunked\r\n\r\n",
	    400, NULL, 0, NULL },
	{ "PUT http://a/" V "\xc4\xb0: a\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://a/" V "Host: a\r\nHost: b\r\n\r\n", 400, NULL, 0,
	    NULL },
	{ "GET http://a/" V " Host: b\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://a/" V "Host : b\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://a@b/" V "Host: a\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://a:80@b/" V "\r\n", 400, NULL, 0, NULL },
	{ "GET http://a,b/" V "\r\n", 0, "a,b", 80,	/* no host: refused */
	    "GET /" V "Host: a,b\r\n\r\n" },
	{ "GET http://a\t/" V "\r\n", 400, NULL, 0, NULL },
	{ "GET http://a/ b" V "\r\n", 505, NULL, 0, NULL },
	{ "GET http://a/" V "Connection: transfer-encoding\r\n"
	    "Transfer-Encoding: chunked\r\n\r\n", 400, NULL, 0, NULL },
	{ "GET http://a/ HTTP/1.1 \r\n\r\n", 505, NULL, 0, NULL },
	{ "GET http://a/ HTTP/0.9\r\n\r\n", 505, NULL, 0, NULL },
	{ "GET http://a/ HTTP/1.01\r\n\r\n", 505, NULL, 0, NULL },
	{ "GET\thttp://a/" V "\r\n", 400, NULL, 0, NULL },
	{ "GET http://a/ HTTP/1.2\r\n\r\n", 505, NULL, 0, NULL },
	{ "GET http://a/ http/1.1\r\n\r\n", 505, NULL, 0, NULL },
	{ "GET http://a/\r\n\r\n", 400, NULL, 0, NULL },
	{ "G(T http://a/" V "\r\n", 400, NULL, 0, NULL },
	{ "ABCDEFGHIJKLMNOP http://a/" V "\r\n", 501, NULL, 0, NULL },
	{ "\026\003\001\002", 400, NULL, 0, NULL },
};

static enum http1_status
feed(struct http1 *h, const char *data, size_t len, size_t step)
{
	enum http1_status st = HTTP1_MORE;
	size_t n;

	http1_init(h, MAX_HEAD);
	for (n = step; st == HTTP1_MORE; n += step) {
		if (n > len)
			n = len;
		st = http1_feed(h, data, n);
		if (n == len)
			break;
	}
	return st;
}

static void
check(size_t i, size_t step)
{
	size_t len = strlen(t[i].head);
	struct http1 h;
	enum http1_status st;
	struct buf out;
	/* Exactly as long as it is, so that a sanitizer sees a step beyond. */
	char *copy = malloc(len + (len == 0));

	memcpy(copy, t[i].head, len);
	st = feed(&h, copy, len, step);
	if (st != (t[i].code == 0 ? HTTP1_DONE : t[i].code < 0 ? HTTP1_MORE :
	    HTTP1_BAD) || (st == HTTP1_BAD && h.code != t[i].code))
		fail_msg("row %zu step %zu: status %d code %d (%s)", i, step,
		    st, h.code, h.why != NULL ? h.why : "");
	if (st == HTTP1_DONE) {
		assert_string_equal(h.host, t[i].host);
		assert_int_equal(h.port, t[i].port);
		assert_int_equal(h.is_connect, t[i].rewritten == NULL);
	}
	if (t[i].rewritten != NULL) {
		buf_init(&out, 0);
		http1_rewrite(&h, copy, &out);
		assert_string_equal(out.data, t[i].rewritten);
		buf_release(&out);
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
test_ceiling(void **state)
{
	char data[MAX_HEAD + 64];
	struct http1 h;
	int n;

	(void)state;
	n = snprintf(data, sizeof data, "GET http://a/ HTTP/1.1\r\nX: ");
	memset(data + n, 'x', sizeof data - (size_t)n);
	assert_int_equal(feed(&h, data, MAX_HEAD, 1), HTTP1_MORE);
	assert_int_equal(feed(&h, data, MAX_HEAD + 1, 1), HTTP1_BAD);
	assert_int_equal(h.code, 431);
	assert_int_equal(feed(&h, data, sizeof data, sizeof data), HTTP1_BAD);
	assert_int_equal(h.code, 431);
	memcpy(data + MAX_HEAD - 4, "\r\n\r\n", 4);
	assert_int_equal(feed(&h, data, sizeof data, 7), HTTP1_DONE);
	assert_int_equal(h.head_len, MAX_HEAD);
}

/* Wherever it stands. */
static void
test_nul(void **state)
{
	static const char good[] = "GET http://a/ HTTP/1.1\r\nA: b\r\n\r\n";
	size_t len = sizeof good - 1;
	struct http1 h;

	(void)state;
	for (size_t at = 0; at < len; at++) {
		char data[sizeof good];

		memcpy(data, good, sizeof good);
		data[at] = '\0';
		assert_int_equal(feed(&h, data, len, 1), HTTP1_BAD);
		assert_int_equal(feed(&h, data, len, len), HTTP1_BAD);
	}
}

static void
test_facts(void **state)
{
	static const char data[] = "POST http://a/ HTTP/1.1\r\n"
	    "Accept: text/html;q=1 , Application/JSON ;q=0.5\r\n"
	    "Content-Length: 12\r\n\r\nbody";
	struct http1 h;

	(void)state;
	assert_int_equal(feed(&h, data, sizeof data - 1, 1), HTTP1_DONE);
	assert_true(h.wants_json);
	assert_true(h.has_length);
	assert_int_equal(h.body_bytes, 12);
	assert_int_equal(h.head_len, sizeof data - 1 - 4);
	assert_string_equal(h.method, "POST");
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_table),
		cmocka_unit_test(test_ceiling),
		cmocka_unit_test(test_nul),
		cmocka_unit_test(test_facts),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
