#include "policy/extends.h"

#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/buf.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/base/xalloc.h"
#include "policy/merge.h"
#include "policy/pattern.h"

/* A policy's text and where it is from. */
struct source {
	const char		*identity;	/* what a cycle repeats */
	const char		*shown;
	const char		*dir;		/* of its relative extends */
	enum policy_format	 format;
	enum origin_kind	 kind;
	bool			 is_outside;	/* of extends.tree */
	const char		*text;
	size_t			 len;
};

static int	 follow(struct extends *, const struct source *, unsigned depth,
		    struct policy **, struct err *);

void
extends_release(struct extends *x)
{
	vec_release(&x->steps);
	vec_release(&x->files);
	vec_release(&x->notices);
}

static void
add_step(struct extends *x, unsigned depth, const char *label)
{
	*vec_push(&x->steps) = (struct extends_step){ label, depth };
}

static void
add_text(struct sha256 *digest, const char *what, const char *text, size_t len)
{
	char head[64];

	snprintf(head, sizeof head, "%zu %zu\n", strlen(what), len);
	sha256_add(digest, head, strlen(head));
	sha256_add(digest, what, strlen(what));
	sha256_add(digest, text, len);
}

static void
digest_text(struct extends *x, const char *what, const char *text, size_t len)
{
	if (x->digest == NULL)
		return;
	add_text(x->digest, what, text, len);
	if (x->edit != NULL)
		add_text(x->edit->digest, what, text, len);
}

/* The first file, by the texts that it has and will have. */
static void
digest_edit(struct extends *x, const char *what)
{
	const struct buf *before = x->edit->before, *after = x->edit->after;

	add_text(x->digest, what, after->data, after->len);
	add_text(x->edit->digest, what, before->data, before->len);
}

/* ---- files ---- */

static bool
is_outside(const struct extends *x, const char *real)
{
	return x->tree != NULL && !str_path_below(real, x->tree);
}

static int
load_file(struct extends *x, const char *path, const char *as, unsigned depth,
    struct policy **ret, struct err *e)
{
	const char *real = path_real_or_same(x->arena, path);
	struct source s = {
		.identity = arena_printf(x->arena, "file:%s", real),
		.shown = path,
		.dir = strchr(path, '/') == NULL ? x->cwd :
		    path_dir(x->arena, path),
		.format = policy_format_of(path),
		.is_outside = is_outside(x, real),
	};
	bool is_file = false;
	struct buf b;
	int rc;

	if (depth == 0 && x->edit != NULL) {
		digest_edit(x, as);
		s.text = x->edit->after->data;
		s.len = x->edit->after->len;
		return follow(x, &s, depth, ret, e);
	}
	buf_init(&b, 0);
	rc = policy_read(path, depth == 0, &b, &is_file, e);
	if (rc == 0) {
		if (is_file)
			*vec_push(&x->files) = real;
		digest_text(x, as, b.data, b.len);
		s.text = b.data;
		s.len = b.len;
		rc = follow(x, &s, depth, ret, e);
	}
	buf_release(&b);
	return rc;
}

/* ---- templates ---- */

static bool
has_suffix(const char *s, const char *suffix)
{
	size_t n = strlen(s), m = strlen(suffix);

	return n > m && strcmp(s + n - m, suffix) == 0;
}

/* "code.json" is "code", as the Go program has it. */
static const char *
template_name(struct arena *a, const char *name)
{
	if (has_suffix(name, ".json"))
		return arena_strndup(a, name, strlen(name) - 5);
	if (has_suffix(name, ".jsonc"))
		return arena_strndup(a, name, strlen(name) - 6);
	return name;
}

static int
fail_template(const char *name, struct err *e)
{
	const char *best = policy_builtin_near(name);

	err_set(e, ERR_POLICY, "no template is named '%.60s'", name);
	if (best != NULL)
		err_hint(e, "did you mean \"%s\"?", best);
	else
		err_hint(e, "'fence template list' lists them; a file is "
		    "written with a slash: \"./%.60s\"", name);
	return -1;
}

static int
load_template(struct extends *x, const char *name, unsigned depth,
    struct policy **ret, struct err *e)
{
	const char *n, *text;

	for (size_t i = 0; (n = policy_builtin_name(i, &text)) != NULL; i++) {
		struct source s = { .dir = x->cwd, .format = POLICY_JSONC,
		    .kind = ORIGIN_BUILT_IN };

		if (strcmp(n, name) != 0)
			continue;
		s.identity = arena_printf(x->arena, "template:%s", n);
		s.shown = arena_printf(x->arena, "<built-in %s>", n);
		s.text = text;
		s.len = strlen(text);
		/* The name alone: a new version of fence is not a new file. */
		digest_text(x, s.identity, "", 0);
		return follow(x, &s, depth, ret, e);
	}
	return fail_template(name, e);
}

