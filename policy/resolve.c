#include "policy/resolve_work.h"

#include <dirent.h>
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/vec.h"
#include "policy/find.h"
#include "policy/flags.h"
#include "policy/layers.h"

struct extends
resolve_begin(struct work *w, const char *workspace)
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

void
resolve_end(struct work *w, struct extends *x)
{
	for (size_t i = 0; i < x->steps.n; i++)
		*vec_push(&w->chain) = x->steps.v[i];
	for (size_t i = 0; i < x->files.n; i++)
		add_name(&w->files, x->files.v[i]);
	for (size_t i = 0; i < x->notices.n; i++)
		add_name(&w->notices, x->notices.v[i]);
	extends_release(x);
}

/* ---- the first layer ---- */

static int
load_named(struct work *w, struct err *e)
{
	const struct resolve_request *r = w->req;
	struct extends x = resolve_begin(w, r->cwd);
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
	resolve_end(w, &x);
	return rc;
}

int
resolve_user(struct work *w, struct err *e)
{
	struct extends x = resolve_begin(w, w->req->cwd);
	int rc = extends_user(&x, &w->ret->policy, e);

	w->ret->is_builtin_default = w->user == NULL;
	resolve_end(w, &x);
	return rc;
}

static int
load_first(struct work *w, struct err *e)
{
	int rc;

	if (w->req->settings == NULL && w->req->template_name == NULL)
		return resolve_projects(w, e);
	rc = load_named(w, e);
	return rc != 0 ? rc : flags_merge(w->req, &w->ret->policy, e);
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
	x = resolve_begin(w, w->ret->workspace);
	rc = extends_template(&x, "strict", &strict, e);
	if (rc == 0)
		layers_add(w->ret->policy, strict);
	if (x.steps.n > 0)
		x.steps.v[0].label = "profile: strict";
	resolve_end(w, &x);
	return rc;
}

/*
 * A ceiling's network.via replaces the policy's, because a way around the
 * machine's proxy is no tightening.  Projects and profiles cannot set it
 * (layers_settle()).
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
	struct extends x = resolve_begin(w, w->ret->workspace);
	struct policy *p = NULL;
	int rc;

	rc = extends_file(&x, path, "ceiling", &p, e);
	if (rc == 0)
		rc = layers_check_ceiling(p, e);
	if (rc == 0)
		rc = take_via(w, p, e);
	if (rc == 0) {
		p->is_ceiling = true;
		layers_add(w->ret->policy, p);
	} else {
		policy_free(p);
	}
	resolve_end(w, &x);
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

/* A missing directory means no ceilings; an unreadable one is an error. */
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

/* Settling takes "direct" back where a layer does not grant it: say so. */
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
		resolve_hide(r, &ret->policy);
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
