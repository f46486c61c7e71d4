#include "policy/resolve.h"

#include <dirent.h>
#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/path.h"
#include "platform/base/vec.h"
#include "policy/find.h"
#include "policy/flags.h"
#include "policy/layers.h"
#include "policy/merge.h"
#include "policy/pattern.h"
#include "policy/rule.h"
#include "policy/trust.h"

enum {
	NAMED_MAX = 8,		/* refused wishes that a notice names */
	PROJECTS_MAX = 16,	/* from cwd up to the trusted one */
};

/* A project file that was read. */
struct project {
	const char	*path;
	struct policy	*policy;	/* NULL where it became a layer */
	struct extends	 x;
	bool		 is_trusted;
};

struct work {
	const struct resolve_request *req;
	struct resolved		*ret;
	struct arena		*arena;
	const char		*user;
	const char		*canonical;
	bool			 has_via;	/* of a ceiling */
	struct project		 projects[PROJECTS_MAX];	/* nearest first */
	size_t			 nprojects;
	struct project		*trusted;	/* the policy, or NULL */
	struct extends_names	 files, notices;
	struct {
		struct extends_step	*v;
		size_t			 n, cap;
	} chain;
};

static struct extends
begin(struct work *w, const char *workspace)
{
	return (struct extends){
		.arena = w->arena,
		.env = {
			.workspace = workspace,
			.home = w->req->home,
			.other_home = w->req->other_home,
			.environ = w->req->environ,
			.ignore_unknown = w->req->ignore_unknown,
		},
		.cwd = w->req->cwd,
		.user = w->user,
		.canonical = w->canonical,
	};
}

static void
add_name(struct extends_names *names, const char *name)
{
	for (size_t i = 0; i < names->n; i++)
		if (strcmp(names->v[i], name) == 0)
			return;
	*vec_push(names) = name;
}

/* What a chain found joins the result, in the order of the layers. */
static void
end(struct work *w, struct extends *x)
{
	for (size_t i = 0; i < x->steps.n; i++)
		*vec_push(&w->chain) = x->steps.v[i];
	for (size_t i = 0; i < x->files.n; i++)
		add_name(&w->files, x->files.v[i]);
	for (size_t i = 0; i < x->notices.n; i++)
		add_name(&w->notices, x->notices.v[i]);
	extends_release(x);
}

/*
 * The name that is trusted: in its real directory, and itself not followed.
 * Its directory is what its relative paths mean.
 */
static const char *
trusted_name(struct arena *a, const char *path)
{
	const char *dir = path_real_or_same(a, path_dir(a, path));

	return arena_printf(a, "%s/%s", strcmp(dir, "/") == 0 ? "" : dir,
	    path_name(path));
}

/* ---- passwords ---- */

/* The file this was written in, if it holds a password; else NULL. */
static const char *
secret_file(const struct resolve_request *r, struct arena *a,
    const struct string *s)
{
	const char *path = s->at.file;

	if (!s->is_set || strcmp(s->text, s->shown) == 0 || path == NULL)
		return NULL;
	if (path[0] != '/')
		path = arena_printf(a, "%s/%s", r->cwd, path);
	return path_real(a, path);
}

/*
 * A policy that holds the password of a proxy in force is not for the command
 * to read: as if its own filesystem.denyRead named it.
 */
static void
hide_secrets(const struct resolve_request *r, struct policy **p)
{
	const struct string *secrets[] = { &(*p)->net.upstream_proxy,
	    &(*p)->net.via };
	static const size_t keys[] = { KEY_OF(net.upstream_proxy),
	    KEY_OF(net.via) };
	struct policy_env env = { .workspace = (*p)->workspace,
	    .home = r->home, .other_home = r->other_home,
	    .environ = r->environ };
	struct policy *child = policy_new((*p)->name, &env), *merged;
	struct strlist *l = &child->fs.deny_read;

	l->v = arena_alloc(child->arena, 2 * sizeof *l->v);
	for (size_t i = 0; i < 2; i++) {
		const char *path = secret_file(r, child->arena, secrets[i]);
		struct pattern *pattern;

		if (path == NULL)
			continue;
		/* Not by its text, in which '$' and '*' mean something. */
		pattern = arena_alloc(child->arena, sizeof *pattern);
		*pattern = (struct pattern){ .kind = PATTERN_PATH,
		    .text = path };
		l->is_set = true;
		l->v[l->n++] = (struct entry){ .text = path, .because = keys[i],
		    .at = secrets[i]->at, .pattern = pattern };
	}
	if (l->n > 0) {
		merged = policy_merge(*p, child);
		merged->also = (*p)->also;
		policy_free(*p);
		*p = merged;
	}
	policy_free(child);
}

/* ---- the first layer ---- */

