/* fence config: policies shown, checked, compared, trusted. */
#include "launcher/cli/cmd.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/cli/config.h"
#include "launcher/exit.h"
#include "launcher/log.h"
#include "launcher/plan/request.h"
#include "platform/base/str.h"
#include "platform/base/xalloc.h"
#include "policy/diff.h"
#include "policy/emit.h"
#include "policy/find.h"
#include "policy/hides.h"
#include "policy/resolve.h"
#include "policy/trust.h"

extern char **environ;

static cmd_fn config_show, config_check, config_schema, config_trust,
    config_untrust, config_diff;

struct config_options {
	struct run_options	run;
	bool			origins;
	const char		*format;
};

static const struct opt show_opts[] = {
	OPT_POLICY_ROWS(struct config_options, run.),
	{ 0, "origins", NULL, OPT_FLAG,
	    offsetof(struct config_options, origins),
	    "say where each value is written" },
	{ 0, "format", "json|ini", OPT_TEXT,
	    offsetof(struct config_options, format),
	    "print in this notation; json unless told" },
	{ .name = NULL },
};

static const struct opt check_opts[] = {
	{ 0, "ignore-unknown-keys", NULL, OPT_FLAG,
	    offsetof(struct config_options, run.ignore_unknown_keys),
	    "warn of unknown keys instead of refusing" },
	{ .name = NULL },
};

static const struct opt no_opts[] = { { .name = NULL } };

const struct command config_table[] = {
	{ .name = "show", .fn = config_show, .opts = show_opts,
	    .args = "[options]",
	    .help = "print the policy in force, and the files it is from" },
	{ .name = "check", .fn = config_check, .opts = check_opts,
	    .args = "FILE ...", .help = "tell all that is wrong with files" },
	{ .name = "init", .fn = config_init, .opts = config_init_opts,
	    .args = "[options]", .help = "write a policy to begin with" },
	{ .name = "schema", .fn = config_schema, .opts = no_opts,
	    .help = "print the JSON Schema of policies" },
	{ .name = "trust", .fn = config_trust, .opts = no_opts,
	    .args = "[FILE]",
	    .help = "let a project file, as it is now, say what holds" },
	{ .name = "untrust", .fn = config_untrust, .opts = no_opts,
	    .args = "[FILE]", .help = "take that back" },
	{ .name = "diff", .fn = config_diff, .opts = no_opts,
	    .args = "A B",
	    .help = "say what B lets through that A does not "
	    "(files or templates)" },
	{ .name = NULL },
};

static int
bad_words(const char *name, const char *wants, struct err *e)
{
	err_set(e, ERR_USAGE, "'fence config %s' wants %s", name, wants);
	err_hint(e, "fence help shows the form");
	return EXIT_USAGE;
}

/* ---- show ---- */

static void
print_chain(const struct resolved *r)
{
	struct buf b;

	buf_init(&b, 0);
	buf_puts(&b, "Active config chain:\n");
	for (size_t i = 0; i < r->nchain; i++) {
		unsigned depth = r->chain[i].depth;
		const char *label = r->chain[i].label;

		if (depth > 0)
			buf_printf(&b, "%*s\xe2\x94\x94\xe2\x94\x80\xe2\x94"
			    "\x80 ", (int)(4 * (depth - 1)), "");
		str_escape(&b, label, strlen(label), 0);
		buf_putc(&b, '\n');
	}
	fprintf(stderr, "%s\n", b.data);
	buf_release(&b);
}

/* Each layer is a document of its own, under a line that says so. */
static void
print_layers(const struct resolved *r, const struct config_options *o,
    bool is_ini)
{
	unsigned flags = o->origins ? EMIT_ORIGINS : 0;
	struct buf b;

	buf_init(&b, 0);
	for (const struct policy *p = r->policy; p != NULL; p = p->also) {
		if (p != r->policy) {
			buf_printf(&b, "%s layer, must agree: ",
			    is_ini ? "\n;" : "//");
			str_escape(&b, p->name, strlen(p->name), 0);
			buf_putc(&b, '\n');
		}
		(is_ini ? emit_ini : emit_json)(p, flags, &b);
	}
	fwrite(b.data, 1, b.len, stdout);
	buf_release(&b);
}

static int
show(const struct config_options *o, struct arena *arena, struct err *e)
{
	bool is_ini = o->format != NULL && strcmp(o->format, "ini") == 0;
	struct resolve_request req;
	struct resolved res;

	if (request_make(arena, &o->run, environ, &req, e) != 0 ||
	    policy_resolve(&req, &res, e) != 0)
		return (int)e->code;
	for (size_t i = 0; i < res.nnotices; i++)
		log_say("%s", res.notices[i]);
	print_chain(&res);
	print_layers(&res, o, is_ini);
	resolved_release(&res);
	return 0;
}

