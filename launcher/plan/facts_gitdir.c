/*
 * The git directory of a workspace that lies elsewhere (gitdir.h): git cannot
 * work without writing there.  It is granted as the workspace is: where that
 * may be written, and by layers whose own lists say nothing about it.  A
 * ceiling has to list it.  Who begins in a part of a bare repository gets no
 * more of it: what makes a folder one, any run may have put there.
 */
#include <string.h>

#include "launcher/plan/facts_parts.h"
#include "launcher/plan/gitdir.h"
#include "platform/base/buf.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "policy/decide.h"

static const struct rule needed = { .id = RULE_JAIL,
    .text = "the workspace's git directory" };

/* Places of the jail's own (/tmp) hold no file of the host's. */
static bool
may(const struct policy *p, enum fs_op op, const char *path)
{
	struct verdict v;

	decide_fs(p, op, path, &v);
	return v.action == ACTION_ALLOW && v.rule.id != RULE_PLACE;
}

/* "denyWrite": [".git"] means the repository, wherever that is kept. */
static bool
may_write(struct gather *g, const struct policy *p)
{
	return may(p, FS_WRITE, p->workspace) && may(p, FS_WRITE,
	    arena_join(g->arena, p->workspace, ".git"));
}

/* A home, or a folder above one: what git wrote there would be obeyed. */
static bool
is_above_home(const struct gather *g, const char *path)
{
	const struct policy *p = g->rq->policy;

	return strcmp(path, "/") == 0 ||
	    (p->home != NULL && str_path_below(p->home, path)) ||
	    (p->other_home != NULL && str_path_below(p->other_home, path));
}

static bool
is_of_home(struct gather *g, const struct gitdir *d)
{
	return is_above_home(g, d->top) || is_above_home(g, d->common) ||
	    (strcmp(path_name(d->common), ".git") == 0 &&
	    is_above_home(g, path_dir(g->arena, d->common)));
}

/* ---- what is not granted ---- */

static void
put_quoted(struct buf *b, const char *before, const char *path,
    const char *after)
{
	buf_puts(b, before);
	buf_putc(b, '\'');
	str_escape(b, path, strlen(path), '\'');
	buf_putc(b, '\'');
	buf_puts(b, after);
}

static void
tell_strange(struct gather *g, const struct gitdir *d)
{
	struct buf b;

	buf_init(&b, 0);
	put_quoted(&b, "", arena_join(g->arena, d->top, ".git"), " leads to ");
	put_quoted(&b, "", d->dir, ", which does not name this work tree: "
	    "git cannot write there");
	if (d->kind == GITDIR_UNNAMED) {
		put_quoted(&b, "; if it is yours, name it once: git -C ",
		    d->top, "");
		put_quoted(&b, " config core.worktree ", d->top, "");
	}
	g->rq->notice(b.data, g->rq->arg);
	buf_release(&b);
}

static void
tell_unseen(struct gather *g, const char *top)
{
	struct buf b;

	buf_init(&b, 0);
	put_quoted(&b, "the work tree ", top, " around the workspace cannot "
	    "be read inside, so git does not work there (-r ");
	put_quoted(&b, "", top, ")");
	g->rq->notice(b.data, g->rq->arg);
	buf_release(&b);
}

/*
 * Where git saw an empty work tree, a commit would remove what is in it.  What
 * is private inside shows of the host's what an entry names.
 */
static bool
is_seen(const struct gather *g, const char *top)
{
	struct verdict v;

	if (str_path_below(top, g->rq->policy->workspace))
		return true;
	decide_fs(g->rq->policy, FS_READ, top, &v);
	return v.action == ACTION_ALLOW && (v.rule.id == RULE_ENTRY ||
	    !(str_path_below(top, "/tmp") || str_path_below(top, "/run") ||
	    str_path_below(top, "/dev/shm")));
}

/* ---- what is ---- */

static void
grant(struct gather *g, const struct gitdir *d)
{
	struct tree_node node;

	gather_look(g, d->common, &node);
	if (node.kind != TREE_DIR || strcmp(node.real, d->common) != 0)
		return;
	for (struct policy *p = g->rq->policy; p != NULL; p = p->also)
		if (!p->is_ceiling)
			policy_git(p, d->common, d->top);
	gather_fact(g, FACT_ALLOW_WRITE, &node, &needed);
	g->facts->v[g->facts->n - 1].layer = g->rq->policy;
}

void
gitdir_grant(struct gather *g)
{
	const struct policy *p = g->rq->policy;
	struct gitdir d;

	if (!str_path_below(g->rq->cwd, p->workspace) || !may_write(g, p))
		return;
	gitdir_find(g->arena, g->rq->cwd, &d);
	if (d.kind == GITDIR_FOUND || d.kind == GITDIR_BARE) {
		g->git_dir = d.dir;
		g->facts->git_dir = d.common;
		if (may(p, FS_WRITE, d.common) || d.kind == GITDIR_BARE)
			return;
		if (!is_seen(g, d.top))
			tell_unseen(g, d.top);
		else if (!is_of_home(g, &d))
			grant(g, &d);
	} else if (d.kind != GITDIR_NONE && !may(p, FS_WRITE, d.dir)) {
		tell_strange(g, &d);
	}
}
