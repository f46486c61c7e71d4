/* probe_call: datagrams of the probe library become words, or nothing. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "launcher/record/event.h"
#include "launcher/record/probe_call.h"
#include "shim/probe/probe_wire.h"

#define CUT	"\"\xe2\x80\xa6"
#define NONE	PROBE_GOT_NONE
#define TEXT(n)	((n) | PROBE_GOT_CUT)
#define MINUS	UINT64_MAX

/* One call of a function of this signature. */
struct row {
	const char	*signature;
	uint64_t	 value[4];
	uint16_t	 got[4];
	const char	*data;
	int		 err;
	uint32_t	 is_new_err;
	const char	*want;		/* "f(args) = result ERR" */
};

static uint64_t
bits(double d)
{
	uint64_t v;

	memcpy(&v, &d, sizeof v);
	return v;
}

static uint64_t
bits_f(float f)
{
	uint32_t v;

	memcpy(&v, &f, sizeof v);
	return v;
}

struct datagram {
	_Alignas(8) char	 bytes[PROBE_HEADER_BYTES + PROBE_DATA_MAX + 8];
	size_t			 len;
};

/* The result stands in value[nargs], as in the rows. */
static void
make(const struct row *row, struct datagram *d)
{
	struct probe_report r = { .magic = WIRE_MAGIC, .call = WIRE_PROBE,
	    .err = row->err, .is_new_err = row->is_new_err,
	    .comm = "cc1" };

	r.data_len = row->data != NULL ? (uint16_t)strlen(row->data) : 0;
	memcpy(r.value, row->value, sizeof row->value);
	memcpy(r.got, row->got, sizeof row->got);
	memcpy(d->bytes, &r, PROBE_HEADER_BYTES);
	if (row->data != NULL)
		memcpy(d->bytes + PROBE_HEADER_BYTES, row->data, r.data_len);
	d->len = PROBE_HEADER_BYTES + r.data_len;
}

static int
read_row(struct arena *a, const struct row *row, const struct datagram *d,
    struct probe_call *ret)
{
	struct probesig *s = arena_alloc(a, sizeof *s);
	struct err e = { 0 };

	if (probesig_parse(row->signature, s, &e) != 0)
		fail_msg("%s: %s", row->signature, e.msg);
	return probe_call_read(a, s, 1, d->bytes, d->len, ret);
}

/* What the text line has between its head and the process. */
static void
check_text(const struct probe_call *c, const char *want)
{
	struct event e = { .kind = EVENT_PROBE, .witness = WITNESS_PROBE,
	    .enforcer = ENFORCER_NONE, .probe = c };
	struct buf b;

	buf_init(&b, 0);
	event_deed(&e, &b);
	assert_string_equal(b.data, want);
	buf_release(&b);
}

