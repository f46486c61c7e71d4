/*
 * Denials at second mounts.  A hidden file is hidden at every mount that shows
 * it, and a protected file is read-only at every mount that a grant is around:
 * a folder that the host has mounted at a second place (a bind mount, /sysroot, the top of a
 * btrfs file system) has two names for the same file.
 */
#include <errno.h>
#include <string.h>

#include "launcher/plan/facts_parts.h"
#include "launcher/plan/mounts.h"
#include "platform/base/str.h"

/* A denial, and where it lies in its file system. */
struct hidden {
	const struct mount	*mount;
	const char		*at;	/* as seen from the file system's root */
};

static const char *
without_slash(const char *dir)
{
	return strcmp(dir, "/") == 0 ? "" : dir;
}

/* Read-only: a folder that is the jail's own elsewhere is the host's here. */
static void
close_off(struct gather *g, const struct mount_fact *f,
    const struct tree_node *node)
{
	const char *words = f->rule->id == RULE_JAIL ? f->rule->text :
	    "a guarded name, mounted a second time";

	gather_fact(g, FACT_DENY_WRITE, node, gather_words(g, words));
	policy_own(g->rq->policy, node->real, words);
}

static void
hide(struct gather *g, const struct mount_fact *f, const char *path)
{
	const struct rule *rule = f->rule;
	bool is_write = f->kind == FACT_DENY_WRITE || f->kind == FACT_OTHER;
	struct tree_node node;

	if (is_write && !gather_is_granted(g, path))
		return;
	gather_look(g, path, &node);
	if (node.kind == TREE_MISSING || strcmp(node.real, path) != 0)
		return;
	if (is_write && (rule->id != RULE_ENTRY || f->layer == NULL)) {
		close_off(g, f, &node);
		return;
	}
	if (rule->id != RULE_ENTRY || f->layer == NULL) {
		gather_fact(g, f->kind, &node, rule);
		policy_hide(g->rq->policy, path, rule->text);
		return;
	}
	g->layer = f->layer;
	policy_alias(g->layer, rule->key, rule->index, path);
	gather_ruled(g, f->kind, &node, rule, f->is_glob);
}

/* Where another mount of the file system shows it, or NULL. */
static const char *
shown_at(struct gather *g, const struct hidden *h, const struct mount *m)
{
	const char *root = without_slash(m->root), *path;

	if (m == h->mount || strcmp(m->dev, h->mount->dev) != 0 ||
	    m->root[0] != '/')
		return NULL;
	if (str_path_below(h->at, m->root))
		path = arena_printf(g->arena, "%s%s", without_slash(m->path),
		    h->at + strlen(root));
	else if (str_path_below(m->root, h->at))
		path = arena_strdup(g->arena, m->path);
	else
		return NULL;
	/* Something else may be mounted over it. */
	return path[0] != '\0' && mount_table_of(&g->mounts, path) == m ?
	    path : NULL;
}

static bool
is_private(const char *path)
{
	return str_path_below(path, "/proc") || str_path_below(path, "/dev");
}

static void
look_around(struct gather *g, const struct mount_fact *f)
{
	const char *path = f->node.real;
	struct hidden h = { .mount = mount_table_of(&g->mounts, path) };

	if (h.mount == NULL || h.mount->root[0] != '/' || is_private(path))
		return;
	h.at = arena_printf(g->arena, "%s%s", without_slash(h.mount->root),
	    path + strlen(without_slash(h.mount->path)));
	for (size_t i = 0; i < g->mounts.n; i++) {
		const char *other = shown_at(g, &h, &g->mounts.v[i]);

		if (other != NULL && !str_path_below(other, path) &&
		    !is_private(other))
			hide(g, f, other);
	}
}

/* Two mounts of one file system: nothing to look for where there are none. */
static bool
is_mounted_again(const struct mount_table *t)
{
	for (size_t i = 0; i < t->n; i++)
		for (size_t k = 0; k < i; k++)
			if (!t->v[i].is_kernel && strcmp(t->v[i].dev,
			    t->v[k].dev) == 0)
				return true;
	return false;
}

void
again_facts(struct gather *g)
{
	size_t n = g->facts->n;

	if (g->mounts.n == 0 && mount_table_read(&g->mounts) != 0) {
		gather_lack(g, errno, "/proc/self/mountinfo");
		return;
	}
	if (!is_mounted_again(&g->mounts))
		return;
	for (; g->nagain < n; g->nagain++) {
		struct mount_fact f = g->facts->v[g->nagain];

		if (f.kind == FACT_DENY_READ || f.kind == FACT_SOCKET ||
		    f.kind == FACT_DENY_WRITE || f.kind == FACT_OTHER)
			look_around(g, &f);
	}
	g->nagain = g->facts->n;
}
