/*
 * Folders that may not be looked at.  A run may take the rights from a folder
 * of the user's, so that the next start finds nothing in it, and give them
 * back when that run has begun.  In a writable tree such a folder is hidden:
 * what cannot be judged cannot be reached either.
 */
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/plan/facts_parts.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"

/* The first folder on the way that may not be searched, or read at its end. */
void
gather_closed(const char *path, void *arg)
{
	struct gather *g = arg;

	*vec_push(&g->closed) = arena_strdup(g->arena, path);
}

static const char *
find_closed(struct gather *g, const char *path)
{
	for (const char *s = path; s != NULL && *s != '\0';) {
		const char *part;

		s = strchr(s + 1, '/');
		part = s == NULL ? path : arena_strndup(g->arena, path,
		    (size_t)(s - path));
		if (faccessat(AT_FDCWD, part, s == NULL ? R_OK | X_OK : X_OK,
		    AT_EACCESS) != 0)
			return errno == EACCES ? part : NULL;
	}
	return NULL;
}

static bool
is_ours(const char *path)
{
	struct stat st;

	/* Those of others the command cannot open. */
	return stat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
	    st.st_uid == geteuid();
}

static int
refuse(const char *path, struct err *e)
{
	err_set(e, ERR_POLICY, "'%s' cannot be looked at, and the command "
	    "could open it", path);
	err_hint(e, "chmod u+rwx '%s'", path);
	return -1;
}

static int
close_one(struct gather *g, const char *path, struct err *e)
{
	static const struct rule rule = { .id = RULE_JAIL,
	    .text = "cannot be looked at" };
	const char *part = find_closed(g, path);
	struct tree_node node;

	if (part == NULL || !is_ours(part))
		return 0;
	/* By its own name it can be found: what is around it is open. */
	if (tree_look(g->arena, part, &node) != 0 ||
	    node.kind != TREE_DIR || !gather_is_granted(g, node.real))
		return 0;
	if (!gather_in_grant(g, node.real))
		return refuse(node.real, e);
	for (size_t i = 0; i < g->facts->n; i++)
		if (g->facts->v[i].rule == &rule &&
		    strcmp(g->facts->v[i].node.real, node.real) == 0)
			return 0;
	gather_fact(g, FACT_DENY_READ, &node, &rule);
	policy_hide(g->rq->policy, node.real, rule.text);
	g->rq->notice(arena_printf(g->arena, "'%s' cannot be looked at, so it "
	    "is hidden: chmod u+rwx it to see it inside", node.real),
	    g->rq->arg);
	return 0;
}

int
closed_facts(struct gather *g, struct err *e)
{
	for (size_t i = 0; i < g->roots.n; i++)
		if (close_one(g, g->roots.v[i], e) != 0)
			return -1;
	for (size_t i = 0; i < g->closed.n; i++)
		if (close_one(g, g->closed.v[i], e) != 0)
			return -1;
	return 0;
}