static void
test_words(void **state)
{
	const struct row rows[] = {
		{ "getenv(s):s", { 0x10, 0x20 }, { 4, 5 }, "HOME/root", 0, 0,
		    "getenv(\"HOME\") = \"/root\"" },
		{ "getenv(s):s", { 0x10, 0 }, { 1 }, "X", ENOENT, 0,
		    "getenv(\"X\") = NULL" },
		{ "fopen(s,s):p", { 0x10, 0x20, 0 }, { 2, 1 }, "/xr", ENOENT,
		    1, "fopen(\"/x\", \"r\") = NULL ENOENT" },
		{ "open(s,i):i", { 0x10, 0, MINUS }, { 2 }, "/x", EACCES, 0,
		    "open(\"/x\", 0) = -1 EACCES" },
		{ "open(s,i):i", { 0x10, 0, 3 }, { 2 }, "/x", EACCES, 1,
		    "open(\"/x\", 0) = 3" },
		{ "f(s):v", { 0x10 }, { TEXT(3) }, "abc", 0, 0,
		    "f(\"abc" CUT ")" },
		{ "f(s):v", { 0x10 }, { NONE }, NULL, 0, 0, "f(0x10)" },
		{ "f(s):v", { 0 }, { 0 }, NULL, 0, 0, "f(NULL)" },
		{ "f(s):v", { 0x10 }, { 0 }, NULL, 0, 0, "f(\"\")" },
		{ "f(s0):v", { 0x10 }, { TEXT(0) }, NULL, 0, 0,
		    "f(\"" CUT ")" },
		{ "f(s):v", { 1 }, { 8 }, "\"\\\n\x1b[31m", 0, 0,
		    "f(\"\\\"\\\\\\x0a\\x1b[31m\")" },
		{ "write(i,b,u64):i64", { 1, 0x10, 5, 5 }, { 0, 5 }, "hello",
		    0, 0, "write(1, \"hello\", 5) = 5" },
		{ "write(i,b2,u64):i64", { 1, 0x10, 5, 5 }, { 0, 2 }, "he",
		    0, 0, "write(1, \"he" CUT ", 5) = 5" },
		{ "write(i,b,i):i64", { 1, 0x10, MINUS, MINUS }, { 0, 0 },
		    NULL, EINVAL, 1,
		    "write(1, \"\", -1) = -1 EINVAL" },
		{ "read(i,o,u64):i64", { 1, 0x10, 64, 2 }, { 0, 2 }, "hi", 0,
		    0, "read(1, \"hi\", 64) = 2" },
		{ "read(i,o1,u64):i64", { 1, 0x10, 64, 2 }, { 0, 1 }, "h", 0,
		    0, "read(1, \"h" CUT ", 64) = 2" },
		{ "f(o,u8,s):v", { 0x10, 2, 0x20 }, { 2, 0, 1 }, "Sfi", 0, 0,
		    "f(\"fi\", 2, \"S\")" },
		{ "f(i8,u8,i16):u16", { 0x1ff, 0x1ff, 0x8000, 0xfffff },
		    { 0 }, NULL, 0, 0, "f(-1, 255, -32768) = 65535" },
		{ "f(i,u,i64):u64", { MINUS, MINUS, MINUS, MINUS }, { 0 },
		    NULL, 0, 0,
		    "f(-1, 4294967295, -1) = 18446744073709551615" },
		{ "pow(d,f):d", { bits(2.5), bits_f(-0.5f), bits(1e300) },
		    { 0 }, NULL, 0, 0, "pow(2.5, -0.5) = 1e+300" },
		{ "f(p,p):p", { 0, MINUS, 0x7fff0000 }, { 0 }, NULL, 0, 0,
		    "f(NULL, 0xffffffffffffffff) = 0x7fff0000" },
		{ "abort():v", { 0 }, { 0 }, NULL, 0, 0, "abort()" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct arena *a = arena_new();
		struct probe_call c;
		struct datagram d;

		make(&rows[i], &d);
		if (read_row(a, &rows[i], &d, &c) != 0)
			fail_msg("row %zu, %s: no report", i, rows[i].want);
		assert_string_equal(c.comm, "cc1");
		check_text(&c, rows[i].want);
		arena_free(a);
	}
}

/* Whatever a hostile process sends, nothing is read that was not sent. */
static void
test_malformed(void **state)
{
	const struct row row = { "write(i,b,u64):i64", { 1, 0x10, 5, 5 },
	    { 0, 5 }, "hello", 0, 0, NULL };
	struct arena *a = arena_new();
	struct probe_report *r;
	struct probe_call c;
	struct datagram d;

	(void)state;
	r = (struct probe_report *)d.bytes;
#define WRONG(change)	do {						\
		make(&row, &d);						\
		change;							\
		assert_int_equal(read_row(a, &row, &d, &c), -1);	\
	} while (0)
	make(&row, &d);
	r->dropped = 9;
	assert_int_equal(read_row(a, &row, &d, &c), 0);
	assert_int_equal(c.dropped, 9);
	assert_true(probe_call_is(d.bytes, d.len));
	assert_int_equal(probe_call_dropped(d.bytes, d.len), 9);
	assert_int_equal(probe_call_dropped(d.bytes, 30), 0);
	r->call = WIRE_OPEN;
	assert_false(probe_call_is(d.bytes, d.len));
	for (size_t n = 0; n < PROBE_HEADER_BYTES + 5; n++)
		WRONG(d.len = n);
	WRONG(d.len++);
	WRONG(r->magic++);
	WRONG(r->call = WIRE_OPEN);
	WRONG(r->probe = 1);
	WRONG(r->probe = UINT32_MAX);
	WRONG(r->data_len = 4);
	WRONG(r->data_len = 6);
	WRONG(r->got[1] = 4);
	WRONG(r->got[1] = 6);
	WRONG(r->got[1] = 65);
	WRONG(r->got[1] = NONE);		/* but bytes came */
	WRONG(r->value[1] = 0);
	WRONG(d.len -= 5; r->data_len = 0; r->got[1] = 1);
#undef WRONG
	arena_free(a);
}

static void
test_json(void **state)
{
	const struct row row = { "open(s,i):i", { 0x10, 0, MINUS }, { 4 },
	    "/\"x\n", EACCES, 1, NULL };
	static const struct event_run run = { .id = "0", .version = "1" };
	struct arena *a = arena_new();
	struct event e = { .kind = EVENT_PROBE, .witness = WITNESS_PROBE,
	    .enforcer = ENFORCER_NONE, .nprocess = 1 };
	struct probe_call c;
	struct datagram d;
	struct buf b;

	(void)state;
	make(&row, &d);
	assert_int_equal(read_row(a, &row, &d, &c), 0);
	e.probe = &c;
	buf_init(&b, 0);
	event_json(&e, &run, &b);
	assert_non_null(strstr(b.data, "\"class_uid\":1005,"));
	assert_non_null(strstr(b.data, "\"type_uid\":100503,"));
	assert_non_null(strstr(b.data, "\"severity_id\":1,\"status_id\":1,"));
	assert_non_null(strstr(b.data,
	    "\"module\":{\"function_name\":\"open\"}"));
	assert_non_null(strstr(b.data, "\"trust\":\"claim\","
	    "\"probe\":{\"function\":\"open\","
	    "\"args\":[\"\\\"/\\\\\\\"x\\\\x0a\\\"\",\"0\"],"
	    "\"result\":\"-1\",\"errno\":\"EACCES\"}"));
	assert_non_null(strstr(b.data, "\"actor\":"));
	assert_false(event_is_trouble(&e));
	buf_release(&b);
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_words),
		cmocka_unit_test(test_malformed),
		cmocka_unit_test(test_json),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
