/*
 * Guarded names (policy/guard.h) on this disk: those that exist become
 * read-only, those that do not are watched for.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "launcher/plan/facts_look.h"
#include "platform/base/path.h"
#include "platform/fd.h"
#include "policy/decide.h"

static const struct rule guarded = { .id = RULE_GUARD };

/* From here on the decider knows of guarded names. */
static void
give_places(struct gather *g)
{
	struct guard_places *places = arena_alloc(g->arena, sizeof *places);

	places->n = g->guarded.n;
	places->v = arena_alloc(g->arena, (places->n + 1) *
	    sizeof *places->v);
	if (places->n > 0)
		memcpy(places->v, g->guarded.v, places->n *
		    sizeof *places->v);
	places->nshadows = g->shadowed.n;
	places->shadows = arena_alloc(g->arena, (g->shadowed.n + 1) *
	    sizeof *places->shadows);
	if (g->shadowed.n > 0)
		memcpy(places->shadows, g->shadowed.v, g->shadowed.n *
		    sizeof *places->shadows);
	for (struct policy *p = g->rq->policy; p != NULL; p = p->also)
		p->places = places;
}

/* A guarded name that is a symlink, or lies below one, could be pointed
 * elsewhere or written through: guards the link and its target. */
static void
guard_link(struct gather *g, const char *path)
{
	struct tree_node node;

	gather_look(g, path, &node);
	if (node.kind != TREE_MISSING && gather_is_granted(g, node.real)) {
		guard_add_at(g, node.real, GUARD_ITSELF);
		gather_fact(g, FACT_DENY_WRITE, &node, &guarded);
	} else
		gather_hold_links(g, path);
	if (node.kind == TREE_MISSING)
		path = gather_target(g, path);
	if (node.kind == TREE_MISSING && path != NULL &&
	    gather_in_grant(g, path)) {
		guard_add_at(g, path, GUARD_ITSELF);
		gather_guard(g, GUARD_ABSENT, path, NULL);
	}
}

static void
guard_absent(struct gather *g, const char *path, bool is_plain)
{
	struct tree_node node = { .path = path, .real = path };
	const char *real;

	if (!is_plain)
		gather_hold_links(g, path);
	gather_guard(g, GUARD_ABSENT, path, is_plain ? &node : NULL);
	real = g->facts->guards.v[g->facts->guards.n - 1].path;
	if (strcmp(real, path) != 0)
		guard_add_at(g, real, GUARD_ITSELF);
}

/* folder: no symlink itself, and path lies in it. */
static void
guard_name(struct gather *g, struct folder *folder, const char *path,
    const char *name)
{
	struct tree_node node = { .path = path, .real = path };
	struct verdict v;
	struct stat st;

	/* Denied names, too: a glob does not hold a name that is missing. */
	if (decide_guard_may_open(g->rq->policy, path)) {
		decide_fs(g->rq->policy, FS_WRITE, path, &v);
		if (v.action == ACTION_ALLOW)
			return;
	}
	switch (look_name(folder, name, &st)) {
	case LOOK_CLOSED:
		gather_closed(path, g);
		return;
	case LOOK_GONE:
		guard_absent(g, path, true);
		return;
	case LOOK_LINK:
		if (fstatat(folder->fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0)
			guard_link(g, path);
		else if (errno == EACCES)
			gather_closed(path, g);
		else
			guard_absent(g, path, false);
		return;
	case LOOK_PLAIN:
		node.kind = S_ISDIR(st.st_mode) ? TREE_DIR : TREE_FILE;
		node.dev = st.st_dev;
		node.ino = st.st_ino;
		gather_fact(g, FACT_DENY_WRITE, &node, &guarded);
		return;
	}
}

/* Of a name with a star, what is there: nobody can wait for the others. */
static void
guard_pattern(struct gather *g, struct folder *folder, const char *pattern,
    const char *name)
{
	DIR *d = gather_in_grant(g, pattern) ? opendir(path_dir(g->arena,
	    pattern)) : NULL;
	const struct dirent *de;

	while (d != NULL && (de = readdir(d)) != NULL)
		if (guard_name_len(path_name(pattern), de->d_name) ==
		    strlen(de->d_name))
			guard_name(g, folder, arena_join(g->arena,
			    path_dir(g->arena, pattern), de->d_name),
			    arena_join(g->arena, path_dir(g->arena, name),
			    de->d_name));
	if (d != NULL)
		closedir(d);
}

static void
guard_below(struct gather *g, const char *root, unsigned place)
{
	auto_fd fd = look_open(g, root);
	struct folder folder = { .fd = fd,
	    .names = gather_listed(g, root),
	    .config = gather_listed(g, arena_join(g->arena, root, ".config")) };

	for (const struct guard_name *n = guarded_names; n->name != NULL &&
	    fd >= 0; n++)
		if ((n->places & place) != 0) {
			const char *path = arena_join(g->arena,
			    root[1] == '\0' ? "" : root, n->name);

			if (strchr(n->name, '*') != NULL)
				guard_pattern(g, &folder, path, n->name);
			else if (place == GUARD_IN_ROOTS ||
			    gather_in_grant(g, path))
				guard_name(g, &folder, path, n->name);
		}
}

static void
guard_git_dir(struct gather *g, const char *dir)
{
	auto_fd fd = look_open(g, dir);
	struct folder folder = { .fd = fd };

	for (const char *const *n = guarded_git_names; *n != NULL && fd >= 0;
	    n++) {
		const char *path = arena_join(g->arena, dir, *n);

		if (gather_is_granted(g, path))
			guard_name(g, &folder, path, *n);
	}
}

static void
guard_itself(struct gather *g, const char *path)
{
	const char *name = path_name(path);
	auto_fd fd = look_open(g, arena_strndup(g->arena, path,
	    (size_t)(name - path)));
	struct folder folder = { .fd = fd };

	if (!gather_is_granted(g, path))
		return;
	if (fd >= 0)
		guard_name(g, &folder, path, name);
	else			/* not even its folder is there */
		gather_guard(g, GUARD_ABSENT, path, NULL);
}

/* A denial of something missing matters where it could be made. */
static void
drop_unreachable(struct gather *g)
{
	struct guard_list *l = &g->facts->guards;
	size_t k = 0;

	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].kind != GUARD_ABSENT ||
		    gather_in_grant(g, l->v[i].path))
			l->v[k++] = l->v[i];
	l->n = k;
}

void
guard_facts(struct gather *g)
{
	drop_unreachable(g);
	guard_places_find(g);
	shadow_facts(g);
	give_places(g);
	for (size_t i = 0, n = g->guarded.n; i < n; i++) {
		const struct guard_at place = g->guarded.v[i], *at = &place;

		if ((at->kind & GUARD_ITSELF) != 0)
			guard_itself(g, at->path);
		else if (at->kind == GUARD_IN_GIT)
			guard_git_dir(g, at->path);
		else
			guard_below(g, at->path, at->kind);
	}
	/* Targets of symlinked names were added meanwhile. */
	give_places(g);
}
