#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <setjmp.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/buf.h"
#include "proxy/tlshello.h"

#define MORE	TLSHELLO_MORE
#define NOT_TLS	TLSHELLO_NOT_TLS
#define DONE	TLSHELLO_DONE
#define BAD	TLSHELLO_BAD

#define B(bytes)	bytes, sizeof bytes - 1
#define NELEM(a)	(sizeof a / sizeof a[0])

/* Each prefix in memory of exactly its size: the caller's bytes may move. */
static enum tlshello_status
feed(struct tlshello *t, const void *data, size_t len, size_t step)
{
	enum tlshello_status st;
	size_t n = 0;
	char *copy;

	tlshello_init(t);
	do {
		n = len - n < step ? len : n + step;
		copy = malloc(n + (n == 0));
		memcpy(copy, data, n);
		st = tlshello_feed(t, copy, n);
		free(copy);
	} while (st == MORE && n < len);
	assert_int_equal(t->why != NULL, st == BAD);
	return st;
}

/* The facts; after BAD there are none but the reason. */
static void
assert_same(const struct tlshello *a, const struct tlshello *b)
{
	assert_int_equal(a->status, b->status);
	assert_ptr_equal(a->why, b->why);
	if (a->status != DONE)
		return;
	assert_int_equal(a->has_sni, b->has_sni);
	assert_int_equal(a->sni_len, b->sni_len);
	assert_string_equal(a->sni, b->sni);
	assert_int_equal(a->has_ech, b->has_ech);
	assert_int_equal(a->has_alpn, b->has_alpn);
	assert_int_equal(a->has_h2, b->has_h2);
	assert_int_equal(a->has_http11, b->has_http11);
}

/* Writing hellos */

static void
put_len(struct buf *b, size_t n, unsigned width)
{
	while (width-- > 0)
		buf_putc(b, (char)(n >> 8 * width));
}

/* A message in records of at most `piece` bytes. */
static void
put_records(struct buf *b, const char *msg, size_t len, size_t piece)
{
	size_t n;

	for (; len > 0; msg += n, len -= n) {
		n = len < piece ? len : piece;
		buf_add(b, "\x16\3\1", 3);
		put_len(b, n, 2);
		buf_add(b, msg, n);
	}
}

enum { HEADER = 5, BEFORE_EXTENSIONS = 79 };	/* of a message we write */

/* ext NULL: a hello that ends before the extensions. */
static void
put_message(struct buf *b, const char *ext, size_t len)
{
	put_len(b, 1, 1);
	put_len(b, BEFORE_EXTENSIONS - 4 + (ext != NULL ? 2 + len : 0), 3);
	buf_add(b, "\3\3", 2);
	for (int i = 0; i < 32; i++)
		buf_putc(b, 'r');
	put_len(b, 32, 1);
	for (int i = 0; i < 32; i++)
		buf_putc(b, (char)0xaa);
	buf_add(b, "\0\4\x0a\x0a\x13\1" "\1\0", 8);
	if (ext != NULL) {
		put_len(b, len, 2);
		buf_add(b, ext, len);
	}
}

static void
put_hello(struct buf *b, const char *ext, size_t len, size_t piece)
{
	struct buf msg;

	buf_init(&msg, 0);
	buf_init(b, 0);
	put_message(&msg, ext, len);
	put_records(b, msg.data, msg.len, piece);
	buf_release(&msg);
}

/* Extensions */

#define HOST	"\0\0\6a.test"
#define SNI	"\0\0\0\13" "\0\11" HOST
#define ECH	"\xfe\x0d\0\1\0"
#define GREASE	"\x1a\x1a\0\0"
#define ALPN	"\0\20\0\16" "\0\14" "\2h2\10http/1.1"
#define OTHER	"\1\0\2xx"		/* a name of another type */

enum { IS_ECH = 1, IS_ALPN = 2, IS_H2 = 4, IS_HTTP11 = 8 };