/* ---- the user's own ---- */

static int
load_user(struct extends *x, const char *prefix, unsigned depth,
    struct policy **ret, struct err *e)
{
	struct sha256 *digest = x->digest;
	const char *tree = x->tree;
	int rc;

	/* The user's own file is his word already. */
	digest_text(x, "@base", "", 0);
	x->digest = NULL;
	x->tree = NULL;
	if (x->user != NULL) {
		add_step(x, depth, arena_printf(x->arena,
		    "%suser config: %s", prefix, x->user));
		rc = load_file(x, x->user, "@base", depth, ret, e);
	} else {
		add_step(x, depth, arena_printf(x->arena, "%sbuiltin default "
		    "(no config loaded from %s)", prefix,
		    x->canonical != NULL ? x->canonical : "a home directory"));
		rc = load_template(x, "workspace-write", depth, ret, e);
	}
	x->digest = digest;
	x->tree = tree;
	return rc;
}

/* ---- following ---- */

/* Blanks and comments; the length where nothing else follows. */
static size_t
skip_blank(const char *text, size_t len)
{
	static const char bom[] = "\xef\xbb\xbf";
	size_t i = len >= 3 && memcmp(text, bom, 3) == 0 ? 3 : 0;
	const char *end;

	while (i < len) {
		if (strchr(" \t\r\n", text[i]) != NULL && text[i] != '\0') {
			i++;
			continue;
		}
		if (len - i < 2 || text[i] != '/')
			break;
		if (text[i + 1] == '/')
			end = memchr(text + i, '\n', len - i);
		else if (text[i + 1] == '*')
			end = memmem(text + i + 2, len - i - 2, "*/", 2);
		else
			break;
		if (end == NULL)
			return len;
		i = (size_t)(end - text) + (text[i + 1] == '/' ? 1 : 2);
	}
	return i;
}

/*
 * What is no policy at all may be a key or a password that somebody wants to
 * see on the terminal: nothing of it is quoted.
 */
static int
check_begin(const struct source *s, struct err *e)
{
	size_t at = skip_blank(s->text, s->len);
	int line = 1;

	if (s->format != POLICY_JSONC || at == s->len || s->text[at] == '{')
		return 0;
	for (size_t i = 0; i < at; i++)
		line += s->text[i] == '\n';
	err_set(e, ERR_POLICY, "the file is not a policy");
	err_hint(e, "a policy is an object: '{ ... }'");
	err_where(e, s->shown, line, 1);
	return -1;
}

/* On the heap: a list of errors is too large for every hop of a chain. */
static int
parse(struct extends *x, const struct source *s, struct policy **ret,
    struct err *e)
{
	struct policy_env env = x->env;
	struct errlist *list;
	int rc;

	if (check_begin(s, e) != 0)
		return -1;
	list = errlist_new();
	env.kind = s->kind;
	rc = policy_parse_all(s->text, s->len, s->shown, s->format, &env, ret,
	    list);
	if (rc != 0 && list->n > 0 && e != NULL)
		*e = list->v[0];
	else if (rc != 0)
		err_set(e, ERR_POLICY, "cannot read '%s'", s->shown);
	free(list);
	/* A warning quotes the text, which may be no policy at all. */
	for (size_t i = 0; rc == 0 && !(x->tree != NULL && s->is_outside) &&
	    i < (*ret)->nwarnings; i++)
		*vec_push(&x->notices) = arena_strdup(x->arena,
		    (*ret)->warnings[i]);
	return rc;
}

static bool
is_path(const char *text)
{
	return text[0] == '.' || text[0] == '~' || strpbrk(text, "/\\") != NULL;
}

static const char *
target_path(struct extends *x, const char *dir, const char *text)
{
	if (text[0] == '/')
		return text;
	if (text[0] == '~' && text[1] == '/' && x->env.home != NULL)
		return arena_printf(x->arena, "%s%s", x->env.home, text + 1);
	if (text[0] == '.' && text[1] == '/')
		text += 2;
	return arena_printf(x->arena, "%s/%s",
	    strcmp(dir, "/") == 0 ? "" : dir, text);
}

/* path may be missing: then it is where its text leads. */
static void
note_outside(struct extends *x, const struct entry *entry, const char *path)
{
	const char *clean = path_real(x->arena, path);

	if (clean == NULL)
		clean = pattern_clean_path(x->arena, x->cwd, path);
	if (x->tree == NULL || x->outside.file != NULL || (clean != NULL &&
	    !is_outside(x, clean)))
		return;
	x->outside = entry->at;
	x->outside.file = arena_strdup(x->arena, entry->at.file);
}

static int
load_target(struct extends *x, const struct source *from,
    const struct entry *entry, unsigned depth, struct policy **ret,
    struct err *e)
{
	const char *text = entry->text, *path, *name;