static int
config_show(const char *program, int argc, char **argv, struct err *e)
{
	struct config_options o = { 0 };
	struct arena *arena = arena_new();
	int nwords = 0, status = EXIT_USAGE;

	(void)program;
	if (opt_parse_words(show_opts, argc, argv, &o, &nwords, e) == 0)
		status = nwords > 0 ? bad_words("show", "no word", e) :
		    show(&o, arena, e);
	opt_release(&o.run);
	arena_free(arena);
	return status;
}

/* ---- check ---- */

static void
put_part(struct buf *b, const char *part, const char *after)
{
	str_escape(b, part, strlen(part), 0);
	buf_puts(b, after);
}

/* As compilers write, so that editors can jump there. */
static void
print_error(const struct err *e)
{
	struct buf b;

	buf_init(&b, 0);
	if (e->where[0] != '\0')
		put_part(&b, e->where, ": ");
	if (e->key[0] != '\0')
		put_part(&b, e->key, ": ");
	put_part(&b, e->msg, "");
	if (e->sys != 0)
		buf_printf(&b, ": %s", strerror(e->sys));
	buf_putc(&b, '\n');
	if (e->hint[0] != '\0') {
		buf_puts(&b, "hint: ");
		put_part(&b, e->hint, "\n");
	}
	fputs(b.data, stderr);
	buf_release(&b);
}

static void
warn_hides(const struct resolve_request *req, const struct resolved *res)
{
	struct arena *arena = arena_new();
	const char *text = hides_less(arena, req, res);

	if (text != NULL)
		fprintf(stderr, "warning: %s\n", text);
	arena_free(arena);
}

/* The text alone first, all of it; then with what it extends. */
static size_t
check_file(const struct resolve_request *base, const char *path)
{
	struct errlist *errs = xcalloc(1, sizeof *errs);
	struct policy_env env = { .workspace = base->cwd, .home = base->home,
	    .other_home = base->other_home, .environ = base->environ,
	    .ignore_unknown = base->ignore_unknown };
	struct resolve_request req = *base;
	struct policy *p = NULL;
	struct resolved res;
	size_t n;

	if (policy_load_file_all(path, &env, &p, errs) == 0) {
		policy_free(p);
		req.settings = path;
		if (policy_resolve(&req, &res, &errs->v[0]) == 0) {
			for (size_t i = 0; i < res.nnotices; i++)
				fprintf(stderr, "warning: %s\n",
				    res.notices[i]);
			warn_hides(&req, &res);
			resolved_release(&res);
		} else {
			errs->n = 1;
		}
	}
	for (size_t i = 0; i < errs->n; i++)
		print_error(&errs->v[i]);
	if (errs->unlisted > 0)
		fprintf(stderr, "%s: and %zu more\n", path, errs->unlisted);
	n = errs->n;
	free(errs);
	return n;
}

static int
config_check(const char *program, int argc, char **argv, struct err *e)
{
	struct config_options o = { 0 };
	struct arena *arena = arena_new();
	struct resolve_request req;
	int nwords = 0, status = EXIT_USAGE;
	size_t bad = 0;

	(void)program;
	if (opt_parse_words(check_opts, argc, argv, &o, &nwords, e) != 0) {
		;
	} else if (nwords == 0) {
		bad_words("check", "at least one file", e);
	} else if (request_make(arena, &o.run, environ, &req, e) != 0) {
		status = (int)e->code;
	} else {
		for (int i = 1; i <= nwords; i++)
			bad += check_file(&req, argv[i]);
		status = bad > 0 ? EXIT_POLICY : 0;
	}
	arena_free(arena);
	return status;
}

/* ---- schema ---- */

static int
config_schema(const char *program, int argc, char **argv, struct err *e)
{
	int nwords = 0;
	struct buf b;

	(void)program;
	if (opt_parse_words(no_opts, argc, argv, NULL, &nwords, e) != 0)
		return (int)e->code;
	if (nwords > 0)
		return bad_words("schema", "no word", e);
	buf_init(&b, 0);
	emit_schema(&b);
	fwrite(b.data, 1, b.len, stdout);
	buf_release(&b);
	return 0;
}

/* ---- trust ---- */

static int
find_subject(const struct resolve_request *req, struct arena *a,
    const char *word, const char **ret, struct err *e)
{
	struct found found = { .path = { word }, .n = 1 };

	if (word == NULL && find_project(a, req->cwd, &found, e) != 0)
		return -1;
	*ret = found.path[0];
	if (found.n == 1)
		return 0;
	if (found.n > 1) {
		err_set(e, ERR_POLICY, "two project files in one folder, this "
		    "one and '%.180s'", found.path[1]);
		err_where(e, found.path[0], 0, 0);
		err_hint(e, "read both, then name the one that is meant");
		return -1;
	}
	err_set(e, ERR_POLICY, "no project file is here or above");
	err_hint(e, "a project file is named fence.jsonc, fence.json or "
	    "fence.ini");
	return -1;
}

