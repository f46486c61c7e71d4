/* fence import: other tools' settings as a policy. */
#include "launcher/cli/cmd.h"

#include <stdio.h>
#include <string.h>

#include "launcher/cli/config.h"
#include "launcher/exit.h"
#include "launcher/hooks/import.h"
#include "launcher/plan/env.h"
#include "launcher/plan/request.h"
#include "policy/resolve.h"

extern char **environ;

enum { NSOURCES = 3 };

struct import_options {
	struct run_options	run;
	bool			source[NSOURCES];
	const char		*file;
	const char		*output;
	const char		*extend;
	bool			save, force, no_extend;
};

#define AT(field)	offsetof(struct import_options, field)

const struct opt import_opts[] = {
	{ 0, "claude", NULL, OPT_FLAG, AT(source[IMPORT_CLAUDE]),
	    "Claude Code's settings; ~/.claude/settings.json unless told" },
	{ 0, "srt", NULL, OPT_FLAG, AT(source[IMPORT_SRT]),
	    "sandbox-runtime's; ~/.srt-settings.json unless told" },
	{ 0, "codex", NULL, OPT_FLAG, AT(source[IMPORT_CODEX]),
	    "Codex's; ~/.codex/config.toml unless told" },
	{ 'f', "file", "FILE", OPT_TEXT, AT(file),
	    "the file to read, as a word does" },
	{ 'o', "output", "FILE|-", OPT_WORD, AT(output),
	    "write there; - or nothing: print it" },
	{ 0, "save", NULL, OPT_FLAG, AT(save),
	    "write it as the user's own policy" },
	{ 'y', "force", NULL, OPT_FLAG, AT(force),
	    "replace a file without asking" },
	{ 0, "extend", "NAME", OPT_TEXT, AT(extend),
	    "build on this policy; code for --claude unless told" },
	{ 0, "no-extend", NULL, OPT_FLAG, AT(no_extend),
	    "build on nothing" },
	{ .name = NULL },
};

static int
check_options(const struct import_options *o, int nwords, struct err *e)
{
	unsigned n = 0;

	for (unsigned i = 0; i < NSOURCES; i++)
		n += o->source[i];
	if (n != 1)
		return err_usage(e, n == 0 ? "no import source specified" :
		    "more than one import source",
		    "--claude, --srt or --codex");
	if (nwords > 1 || (nwords == 1 && o->file != NULL))
		return err_usage(e, "one file is imported at a time",
		    "'extends' joins policies");
	if (o->extend != NULL && o->no_extend)
		return err_usage(e, "--extend and --no-extend exclude each other",
		    "say one of them");
	if (o->save && o->output != NULL)
		return err_usage(e, "--save and --output exclude each other",
		    "--save writes the user's own policy");
	return 0;
}

/* Where the file is; absolute, so that comments say it. */
static int
find_file(const struct import_options *o, const char *word,
    struct arena *a, const struct resolve_request *req,
    struct import_request *rq, struct err *e)
{
	const char *file = word != NULL ? word : o->file;
	const char *codex = env_get(environ, "CODEX_HOME");

	while (!o->source[rq->source])
		rq->source++;
	if (file == NULL && rq->source == IMPORT_CODEX && codex != NULL)
		file = arena_printf(a, "%s/config.toml", codex);
	if (file == NULL)
		file = arena_printf(a, "%s/%s", req->home,
		    import_default_file(rq->source));
	rq->file = request_path(a, req->cwd, file);
	rq->home = req->home;
	if (rq->file == NULL)
		return err_set(e, ERR_USAGE, "the path is too long");
	rq->extends = o->extend;
	if (o->extend == NULL && !o->no_extend &&
	    rq->source == IMPORT_CLAUDE)
		rq->extends = "code";
	return 0;
}

static void
tell(const struct import *m, bool is_printed)
{
	if (m->rq.extends != NULL && is_printed)
		fprintf(stderr, "# Extends \"%s\"; --no-extend builds on "
		    "nothing\n", m->rq.extends);
	if (is_printed)
		fprintf(stderr, "# Imported %zu rules from %s\n", m->nrules,
		    m->rq.file);
	for (size_t i = 0; i < m->notes.n; i++)
		fprintf(stderr, "%s%s\n", i == 0 ? "# Not carried over:\n#   "
		    : "#   ", m->notes.v[i]);
	if (is_printed)
		fprintf(stderr, "# Use --save to make it the user's own "
		    "policy, -o FILE to write it elsewhere\n");
}

static int
deliver(const struct import_options *o, struct arena *a,
    const struct resolve_request *req, const struct import *m,
    struct err *e)
{
	const char *path = o->output;
	struct buf b;
	int status = 0;

	if (path != NULL && strcmp(path, "-") == 0)
		path = NULL;
	if (o->save && config_user_path(a, req, &path, e) != 0)
		return (int)e->code;
	tell(m, path == NULL);
	buf_init(&b, 0);
	import_put(m, &b);
	if (path == NULL) {
		fwrite(b.data, 1, b.len, stdout);
	} else if ((status = config_write(path, &b, o->force, e)) == 0) {
		printf("Imported %zu rules from %s\nWritten to \"%s\"\n",
		    m->nrules, m->rq.file, path);
	}
	buf_release(&b);
	return status;
}

static int
import(const struct import_options *o, const char *word, struct arena *a,
    struct err *e)
{
	struct import_request rq = { .source = IMPORT_CLAUDE };
	struct resolve_request req;
	struct import m = { .nrules = 0 };
	struct buf text;
	bool is_file;
	int status;

	if (request_make(a, &o->run, environ, &req, e) != 0 ||
	    find_file(o, word, a, &req, &rq, e) != 0)
		return (int)e->code;
	buf_init(&text, POLICY_MAX_BYTES);
	if (policy_read(rq.file, true, &text, &is_file, e) != 0) {
		buf_release(&text);
		return (int)e->code;
	}
	rq.text = text.data;
	rq.len = text.len;
	status = import_read(a, &rq, &m, e) == 0 ?
	    deliver(o, a, &req, &m, e) : (int)e->code;
	import_release(&m);
	buf_release(&text);
	return status;
}

int
cmd_import(const char *program, int argc, char **argv, struct err *e)
{
	struct import_options o = { .file = NULL };
	struct arena *arena = arena_new();
	int nwords = 0, status = EXIT_USAGE;

	(void)program;
	if (opt_parse_words(import_opts, argc, argv, &o, &nwords, e) == 0 &&
	    check_options(&o, nwords, e) == 0)
		status = import(&o, nwords == 1 ? argv[1] : NULL, arena, e);
	arena_free(arena);
	return status;
}