static int
load_named(struct work *w, struct err *e)
{
	const struct resolve_request *r = w->req;
	struct extends x = begin(w, r->cwd);
	int rc;

	if (r->settings != NULL) {
		rc = extends_file(&x, r->settings, "settings file",
		    &w->ret->policy, e);
	} else {
		rc = extends_template(&x, r->template_name, &w->ret->policy,
		    e);
		/* Only the name can be wrong: templates are ours. */
		if (rc != 0 && e != NULL && e->where[0] == '\0')
			e->code = ERR_USAGE;
	}
	end(w, &x);
	return rc;
}

static int
load_user(struct work *w, struct err *e)
{
	struct extends x = begin(w, w->req->cwd);
	int rc = extends_user(&x, &w->ret->policy, e);

	w->ret->is_builtin_default = w->user == NULL;
	end(w, &x);
	return rc;
}

/* ---- the project ---- */

/* is_strange: it may be anybody's word, so it reaches only its own folder. */
static int
load_project(struct work *w, const char *path, bool is_strange,
    struct extends *x, struct policy **ret, char hex[SHA256_HEX],
    struct err *e)
{
	struct sha256 h;

	*x = begin(w, path_dir(w->arena, path));
	if (is_strange)
		x->tree = path_real_or_same(w->arena, path_dir(w->arena, path));
	sha256_init(&h);
	x->digest = &h;
	if (extends_file(x, path, "project config", ret, e) != 0)
		return -1;
	x->digest = NULL;
	sha256_end_hex(&h, hex);
	return 0;
}

/* Only what its own folder holds may follow from a file nobody trusts. */
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
	int rc = load_project(w, p->path, true, &p->x, &p->policy, hex, e);

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
	end(w, &p->x);
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
	end(w, &p->x);
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
		rc = load_user(w, e);
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

static int
load_first(struct work *w, struct err *e)
{
	int rc;

	if (w->req->settings != NULL || w->req->template_name != NULL) {
		rc = load_named(w, e);
		return rc != 0 ? rc : flags_merge(w->req, &w->ret->policy, e);
	}
	rc = read_projects(w, e);
	if (rc == 0)
		rc = use_projects(w, e);
	release_projects(w);
	return rc;
}

/* ---- profile and ceilings ---- */

static int
layer_profile(struct work *w, struct err *e)
{
	struct policy *strict = NULL;
	bool is_strict = false;
	struct extends x;
	int rc;

	for (const struct policy *p = w->ret->policy; p != NULL; p = p->also)
		is_strict = is_strict || p->profile.value == PROFILE_STRICT;
	if (!is_strict)
		return 0;
	x = begin(w, w->ret->workspace);
	rc = extends_template(&x, "strict", &strict, e);
	if (rc == 0)
		layers_add(w->ret->policy, strict);
	if (x.steps.n > 0)
		x.steps.v[0].label = "profile: strict";
	end(w, &x);
	return rc;
}

/*
 * How connections leave this host is the machine's to say, if it says
 * anything: a way around its proxy is no tightening.  What a project or a
 * profile says of it is not heard (layers_settle()).
 */
static int
take_via(struct work *w, const struct policy *ceiling, struct err *e)
{
	struct string *via = &w->ret->policy->net.via;
	const struct string *theirs = &ceiling->net.via;
	bool is_other = via->is_set && strcmp(via->text, theirs->text) != 0;

	if (!theirs->is_set)
		return 0;
	if (is_other && w->has_via) {
		err_set(e, ERR_POLICY, "another ceiling says \"%s\" "
		    "(%s:%d:%d)", via->shown, via->at.file, via->at.line,
		    via->at.col);
		err_key(e, "network.via");
		err_where(e, theirs->at.file, theirs->at.line, theirs->at.col);
		return -1;
	}
	if (is_other)
		*vec_push(&w->notices) = arena_printf(w->arena,
		    "%s:%d:%d: network.via \"%s\" was not given: %s has "
		    "\"%s\"", via->at.file, via->at.line, via->at.col,
		    via->shown, ceiling->name, theirs->shown);
	*via = *theirs;
	w->has_via = true;
	return 0;
}

static int
layer_ceiling(struct work *w, const char *path, struct err *e)
{
	struct extends x = begin(w, w->ret->workspace);
	struct policy *p = NULL;
	int rc;

	rc = extends_file(&x, path, "ceiling", &p, e);
	if (rc == 0)
		rc = layers_check_ceiling(p, e);
	if (rc == 0)
		rc = take_via(w, p, e);
	if (rc == 0)
		layers_add(w->ret->policy, p);
	else
		policy_free(p);
	end(w, &x);
	return rc;
}

static int
is_ceiling(const struct dirent *d)
{
	static const char *const suffixes[] = { ".json", ".jsonc", ".ini",
	    ".conf" };
	const char *dot = strrchr(d->d_name, '.');

	for (size_t i = 0; i < sizeof suffixes / sizeof *suffixes; i++)
		if (dot != NULL && dot != d->d_name &&
		    strcmp(dot, suffixes[i]) == 0)
			return 1;
	return 0;
}

