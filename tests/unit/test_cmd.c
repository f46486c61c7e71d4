/* cmd: the table of sub-commands, and finding one in it. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "launcher/cli/cmd.h"
#include "launcher/exit.h"

static void
test_find(void **state)
{
	static const struct {
		const struct command	*table;
		const char		*name;
		bool			 is_there, is_built;
	} t[] = {
		{ cmd_table, "run", true, true },
		{ cmd_table, "doctor", true, true },
		{ cmd_table, "session", true, false },
		{ cmd_table, "ru", false, false },
		{ cmd_table, "", false, false },
		{ cmd_table, "Run", false, false },
		{ config_table, "show", true, true },
		{ config_table, "run", false, false },
		{ template_table, "list", true, true },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		const struct command *c = cmd_find(t[i].table, t[i].name);

		if ((c != NULL) != t[i].is_there ||
		    (c != NULL && (c->fn != NULL) != t[i].is_built))
			fail_msg("%s", t[i].name);
	}
}

/* A row that is built has words for the usage, and a name of its own. */
static void
check_table(const struct command *table)
{
	for (const struct command *c = table; c->name != NULL; c++) {
		assert_ptr_equal(cmd_find(table, c->name), c);
		if (c->fn == NULL)
			continue;
		if (c->help == NULL || c->help[0] == '\0')
			fail_msg("%s", c->name);
		if (c->subs != NULL)
			check_table(c->subs);
	}
}

static void
test_tables(void **state)
{
	(void)state;
	check_table(cmd_table);
}

static void
test_sub(void **state)
{
	static const struct { const char *word, *msg, *hint; } t[] = {
		{ NULL, "'fence config' wants a sub-command", "fence help" },
		{ "shwo", "'fence config' has no sub-command 'shwo'",
		  "did you mean 'fence config show'?" },
		{ "something-else", "has no sub-command", "fence help" },
	};

	(void)state;
	for (size_t i = 0; i < sizeof t / sizeof t[0]; i++) {
		char *argv[] = { (char *)"config", (char *)t[i].word, NULL };
		struct err e = { 0 };

		assert_int_equal(cmd_sub("fence", config_table,
		    t[i].word != NULL ? 2 : 1, argv, &e), EXIT_USAGE);
		assert_int_equal(e.code, ERR_USAGE);
		if (strstr(e.msg, t[i].msg) == NULL ||
		    strstr(e.hint, t[i].hint) == NULL)
			fail_msg("row %zu: %s (%s)", i, e.msg, e.hint);
	}
}

int
main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_find),
		cmocka_unit_test(test_tables),
		cmocka_unit_test(test_sub),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
