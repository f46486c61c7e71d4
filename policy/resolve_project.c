#include "policy/resolve_work.h"

#include <string.h>

#include "platform/base/path.h"
#include "platform/base/vec.h"
#include "policy/find.h"
#include "policy/flags.h"
#include "policy/layers.h"
#include "policy/trust.h"

enum { NAMED_MAX = 8 };		/* refused wishes that a notice names */

/*
 * The name under which a project file is trusted: its directory is resolved,
 * the last name is not.  Relative paths in the file begin at that directory.
 */
static const char *
trusted_name(struct arena *a, const char *path)
{
	const char *dir = path_real_or_same(a, path_dir(a, path));

	return arena_printf(a, "%s/%s", strcmp(dir, "/") == 0 ? "" : dir,
	    path_name(path));
}

/* is_strange: anyone may have written the file, so it may only extend files of
 * its own folder.  edit NULL: its text is read. */
static int
load_project(struct work *w, const char *path, bool is_strange,
    const struct extends_edit *edit, struct extends *x, struct policy **ret, char hex[SHA256_HEX],
    struct err *e)
{
	struct sha256 h;

	*x = resolve_begin(w, path_dir(w->arena, path));
	if (is_strange)
		x->tree = path_real_or_same(w->arena, path_dir(w->arena, path));
	sha256_init(&h);
	x->digest = &h;
	x->edit = edit;
	if (extends_file(x, path, "project config", ret, e) != 0)
		return -1;
	x->digest = NULL;
	sha256_end_hex(&h, hex);
	return 0;
}

/* An untrusted file extends a file outside of its own folder. */
static int
fail_outside(const struct project *p, struct err *e)
{
	const struct origin *at = &p->x.outside;

	err_set(e, ERR_POLICY, "a project file that is not trusted may only "
	    "extend templates, @base and files of its own folder");
	err_key(e, "extends");
	err_where(e, at->file, at->line, at->col);
	err_hint(e, "read it, then 'fence config trust %.100s'", p->path);
	return -1;
}

static int
read_project(struct work *w, struct project *p, struct err *e)
{
	const char *store = trust_store(w->arena, w->req->home,
	    w->req->environ);
	char hex[SHA256_HEX];
	int rc = load_project(w, p->path, true, NULL, &p->x, &p->policy,
	    hex, e);

	p->is_trusted = rc == 0 && trust_knows(store, trusted_name(w->arena,
	    p->path), hex);
	if (!p->is_trusted && p->x.outside.file != NULL)
		return fail_outside(p, e);
	return rc;
}

/* The user's own file is no project's, also where it is found as one. */
static bool
is_users(const struct work *w, const char *path)
{
	return w->user != NULL && strcmp(path_real_or_same(w->arena, path),
	    path_real_or_same(w->arena, w->user)) == 0;
}

static int
add_project(struct work *w, const char *path, struct err *e)
{
	struct project *p = &w->projects[w->nprojects];

	if (is_users(w, path))
		return 0;
	if (w->nprojects == PROJECTS_MAX)
		return err_set(e, ERR_POLICY, "more than %d project files "
		    "that are not trusted are here and above", PROJECTS_MAX);
	w->nprojects++;
	p->path = path;
	if (read_project(w, p, e) != 0)
		return -1;
	if (p->is_trusted && w->trusted == NULL)
		w->trusted = p;
	return 0;
}

/*
 * From cwd upwards to the nearest folder with a file that is trusted; the
 * first such one there is the policy.  The others of that folder and those
 * on the way are layers: a run could have written them.
 */
static int
read_projects(struct work *w, struct err *e)
{
	const char *dir = w->req->ignore_project ? NULL : w->req->cwd;
	struct found found;

	while (dir != NULL && w->trusted == NULL) {
		if (find_project(w->arena, dir, &found, e) != 0)
			return -1;
		for (size_t i = 0; i < found.n; i++)
			if (add_project(w, found.path[i], e) != 0)
				return -1;
		if (found.n > 0)
			dir = path_dir(w->arena, found.path[0]);
		dir = found.n == 0 || strcmp(dir, "/") == 0 ? NULL :
		    path_dir(w->arena, dir);
	}
	return 0;
}

/* Why it is a layer and not the policy. */
static const char *
why_layer(const struct project *p)
{
	return p->is_trusted ? "not the first that is trusted" :
	    "not trusted";
}

