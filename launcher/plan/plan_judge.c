#include "launcher/plan/plan_judge.h"

#include <stdbool.h>
#include <string.h>

#include "launcher/shadow/shadow.h"
#include "platform/base/buf.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "policy/decide.h"
#include "policy/guard.h"

static int
complain(const char *what, const char *path, const struct verdict *v,
    struct err *e)
{
	struct buf b;

	buf_init(&b, 0);
	rule_put_whole(&b, &v->rule);
	err_set(e, ERR_JAIL, "the plan of this run %s '%s', and %s denies it",
	    what, path, b.data);
	err_hint(e, "this is a mistake in fence: please report it with the "
	    "output of --dry-run");
	buf_release(&b);
	return -1;
}

/*
 * A path that an option exposes is no question of the user's lists, unless
 * one of them denies it by name; every other layer has to grant it.
 */
static bool
is_exposable(const struct policy *policy, enum fs_op op, const char *path,
    struct verdict *v)
{
	for (const struct policy *p = policy; p != NULL; p = p->also) {
		struct policy alone = *p;

		alone.also = NULL;
		decide_fs(&alone, op, path, v);
		if (v->action == ACTION_DENY && (p != policy ||
		    (v->rule.id != RULE_NO_ENTRY && v->rule.id != RULE_KEY)))
			return false;
	}
	return true;
}

static bool
is_allowed(const struct policy *p, const struct jail_mount *m, enum fs_op op,
    struct verdict *v)
{
	const struct rule *r = m->reason;

	if (r != NULL && r->id == RULE_OPTION)
		return is_exposable(p, op, m->path, v);
	if (r != NULL && r->key == KEY_OF(net.allow_unix_sockets)) {
		decide_unix(p, m->path, v);
		return v->action == ACTION_ALLOW;
	}
	decide_fs(p, op, m->path, v);
	return v->action == ACTION_ALLOW;
}

/* ---- grants ---- */

/* Does the mount show something of the host's that was hidden around it? */
static bool
is_shown(const struct mounts *mounts, size_t i)
{
	const struct jail_mount *m = &mounts->list.v[i];

	return m->kind == MOUNT_RO &&
	    mounts_hide(mounts, mounts_above(mounts, m->path), m->path);
}

static int
judge_grant(const struct policy *p, const struct mounts *mounts, size_t i,
    struct err *e)
{
	const struct jail_mount *m = &mounts->list.v[i];
	struct verdict v;

	if (m->kind == MOUNT_RW && !is_allowed(p, m, FS_WRITE, &v))
		return complain("makes writable", m->path, &v, e);
	if (is_shown(mounts, i) && !is_allowed(p, m, m->is_unlisted ?
	    FS_READ : FS_LIST, &v))
		return complain("shows", m->path, &v, e);
	return 0;
}

/* ---- folders of the jail's own ---- */

static bool
is_shadow(const struct facts *facts, const char *path)
{
	for (size_t i = 0; i < facts->shadows.n; i++)
		if (strcmp(facts->shadows.v[i].path, path) == 0)
			return true;
	return false;
}

/* A granted file of the agent's, mounted upon a name in its folder? */
static bool
is_beside(const struct policy *p, const struct facts *facts,
    const struct jail_mount *m)
{
	size_t n = path_dir_len(m->path);
	struct verdict v;

	if (strcmp(path_name(m->path), path_name(m->source)) != 0)
		return false;
	for (size_t i = 0; i < facts->shadows.n; i++) {
		const char *path = facts->shadows.v[i].path;

		if (strlen(path) == n && strncmp(path, m->path, n) == 0 &&
		    path_dir_len(m->source) == path_dir_len(path) &&
		    strncmp(m->source, path, path_dir_len(path)) == 0) {
			decide_fs(p, FS_WRITE, m->source, &v);
			return v.action == ACTION_ALLOW;
		}
	}
	return false;
}

/*
 * Only an agent's folder is replaced, only by one of fence's store, and only
 * where the policy grants it.
 */
static int
judge_other(const struct policy *p, const struct facts *facts,
    const struct jail_mount *m, struct err *e)
{
	struct verdict v;

	if (m->kind != MOUNT_OTHER && m->source == NULL)
		return 0;
	if (m->kind != MOUNT_OTHER || m->source == NULL ||
	    facts->store == NULL || (!is_beside(p, facts, m) &&
	    (!str_path_below(m->source, facts->store) ||
	    !is_shadow(facts, m->path)))) {
		err_set(e, ERR_JAIL, "the plan of this run puts another "
		    "folder at '%s'", m->path);
		err_hint(e, "this is a mistake in fence: please report it with "
		    "the output of --dry-run");
		return -1;
	}
	if (!is_allowed(p, m, FS_WRITE, &v))
		return complain("makes writable", m->path, &v, e);
	if (!is_allowed(p, m, FS_READ, &v))
		return complain("shows", m->path, &v, e);
	return 0;
}

/* The host's guarded name lies below one, where the decider says so. */
static int
judge_shadows(const struct policy *p, const struct mounts *mounts,
    struct err *e)
{
	const struct guard_places *l = p->places;

	for (size_t i = 0; l != NULL && i < l->nshadows; i++) {
		const char *path = l->shadows[i].path;
		struct verdict v = { .rule.id = RULE_GUARD };

		if (mounts->list.v[mounts_over(mounts, path)].kind !=
		    MOUNT_OTHER)
			return complain("leaves the host's", path, &v, e);
	}
	return 0;
}

/* ---- denials ---- */

/* Is what the policy denies there also denied by the mounts? */
static int
judge_denial(const struct policy *p, const struct mounts *mounts,
    const struct mount_fact *f, struct err *e)
{
	const char *path = f->node.real;
	size_t at = mounts_over(mounts, path);
	struct verdict v;

	if (mounts_is_useless(f))
		return 0;
	decide_fs(p, FS_READ, path, &v);
	if (f->kind == FACT_DENY_READ && v.action == ACTION_DENY &&
	    !mounts_hide(mounts, at, path))
		return complain("does not hide", path, &v, e);
	decide_fs(p, FS_WRITE, path, &v);
	if (v.action == ACTION_DENY && (mounts->list.v[at].kind == MOUNT_RW ||
	    mounts->list.v[at].kind == MOUNT_OTHER))
		return complain("leaves writable", path, &v, e);
	return 0;
}

int
plan_judge(const struct policy *p, const struct facts *facts,
    const struct mounts *mounts, struct err *e)
{
	for (size_t i = MOUNTS_BASE; i < mounts->list.n; i++)
		if (judge_grant(p, mounts, i, e) != 0 ||
		    judge_other(p, facts, &mounts->list.v[i], e) != 0)
			return -1;
	if (judge_shadows(p, mounts, e) != 0)
		return -1;
	for (size_t i = 0; i < facts->n; i++) {
		const struct mount_fact *f = &facts->v[i];

		if ((f->kind == FACT_DENY_READ || f->kind == FACT_DENY_WRITE) &&
		    judge_denial(p, mounts, f, e) != 0)
			return -1;
	}
	return 0;
}
