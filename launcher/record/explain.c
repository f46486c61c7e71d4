#include "launcher/record/explain.h"

#include <errno.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/links.h"
#include "policy/decide_exec.h"
#include "policy/guard.h"
#include "policy/pattern.h"
#include "policy/verdict.h"

enum { MAX_COMPONENTS = 128 };	/* of a path we resolve */

/* A mask or a missing right takes reading away, too: ask for both. */
static bool
is_denied(const struct explain *j, enum fs_op op, const char *path,
    struct verdict *ret)
{
	struct fs_question q = { .op = op, .path = path, .is_guarded = true };
	struct verdict reading;

	decide_fs_ask(j->policy, &q, ret);
	if (ret->action == ACTION_DENY || op == FS_READ || op == FS_LIST)
		return ret->action == ACTION_DENY;
	decide_fs(j->policy, FS_READ, path, &reading);
	if (reading.action == ACTION_DENY)
		*ret = reading;
	return reading.action == ACTION_DENY;
}

/*
 * Where the path leads on the host: its longest existing part resolved, the
 * rest as it is.  NULL below /proc (there "self" would be us), or if looking
 * would take too long.
 */
static const char *
resolve(struct arena *arena, const char *path)
{
	char *part = arena_strdup(arena, path), *real;
	const char *resolved = NULL;
	unsigned n = 0;

	for (const char *p = path; *p != '\0'; p++)
		n += *p == '/';
	if (n > MAX_COMPONENTS || str_path_below(path, "/proc"))
		return NULL;
	while (access(part, F_OK) != 0 && path_cut(part))
		continue;
	real = realpath(part, NULL);
	if (real != NULL)
		resolved = pattern_clean_path(arena, "/", arena_printf(arena,
		    "%s/%s", real, path + strlen(part)));
	free(real);
	return resolved;
}

/* A link that cannot be seen leads nowhere. */
struct way {
	const struct explain	*judge;
	struct arena		*arena;
	struct verdict		*denied;	/* by the first that is hidden */
	bool			 is_hidden;
};

/*
 * Nothing can be mounted on a symlink: an entry that denies its name hides what
 * it leads to, and the link is seen as long as the folder it lies in is.
 */
static void
see_link(const char *at, const char *text, void *arg)
{
	struct way *w = arg;

	(void)text;
	for (size_t i = 0; i < w->judge->policy->nlinks; i++)
		if (strcmp(w->judge->policy->links[i], at) == 0)
			return;
	w->is_hidden = w->is_hidden ||
	    is_denied(w->judge, FS_READ, path_dir(w->arena, at), w->denied);
}

/* Does an entry, or a guard, speak of the very path that was written? */
static bool
is_named(const struct verdict *v)
{
	return v->rule.id != RULE_NO_ENTRY && v->rule.id != RULE_KEY;
}

static bool
begin(struct arena *arena, const char *cwd, const char *path,
    struct explained *ret)
{
	*ret = (struct explained){ .verdict.action = ACTION_ALLOW };
	if (path[0] != '/' && cwd[0] != '/')
		return false;
	ret->path = ret->real = pattern_clean_path(arena,
	    path[0] == '/' ? "/" : cwd, path);
	return ret->path != NULL;
}