static const struct {
	const char		*ext;
	size_t			 len;
	enum tlshello_status	 want;
	const char		*sni;
	unsigned		 flags;
} exts[] = {
	{ NULL, 0, DONE, NULL, 0 },
	{ B(""), DONE, NULL, 0 },
	{ B(GREASE), DONE, NULL, 0 },
	{ B(SNI), DONE, "a.test", 0 },
	{ B(GREASE SNI "\xfa\xfa\0\1\0"), DONE, "a.test", 0 },
	{ B(GREASE GREASE SNI), DONE, "a.test", 0 },
	{ B(SNI ECH), DONE, "a.test", IS_ECH },
	{ B(ECH), DONE, NULL, IS_ECH },
	{ B("\xfe\x0d\0\0"), DONE, NULL, IS_ECH },
	{ B(ALPN SNI), DONE, "a.test", IS_ALPN | IS_H2 | IS_HTTP11 },
	{ B("\0\20\0\5\0\3\2h2"), DONE, NULL, IS_ALPN | IS_H2 },
	{ B("\0\20\0\4\0\2\1h"), DONE, NULL, IS_ALPN },
	{ B("\0\20\0\6\0\4\3h2c"), DONE, NULL, IS_ALPN },
	{ B("\0\20\0\13\0\11\10http/1.0"), DONE, NULL, IS_ALPN },
	{ B("\0\20\0\13\0\11\10http/1.1"), DONE, NULL,
	    IS_ALPN | IS_HTTP11 },
	{ B("\0\0\0\14\0\12\0\0\7A.Test."), DONE, "A.Test.", 0 },
	{ B("\0\0\0\10\0\6\0\0\3a\x80 "), DONE, "a\x80 ", 0 },
	{ B("\0\0\0\7\0\5" OTHER), DONE, NULL, 0 },
	{ B("\0\0\0\20\0\16" OTHER HOST), DONE, "a.test", 0 },
	{ B("\0\0\0\20\0\16" HOST OTHER), DONE, "a.test", 0 },

	{ B(SNI SNI), BAD, NULL, 0 },
	{ B("\0\0\0\7\0\5" OTHER SNI), BAD, NULL, 0 },
	{ B(SNI GREASE "\0\0\0\0"), BAD, NULL, 0 },
	{ B(ALPN ALPN), BAD, NULL, 0 },
	{ B(ECH ECH), BAD, NULL, 0 },
	{ B("\0\0\0\24\0\22" HOST HOST), BAD, NULL, 0 },
	{ B("\0\0\0\31\0\27" HOST OTHER HOST), BAD, NULL, 0 },
	{ B("\0\0\0\0"), BAD, NULL, 0 },
	{ B("\0\0\0\1\0"), BAD, NULL, 0 },
	{ B("\0\0\0\2\0\0"), BAD, NULL, 0 },
	{ B("\0\0\0\13\0\12" HOST), BAD, NULL, 0 },
	{ B("\0\0\0\13\0\10" HOST), BAD, NULL, 0 },
	{ B("\0\0\0\14\0\11" HOST "x"), BAD, NULL, 0 },
	{ B("\0\0\0\3\0\1\0"), BAD, NULL, 0 },
	{ B("\0\0\0\5\0\3\0\0\0"), BAD, NULL, 0 },
	{ B("\0\0\0\13\0\11\0\0\7a.test"), BAD, NULL, 0 },
	{ B("\0\0\0\13\0\11\0\0\5a.test"), BAD, NULL, 0 },
	{ B("\0\0\0\10\0\6\0\0\3a\0b"), BAD, NULL, 0 },
	{ B("\0\0\0\10\0\6\0\0\3ab\0"), BAD, NULL, 0 },
	{ B("\0\0\0\10\0\6\0\0\3a\nb"), BAD, NULL, 0 },
	{ B("\0\0\0\10\0\6\0\0\3\x7f" "ab"), BAD, NULL, 0 },
	{ B("\0\20\0\0"), BAD, NULL, 0 },
	{ B("\0\20\0\2\0\0"), BAD, NULL, 0 },
	{ B("\0\20\0\3\0\1\0"), BAD, NULL, 0 },
	{ B("\0\20\0\5\0\3\3h2"), BAD, NULL, 0 },
	{ B("\0\20\0\6\0\3\2h2x"), BAD, NULL, 0 },
	{ B("\0"), BAD, NULL, 0 },
	{ B("\0\0\0"), BAD, NULL, 0 },
	{ B("\x1a\x1a\0\1"), BAD, NULL, 0 },
	{ B(SNI "\x1a"), BAD, NULL, 0 },
};

static unsigned
flags_of(const struct tlshello *t)
{
	return (t->has_ech ? IS_ECH : 0) | (t->has_alpn ? IS_ALPN : 0) |
	    (t->has_h2 ? IS_H2 : 0) | (t->has_http11 ? IS_HTTP11 : 0);
}