static void
say_of(const char *what, const char *path)
{
	struct buf b;

	buf_init(&b, 0);
	buf_puts(&b, what);
	str_escape(&b, path, strlen(path), 0);
	puts(b.data);
	buf_release(&b);
}

static int
trust_subject(const struct resolve_request *req, struct arena *a,
    const char *word, struct err *e)
{
	const char *path, *name, *store = trust_store(a, req->home, environ);
	struct resolve_request asked = *req;
	char hex[SHA256_HEX];
	struct resolved res;

	if (find_subject(req, a, word, &path, e) != 0 ||
	    policy_digest(req, path, a, &name, hex, e) != 0 ||
	    trust_add(store, name, hex, e) != 0)
		return -1;
	say_of("trusted ", name);
	asked.settings = name;
	if (policy_resolve(&asked, &res, NULL) == 0) {
		warn_hides(&asked, &res);
		resolved_release(&res);
	}
	return 0;
}

static int
untrust_subject(const struct resolve_request *req, struct arena *a,
    const char *word, struct err *e)
{
	const char *path, *store = trust_store(a, req->home, environ);
	bool was = false;

	if (find_subject(req, a, word, &path, e) != 0)
		return -1;
	path = policy_trusted_name(a, req->cwd, path);
	if (trust_remove(store, path, &was, e) != 0)
		return -1;
	say_of(was ? "no longer trusted " : "was not trusted ", path);
	return 0;
}

static int
with_subject(const char *name, int argc, char **argv,
    int (*fn)(const struct resolve_request *, struct arena *, const char *,
    struct err *), struct err *e)
{
	struct run_options ro = { 0 };
	struct arena *arena = arena_new();
	struct resolve_request req;
	int nwords = 0, status = 0;

	if (opt_parse_words(no_opts, argc, argv, &ro, &nwords, e) != 0)
		status = EXIT_USAGE;
	else if (nwords > 1)
		status = bad_words(name, "one file at most", e);
	else if (request_make(arena, &ro, environ, &req, e) != 0 ||
	    fn(&req, arena, nwords == 1 ? argv[1] : NULL, e) != 0)
		status = (int)e->code;
	arena_free(arena);
	return status;
}

static int
config_trust(const char *program, int argc, char **argv, struct err *e)
{
	(void)program;
	return with_subject("trust", argc, argv, trust_subject, e);
}

static int
config_untrust(const char *program, int argc, char **argv, struct err *e)
{
	(void)program;
	return with_subject("untrust", argc, argv, untrust_subject, e);
}

/* ---- diff ---- */

static bool
is_template(const char *word)
{
	const char *name;

	for (size_t i = 0; (name = policy_builtin_name(i, NULL)) != NULL; i++)
		if (strcmp(name, word) == 0)
			return true;
	return false;
}

static int
resolve_word(const struct resolve_request *base, const char *word,
    struct resolved *ret, struct err *e)
{
	struct resolve_request req = *base;

	if (is_template(word))
		req.template_name = word;
	else
		req.settings = word;
	return policy_resolve(&req, ret, e);
}

/* Exit 1: b lets through what a does not. */
static int
diff(char **words, struct arena *arena, struct err *e)
{
	struct run_options ro = { 0 };
	struct resolve_request req;
	struct resolved a, b;
	struct buf out;
	size_t n;

	if (request_make(arena, &ro, environ, &req, e) != 0 ||
	    resolve_word(&req, words[0], &a, e) != 0)
		return EXIT_USAGE;
	if (resolve_word(&req, words[1], &b, e) != 0) {
		resolved_release(&a);
		return EXIT_USAGE;
	}
	buf_init(&out, 0);
	n = diff_policies(a.policy, b.policy, &out);
	fwrite(out.data, 1, out.len, stdout);
	buf_release(&out);
	resolved_release(&a);
	resolved_release(&b);
	return n > 0;
}

static int
config_diff(const char *program, int argc, char **argv, struct err *e)
{
	struct arena *arena = arena_new();
	int nwords = 0, status = EXIT_USAGE;

	(void)program;
	if (opt_parse_words(no_opts, argc, argv, NULL, &nwords, e) == 0)
		status = nwords != 2 ? bad_words("diff", "two policies", e) :
		    diff(argv + 1, arena, e);
	arena_free(arena);
	return status;
}

int
cmd_config(const char *program, int argc, char **argv, struct err *e)
{
	return cmd_sub(program, config_table, argc, argv, e);
}
