/*
 * Which grants hold.  A path is granted where it really leads, and there every
 * layer has to agree, guarded names included: what the decider does not give
 * is no fact.
 */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/plan/facts_parts.h"
#include "platform/base/buf.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/links.h"
#include "platform/pause.h"
#include "policy/decide.h"
#include "policy/keys.h"

static bool
is_grant(const struct mount_fact *f)
{
	return f->layer != NULL && (f->kind == FACT_ALLOW_WRITE ||
	    f->kind == FACT_ALLOW_READ || f->kind == FACT_ALLOW_EXECUTE);
}

/* ---- symlinks ---- */

enum { TENDED_MAX = 512 };	/* more are not looked for links in */

/* A link that a repository may have brought, or a run have made. */
struct shipped {
	const struct gather	*g;
	const char		*at;	/* the first one, or NULL */
};

/* What the user's own policy makes writable, or the workspace. */
static bool
is_tended(const struct gather *g, const char *path)
{
	if (str_path_below(path, g->rq->policy->workspace))
		return true;
	for (size_t i = 0; i < g->tended.n; i++)
		if (str_path_below(path, g->tended.v[i]))
			return true;
	return false;
}

static void
see_link(const char *at, const char *text, void *arg)
{
	struct shipped *s = arg;

	(void)text;
	if (s->at == NULL && is_tended(s->g, at))
		s->at = at;
}

const char *
grants_link(const struct gather *g, const char *path, const char *real)
{
	struct shipped s = { .g = g };
	const char *leads = links_on_way(g->arena, path, see_link, &s);

	/* It led elsewhere a moment ago: a process changes links there. */
	if (s.at == NULL && (leads == NULL || strcmp(leads, real) != 0))
		return path;
	return s.at;
}

static bool
is_new_tended(const struct gather *g, const struct mount_fact *f)
{
	if (f->kind != FACT_ALLOW_WRITE || f->is_exposed ||
	    f->layer != g->rq->policy || f->node.kind != TREE_DIR)
		return false;
	/* Of "/": whatever a link leads to is granted as well. */
	if (f->node.real[1] == '\0')
		return false;
	for (size_t i = 0; i < g->tended.n; i++)
		if (strcmp(g->tended.v[i], f->node.real) == 0)
			return false;
	return strcmp(f->node.path, f->node.real) == 0 ||
	    grants_link(g, f->node.path, f->node.real) == NULL;
}

/*
 * The writable trees of the user's policy, where they really lie.  Each may
 * show that a symlink of another entry lies in one, so until none is new.
 */
static void
find_tended(struct gather *g)
{
	size_t was;

	do {
		was = g->tended.n;
		for (size_t i = 0; i < g->facts->n; i++)
			if (is_new_tended(g, &g->facts->v[i]))
				*vec_push(&g->tended) =
				    g->facts->v[i].node.real;
	} while (g->tended.n != was && g->tended.n < TENDED_MAX);
}

static const char *
find_shipped(const struct gather *g, const struct mount_fact *f)
{
	return strcmp(f->node.path, f->node.real) != 0 ?
	    grants_link(g, f->node.path, f->node.real) : NULL;
}

/*
 * Through a link of the user's own an entry means what lies there, as far as
 * no other entry denies it.  Through one that anybody may have made it means
 * nothing there.
 */
static void
add_alias(struct gather *g, const struct mount_fact *f)
{
	bool is_entry = f->rule->id == RULE_ENTRY;

	if (strcmp(f->node.path, f->node.real) == 0 ||
	    find_shipped(g, f) != NULL)
		return;
	policy_alias(f->layer, is_entry ? f->rule->key :
	    KEY_OF(fs.allow_read), is_entry ? f->rule->index :
	    FS_ALIAS_DEFAULT, f->node.real);
}

/* ---- refused ---- */

static void
put_quoted(struct buf *b, const char *path)
{
	buf_putc(b, '\'');
	str_escape(b, path, strlen(path), '\'');
	buf_putc(b, '\'');
}

/* "filesystem.denyRead[0] "~/.ssh" f:3:5" or "a guarded name" */
static void
put_denial(struct buf *b, const struct verdict *v)
{
	if (v->rule.id == RULE_ENTRY) {
		buf_puts(b, "denied by ");
		rule_put_whole(b, &v->rule);
	} else {
		buf_puts(b, v->reason);
	}
}

/* Lines to the user say what was asked for, what it means, and who denies. */
static void
notice_refusal(struct gather *g, const struct mount_fact *f,
    const struct verdict *v)
{
	bool is_there = strcmp(f->node.path, f->node.real) == 0;
	struct buf b;

	buf_init(&b, 0);
	rule_put_whole(&b, f->rule);
	buf_puts(&b, f->is_glob ? " does not grant " : " grants nothing: ");
	put_quoted(&b, f->node.path);
	if (f->is_glob)
		buf_putc(&b, ':');
	if (!is_there) {
		buf_puts(&b, f->is_glob ? " it leads to " : " leads to ");
		put_quoted(&b, f->node.real);
		buf_puts(&b, ", ");
	} else {
		buf_puts(&b, f->is_glob ? " " : " is ");
	}
	put_denial(&b, v);
	g->rq->notice(b.data, g->rq->arg);
	buf_release(&b);
}

static int
refuse_link(const struct mount_fact *f, const char *link, struct err *e)
{
	err_set(e, ERR_POLICY, "'%s' leads through the symlink '%s' to '%s'",
	    f->node.path, link, f->node.real);
	err_key(e, "%s", keys_name(f->rule->key));
	err_where(e, f->rule->at.file, f->rule->at.line, f->rule->at.col);
	err_hint(e, "a repository or a command could have made it: name '%s' "
	    "itself", f->node.real);
	return -1;
}

