/* fence hooks: fence's hook in the files of coding agents. */
#include "launcher/cli/cmd.h"

#include <assert.h>
#include <stdio.h>
#include <string.h>

#include "launcher/exit.h"
#include "launcher/hooks/install.h"
#include "launcher/plan/request.h"
#include "platform/base/str.h"
#include "policy/resolve.h"

extern char **environ;

enum { NAGENTS = 10 };

struct hooks_options {
	bool			 agent[NAGENTS];	/* as in agents[] */
	struct hook_options	 hook;
	const char		*file;
	bool			 force;
};

#define AT(field)	offsetof(struct hooks_options, field)
#define AGENT_ROW(i, name, title)					\
	{ 0, name, NULL, OPT_FLAG, AT(agent[i]), title }
#define AGENT_ROWS							\
	AGENT_ROW(0, "claude", "Claude Code"),				\
	AGENT_ROW(1, "codex", "Codex"),					\
	AGENT_ROW(2, "gemini", "Gemini CLI"),				\
	AGENT_ROW(3, "opencode", "OpenCode"),				\
	AGENT_ROW(4, "copilot", "Copilot CLI"),				\
	AGENT_ROW(5, "cursor", "Cursor"),				\
	AGENT_ROW(6, "qwen", "Qwen Code"),				\
	AGENT_ROW(7, "crush", "Crush"),					\
	AGENT_ROW(8, "windsurf", "Windsurf"),				\
	AGENT_ROW(9, "hermes", "Hermes")
#define PIN_ROWS							\
	{ 's', "settings", "FILE", OPT_TEXT, AT(hook.run.settings),	\
	    "the hook judges by the policy FILE" },			\
	{ 't', "template", "NAME", OPT_TEXT, AT(hook.run.template_name), \
	    "the hook judges by the built-in policy NAME" },		\
	{ 0, "wrap", NULL, OPT_FLAG, AT(hook.wrap),			\
	    "with --codex: put commands into the jail, too" },		\
	{ 0, "no-wrap", NULL, OPT_FLAG, AT(hook.no_wrap),		\
	    "the hook decides only, and puts no command into a jail" }
#define FILE_ROWS							\
	{ 'f', "file", "FILE", OPT_TEXT, AT(file),			\
	    "the agent's file, if it is not the user's own" }

static const struct opt print_opts[] = {
	AGENT_ROWS, PIN_ROWS, { .name = NULL },
};

static const struct opt install_opts[] = {
	AGENT_ROWS, PIN_ROWS, FILE_ROWS,
	{ 'y', "force", NULL, OPT_FLAG, AT(force),
	    "taken for the Go program's sake: nothing is asked" },
	{ .name = NULL },
};

static const struct opt uninstall_opts[] = {
	AGENT_ROWS, FILE_ROWS,
	{ 'y', "force", NULL, OPT_FLAG, AT(force),
	    "taken for the Go program's sake: nothing is asked" },
	{ .name = NULL },
};

static const struct opt status_opts[] = {
	AGENT_ROWS, FILE_ROWS, { .name = NULL },
};

static const struct opt guide_opts[] = { { .name = NULL } };

static cmd_fn hooks_print, hooks_install, hooks_uninstall, hooks_status,
    hooks_guide;

const struct command hooks_table[] = {
	{ .name = "print", .fn = hooks_print, .opts = print_opts,
	    .args = "--AGENT [options]", .words = "",
	    .help = "print what an agent's file has to hold" },
	{ .name = "install", .fn = hooks_install, .opts = install_opts,
	    .args = "--AGENT [options]", .words = "",
	    .help = "let an agent ask fence before it uses its shell" },
	{ .name = "uninstall", .fn = hooks_uninstall,
	    .opts = uninstall_opts, .args = "--AGENT [options]", .words = "",
	    .help = "bring the agent's file back as it was" },
	{ .name = "status", .fn = hooks_status, .opts = status_opts,
	    .args = "[--AGENT]", .words = "",
	    .help = "say where a hook is, and what keeps it from acting" },
	{ .name = "guide", .fn = hooks_guide, .opts = guide_opts, .words = "",
	    .help = "print what AGENTS.md should tell an agent in the jail" },
	{ .name = NULL },
};

