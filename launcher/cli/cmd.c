#include "launcher/cli/cmd.h"

#include <stdio.h>
#include <string.h>

#include "launcher/exit.h"
#include "platform/base/str.h"

const struct command cmd_table[] = {
	{ .name = "run", .fn = cmd_run,
	    .args = "[options] [--] command [argument ...]",
	    .help = "run a command in the jail, as fence-run does",
	    .opts = run_opts },
	{ .name = "config", .fn = cmd_config, .subs = config_table,
	    .args = "SUBCOMMAND",
	    .help = "show, check, make and trust policies" },
	{ .name = "template", .fn = cmd_template, .subs = template_table,
	    .args = "SUBCOMMAND", .help = "the built-in policies" },
	{ .name = "why", .fn = cmd_why, .opts = why_opts,
	    .args = "connect HOST[:PORT] | read|write|exec PATH",
	    .help = "say what the policy answers, and which line of it",
	    .words = "connect read write exec" },
	{ .name = "doctor", .fn = cmd_doctor, .opts = doctor_opts,
	    .help = "try what this machine can enforce, and what holds",
	    .words = "" },
	{ .name = "completion", .fn = cmd_completion,
	    .args = "bash|zsh|fish",
	    .help = "print a completion script for a shell",
	    .words = "bash zsh fish" },
	{ .name = "help", .fn = cmd_help, .help = "print this text" },
	{ .name = "hook", .fn = cmd_hook, .args = "AGENT", .opts = hook_opts,
	    .help = "answer an agent about the tool call on standard input",
	    .words = "@agents" },
	{ .name = "hooks", .fn = cmd_hooks, .subs = hooks_table,
	    .args = "SUBCOMMAND", .help = "fence's hook in agents' files" },
	{ .name = "import", .fn = cmd_import, .opts = import_opts,
	    .args = "--claude|--srt|--codex [FILE] [options]",
	    .help = "make a policy of another tool's settings" },
	{ .name = "shadow", .fn = cmd_shadow, .subs = shadow_table,
	    .args = "SUBCOMMAND",
	    .help = "what jailed agents changed of their own settings" },
	{ .name = "trace", .fn = cmd_trace, .args = "[last|RUN|FILE] [options]",
	    .opts = trace_opts, .help = "show what was refused to a run" },
	{ .name = "allow", .fn = cmd_allow,
	    .args = "HOST|PATH ... | --from RUN [options]",
	    .opts = allow_opts,
	    .help = "add to the policy, after showing what changes" },
	{ .name = "learn" }, { .name = "session" },
	{ .name = NULL },
};

const struct command *
cmd_find(const struct command *table, const char *name)
{
	for (const struct command *c = table; c->name != NULL; c++)
		if (strcmp(c->name, name) == 0)
			return c;
	return NULL;
}

static int
unknown(const char *what, const struct command *subs, const char *name,
    struct err *e)
{
	const char *best = subs[0].name;
	unsigned least = ~0u;

	if (name == NULL)
		err_set(e, ERR_USAGE, "'fence %s' wants a sub-command", what);
	else
		err_set(e, ERR_USAGE, "'fence %s' has no sub-command '%.60s'",
		    what, name);
	for (const struct command *c = subs; c->name != NULL; c++) {
		unsigned d = name == NULL || strlen(name) > 63 ? 99 :
		    str_distance(name, c->name);

		if (d < least) {
			least = d;
			best = c->name;
		}
	}
	if (least < 4)
		err_hint(e, "did you mean 'fence %s %s'?", what, best);
	else
		err_hint(e, "fence help lists them");
	return EXIT_USAGE;
}

int
cmd_sub(const char *program, const struct command *subs, int argc,
    char **argv, struct err *e)
{
	const struct command *c = argc > 1 ? cmd_find(subs, argv[1]) : NULL;

	if (c == NULL)
		return unknown(argv[0], subs, argc > 1 ? argv[1] : NULL, e);
	return c->fn(program, argc - 1, argv + 1, e);
}

static void
print_command(const char *prefix, const struct command *c)
{
	printf("\nfence %s%s%s%s%s\n    %s\n", prefix,
	    prefix[0] != '\0' ? " " : "", c->name,
	    c->args != NULL ? " " : "", c->args != NULL ? c->args : "",
	    c->help);
	if (c->opts != NULL && c->opts != run_opts)
		opt_rows(c->opts, stdout);
}

int
cmd_help(const char *program, int argc, char **argv, struct err *e)
{
	(void)program;
	(void)argc;
	(void)argv;
	(void)e;
	opt_usage("fence", stdout);
	printf("\nor a sub-command:\n");
	for (const struct command *c = cmd_table; c->name != NULL; c++) {
		if (c->fn == NULL)
			continue;
		if (c->subs == NULL)
			print_command("", c);
		for (const struct command *s = c->subs; s != NULL &&
		    s->name != NULL; s++)
			print_command(c->name, s);
	}
	return 0;
}
