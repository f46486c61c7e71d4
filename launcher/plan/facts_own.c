/*
 * Files of fence's own: policies in force, the record, state, programs.  The
 * command may never write them, and what is missing it may not make.
 */
#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "launcher/plan/facts_parts.h"
#include "launcher/record/kept.h"
#include "platform/base/vec.h"
#include "policy/pattern.h"

/* What was missing may have been made since. */
static const struct tree_node *
look(struct gather *g, size_t i)
{
	if (g->own[i].kind == TREE_MISSING)
		gather_look(g, g->rq->own[i].path, &g->own[i]);
	return &g->own[i];
}

/* No grant opens it. */
static void
know(struct gather *g, size_t i)
{
	const struct tree_node *node = look(g, i);

	if (node->kind != TREE_MISSING)
		policy_own(g->rq->policy, node->real, g->rq->own[i].what);
}

/* Before grants are judged. */
void
own_know(struct gather *g)
{
	g->own = arena_alloc(g->arena, (g->rq->nown + 1) * sizeof *g->own);
	for (size_t i = 0; i < g->rq->nown; i++) {
		g->own[i] = (struct tree_node){ .kind = TREE_MISSING };
		know(g, i);
	}
	if (getuid() == 0)
		secret_facts(g);
}

/* Before anything is guarded: what is missing then may not be made. */
static void
list_own(struct gather *g, size_t i)
{
	const struct own_file *own = &g->rq->own[i];
	const char *full = pattern_clean_path(g->arena, g->rq->cwd,
	    own->path);

	if (!own->must_exist || full == NULL ||
	    look(g, i)->kind != TREE_MISSING)
		return;
	/* A folder above it may be a symlink into a writable tree. */
	full = gather_target(g, full);
	if (full != NULL && gather_in_grant(g, full))
		*vec_push(&g->facts->missing) = (struct missing_dir){
		    .path = full, .what = own->what };
}

/*
 * It was opened before anything was judged, and will be emptied: a folder on
 * the way may have been a symlink at that moment.
 */
static bool
was_elsewhere(const struct own_file *own, const struct tree_node *node)
{
	return own->opened != NULL && own->opened[0] != '\0' &&
	    (node->kind == TREE_MISSING ||
	    strcmp(own->opened, node->real) != 0);
}

/*
 * The policy in force, the record, our programs: told as fence's own when
 * refused.  A name that is a symlink in a writable tree cannot be kept.
 */
static int
add_own(struct gather *g, size_t i, struct err *e)
{
	const char *path = g->rq->own[i].path, *what = g->rq->own[i].what;
	const char *full = pattern_clean_path(g->arena, g->rq->cwd, path);
	const struct tree_node *node = look(g, i);

	if (was_elsewhere(&g->rq->own[i], node)) {
		err_set(e, ERR_POLICY, "'%s' (%s) was exchanged while it was "
		    "opened", path, what);
		err_hint(e, "what was opened is '%s'", g->rq->own[i].opened);
		return -1;
	}
	if (node->kind == TREE_MISSING)
		return 0;
	if (full != NULL && strcmp(full, node->real) != 0 &&
	    gather_in_grant(g, full)) {
		err_set(e, ERR_POLICY, "'%s' (%s) is a symlink inside a "
		    "writable tree", path, what);
		err_hint(e, "the command could point it elsewhere: use '%s'",
		    node->real);
		return -1;
	}
	gather_fact(g, FACT_DENY_WRITE, node, gather_words(g, what));
	return 0;
}

void
own_list(struct gather *g)
{
	for (size_t i = 0; i < g->rq->nown; i++)
		list_own(g, i);
}

/*
 * Records hold the commands of other runs and their refusals: no jail may read
 * them.  Inside another fence the outer one hides them.
 */
static void
hide_records(struct gather *g)
{
	static const char words[] = "the records of runs";
	struct tree_node node;

	if (g->rq->state == NULL)
		return;
	gather_look(g, arena_printf(g->arena, "%s/" KEPT_FOLDER,
	    g->rq->state), &node);
	if (node.kind == TREE_MISSING)
		return;
	gather_fact(g, FACT_DENY_READ, &node, gather_words(g, words));
	policy_hide(g->rq->policy, node.real, words);
}

int
own_facts(struct gather *g, struct err *e)
{
	hide_records(g);
	for (size_t i = 0; i < g->rq->nown; i++)
		if (add_own(g, i, e) != 0)
			return -1;
	return 0;
}