/* For any agent: hooks-guide.t follows it. */
static const char guide[] =
"## Inside of fence\n"
"\n"
"If the environment variable `FENCE_SANDBOX` is set, you run in a jail that\n"
"fence made: a policy says which files, hosts and commands are open to you.\n"
"What it refuses fails like any other call: `Permission denied`,\n"
"`Read-only file system`, `Could not resolve host`, HTTP 403. Do not try the\n"
"same again and do not look for a way around. Ask why:\n"
"\n"
"    curl -sS http://fence.internal/\n"
"    curl -sS 'http://fence.internal/why?host=example.com&port=443'\n"
"\n"
"The first tells the last refusals with the rule that spoke and the line that\n"
"would allow it; the second whether a host is open to you, and why not. Both\n"
"answer in JSON to `-H 'Accept: application/json'`. You cannot change the\n"
"policy from here: tell the user what was refused, and that line.\n";

/* ---- the command line ---- */

/* --claude, or the word claude. */
static int
find_agent(const struct hooks_options *o, int nwords, char **words,
    const struct agent **ret, struct err *e)
{
	static const char which[] = "one of --claude, --codex, --gemini, "
	    "--opencode, --copilot, --cursor, --qwen, --crush, --windsurf, "
	    "--hermes";

	*ret = NULL;
	assert(agents[NAGENTS].name == NULL);
	for (size_t i = 0; i < NAGENTS; i++)
		assert(strcmp(status_opts[i].name, agents[i].name) == 0);
	for (size_t i = 0; i < NAGENTS; i++)
		if (o->agent[i] && *ret != NULL)
			return err_usage(e, "more than one agent is named", which);
		else if (o->agent[i])
			*ret = &agents[i];
	if (nwords > 1 || (nwords == 1 && *ret != NULL))
		return err_usage(e, "more than one agent is named", which);
	if (nwords == 1 && (*ret = agent_find(words[0])) == NULL)
		return err_set(e, ERR_USAGE, "no agent is named '%.60s'",
		    words[0]);
	return 0;
}

/* The policy that is pinned has to be one: a hook that cannot read its policy
 * refuses everything. */
static int
check_pinned(struct arena *a, struct hooks_options *o, struct err *e)
{
	struct run_options *ro = &o->hook.run;
	struct resolve_request req;
	struct resolved res;

	if (ro->settings == NULL && ro->template_name == NULL)
		return 0;
	if (ro->settings != NULL && ro->template_name != NULL)
		return err_set(e, ERR_USAGE, "--settings and --template "
		    "exclude each other");
	if (request_make(a, ro, environ, &req, e) != 0)
		return -1;
	if (ro->settings != NULL)
		ro->settings = req.settings = request_path(a, req.cwd,
		    ro->settings);
	if (req.settings == NULL && ro->template_name == NULL)
		return err_set(e, ERR_USAGE, "--settings: the path is too "
		    "long");
	if (policy_resolve(&req, &res, e) != 0)
		return -1;
	resolved_release(&res);
	return 0;
}

static int
begin(const struct opt *opts, int argc, char **argv, struct arena *a,
    struct install *ret, struct err *e)
{
	struct hooks_options o = { .file = NULL };
	const struct agent *agent;
	int nwords = 0;

	if (opt_parse_words(opts, argc, argv, &o, &nwords, e) != 0 ||
	    find_agent(&o, nwords, argv + 1, &agent, e) != 0 ||
	    check_pinned(a, &o, e) != 0)
		return -1;
	if (agent == NULL && opts != status_opts)
		return err_usage(e, "no hook target specified", "--claude, "
		    "--codex, --gemini, --opencode, --copilot, --cursor, "
		    "--qwen, --crush, --windsurf or --hermes");
	if (o.hook.wrap && strcmp(agent->name, "codex") != 0)
		return err_usage(e, "--wrap is for --codex alone", "the others "
		    "put commands into the jail unless --no-wrap is said");
	if (o.hook.wrap && o.hook.no_wrap)
		return err_set(e, ERR_USAGE, "--wrap and --no-wrap exclude "
		    "each other");
	*ret = (struct install){ .arena = a, .agent = agent, .opts = o.hook,
	    .file = o.file, .env = environ };
	return 0;
}

/* ---- the sub-commands ---- */