static void
check_facts(const struct tlshello *t, const char *sni, unsigned flags)
{
	assert_int_equal(t->has_sni, sni != NULL);
	assert_string_equal(t->sni, sni != NULL ? sni : "");
	assert_int_equal(t->sni_len, strlen(t->sni));
	assert_int_equal(flags_of(t), flags);
}

static void
test_extensions(void **state)
{
	static const size_t pieces[] = { 1, 2, 3, 50, 16384 };
	enum tlshello_status st;
	struct tlshello t;
	struct buf b;

	(void)state;
	for (size_t i = 0; i < NELEM(exts); i++)
		for (size_t k = 0; k < NELEM(pieces) * 2; k++) {
			put_hello(&b, exts[i].ext, exts[i].len, pieces[k / 2]);
			st = feed(&t, b.data, b.len, k % 2 ? 1 : b.len);
			if (st != exts[i].want)
				fail_msg("row %zu in pieces of %zu: %d (%s)",
				    i, pieces[k / 2], st,
				    t.why != NULL ? t.why : "");
			if (st == DONE) {
				check_facts(&t, exts[i].sni, exts[i].flags);
				assert_int_equal(t.hello_len, b.len);
			}
			buf_release(&b);
		}
}

static void
test_name_length(void **state)
{
	struct tlshello t;
	struct buf ext, b;

	(void)state;
	for (size_t n = 253; n < 260; n++) {
		buf_init(&ext, 0);
		put_len(&ext, 0, 2);
		put_len(&ext, n + 5, 2);
		put_len(&ext, n + 3, 2);
		put_len(&ext, 0, 1);
		put_len(&ext, n, 2);
		for (size_t i = 0; i < n; i++)
			buf_putc(&ext, 'n');
		put_hello(&b, ext.data, ext.len, 16384);
		assert_int_equal(feed(&t, b.data, b.len, b.len),
		    n <= 255 ? DONE : BAD);
		if (n <= 255)
			assert_int_equal(strlen(t.sni), n);
		buf_release(&ext);
		buf_release(&b);
	}
}

/* Before the extensions */

#define R32	"rrrrrrrrrrrrrrrrrrrrrrrrrrrrrrrr"

static const struct {
	const char		*body;
	size_t			 len;
	enum tlshello_status	 want;
} bodies[] = {
	{ B("\3\3" R32 "\0" "\0\2\x13\1" "\1\0"), DONE },
	{ B("\3\0" R32 "\0" "\0\2\0\x2f" "\2\0\1"), DONE },
	{ B("\3\x7f" R32 "\0" "\0\2\x13\1" "\1\0"), DONE },
	{ B("\3\3" R32 "\40" R32 "\0\2\x13\1" "\1\0"), DONE },
	{ B("\3\3" R32 "\41r" R32 "\0\2\x13\1" "\1\0"), BAD },
	{ B("\2\3" R32 "\0" "\0\2\x13\1" "\1\0"), BAD },
	{ B("\4\3" R32 "\0" "\0\2\x13\1" "\1\0"), BAD },
	{ B("\3\3" R32 "\0" "\0\0" "\1\0"), BAD },
	{ B("\3\3" R32 "\0" "\0\3\x13\1\x13" "\1\0"), BAD },
	{ B("\3\3" R32 "\0" "\0\2\x13\1" "\0"), BAD },
	{ B("\3\3" R32 "\0" "\0\2\x13\1"), BAD },
	{ B("\3\3" R32 "\0"), BAD },
	{ B("\3\3" R32), BAD },
	{ B("\3\3" R32 "\0" "\0\2\x13\1" "\1\0" "\0"), BAD },
	{ B("\3\3" R32 "\0" "\0\2\x13\1" "\1\0" "\0\1"), BAD },
	{ B("\3\3" R32 "\0" "\0\2\x13\1" "\1\0" "\0\0x"), BAD },
};

static void
test_bodies(void **state)
{
	struct buf msg, b;
	struct tlshello t;

	(void)state;
	for (size_t i = 0; i < NELEM(bodies); i++) {
		buf_init(&msg, 0);
		buf_init(&b, 0);
		put_len(&msg, 1, 1);
		put_len(&msg, bodies[i].len, 3);
		buf_add(&msg, bodies[i].body, bodies[i].len);
		put_records(&b, msg.data, msg.len, 16384);
		if (feed(&t, b.data, b.len, b.len) != bodies[i].want)
			fail_msg("row %zu: %d", i, t.status);
		buf_release(&msg);
		buf_release(&b);
	}
}

