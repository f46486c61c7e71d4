/* platform/base/json: tokens with places, refusals, and the writer. */
#include <stdarg.h>
#include <stddef.h>
#include <setjmp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include <cmocka.h>

#include "platform/base/json.h"

enum { CEILING = 1 << 20 };

#define N_OF(a)		(sizeof (a) / sizeof *(a))

/* Every token as "kind@line:col=text ", or "!line:col message". */
static void
dump(const char *text, size_t len, struct buf *b)
{
	static const char letter[] = {
		[JSON_END] = '.', [JSON_OBJECT] = '{', [JSON_OBJECT_END] = '}',
		[JSON_ARRAY] = '[', [JSON_ARRAY_END] = ']', [JSON_KEY] = 'k',
		[JSON_STRING] = 's', [JSON_NUMBER] = 'n', [JSON_TRUE] = 't',
		[JSON_FALSE] = 'f', [JSON_NULL] = '0',
	};
	struct json_reader r;
	struct json_token t;
	struct err e = { 0 };

	buf_clear(b);
	json_init(&r, "F", text, len, CEILING);
	do {
		if (json_next(&r, &t, &e) != 0) {
			assert_int_equal(e.code, ERR_POLICY);
			buf_printf(b, "!%s %s", e.where, e.msg);
			break;
		}
		assert_int_equal(strlen(t.text), t.len);
		buf_printf(b, "%c%d:%d", letter[t.kind], t.line, t.col);
		if (t.kind == JSON_KEY || t.kind == JSON_STRING ||
		    t.kind == JSON_NUMBER)
			buf_printf(b, "=%s", t.text);
		buf_putc(b, ' ');
	} while (t.kind != JSON_END);
	json_release(&r);
}

static void
reads(void **state)
{
	static const struct { const char *text, *want; } cases[] = {
		{ "{}", "{1:1 }1:2 .1:3 " },
		{ "", ".1:1 " },
		{ " // only\n/* comments */", ".2:15 " },
		{ "{\"a\": [1, -0.5e+3, true,\n  false, null]}",
		  "{1:1 k1:2=a [1:7 n1:8=1 n1:11=-0.5e+3 t1:20 f2:3 02:10 "
		  "]2:14 }2:15 .2:16 " },
		{ "[\"x\",]", "[1:1 s1:2=x ]1:6 .1:7 " },
		{ "{\"x\":{},}", "{1:1 k1:2=x {1:6 }1:7 }1:9 .1:10 " },
		{ "[/* one\ntwo */\"x\" // end\r\n]",
		  "[1:1 s2:7=x ]3:1 .3:2 " },
		{ "\"\\u0041\\n\\/\\\\\\\"\\ud83d\\ude00\\u00e9\\u20ac\"",
		  "s1:1=A\n/\\\"\xf0\x9f\x98\x80\xc3\xa9\xe2\x82\xac .1:41 " },
		{ "\"http://x/*y*/\"", "s1:1=http://x/*y*/ .1:16 " },
		{ "\"\xc3\xa9\" ", "s1:1=\xc3\xa9 .1:6 " },	/* bytes */
		{ "0", "n1:1=0 .1:2 " },
		{ "/**/1/***/", "n1:5=1 .1:11 " },
	};
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	for (size_t i = 0; i < N_OF(cases); i++) {
		dump(cases[i].text, strlen(cases[i].text), &b);
		assert_string_equal(b.data, cases[i].want);
	}
	buf_release(&b);
}