static int
hooks_print(const char *program, int argc, char **argv, struct err *e)
{
	struct arena *arena = arena_new();
	struct install in;
	struct buf b;
	int rc;

	(void)program;
	buf_init(&b, 0);
	rc = begin(print_opts, argc, argv, arena, &in, e);
	if (rc == 0)
		rc = install_print(&in, &b, e);
	if (rc == 0)
		fwrite(b.data, 1, b.len, stdout);
	buf_release(&b);
	arena_free(arena);
	return rc == 0 ? 0 : (int)e->code;
}

static void
say_done(const struct install *in, const char *verb, const char *link,
    const char *path)
{
	struct buf b;

	buf_init(&b, 0);
	buf_printf(&b, "%s%s%s %s %s \"", verb, verb[0] != '\0' ? " " : "",
	    in->agent->title, in->agent->noun, link);
	str_escape(&b, path, strlen(path), '"');
	buf_putc(&b, '"');
	puts(b.data);
	buf_release(&b);
}

static int
try_hook(const struct install *in, struct err *e)
{
	const char *what, *answer;

	if (install_try(in, &what, &answer, e) != 0)
		return -1;
	printf("Asked about '%s', it answers: %s\n", what, answer);
	fflush(stdout);
	if (in->agent->advice != NULL)
		fprintf(stderr, "fence: %s\n", in->agent->advice);
	return 0;
}

/* A change of an agent's file, and the words that report it. */
struct change {
	const struct opt	*opts;
	int			(*make)(const struct install *,
				    const char **ret_path,
				    enum install_done *, struct err *);
	const char		*nothing;	/* "already installed in" */
	const char		*done, *where;	/* "Installed", "in" */
	bool			 tries;		/* the hook, once */
};

static int
change_file(const struct change *c, int argc, char **argv, struct err *e)
{
	struct arena *arena = arena_new();
	enum install_done done;
	struct install in;
	const char *path;
	int rc;

	rc = begin(c->opts, argc, argv, arena, &in, e);
	if (rc == 0)
		rc = c->make(&in, &path, &done, e);
	if (rc == 0 && done == INSTALL_NOTHING) {
		say_done(&in, "", c->nothing, path);
	} else if (rc == 0) {
		say_done(&in, c->done, c->where, path);
		rc = c->tries ? try_hook(&in, e) : 0;
	}
	arena_free(arena);
	return rc == 0 ? 0 : (int)e->code;
}

static int
hooks_install(const char *program, int argc, char **argv, struct err *e)
{
	static const struct change c = { install_opts, install_put,
	    "already installed in", "Installed", "in", true };

	(void)program;
	return change_file(&c, argc, argv, e);
}

static int
hooks_uninstall(const char *program, int argc, char **argv, struct err *e)
{
	static const struct change c = { uninstall_opts, install_remove,
	    "not present in", "Removed", "from", false };

	(void)program;
	return change_file(&c, argc, argv, e);
}

static int
hooks_status(const char *program, int argc, char **argv, struct err *e)
{
	struct arena *arena = arena_new();
	bool acts = true, is_installed;
	struct install in;
	struct buf b;
	int status;

	(void)program;
	buf_init(&b, 0);
	status = begin(status_opts, argc, argv, arena, &in, e) == 0 ? 0 :
	    (int)e->code;
	if (status == 0 && in.agent != NULL) {
		acts = install_status(&in, &b, &is_installed);
	} else if (status == 0 && in.file != NULL) {
		status = EXIT_USAGE;
		err_set(e, ERR_USAGE, "-f wants an agent beside it");
	} else if (status == 0) {
		for (in.agent = agents; in.agent->name != NULL; in.agent++)
			acts &= install_status(&in, &b, &is_installed) ||
			    !is_installed;
	}
	fwrite(b.data, 1, b.len, stdout);
	buf_release(&b);
	arena_free(arena);
	return status == 0 && !acts ? EXIT_POLICY : status;
}

static int
hooks_guide(const char *program, int argc, char **argv, struct err *e)
{
	int nwords = 0;

	(void)program;
	if (opt_parse_words(guide_opts, argc, argv, NULL, &nwords, e) != 0)
		return (int)e->code;
	if (nwords > 0)
		return err_usage(e, "guide takes no word", "fence hooks guide "
		    ">>AGENTS.md"), EXIT_USAGE;
	fputs(guide, stdout);
	return 0;
}

int
cmd_hooks(const char *program, int argc, char **argv, struct err *e)
{
	return cmd_sub(program, hooks_table, argc, argv, e);
}