/* First bytes */

static const struct {
	const char		*bytes;
	size_t			 len;
	enum tlshello_status	 want;
} raw[] = {
	{ B(""), MORE },
	{ B("\x16"), MORE },
	{ B("\x16\3"), MORE },
	{ B("\x16\3\1\2"), MORE },
	{ B("\x16\3\1\2\0"), MORE },
	{ B("\x16\3\1\0\1\1"), MORE },
	{ B("\x16\3\1\0\1\1\x16\3\3\0\1"), MORE },
	{ B("\x16\3\1\0\5\1\0\0\1"), MORE },
	{ B("G"), NOT_TLS },
	{ B("SSH-2.0-x\r\n"), NOT_TLS },
	{ B("\0\0\0\x08\4\xd2\x16\x2f"), NOT_TLS },	/* PostgreSQL */
	{ B("\x13" "BitTorrent protocol"), NOT_TLS },
	{ B("\x19\3\1"), NOT_TLS },
	{ B("\x16\2"), NOT_TLS },
	{ B("\x16\4\1\0\5\1\0\0\1"), NOT_TLS },
	{ B("\x15\2"), NOT_TLS },
	{ B("\x14\3\3\0\1\1"), BAD },
	{ B("\x15\3\1\0\2\1\x5a"), BAD },
	{ B("\x17\3\3\0\1"), BAD },
	{ B("\x18\3\3\0\1"), BAD },
	{ B("\x16\3\1\0\0"), BAD },
	{ B("\x16\3\1\x40\0"), MORE },
	{ B("\x16\3\1\x40\1"), BAD },
	{ B("\x16\3\1\0\4\2"), BAD },			/* ServerHello */
	{ B("\x16\3\1\0\4\0\0\0\0"), BAD },		/* HelloRequest */
	{ B("\x16\3\1\0\4\1\1\0\1"), BAD },		/* 64 KiB and 1 */
	{ B("\x16\3\1\0\4\1\0\0\0"), BAD },
	{ B("\x16\3\1\0\5\1\0\0\0"), BAD },
	{ B("\x16\3\1\0\1\1\x16\3\1\0\0"), BAD },
	{ B("\x16\3\1\0\1\1\x16\2\1\0\1"), BAD },
	{ B("\x16\3\1\0\1\1\x14\3\1\0\1"), BAD },
	{ B("\x16\3\1\0\1\1\x15\3\1\0\2"), BAD },
	{ B("\x16\3\1\0\1\1\x80\x2e\1\0\2"), BAD },

	{ B("\x80"), MORE },
	{ B("\x80\x2e\1\0"), MORE },
	{ B("\x80\x2e\1\0\2"), BAD },
	{ B("\x80\x2e\1\3\1"), BAD },
	{ B("\xff\xff\1\3\0"), BAD },
	{ B("\x80\x2e\2"), NOT_TLS },
	{ B("\x80\x2e\1\2"), NOT_TLS },
	{ B("\x80\x2e\1\0\3"), NOT_TLS },
	{ B("\xff\xfb\1\xff\xfb\3"), NOT_TLS },		/* telnet */
};

static void
test_first_bytes(void **state)
{
	enum tlshello_status st;
	struct tlshello t;

	(void)state;
	for (size_t i = 0; i < NELEM(raw); i++)
		for (size_t step = 1; step < 12; step++) {
			st = feed(&t, raw[i].bytes, raw[i].len, step);
			if (st != raw[i].want)
				fail_msg("row %zu by %zu: %d (%s)", i, step,
				    st, t.why != NULL ? t.why : "");
		}
}

/* Lengths */

enum { AT_BODY = HEADER + BEFORE_EXTENSIONS };

static const struct {
	const char	*name;
	size_t		 at;
	unsigned	 width;
} lengths[] = {
	{ "record", 3, 2 },
	{ "hello", 6, 3 },
	{ "session", HEADER + 38, 1 },
	{ "ciphers", HEADER + 71, 2 },
	{ "compression", HEADER + 77, 1 },
	{ "extensions", AT_BODY, 2 },
	{ "server_name", AT_BODY + 4, 2 },
	{ "list", AT_BODY + 6, 2 },
	{ "name", AT_BODY + 9, 2 },
	{ "alpn", AT_BODY + 19, 2 },
	{ "alpn list", AT_BODY + 21, 2 },
	{ "alpn h2", AT_BODY + 23, 1 },
	{ "alpn http/1.1", AT_BODY + 26, 1 },
};