static void
refuses(void **state)
{
	static const struct { const char *text, *where, *msg; } cases[] = {
		{ "\xef\xbb\xbf{}", "F:1:1", "byte order mark" },
		{ "{\n # no\n}", "F:2:2", "found '#'" },
		{ "['x']", "F:1:2", "found '''" },
		{ "{a: 1}", "F:1:2", "expected a key" },
		{ "{1: 1}", "F:1:2", "expected a key" },
		{ "{,}", "F:1:2", "expected a key" },
		{ "{\"a\":1,,}", "F:1:8", "expected a key" },
		{ "{\"a\" 1}", "F:1:6", "expected ':'" },
		{ "{\"a\":}", "F:1:6", "expected a value" },
		{ "{\"a\"}", "F:1:5", "expected ':'" },
		{ "{\"a\":1 \"b\":2}", "F:1:8", "expected ',' or '}'" },
		{ "[1 2]", "F:1:4", "expected ',' or ']'" },
		{ "[,]", "F:1:2", "expected a value" },
		{ "[1,,]", "F:1:4", "expected a value" },
		{ "[1}", "F:1:3", "expected ',' or ']'" },
		{ "{]", "F:1:2", "expected a key" },
		{ "]", "F:1:1", "expected a value" },
		{ "[", "F:1:2", "found the end of the file" },
		{ "{\"a\":", "F:1:6", "found the end of the file" },
		{ "{} {}", "F:1:4", "expected the end of the file" },
		{ "1,", "F:1:2", "expected the end of the file" },
		{ "NaN", "F:1:1", "'NaN' is not a value" },
		{ "[True]", "F:1:2", "'True' is not a value" },
		{ "nulll", "F:1:1", "is not a value" },
		{ "Infinity", "F:1:1", "is not a value" },
		{ "-", "F:1:1", "is not a value" },
		{ "01", "F:1:1", "is not a value" },
		{ "1.", "F:1:1", "is not a value" },
		{ ".5", "F:1:1", "expected a value" },
		{ "+1", "F:1:1", "expected a value" },
		{ "1e", "F:1:1", "is not a value" },
		{ "0x10", "F:1:1", "is not a value" },
		{ "[\n  \"abc\n]", "F:2:3", "string without its end" },
		{ "\"abc", "F:1:1", "string without its end" },
		{ "\"abc\\", "F:1:5", "unknown escape" },
		{ "\"\\", "F:1:2", "unknown escape" },
		{ "\"a\tb\"", "F:1:3", "control character" },
		{ "\"\\x41\"", "F:1:2", "unknown escape" },
		{ "\"\\u12\"", "F:1:2", "four hex digits" },
		{ "\"\\u12g4\"", "F:1:2", "four hex digits" },
		{ "\"\\u0000\"", "F:1:2", "\\u0000" },
		{ "\"\\ud800\"", "F:1:2", "lone surrogate" },
		{ "\"\\ud800\\u0041\"", "F:1:2", "lone surrogate" },
		{ "\"\\ude00\"", "F:1:2", "lone surrogate" },
		{ "\"\\ude00\\ude00\"", "F:1:2", "lone surrogate" },
		{ "\"a\xff\"", "F:1:3", "invalid UTF-8" },
		{ "\"\xc0\xaf\"", "F:1:2", "invalid UTF-8" },
		{ "\"\xed\xa0\x80\"", "F:1:2", "invalid UTF-8" },
		{ "\"\xf4\x90\x80\x80\"", "F:1:2", "invalid UTF-8" },
		{ "// \xc3(\n{}", "F:1:4", "invalid UTF-8" },
		{ "\xc3\xa9", "F:1:1", "expected a value" },
		{ "\xff", "F:1:1", "invalid UTF-8" },
		{ "{}\n /* open", "F:2:2", "comment without its end" },
		{ "/*/", "F:1:1", "comment without its end" },
		{ "{} / 1", "F:1:4", "expected the end" },
		{ "// a\r{\"x\":1}", "F:1:5", "carriage return" },
		{ "{}\r", "F:1:3", "carriage return" },
		{ "{}\f", "F:1:3", "expected the end" },
	};
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	for (size_t i = 0; i < N_OF(cases); i++) {
		char where[64];

		dump(cases[i].text, strlen(cases[i].text), &b);
		snprintf(where, sizeof where, "!%s ", cases[i].where);
		if (strstr(b.data, where) == NULL ||
		    strstr(b.data, cases[i].msg) == NULL)
			fail_msg("%s: got %s, want %s%s", cases[i].text,
			    b.data, where, cases[i].msg);
	}
	buf_release(&b);
}

static void
refuses_nul(void **state)
{
	static const struct { const char *text; size_t len; const char *where; }
	    cases[] = {
		{ "{}\0", 3, "!F:1:3 NUL byte" },
		{ "\"a\0b\"", 5, "!F:1:3 control character" },
		{ "//\0\n{}", 6, "!F:1:3 NUL byte" },
		{ "\0", 1, "!F:1:1 NUL byte" },
	};
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	for (size_t i = 0; i < N_OF(cases); i++) {
		dump(cases[i].text, cases[i].len, &b);
		assert_non_null(strstr(b.data, cases[i].where));
	}
	buf_release(&b);
}