static void
notice_untrusted(struct work *w, const struct project *p)
{
	struct buf b;
	size_t n;

	buf_init(&b, 0);
	n = layers_refused(w->ret->policy, p->policy, NAMED_MAX, &b);
	if (n > NAMED_MAX)
		buf_printf(&b, " and %zu more", n - NAMED_MAX);
	if (n > 0)
		*vec_push(&w->notices) = arena_printf(w->arena,
		    p->is_trusted ? "%s is not the first that is trusted and "
		    "was not given: %s" : "%s is not trusted and was not "
		    "given: %s; read it, then 'fence config trust %s'",
		    p->path, b.data, p->path);
	buf_release(&b);
}

/* A file in between does not take the place of the trusted one. */
static void
notice_between(struct work *w)
{
	size_t n = w->nprojects - 1;
	const struct project *p = &w->projects[w->trusted == w->projects];
	const char *more = n > 2 ? arena_printf(w->arena, " (and %zu more)",
	    n - 1) : n > 1 ? " (and one more)" : "";

	if (n > 0)
		*vec_push(&w->notices) = arena_printf(w->arena,
		    "%s%s is %s and may only tighten; what holds is %s",
		    p->path, more, why_layer(p), w->ret->project);
}

static int
layer_project(struct work *w, struct project *p, struct err *e)
{
	if (flags_merge(w->req, &p->policy, e) != 0)
		return -1;
	if (p->x.steps.n > 0)
		p->x.steps.v[0].label = arena_printf(w->arena,
		    "%s (%s: may only tighten)", p->x.steps.v[0].label,
		    why_layer(p));
	resolve_end(w, &p->x);
	notice_untrusted(w, p);
	layers_add(w->ret->policy, p->policy);
	p->policy = NULL;
	return 0;
}

static int
take_trusted(struct work *w, struct project *p, struct err *e)
{
	w->ret->project = p->path;
	w->ret->is_trusted = true;
	w->ret->workspace = path_dir(w->arena, p->path);
	w->ret->policy = p->policy;
	p->policy = NULL;
	resolve_end(w, &p->x);
	return flags_merge(w->req, &w->ret->policy, e);
}

static int
use_projects(struct work *w, struct err *e)
{
	int rc;

	if (w->trusted != NULL) {
		rc = take_trusted(w, w->trusted, e);
		if (rc == 0)
			notice_between(w);
	} else {
		rc = resolve_user(w, e);
		if (rc == 0)
			rc = flags_merge(w->req, &w->ret->policy, e);
		if (w->nprojects > 0)
			w->ret->project = w->projects[0].path;
	}
	for (size_t i = 0; rc == 0 && i < w->nprojects; i++)
		if (&w->projects[i] != w->trusted)
			rc = layer_project(w, &w->projects[i], e);
	return rc;
}

static void
release_projects(struct work *w)
{
	for (size_t i = 0; i < w->nprojects; i++) {
		policy_free(w->projects[i].policy);
		extends_release(&w->projects[i].x);
	}
}

int
resolve_projects(struct work *w, struct err *e)
{
	int rc = read_projects(w, e);

	if (rc == 0)
		rc = use_projects(w, e);
	release_projects(w);
	return rc;
}

const char *
policy_trusted_name(struct arena *a, const char *cwd, const char *path)
{
	if (path[0] != '/')
		path = arena_printf(a, "%s/%s",
		    strcmp(cwd, "/") == 0 ? "" : cwd, path);
	return trusted_name(a, path);
}

static int
digest(const struct resolve_request *r, const char *path,
    const struct extends_edit *edit, struct arena *a, const char **ret_name,
    char ret_hex[SHA256_HEX], struct err *e)
{
	struct work w = { .req = r, .arena = a };
	struct policy *p = NULL;
	struct extends x;
	int rc;

	path = policy_trusted_name(a, r->cwd, path);
	if (find_user(a, r->home, r->environ, &w.user, &w.canonical, e) != 0)
		return -1;
	rc = load_project(&w, path, false, edit, &x, &p, ret_hex, e);
	if (rc == 0)
		*ret_name = path;
	policy_free(p);
	extends_release(&x);
	return rc;
}

int
policy_digest(const struct resolve_request *r, const char *path,
    struct arena *a, const char **ret_name, char ret_hex[SHA256_HEX],
    struct err *e)
{
	return digest(r, path, NULL, a, ret_name, ret_hex, e);
}

int
policy_digest_edit(const struct resolve_request *r, const char *path,
    const struct buf *before, const struct buf *after, struct arena *a,
    const char **ret_name, char ret_before[SHA256_HEX],
    char ret_after[SHA256_HEX], struct err *e)
{
	struct sha256 h;
	const struct extends_edit edit = { before, after, &h };

	sha256_init(&h);
	if (digest(r, path, &edit, a, ret_name, ret_after, e) != 0)
		return -1;
	sha256_end_hex(&h, ret_before);
	return 0;
}
