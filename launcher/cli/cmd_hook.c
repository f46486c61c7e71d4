/*
 * fence hook: what a coding agent calls before it uses a tool.  fence-hooks(1)
 * has the agents; launcher/hooks/ does the work.
 */
#include "launcher/cli/cmd.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/exit.h"
#include "launcher/hooks/hook.h"
#include "platform/base/io.h"

extern char **environ;

#define AT(field)	offsetof(struct hook_options, field)

const struct opt hook_opts[] = {
	{ 's', "settings", "FILE", OPT_TEXT, AT(run.settings),
	    "judge by the policy FILE, whatever lies where the tool works" },
	{ 't', "template", "NAME", OPT_TEXT, AT(run.template_name),
	    "judge by the built-in policy NAME" },
	{ 0, "wrap", NULL, OPT_FLAG, AT(wrap),
	    "put commands of Codex into the jail, too" },
	{ 0, "no-wrap", NULL, OPT_FLAG, AT(no_wrap),
	    "decide only: put no command into a jail" },
	{ .name = NULL },
};

/* Written whole or not at all: half an object would be none. */
static int
print_answer(const struct answer_out *o)
{
	(void)io_write_all(STDERR_FILENO, o->err.data, o->err.len);
	return io_write_all(STDOUT_FILENO, o->out.data, o->out.len) == 0 ?
	    o->status : EXIT_USAGE;
}

static int
read_input(struct buf *b, struct err *e)
{
	if (buf_read(b, STDIN_FILENO) == 0)
		return 0;
	if (errno == EFBIG)
		return err_set(e, ERR_USAGE, "the agent's input is longer "
		    "than %d bytes", HOOK_INPUT_MAX);
	err_set(e, ERR_USAGE, "cannot read the agent's input");
	e->sys = errno;
	return -1;
}

static int
act(const struct agent *agent, const struct hook_options *o, struct err *e)
{
	struct arena *arena = arena_new();
	struct answer_out out;
	struct buf text;
	int status = EXIT_USAGE;

	buf_init(&text, HOOK_INPUT_MAX);
	if (read_input(&text, e) == 0) {
		hook_answer(arena, agent, o, text.data, text.len, environ,
		    &out);
		status = print_answer(&out);
		answer_release(&out);
	}
	buf_release(&text);
	arena_free(arena);
	return status;
}

static int
unknown(const char *name, struct err *e)
{
	err_set(e, ERR_USAGE, "no agent is named '%.60s'", name);
	err_hint(e, "fence help names them");
	return EXIT_USAGE;
}

int
cmd_hook(const char *program, int argc, char **argv, struct err *e)
{
	struct hook_options o = { 0 };
	const struct agent *agent;
	int nwords = 0;

	(void)program;
	if (opt_parse_words(hook_opts, argc, argv, &o, &nwords, e) != 0)
		return EXIT_USAGE;
	if (nwords != 1) {
		err_set(e, ERR_USAGE, "'fence hook' wants an agent");
		err_hint(e, "fence help names them");
		return EXIT_USAGE;
	}
	agent = agent_find(argv[1]);
	return agent == NULL ? unknown(argv[1], e) : act(agent, &o, e);
}

/* The Go program's option stands where the sub-command does. */
int
cmd_hook_flag(const char *program, int argc, char **argv, struct err *e)
{
	struct hook_options o = { 0 };
	int nwords = 0;

	(void)program;
	if (opt_parse_words(hook_opts, argc, argv, &o, &nwords, e) != 0)
		return EXIT_USAGE;
	if (nwords > 0) {
		err_set(e, ERR_USAGE, "'%s' takes no word", argv[0]);
		return EXIT_USAGE;
	}
	return act(agent_by_flag(argv[0]), &o, e);
}
