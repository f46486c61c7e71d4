/* guard_text: paths as words for a shell, and what the guard did to git. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <string.h>

#include "launcher/guard/guard_text.h"

static void
test_word(void **state)
{
	static const struct { const char *path, *want; } t[] = {
		{ "", "''" }, { "/a/b", "'/a/b'" }, { "/a b", "'/a b'" },
		{ "/it's", "'/it'\\''s'" }, { "'", "''\\'''" },
		{ "/a\033[31m", "'/a\\x1b[31m'" }, { "/$(x)`y`", "'/$(x)`y`'" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct buf b;

		buf_init(&b, 0);
		guard_text_word(&b, t[i].path);
		assert_string_equal(b.data, t[i].want);
		buf_release(&b);
	}
}

static void
test_git(void **state)
{
	static const struct {
		struct guard_told	 told;
		const char		*begin, *end;
	} t[] = {
		{ { .deed = GUARD_CLEANED, .path = "/ws/.git/config",
		    .to = "/q/config", .what = "core.fsmonitor" },
		  "'/ws/.git/config' told git what to execute",
		  "core.fsmonitor; back with: cp '/q/config' "
		  "'/ws/.git/config'" },
		{ { .deed = GUARD_MOVED, .path = "/ws/.git/hooks/x",
		    .to = "/q/x" }, "'/ws/.git/hooks/x' is what git executes",
		  "it lies in quarantine; back with: mv '/q/x' "
		  "'/ws/.git/hooks/x'" },
		{ { .deed = GUARD_REMOVED, .path = "/ws/h" },
		  "'/ws/h' is what git executes", "it was removed" },
		{ { .deed = GUARD_FAILED, .path = "/ws/h", .sys = EPERM },
		  "'/ws/h' is what git executes",
		  "it could not be taken away: Operation not permitted" },
		{ { .deed = GUARD_FOUND, .path = "/ws/.git" },
		  "'/ws/.git' is a git directory that this run made", "" },
		{ { .deed = GUARD_CUT, .path = "/ws" },
		  "'/ws' holds too much, or lies too deep", "" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		struct guard_told told = t[i].told;
		struct buf b;

		told.kind = GUARD_GIT;
		told.count = 1;
		buf_init(&b, 0);
		guard_text_git(&b, &told);
		if (strncmp(b.data, t[i].begin, strlen(t[i].begin)) != 0 ||
		    b.len < strlen(t[i].end) ||
		    strcmp(b.data + b.len - strlen(t[i].end), t[i].end) != 0)
			fail_msg("row %zu: %s", i, b.data);
		assert_null(strchr(b.data, '\n'));
		buf_release(&b);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_word),
		cmocka_unit_test(test_git),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
