/* Agents' files that a run makes because they are granted and missing. */
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/plan/facts_parts.h"
#include "platform/base/path.h"
#include "platform/base/vec.h"
#include "policy/agents.h"
#include "policy/decide.h"

/* Of the user who runs us: in another's home nothing is left behind. */
static bool
is_own_home(const char *home)
{
	struct stat st;

	return home != NULL && stat(home, &st) == 0 && st.st_uid == geteuid();
}

/* Is it one of them, and nothing there? */
static bool
is_missing(const struct gather *g, const char *path)
{
	const char *home = g->rq->policy->home;
	size_t n = path_dir_len(path);
	struct stat st;

	if (home == NULL || strncmp(path, home, n) != 0 || home[n] != '\0')
		return false;
	for (const struct agent_state *a = agent_states; a->file != NULL; a++)
		if (strcmp(path_name(path), a->file) == 0)
			return lstat(path, &st) != 0 && is_own_home(home);
	return false;
}

bool
state_plan(struct gather *g, const char *path, struct tree_node *ret)
{
	const char *real;

	if (!g->rq->as_if_made || !is_missing(g, path))
		return false;
	real = gather_real(g, path);
	if (grants_link(g, path, real) != NULL)
		return false;
	*ret = (struct tree_node){ .kind = TREE_FILE, .path = path,
	    .real = real };
	*vec_push(&g->facts->missing) = (struct missing_dir){ .path = real,
	    .is_file = true };
	return true;
}

/* A pattern such as "~/.claude*" finds only what is there. */
void
state_grants(struct gather *g)
{
	const char *home = g->rq->policy->home;

	for (const struct agent_state *a = agent_states; a->file != NULL &&
	    home != NULL && g->rq->as_if_made; a++) {
		const char *path = arena_join(g->arena, home, a->file);
		struct tree_node node;
		struct verdict v;
		struct rule *rule;

		decide_fs(g->rq->policy, FS_WRITE, path, &v);
		if (v.action != ACTION_ALLOW || v.rule.id != RULE_ENTRY ||
		    gather_in_grant(g, path) || !state_plan(g, path, &node))
			continue;
		rule = arena_alloc(g->arena, sizeof *rule);
		*rule = v.rule;
		g->layer = g->rq->policy;
		gather_ruled(g, FACT_ALLOW_WRITE, &node, rule, true);
	}
}

/* Is the file one that may be written, planned or there? */
static bool
is_granted(struct gather *g, const char *path)
{
	for (size_t i = 0; i < g->facts->n; i++) {
		const struct mount_fact *f = &g->facts->v[i];
		struct verdict v;

		if (f->kind != FACT_ALLOW_WRITE ||
		    f->node.kind != TREE_FILE ||
		    strcmp(f->node.real, path) != 0)
			continue;
		decide_fs(g->rq->policy, FS_WRITE, path, &v);
		return v.action == ACTION_ALLOW;
	}
	return false;
}

const struct agent_state *
state_beside(struct gather *g, const char *folder)
{
	const char *home = g->rq->policy->home;

	for (const struct agent_state *a = agent_states; a->file != NULL;
	    a++)
		if (strcmp(a->folder, folder) == 0 &&
		    is_granted(g, arena_join(g->arena, home, a->file)))
			return a;
	return NULL;
}