static bool
is_folder(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

bool
explain_place(const struct explain *j, struct arena *arena, enum fs_op op,
    const char *cwd, const char *path, struct explained *ret)
{
	struct way way = { .judge = j, .arena = arena,
	    .denied = &ret->verdict };

	if (!begin(arena, cwd, path, ret))
		return false;
	ret->real = resolve(arena, path[0] == '/' ? path :
	    arena_printf(arena, "%s/%s", cwd, path));
	if (ret->real == NULL)
		ret->real = ret->path;
	if (strcmp(ret->real, ret->path) != 0)
		links_on_way(arena, ret->path, see_link, &way);
	ret->is_way_hidden = way.is_hidden;
	if (way.is_hidden || is_denied(j, op, ret->real, &ret->verdict))
		return true;
	ret->is_listing = op == FS_READ && decide_may_unlist(j->policy) &&
	    is_folder(ret->real) &&
	    is_denied(j, FS_LIST, ret->real, &ret->verdict);
	return ret->is_listing;
}

const char *
explain_path(const struct explain *j, struct arena *arena, enum fs_op op,
    const char *cwd, const char *path, struct explained *ret)
{
	struct verdict written;
	bool is_refused;

	if (!begin(arena, cwd, path, ret))
		return NULL;
	is_refused = is_denied(j, op, ret->path, &written);
	/* Looking is spared where the path itself is spoken of. */
	if (is_refused && is_named(&written))
		ret->verdict = written;
	else if (explain_place(j, arena, op, cwd, path, ret))
		is_refused = true;
	else
		ret->verdict = written;
	return is_refused ? ret->path : NULL;
}

/* For one file: the whole home, what is around it, or "/usr"? */
static bool
is_too_much(const struct policy *p, const char *folder)
{
	return strrchr(folder, '/') == folder ||
	    (p->home != NULL && str_path_below(p->home, folder));
}

static void
offer_nothing(struct verdict *v)
{
	v->remedy = (struct remedy){ .kind = REMEDY_NONE };
}

bool
explain_is_kernels(const char *path)
{
	return str_path_below(path, "/proc") || str_path_below(path, "/sys") ||
	    (str_path_below(path, "/dev") && !str_path_below(path, "/dev/shm"));
}

/* May the call make or remove a name? */
static bool
wants_folder(const struct explain_deed *d, const struct explained *x)
{
	if (d->name == NAME_MADE || d->name == NAME_GOES)
		return true;
	return d->name == NAME_OPENED &&
	    (outside_is_missing(x->real) || outside_is_database(x->real));
}

/* Would the name be guarded once its folder is granted? */
static bool
is_guarded_in(const char *path, const char *folder)
{
	size_t n = strlen(folder);

	for (const struct guard_name *g = guarded_names; g->name != NULL; g++)
		if ((g->places & GUARD_IN_ROOTS) != 0 &&
		    strncmp(path, folder, n) == 0 && path[n] == '/' &&
		    strcmp(path + n + 1, g->name) == 0)
			return true;
	return false;
}

static void
offer_folder(const struct explain *j, const struct explain_deed *d,
    const char *path, const char *folder, struct verdict *v)
{
	struct fs_question q = { .op = FS_WRITE, .path = folder,
	    .is_guarded = true };
	struct verdict around;

	decide_fs_ask(j->policy, &q, &around);
	if (around.action == ACTION_ALLOW) {
		/* It is the name that an entry or a guard speaks of. */
		if (v->rule.id != RULE_GUARD && v->remedy.kind == REMEDY_ADD)
			offer_nothing(v);
	} else if (is_guarded_in(path, folder)) {
		offer_nothing(v);	/* one line would not do */
	} else if (around.remedy.kind == REMEDY_REMOVE ||
	    (around.remedy.kind == REMEDY_ADD &&
	    !is_too_much(j->policy, folder))) {
		v->remedy = around.remedy;
	} else if (around.remedy.kind == REMEDY_ADD &&
	    d->name == NAME_OPENED && !d->is_new) {
		verdict_remedy(v, REMEDY_MUST_EXIST, KEY_OF(fs.allow_write),
		    NULL);
		v->remedy.has_flag = false;
	} else {
		offer_nothing(v);
	}
}

void
explain_remedy(const struct explain *j, struct arena *arena,
    const struct explain_deed *d, const struct explained *x,
    struct verdict *v)
{
	const char *granted = x->real;

	if (v->action != ACTION_DENY || (v->remedy.kind != REMEDY_ADD &&
	    v->remedy.kind != REMEDY_REMOVE))
		return;
	if (d->op == FS_WRITE && explain_is_kernels(x->real)) {
		offer_nothing(v);
	} else if (d->op == FS_WRITE && wants_folder(d, x)) {
		granted = path_dir(arena, d->tree != NULL ? d->tree : x->real);
		offer_folder(j, d, x->real, granted, v);
	} else if (d->op != FS_WRITE && outside_is_missing(x->real)) {
		offer_nothing(v);
	}
	if (v->remedy.kind != REMEDY_ADD && v->remedy.kind != REMEDY_REMOVE)
		return;
	if (!outside_may_inside(x->real, d->need) || (d->op == FS_WRITE &&
	    v->remedy.kind == REMEDY_ADD && !outside_may_grant(granted)))
		offer_nothing(v);
}

bool
explain_is_hosts(const struct explain_deed *d, const struct explained *x)
{
	return outside_refuses(x->real, d->need);
}

const char *
explain_name(const struct explain *j, struct arena *arena, const char *cwd,
    const char *path, struct explained *ret)
{
	struct verdict written;
	const char *folder, *real, *name;

	if (!begin(arena, cwd, path, ret))
		return NULL;
	if (ret->path[1] == '\0')
		return NULL;
	name = strrchr(ret->path, '/') + 1;
	folder = path_dir(arena, ret->path);
	real = resolve(arena, folder);
	if (real != NULL)
		folder = real;
	ret->real = arena_printf(arena, "%s/%s", folder[1] == '\0' ? "" :
	    folder, name);
	if (is_denied(j, FS_WRITE, ret->path, &written) && is_named(&written))
		ret->verdict = written;
	else if (!is_denied(j, FS_WRITE, ret->real, &ret->verdict) &&
	    !is_denied(j, FS_WRITE, folder, &ret->verdict))
		return NULL;
	return ret->path;
}

void
explain_deny_late(struct verdict *v)
{
	v->action = ACTION_DENY;
	verdict_reason(v, "it was not there when the run began");
	verdict_remedy(v, REMEDY_MUST_EXIST, KEY_OF(fs.allow_write), NULL);
}

const char *
explain_late(const struct explain *j, struct arena *arena, const char *cwd,
    const char *path, struct verdict *ret)
{
	const char *clean = pattern_clean_path(arena, path[0] == '/' ? "/" :
	    cwd, path);

	if (clean == NULL || clean[0] != '/')
		return NULL;
	decide_fs(j->policy, FS_WRITE, clean, ret);
	if (ret->action != ACTION_ALLOW || ret->rule.id != RULE_ENTRY ||
	    ret->rule.key != KEY_OF(fs.allow_write))
		return NULL;
	if (access(path_dir(arena, clean), W_OK) != 0 && errno == EROFS)
		return NULL;
	explain_deny_late(ret);
	return clean;
}

const char *
explain_program(const struct explain *j, struct arena *arena,
    const char *cwd, const char *path, struct verdict *ret)
{
	const char *clean = pattern_clean_path(arena, path[0] == '/' ? "/" :
	    cwd, path);
	const char *const argv[] = { clean, NULL };
	struct exec_verdict v;

	if (clean == NULL || clean[0] != '/')
		return NULL;
	decide_argv(j->policy, clean, argv, 1, NULL, &v);
	*ret = v.v;
	return v.v.action == ACTION_DENY ? clean : NULL;
}