	if (strcmp(text, "@base") == 0)
		return load_user(x, "@base ", depth, ret, e);
	if (is_path(text)) {
		path = target_path(x, from->dir, text);
		note_outside(x, entry, path);
		add_step(x, depth, arena_printf(x->arena, "%s: %s",
		    x->user != NULL && strcmp(path_real_or_same(x->arena, path),
		    path_real_or_same(x->arena, x->user)) == 0 ? "user config" :
		    "file", path));
		return load_file(x, path, text, depth, ret, e);
	}
	name = template_name(x->arena, text);
	add_step(x, depth, arena_printf(x->arena, "builtin template: %s",
	    name));
	return load_template(x, name, depth, ret, e);
}

/* A failure that has no place of its own is of the line that led there. */
static int
place_failure(const struct entry *entry, struct err *e)
{
	if (e != NULL && (e->where[0] == '\0' || strchr(e->where, ':') ==
	    NULL)) {
		char what[sizeof e->msg];

		if (e->where[0] != '\0') {
			snprintf(what, sizeof what, "'%.100s': %.140s",
			    e->where, e->msg);
			memcpy(e->msg, what, sizeof what);
		}
		err_where(e, entry->at.file, entry->at.line, entry->at.col);
		err_key(e, "extends");
	}
	return -1;
}

/* All that p extends, merged left to right; NULL for nothing. */
static int
load_bases(struct extends *x, const struct source *s, const struct policy *p,
    unsigned depth, struct policy **ret, struct err *e)
{
	struct policy *base = NULL, *next, *merged;

	for (size_t i = 0; i < p->extends.n; i++) {
		const struct entry *entry = &p->extends.v[i];

		next = NULL;
		if (load_target(x, s, entry, depth + 1, &next, e) != 0) {
			policy_free(base);
			return place_failure(entry, e);
		}
		if (base != NULL) {
			merged = policy_merge(base, next);
			policy_free(base);
			policy_free(next);
			next = merged;
		}
		base = next;
	}
	*ret = base;
	return 0;
}

static int
enter(struct extends *x, const struct source *s, unsigned depth,
    struct err *e)
{
	for (size_t i = 0; i < x->nstack; i++)
		if (strcmp(x->stack[i], s->identity) == 0) {
			err_set(e, ERR_POLICY, "'%.150s' extends itself, by "
			    "way of %zu other%s", s->shown,
			    x->nstack - i - 1, x->nstack - i == 2 ? "" : "s");
			return -1;
		}
	if (depth > EXTENDS_DEPTH)
		return err_set(e, ERR_POLICY, "the chain of extends is longer "
		    "than %d", EXTENDS_DEPTH);
	if (++x->total > EXTENDS_MAX)
		return err_set(e, ERR_POLICY, "more than %d policies are "
		    "extended in all", EXTENDS_MAX);
	x->stack[x->nstack++] = s->identity;
	return 0;
}

/* The place alone: whoever wrote the chain chose what it leads to. */
static void
hide_text(struct err *e)
{
	char where[sizeof e->where];

	if (e == NULL)
		return;
	memcpy(where, e->where, sizeof where);
	err_set(e, e->code, "the extended file is not a policy");
	err_hint(e, "'fence config check' says what is wrong with a file");
	memcpy(e->where, where, sizeof where);
}

static int
follow(struct extends *x, const struct source *s, unsigned depth,
    struct policy **ret, struct err *e)
{
	struct policy *p = NULL, *base = NULL;
	int rc;

	if (enter(x, s, depth, e) != 0)
		return -1;
	rc = parse(x, s, &p, e);
	if (rc == 0)
		rc = load_bases(x, s, p, depth, &base, e);
	if (rc == 0)
		rc = policy_check_removals(base, p, e);
	if (rc == 0) {
		*ret = policy_merge(base, p);
		/* Only at the top is all known that a file may rely on. */
		if (depth == 0 && policy_cross_check(*ret, e) != 0) {
			policy_free(*ret);
			*ret = NULL;
			rc = -1;
		}
	}
	policy_free(base);
	policy_free(p);
	x->nstack--;
	if (rc != 0 && x->tree != NULL && (depth > 0 || s->is_outside))
		hide_text(e);
	return rc;
}

/* ---- beginnings ---- */

int
extends_file(struct extends *x, const char *path, const char *label,
    struct policy **ret, struct err *e)
{
	add_step(x, 0, arena_printf(x->arena, "%s: %s", label, path));
	return load_file(x, path, "", 0, ret, e);
}

int
extends_template(struct extends *x, const char *name, struct policy **ret,
    struct err *e)
{
	name = template_name(x->arena, name);
	add_step(x, 0, arena_printf(x->arena, "builtin template: %s", name));
	return load_template(x, name, 0, ret, e);
}

int
extends_user(struct extends *x, struct policy **ret, struct err *e)
{
	return load_user(x, "", 0, ret, e);
}
