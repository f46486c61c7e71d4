/* probesig: signatures of trace.calls, right and wrong. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "policy/probesig.h"

/* As the signature was understood: "write(i4,b64,u8):i8". */
static void
put_value(char *to, size_t size, const struct probesig_value *v)
{
	size_t n = strlen(to);
	unsigned detail = v->size != 0 ? v->size : v->max;

	if (v->size == 0 && strchr("sbo", v->type) == NULL)
		snprintf(to + n, size - n, "%c", v->type);
	else
		snprintf(to + n, size - n, "%c%u", v->type, detail);
}

static const char *
words(const struct probesig *s, char *to, size_t size)
{
	snprintf(to, size, "%s(", s->name);
	for (size_t i = 0; i < s->nargs; i++) {
		if (i > 0)
			strcat(to, ",");
		put_value(to, size, &s->arg[i]);
	}
	strcat(to, "):");
	put_value(to, size, &s->result);
	return to;
}

static const struct {
	const char	*text, *want;
} good[] = {
	{ "getenv(s):s", "getenv(s64):s64" },
	{ "SSL_write(p,b,i):i", "SSL_write(p,b64,i4):i4" },
	{ "SSL_read(p,o1024,i):i", "SSL_read(p,o1024,i4):i4" },
	{ "abort():v", "abort():v" },
	{ "abort( ) : v ", "abort():v" },
	{ "_x9\t( i8 ,u16\t, i32,u64 ):u8",
	  "_x9(i1,u2,i4,u8):u1" },
	{ "pow(d,d):d", "pow(d,d):d" },
	{ "f(f,p,s0):f", "f(f,p,s0):f" },
	{ "f(i,i,i,i,i,i,i,i,i,i,i,i):p",
	  "f(i4,i4,i4,i4,i4,i4,i4,i4,i4,i4,i4,i4):p" },
	{ "f(d,d,d,d,d,d,d,d,i):v", "f(d,d,d,d,d,d,d,d,i4):v" },
	{ "f(b0,u64,b1024,u,o1024,i8):s1024",
	  "f(b0,u8,b1024,u4,o1024,i1):s1024" },
	{ "vforked():i", "vforked():i4" },
};

static void
test_good(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof good / sizeof *good; i++) {
		struct err e = { 0 };
		struct probesig s;
		char text[256];

		if (probesig_parse(good[i].text, &s, &e) != 0)
			fail_msg("%s: %s", good[i].text, e.msg);
		assert_string_equal(words(&s, text, sizeof text),
		    good[i].want);
	}
}

static const struct {
	const char	*text, *why;	/* part of the message */
} wrong[] = {
	{ "", "function's name" },
	{ "9x():i", "function's name" },
	{ " x():i", "function's name" },
	{ "a.b():i", "parentheses" },
	{ "getenv", "parentheses" },
	{ "getenv s:s", "parentheses" },
	{ "getenv(", "one of i, u, p" },
	{ "getenv(s", "commas" },
	{ "getenv(s;s):s", "commas" },
	{ "getenv(ss):s", "commas" },
	{ "getenv(s,):s", "one of i, u, p" },
	{ "getenv(,s):s", "one of i, u, p" },
	{ "getenv(x):s", "one of i, u, p" },
	{ "getenv(s)", "the result" },
	{ "getenv(s) s", "the result" },
	{ "getenv(s):", "one of i, u, p" },
	{ "getenv(s):x", "one of i, u, p" },
	{ "getenv(s):s s", "behind the result" },
	{ "getenv(s):ss", "behind the result" },
	{ "getenv(v):s", "'v' is for a result" },
	{ "f(i7):v", "8, 16, 32 or 64" },
	{ "f(i128):v", "8, 16, 32 or 64" },
	{ "f(i08):v", "8, 16, 32 or 64" },
	{ "f(i99999999999999999999):v", "8, 16, 32 or 64" },
	{ "f(s1025):v", "1024 bytes" },
	{ "f(s01):v", "1024 bytes" },
	{ "f(p,b):v", "length behind them" },
	{ "f(b,p):v", "length behind them" },
	{ "f(o,s):v", "length behind them" },
	{ "f(b,d):v", "length behind them" },
	{ "f():b", "no length" },
	{ "f():o", "no length" },
	{ "f(i,i,i,i,i,i,i,i,i,i,i,i,i):v", "12 arguments" },
	{ "f(d,d,d,d,d,d,d,d,f):v", "8 arguments" },
	{ "f(s1024,s1024,s1024,s1):v", "3072 bytes" },
	{ "vfork():i", "returns twice" },
	{ "dlsym(p,s):p", "who calls it" },
	{ "printf(s):i", "any number" },
	{ "warnx(s):v", "any number" },
};

static void
test_wrong(void **state)
{
	char long_name[PROBESIG_NAME_MAX + 16];
	struct probesig s;

	(void)state;
	for (size_t i = 0; i < sizeof wrong / sizeof *wrong; i++) {
		struct err e = { 0 };

		if (probesig_parse(wrong[i].text, &s, &e) == 0)
			fail_msg("'%s' passes", wrong[i].text);
		if (strstr(e.msg, wrong[i].why) == NULL)
			fail_msg("'%s': %s", wrong[i].text, e.msg);
		assert_int_equal(e.code, ERR_POLICY);
		assert_string_not_equal(e.hint, "");
	}
	memset(long_name, 'a', sizeof long_name);
	for (size_t n = PROBESIG_NAME_MAX; n < PROBESIG_NAME_MAX + 2; n++) {
		struct err e = { 0 };

		strcpy(long_name + n, "():v");
		assert_int_equal(probesig_parse(long_name, &s, &e),
		    n > PROBESIG_NAME_MAX ? -1 : 0);
		memset(long_name, 'a', sizeof long_name);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_good),
		cmocka_unit_test(test_wrong),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