static void
limits_depth(void **state)
{
	char text[2 * JSON_DEPTH + 3];
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	memset(text, '[', JSON_DEPTH);
	memset(text + JSON_DEPTH, ']', JSON_DEPTH);
	dump(text, 2 * JSON_DEPTH, &b);
	assert_null(strchr(b.data, '!'));
	memset(text, '[', JSON_DEPTH + 1);
	dump(text, JSON_DEPTH + 1, &b);
	assert_non_null(strstr(b.data, "!F:1:65 nested deeper than 64"));
	buf_release(&b);
}

static void
limits_size(void **state)
{
	struct json_reader r;
	struct json_token t;
	struct err e = { 0 };

	(void)state;
	json_init(&r, "F", "[1, 2]", 6, 6);
	assert_int_equal(json_next(&r, &t, &e), 0);
	json_release(&r);
	json_init(&r, "F", "[1, 2]", 6, 5);
	assert_int_equal(json_next(&r, &t, &e), -1);
	assert_string_equal(e.where, "F");
	assert_string_equal(e.msg, "longer than 5 bytes");
	json_release(&r);
}

/* A million brackets cost no stack; a long string is what it was. */
static void
stands_large_input(void **state)
{
	char *text = malloc(CEILING);
	struct json_reader r;
	struct json_token t;
	struct err e;
	struct buf b;

	(void)state;
	assert_non_null(text);
	buf_init(&b, 0);
	memset(text, '[', CEILING);
	dump(text, CEILING, &b);
	assert_non_null(strchr(b.data, '!'));
	memset(text, 'a', CEILING);
	text[0] = text[CEILING - 1] = '"';
	json_init(&r, "F", text, CEILING, CEILING);
	assert_int_equal(json_next(&r, &t, &e), 0);
	assert_int_equal(t.len, CEILING - 2);
	json_release(&r);
	buf_release(&b);
	free(text);
}

static void
writes_strings(void **state)
{
	static const struct { const char *text; size_t len; const char *want; }
	    cases[] = {
		{ "", 0, "\"\"" },
		{ "a\"b\\c", 5, "\"a\\\"b\\\\c\"" },
		{ "\n\t\r\x01\x7f", 5, "\"\\n\\t\\u000d\\u0001\\u007f\"" },
		{ "a\0b", 3, "\"a\\u0000b\"" },
		{ "\xc3\xa9", 2, "\"\xc3\xa9\"" },
		{ "\xc3", 1, "\"\xef\xbf\xbd\"" },
		{ "\xff\xfe" "x", 3, "\"\xef\xbf\xbd\xef\xbf\xbdx\"" },
		{ "\xed\xa0\x80", 3,
		  "\"\xef\xbf\xbd\xef\xbf\xbd\xef\xbf\xbd\"" },
		{ "\xe2\x80\xae", 3, "\"\\u202e\"" },	/* right to left */
		{ "\xc2\x9b", 2, "\"\\u009b\"" },	/* CSI */
		{ "\xf3\xa0\x80\x81", 4, "\"\\udb40\\udc01\"" },
		{ "\xf0\x9f\x98\x80", 4, "\"\xf0\x9f\x98\x80\"" },
	};
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	for (size_t i = 0; i < N_OF(cases); i++) {
		buf_clear(&b);
		json_put_string(&b, cases[i].text, cases[i].len);
		assert_string_equal(b.data, cases[i].want);
	}
	buf_release(&b);
}

/* Whatever is written is read again; all pairs of bytes. */
static void
reads_what_it_wrote(void **state)
{
	struct json_reader r;
	struct json_token t;
	struct err e;
	struct buf b;

	(void)state;
	buf_init(&b, 0);
	for (unsigned i = 1; i < 0x10000; i++) {
		char two[2] = { (char)(i >> 8), (char)i };

		if (two[0] == '\0' || two[1] == '\0')
			continue;	/* "\u0000" is written, not read */
		buf_clear(&b);
		json_put_string(&b, two, 2);
		json_init(&r, "F", b.data, b.len, CEILING);
		assert_int_equal(json_next(&r, &t, &e), 0);
		assert_int_equal(t.kind, JSON_STRING);
		if ((two[0] & 0x80) == 0 && (two[1] & 0x80) == 0)
			assert_memory_equal(t.text, two, 2);
		json_release(&r);
	}
	buf_release(&b);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(reads),
		cmocka_unit_test(refuses),
		cmocka_unit_test(refuses_nul),
		cmocka_unit_test(limits_depth),
		cmocka_unit_test(limits_size),
		cmocka_unit_test(stands_large_input),
		cmocka_unit_test(writes_strings),
		cmocka_unit_test(reads_what_it_wrote),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