/* A directory that is there and cannot be read is no missing one. */
static int
layer_ceilings(struct work *w, struct err *e)
{
	const char *dir = w->req->ceiling_dir != NULL ? w->req->ceiling_dir :
	    "/etc/fence/ceiling.d";
	struct dirent **found = NULL;
	int n = scandir(dir, &found, is_ceiling, alphasort), rc = 0;

	if (n < 0 && errno == ENOENT)
		return 0;
	if (n < 0) {
		err_set(e, ERR_POLICY, "cannot read the ceilings");
		if (e != NULL)
			e->sys = errno;
		err_where(e, dir, 0, 0);
		return -1;
	}
	for (int i = 0; i < n; i++) {
		if (rc == 0)
			rc = layer_ceiling(w, arena_printf(w->arena, "%s/%s",
			    dir, found[i]->d_name), e);
		free(found[i]);
	}
	free(found);
	return rc;
}

/* Settling takes "direct" back; whoever asked for it is to hear of that. */
static void
notice_mode(struct work *w)
{
	const struct policy *first = w->ret->policy;
	const struct choice *asked = &first->net.mode;
	const struct policy *l = first->also;

	while (l != NULL && l->net.mode.value == NET_MODE_DIRECT)
		l = l->also;
	if (l != NULL && asked->value == NET_MODE_DIRECT)
		*vec_push(&w->notices) = arena_printf(w->arena,
		    "%s:%d:%d: network.mode \"direct\" was not given: %s does "
		    "not grant it, so the gate decides", asked->at.file,
		    asked->at.line, asked->at.col, l->name);
}

/* ---- all of it ---- */

static void *
keep(struct arena *a, const void *v, size_t bytes)
{
	void *p = arena_alloc(a, bytes + 1);

	if (bytes > 0)
		memcpy(p, v, bytes);
	return p;
}

static void
hand_over(struct work *w)
{
	struct resolved *ret = w->ret;

	ret->notices = keep(w->arena, w->notices.v,
	    w->notices.n * sizeof *w->notices.v);
	ret->nnotices = w->notices.n;
	ret->chain = keep(w->arena, w->chain.v,
	    w->chain.n * sizeof *w->chain.v);
	ret->nchain = w->chain.n;
	ret->files = keep(w->arena, w->files.v,
	    w->files.n * sizeof *w->files.v);
	ret->nfiles = w->files.n;
	vec_release(&w->notices);
	vec_release(&w->chain);
	vec_release(&w->files);
}

int
policy_resolve(const struct resolve_request *r, struct resolved *ret,
    struct err *e)
{
	struct work w = { .req = r, .ret = ret };
	int rc;

	*ret = (struct resolved){ 0 };
	if (r->settings != NULL && r->template_name != NULL)
		return err_set(e, ERR_USAGE,
		    "--settings and --template exclude each other");
	ret->arena = arena_new();
	w.arena = ret->arena;
	ret->workspace = arena_strdup(w.arena, r->cwd);
	rc = find_user(w.arena, r->home, r->environ, &w.user, &w.canonical,
	    e);
	if (rc == 0)
		rc = load_first(&w, e);
	if (rc == 0)
		rc = layer_profile(&w, e);
	if (rc == 0)
		rc = layer_ceilings(&w, e);
	if (rc == 0) {
		hide_secrets(r, &ret->policy);
		notice_mode(&w);
		ret->policy->flags_win = true;
	}
	hand_over(&w);
	if (rc == 0) {
		layers_settle(ret->policy);
		rc = flags_check(r, ret->policy, e);
	}
	if (rc != 0)
		resolved_release(ret);
	return rc;
}

void
resolved_release(struct resolved *r)
{
	for (struct policy *p = r->policy, *next; p != NULL; p = next) {
		next = p->also;
		policy_free(p);
	}
	arena_free(r->arena);
	*r = (struct resolved){ 0 };
}

const char *
policy_trusted_name(struct arena *a, const char *cwd, const char *path)
{
	if (path[0] != '/')
		path = arena_printf(a, "%s/%s",
		    strcmp(cwd, "/") == 0 ? "" : cwd, path);
	return trusted_name(a, path);
}

int
policy_digest(const struct resolve_request *r, const char *path,
    struct arena *a, const char **ret_name, char ret_hex[SHA256_HEX],
    struct err *e)
{
	struct work w = { .req = r, .arena = a };
	struct policy *p = NULL;
	struct extends x;
	int rc;

	path = policy_trusted_name(a, r->cwd, path);
	if (find_user(a, r->home, r->environ, &w.user, &w.canonical, e) != 0)
		return -1;
	rc = load_project(&w, path, false, &x, &p, ret_hex, e);
	if (rc == 0)
		*ret_name = path;
	policy_free(p);
	extends_release(&x);
	return rc;
}