static int
refuse_option(const struct mount_fact *f, const struct verdict *v,
    struct err *e)
{
	struct buf b;

	buf_init(&b, 0);
	put_denial(&b, v);
	err_set(e, ERR_POLICY, "'%s' cannot be granted: %s", f->node.path,
	    b.data);
	err_key(e, f->rule->key == KEY_OF(fs.allow_write) ? "--write" :
	    "--read");
	buf_release(&b);
	return -1;
}

/*
 * A grant that the user wrote is not passed over in silence: an option, or a
 * literal entry through a link that somebody else may have made, ends the
 * start; a glob's match through such a link, and what a guard keeps from a
 * literal entry, is told.  Another entry's denial is what the user wrote, too.
 */
static int
refuse(struct gather *g, const struct mount_fact *f, const struct verdict *v,
    struct err *e)
{
	const char *link = find_shipped(g, f);
	bool is_kept = v->rule.id == RULE_GUARD || v->rule.id == RULE_OWN;

	if (f->layer != g->rq->policy || f->rule->id != RULE_ENTRY)
		return 0;
	if (f->rule->at.kind == ORIGIN_BUILT_IN) {
		if (is_kept && strcmp(f->node.real,
		    g->rq->policy->workspace) == 0)
			notice_refusal(g, f, v);
		return 0;
	}
	if (link != NULL && !f->is_glob)
		return refuse_link(f, link, e);
	if (f->rule->at.kind == ORIGIN_COMMAND_LINE && !f->is_glob)
		return refuse_option(f, v, e);
	if (f->is_glob ? link != NULL : is_kept ||
	    strcmp(f->node.path, f->node.real) != 0)
		notice_refusal(g, f, v);
	return 0;
}

/* ---- all ---- */

static bool
is_given(const struct gather *g, const struct mount_fact *f,
    struct verdict *v)
{
	decide_fs(g->rq->policy, f->kind == FACT_ALLOW_WRITE ? FS_WRITE :
	    FS_READ, f->node.real, v);
	/* For tests: the planner forgets to ask, and the check that follows
	 * it (plan_judge.c) has to notice. */
	return v->action == ACTION_ALLOW || pretend_lacks("nojudge");
}

/* Every layer has to let a folder be listed. */
static bool
is_unlisted(const struct gather *g, const struct mount_fact *f)
{
	struct verdict v;

	if (f->kind != FACT_ALLOW_READ || !decide_may_unlist(g->rq->policy))
		return false;
	decide_fs(g->rq->policy, FS_LIST, f->node.real, &v);
	return v.action == ACTION_DENY;
}

/* What one layer lets write and another does not is there to be read. */
static bool
is_readable_still(const struct gather *g, const struct mount_fact *f)
{
	struct verdict v;

	if (f->kind != FACT_ALLOW_WRITE)
		return false;
	decide_fs(g->rq->policy, FS_READ, f->node.real, &v);
	return v.action == ACTION_ALLOW;
}

static void
find_roots(struct gather *g)
{
	g->roots.n = 0;
	for (size_t i = 0; i < g->facts->n; i++) {
		const struct mount_fact *f = &g->facts->v[i];

		if (f->kind == FACT_ALLOW_WRITE && f->node.kind == TREE_DIR)
			*vec_push(&g->roots) = f->node.real;
	}
}

int
grants_settle(struct gather *g, struct err *e)
{
	struct facts *facts = g->facts;
	struct verdict v;
	size_t k = 0;
	int rc = 0;

	find_tended(g);
	for (size_t i = 0; i < facts->n; i++)
		if (is_grant(&facts->v[i]) && !facts->v[i].is_settled)
			add_alias(g, &facts->v[i]);
	for (size_t i = 0; i < facts->n && rc == 0; i++) {
		struct mount_fact *f = &facts->v[i];

		f->is_settled = true;
		if (is_grant(f) && !is_given(g, f, &v)) {
			rc = refuse(g, f, &v, e);
			if (!is_readable_still(g, f))
				continue;
			f->kind = FACT_ALLOW_READ;
		}
		if (is_grant(f) && is_unlisted(g, f))
			f->kind = FACT_ALLOW_EXECUTE;
		facts->v[k++] = *f;
	}
	facts->n = k;
	find_roots(g);
	return rc;
}

static void
add_in_all(struct gather *g, const struct mount_fact *all, const char *path)
{
	struct mount_fact f = *all;
	struct verdict v;
	struct stat st;

	if (path == NULL)
		return;
	gather_look(g, path, &f.node);
	if (f.node.kind != TREE_DIR || f.node.real[1] == '\0' ||
	    !decide_is_in_all(f.node.real))
		return;
	f.node.path = f.node.real;
	/* Root has no power over what is another's: facts_check_roots(). */
	if (is_given(g, &f, &v) && (getuid() != 0 ||
	    (stat(f.node.real, &st) == 0 && st.st_uid == 0)))
		*vec_push(g->facts) = f;
}

void
grants_in_all(struct gather *g)
{
	const struct policy *p = g->rq->policy;

	for (size_t i = 0, n = g->facts->n; i < n; i++) {
		const struct mount_fact f = g->facts->v[i];

		if (f.kind != FACT_ALLOW_WRITE || f.node.real[1] != '\0')
			continue;
		add_in_all(g, &f, p->home);
		add_in_all(g, &f, p->other_home);
		add_in_all(g, &f, p->workspace);
		find_roots(g);
		return;
	}
}

void
grants_show(struct gather *g)
{
	for (size_t i = 0, n = g->facts->n; i < n; i++) {
		const struct mount_fact f = g->facts->v[i];

		if (is_grant(&f) && strcmp(f.node.path, f.node.real) != 0)
			links_on_way(g->arena, f.node.path, gather_link, g);
	}
}