/* Some length may make another hello of the same bytes, and a good one. */
static void
check_length(const struct buf *b, size_t i, size_t value, bool is_fatal)
{
	char *copy = malloc(b->len);
	struct tlshello whole, bytes;

	memcpy(copy, b->data, b->len);
	for (unsigned k = 0; k < lengths[i].width; k++)
		copy[lengths[i].at + k] =
		    (char)(value >> 8 * (lengths[i].width - 1 - k));
	(void)feed(&whole, copy, b->len, b->len);
	(void)feed(&bytes, copy, b->len, 1);
	/* The outer two may ask for more; inside them nothing can. */
	if (is_fatal && whole.status != BAD &&
	    (i > 1 || whole.status != MORE))
		fail_msg("%s length %zu: %d", lengths[i].name, value,
		    whole.status);
	assert_same(&whole, &bytes);
	free(copy);
}

static void
test_lengths(void **state)
{
	size_t was, max;
	struct tlshello t;
	struct buf b;

	(void)state;
	put_hello(&b, B(SNI ALPN), 16384);
	assert_int_equal(feed(&t, b.data, b.len, b.len), DONE);
	for (size_t i = 0; i < NELEM(lengths); i++) {
		max = ((size_t)1 << 8 * lengths[i].width) - 1;
		was = 0;
		for (unsigned k = 0; k < lengths[i].width; k++)
			was = was << 8 |
			    (unsigned char)b.data[lengths[i].at + k];
		for (size_t v = 0; v <= max; v += v < 1024 ? 1 : 997)
			if (v != was)
				check_length(&b, i, v, v == 0 || v == was - 1 ||
				    v == was + 1 || v > b.len);
		check_length(&b, i, max, true);
	}
	buf_release(&b);
}

/* Ceilings */

/* A hello that takes `total` bytes of the stream. */
static void
put_long(struct buf *b, size_t total, size_t piece)
{
	size_t msg_len = total, ext_len;
	struct buf ext;

	while (msg_len + HEADER * ((msg_len + piece - 1) / piece) > total)
		msg_len--;
	ext_len = msg_len - BEFORE_EXTENSIONS - 2;
	buf_init(&ext, 0);
	buf_add(&ext, SNI "\0\25", sizeof SNI + 1);
	put_len(&ext, ext_len - ext.len - 2, 2);
	while (ext.len < ext_len)
		buf_putc(&ext, '\0');
	put_hello(b, ext.data, ext.len, piece);
	buf_release(&ext);
}

static void
test_ceilings(void **state)
{
	static const struct {
		size_t			total, piece;
		enum tlshello_status	want;
	} c[] = {
		{ TLSHELLO_MAX_BYTES, 16384, DONE },
		{ TLSHELLO_MAX_BYTES + 1, 16384, BAD },
		{ TLSHELLO_MAX_BYTES - 4, 1, DONE },
		{ TLSHELLO_MAX_BYTES + 2, 1, BAD },
		{ TLSHELLO_MAX_BYTES, 16385, BAD },
		{ 60000, 100, DONE },
	};
	struct tlshello t, odd;
	struct buf b;

	(void)state;
	for (size_t i = 0; i < NELEM(c); i++) {
		put_long(&b, c[i].total, c[i].piece);
		assert_int_equal(b.len, c[i].total);
		if (feed(&t, b.data, b.len, b.len) != c[i].want)
			fail_msg("row %zu: %d (%s)", i, t.status,
			    t.why != NULL ? t.why : "");
		(void)feed(&odd, b.data, b.len, 1001);
		assert_same(&t, &odd);
		/* A buffer of that size is always enough. */
		if (b.len > TLSHELLO_MAX_BYTES)
			assert_int_equal(feed(&t, b.data, TLSHELLO_MAX_BYTES,
			    TLSHELLO_MAX_BYTES), BAD);
		buf_release(&b);
	}
}

/*
 * Hellos of real programs, as a listening socket got them.  Those of the
 * browsers are curl-impersonate's likenesses (curl_cffi), GREASE and all.
 */

