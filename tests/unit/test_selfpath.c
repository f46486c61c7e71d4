/* selfpath: the pages of http://fence.internal/, from whoever asks. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "proxy/selfpath.h"

static const struct {
	const char	*path, *query;
	int		 code;
	struct selfpath	 want;
} rows[] = {
	{ "", "", 0, { .page = SELFPATH_REFUSALS } },
	{ "/", "", 0, { .page = SELFPATH_REFUSALS } },
	{ "/", "?", 0, { .page = SELFPATH_REFUSALS } },
	{ "/refusals", "?format=json", 0, { .page = SELFPATH_REFUSALS,
	    .format = SELFPATH_JSON } },
	{ "/why", "?host=a.test", 0, { .page = SELFPATH_WHY,
	    .host = "a.test", .port = 443 } },
	{ "/why", "?port=80&host=a.test&format=text", 0, {
	    .page = SELFPATH_WHY, .host = "a.test", .port = 80,
	    .format = SELFPATH_TEXT } },
	{ "/why", "?host=%5B::1%5d", 0, { .page = SELFPATH_WHY,
	    .host = "[::1]", .port = 443 } },
	{ "/why", "?host=%0a%1b", 0, { .page = SELFPATH_WHY,
	    .host = "\n\x1b", .port = 443 } },
	{ "/why", "", 400, { .port = 0 } },
	{ "/why", "?host=", 400, { .port = 0 } },
	{ "/why", "?host=a&host=b", 400, { .port = 0 } },
	{ "/why", "?host=a&x=b", 400, { .port = 0 } },
	{ "/why", "?host=a&&port=1", 400, { .port = 0 } },
	{ "/why", "?host=a%00b", 400, { .port = 0 } },
	{ "/why", "?host=a%0", 400, { .port = 0 } },
	{ "/why", "?host=a%", 400, { .port = 0 } },
	{ "/why", "?host=%zz", 400, { .port = 0 } },
	{ "/why", "?host=a&port=0", 400, { .port = 0 } },
	{ "/why", "?host=a&port=65536", 400, { .port = 0 } },
	{ "/why", "?host=a&port=+1", 400, { .port = 0 } },
	{ "/refusals", "?format=html", 400, { .port = 0 } },
	{ "/refusals/", "", 404, { .port = 0 } },
	{ "/policy", "", 404, { .port = 0 } },
};

static void
test_rows(void **state)
{
	(void)state;
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		const char *why = NULL;
		struct selfpath s;

		if (selfpath_parse(str_of(rows[i].path),
		    str_of(rows[i].query), &s, &why) != rows[i].code)
			fail_msg("row %zu, %s%s", i, rows[i].path,
			    rows[i].query);
		assert_int_equal(why != NULL, rows[i].code != 0);
		if (rows[i].code != 0)
			continue;
		assert_int_equal(s.page, rows[i].want.page);
		assert_int_equal(s.format, rows[i].want.format);
		assert_int_equal(s.port, rows[i].want.port);
		assert_string_equal(s.host, rows[i].want.host);
	}
}

/* A host that fills the room, and one that does not fit. */
static void
test_long(void **state)
{
	const char *why = NULL;
	char query[512] = "?host=";
	struct selfpath s;

	(void)state;
	memset(query + 6, 'a', 255);
	assert_int_equal(selfpath_parse(str_of("/why"), str_of(query), &s,
	    &why), 0);
	assert_int_equal(strlen(s.host), 255);
	query[6 + 255] = 'a';
	assert_int_equal(selfpath_parse(str_of("/why"), str_of(query), &s,
	    &why), 400);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rows), cmocka_unit_test(test_long),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
