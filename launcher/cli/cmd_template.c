/* fence template: the built-in policies. */
#include "launcher/cli/cmd.h"

#include <stdio.h>
#include <string.h>

#include "launcher/exit.h"
#include "platform/base/str.h"
#include "policy/policy.h"

static cmd_fn template_show;

static const struct opt no_opts[] = { { .name = NULL } };

const struct command template_table[] = {
	{ .name = "list", .fn = cmd_template_list, .opts = no_opts,
	    .help = "list the built-in policies" },
	{ .name = "show", .fn = template_show, .args = "NAME",
	    .opts = no_opts,
	    .help = "print the file of a built-in policy", .words = "@templates" },
	{ .name = NULL },
};

/* A template's first line is "// NAME: what it is for." */
static struct str
template_about(const char *name, const char *text)
{
	size_t n = strlen(name);

	if (strncmp(text, "// ", 3) == 0 && strncmp(text + 3, name, n) == 0 &&
	    strncmp(text + 3 + n, ": ", 2) == 0) {
		text += 3 + n + 2;
		return (struct str){ text, strcspn(text, "\n") };
	}
	return (struct str){ "", 0 };
}

int
cmd_template_list(const char *program, int argc, char **argv, struct err *e)
{
	const char *name, *text;
	int nwords = 0;

	(void)program;
	if (opt_parse_words(no_opts, argc, argv, NULL, &nwords, e) != 0)
		return (int)e->code;
	if (nwords > 0) {
		err_set(e, ERR_USAGE, "'%s' takes no word", argv[0]);
		return EXIT_USAGE;
	}
	printf("Available templates:\n\n");
	for (size_t i = 0; (name = policy_builtin_name(i, &text)) != NULL;
	    i++) {
		struct str about = template_about(name, text);

		printf("  %-20s %.*s\n", name, (int)about.len, about.p);
	}
	printf("\nfence-run -t NAME command runs under one; in a policy, "
	    "\"extends\": \"NAME\".\n");
	return 0;
}

static int
unknown(const char *name, struct err *e)
{
	const char *best = policy_builtin_near(name);

	err_set(e, ERR_USAGE, "no template is named '%.60s'", name);
	if (best != NULL)
		err_hint(e, "did you mean '%s'?", best);
	else
		err_hint(e, "fence template list lists them");
	return EXIT_USAGE;
}

static int
template_show(const char *program, int argc, char **argv, struct err *e)
{
	const char *name, *text;
	int nwords = 0;

	(void)program;
	if (opt_parse_words(no_opts, argc, argv, NULL, &nwords, e) != 0)
		return (int)e->code;
	if (nwords != 1) {
		err_set(e, ERR_USAGE, "'fence template show' wants one name");
		err_hint(e, "fence template list lists them");
		return EXIT_USAGE;
	}
	for (size_t i = 0; (name = policy_builtin_name(i, &text)) != NULL;
	    i++)
		if (strcmp(name, argv[1]) == 0) {
			fputs(text, stdout);
			return 0;
		}
	return unknown(argv[1], e);
}

int
cmd_template(const char *program, int argc, char **argv, struct err *e)
{
	return cmd_sub(program, template_table, argc, argv, e);
}
