/* shell: the words of -c, and what does not go with it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <string.h>

#include "launcher/plan/shell.h"

static void
test_check(void **state)
{
	static const struct {
		const char	*command, *shell;
		bool		 is_login;
		const char	*word;
		const char	*error;		/* NULL: fine */
	} t[] = {
		{ NULL, NULL, false, "make", NULL },
		{ "a b", NULL, false, NULL, NULL },
		{ "", "user", true, NULL, NULL },
		{ NULL, "user", false, "make", "--shell is for -c" },
		{ NULL, NULL, true, "make", "--shell-login is for -c" },
		{ "a b", NULL, false, "c", "'c' would be lost" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		const struct run_options ro = { .command = t[i].command,
		    .shell = t[i].shell, .shell_login = t[i].is_login };
		char *argv[] = { (char *)t[i].word, NULL };
		struct err e = { 0 };
		int rc = shell_check(&ro, argv, &e);

		if (rc != (t[i].error != NULL ? -1 : 0) || (rc != 0 &&
		    (e.code != ERR_USAGE || strstr(e.msg, t[i].error) == NULL)))
			fail_msg("row %zu: %d %s", i, rc, e.msg);
	}
}

static void
test_words(void **state)
{
	static const struct {
		const char	*shell, *var;
		bool		 is_login;
		const char	*want;		/* or a part of the error */
	} t[] = {
		{ NULL, NULL, false, "bash -c LINE" },
		{ NULL, "SHELL=/bin/zsh", true, "bash -lc LINE" },
		{ "default", "SHELL=/bin/zsh", false, "bash -c LINE" },
		{ "user", "SHELL=/bin/zsh", false, "/bin/zsh -c LINE" },
		{ "user", "SHELL=/opt/x/fish", true, "/opt/x/fish -lc LINE" },
		{ "user", "A=b", false, "SHELL is not set" },
		{ "user", "SHELL=", false, "SHELL is not set" },
		{ "user", "SHELL=zsh", false, "no absolute path" },
		{ "user", "SHELL=/usr/bin/python3", false, "no shell known" },
		{ "user", "SHELL=/bin/", false, "no shell known" },
	};
	struct arena *a = arena_new();

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		const struct run_options ro = { .command = "LINE",
		    .shell = t[i].shell, .shell_login = t[i].is_login };
		char *env[] = { (char *)t[i].var, NULL }, **v = NULL;
		struct err e = { 0 };
		char text[256];

		if (shell_words(a, &ro, env, &v, &e) == 0) {
			snprintf(text, sizeof text, "%s %s %s", v[0], v[1],
			    v[2]);
			assert_null(v[3]);
			assert_string_equal(text, t[i].want);
		} else if (strstr(e.msg, t[i].want) == NULL) {
			fail_msg("row %zu: %s", i, e.msg);
		}
	}
	arena_free(a);
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_check),
		cmocka_unit_test(test_words),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