static const struct {
	const char	*file;
	const char	*sni;
	unsigned	 flags;
} real[] = {
	{ "chrome", "a.test", IS_ECH | IS_ALPN | IS_H2 | IS_HTTP11 },
	{ "curl", "a.test", IS_ALPN | IS_H2 | IS_HTTP11 },
	{ "firefox", "a.test", IS_ECH | IS_ALPN | IS_H2 | IS_HTTP11 },
	{ "go", "a.test", IS_ALPN | IS_H2 | IS_HTTP11 },
	{ "go_ech", "public.test", IS_ECH },
	{ "java", "a.test", 0 },
	{ "node", "a.test", IS_ALPN | IS_H2 | IS_HTTP11 },
	{ "openssl", "a.test", IS_ALPN | IS_H2 | IS_HTTP11 },
	{ "openssl_nosni", NULL, 0 },
	{ "openssl_tls12", "a.test", 0 },
	{ "python", "a.test", 0 },
	{ "safari", "a.test", IS_ALPN | IS_H2 | IS_HTTP11 },
	{ "wget", "localhost", 0 },
};

static void
load(const char *file, struct buf *b)
{
	const char *src = getenv("srcdir") != NULL ? getenv("srcdir") : ".";
	char path[4096], bytes[4096];
	FILE *f;

	snprintf(path, sizeof path, "%s/tests/fuzz/corpus/tlshello/%s", src,
	    file);
	f = fopen(path, "re");
	if (f == NULL)
		fail_msg("cannot open %s", path);
	buf_init(b, 0);
	buf_add(b, bytes, fread(bytes, 1, sizeof bytes, f));
	fclose(f);
}

static void
test_real(void **state)
{
	static const size_t pieces[] = { 1, 2, 7, 100, 16384 };
	struct tlshello t, again;
	struct buf b, cut;

	(void)state;
	for (size_t i = 0; i < NELEM(real); i++) {
		load(real[i].file, &b);
		if (feed(&t, b.data, b.len, b.len) != DONE)
			fail_msg("%s: %d (%s)", real[i].file, t.status,
			    t.why != NULL ? t.why : "");
		check_facts(&t, real[i].sni, real[i].flags);
		assert_int_equal(t.hello_len, b.len);
		for (size_t n = 0; n < b.len; n++)
			assert_int_equal(feed(&again, b.data, n, n), MORE);
		(void)feed(&again, b.data, b.len, 1);
		assert_same(&t, &again);
		/* What comes later changes nothing. */
		buf_add(&b, "\x14\3\3\0\1\1", 6);
		(void)feed(&again, b.data, b.len, b.len);
		assert_same(&t, &again);
		assert_int_equal(again.hello_len, t.hello_len);
		for (size_t k = 0; k < NELEM(pieces); k++) {
			buf_init(&cut, 0);
			put_records(&cut, b.data + HEADER,
			    t.hello_len - HEADER, pieces[k]);
			(void)feed(&again, cut.data, cut.len, 3);
			assert_same(&t, &again);
			buf_release(&cut);
		}
		buf_release(&b);
	}
}

/* Whatever a byte becomes, whole and in pieces say the same. */
static void
test_mutation(void **state)
{
	struct tlshello whole, bytes;
	struct buf b;

	(void)state;
	for (size_t i = 0; i < NELEM(real); i++) {
		load(real[i].file, &b);
		for (size_t k = 0; k < b.len * 4; k++) {
			char was = b.data[k / 4];

			b.data[k / 4] = (char)(was ^ "\1\x80\x10\xff"[k % 4]);
			tlshello_init(&whole);
			tlshello_init(&bytes);
			tlshello_feed(&whole, b.data, b.len);
			for (size_t n = 1; n <= b.len; n += n < 128 ? 1 : 31)
				tlshello_feed(&bytes, b.data, n);
			tlshello_feed(&bytes, b.data, b.len);
			assert_same(&whole, &bytes);
			if (whole.status == DONE)
				assert_int_equal(strlen(whole.sni),
				    whole.sni_len);
			b.data[k / 4] = was;
		}
		buf_release(&b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_extensions),
		cmocka_unit_test(test_bodies),
		cmocka_unit_test(test_name_length),
		cmocka_unit_test(test_first_bytes),
		cmocka_unit_test(test_lengths),
		cmocka_unit_test(test_ceilings),
		cmocka_unit_test(test_real),
		cmocka_unit_test(test_mutation),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
