/*
 * Where names are guarded (policy/guard.h) on this disk: the writable folders,
 * the homes, the git directories, and what symlinks of guarded names lead to.
 */
#include <dirent.h>
#include <string.h>
#include <sys/stat.h>

#include "launcher/plan/facts_look.h"
#include "platform/base/path.h"
#include "platform/base/vec.h"
#include "platform/fd.h"
#include "policy/decide.h"

enum { ROOTS_AROUND = 32 };	/* of which the folders above are looked at */

/* ---- the walk ---- */

/* The walk ends at a .git; sockets and other candidates are noted. */
static bool
is_repository(const struct tree_entry *entry, void *arg)
{
	struct gather *g = arg;

	if (entry->type == TREE_IS_SOCKET)
		*vec_push(&g->facts->sockets) = arena_strdup(g->arena,
		    entry->path);
	else if (guard_may_begin(entry->name) ||
	    strcmp(entry->name, "HEAD") == 0 ||
	    (entry->type == TREE_IS_DIR &&
	    strcmp(entry->name, "objects") == 0))
		*vec_push(&g->deep) = arena_strdup(g->arena, entry->path);
	return strcmp(entry->name, ".git") == 0;
}

static void
want_below(struct gather *g, const char *root, unsigned depth)
{
	gather_want(g, &(struct tree_want){ .root = root,
	    .match = is_repository, .arg = g,
	    .skip = "node_modules", .max_depth = depth });
}

/* The entry that made the folder writable names it. */
static bool
is_named(const struct gather *g, const char *root)
{
	for (size_t i = 0; i < g->facts->n; i++) {
		const struct mount_fact *f = &g->facts->v[i];

		if (f->kind == FACT_ALLOW_WRITE && !f->is_glob &&
		    strcmp(f->node.real, root) == 0)
			return true;
	}
	return false;
}

static bool
is_root(const struct gather *g, const char *folder)
{
	return decide_is_root(g->rq->policy, folder, is_named(g, folder));
}

/* "/", folder by folder: what lies in /proc or /tmp is not granted with it. */
static void
want_all(struct gather *g)
{
	DIR *d = opendir("/");
	struct dirent *entry;
	struct stat st;

	while (d != NULL && (entry = readdir(d)) != NULL) {
		const char *path = arena_join(g->arena, "", entry->d_name);

		if (strcmp(path, "/.") != 0 && strcmp(path, "/..") != 0 &&
		    lstat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
		    decide_is_in_all(path))
			want_below(g, path, GUARD_GIT_DEPTH);
	}
	if (d != NULL)
		closedir(d);
}

/* The workspace also where it is only read: sockets lie there, too. */
void
guard_searches(struct gather *g)
{
	const struct policy *p = g->rq->policy;

	if (gather_grants_all(g))
		want_all(g);
	for (size_t i = 0; i < g->roots.n; i++)
		want_below(g, g->roots.v[i], g->roots.v[i][1] != '\0' &&
		    is_root(g, g->roots.v[i]) ? GUARD_GIT_DEPTH + 1 : 1);
	if (!gather_is_granted(g, p->workspace) &&
	    strcmp(p->workspace, "/") != 0)
		want_below(g, p->workspace, GUARD_GIT_DEPTH + 1);
}

/* ---- places ---- */

void
guard_add_at(struct gather *g, const char *path, unsigned kind)
{
	for (size_t i = 0; i < g->guarded.n; i++)
		if (g->guarded.v[i].kind == kind &&
		    strcmp(g->guarded.v[i].path, path) == 0)
			return;
	guard_place_set(vec_push(&g->guarded), path, kind);
}

/* Guards a name at its real path, and the symlinks on the way to it. */
static void
add_held(struct gather *g, const char *path, unsigned kind)
{
	struct tree_node node;

	gather_look(g, path, &node);
	if (node.kind == TREE_MISSING)
		return;
	if (strcmp(node.path, node.real) != 0) {
		gather_hold_links(g, path);
		/* The link may lead to a folder of which the name is a part. */
		if (node.kind == TREE_DIR)
			return;
	}
	guard_add_at(g, node.real, kind);
}

/* Names of the list below a folder that was found on the walk. */
static void
add_deep(struct gather *g, const char *path)
{
	size_t n = path_dir_len(path);
	const char *dir = arena_strndup(g->arena, path, n);
	const char *first = path + n + 1;
	size_t len = strlen(first);

	for (const struct guard_name *name = guarded_names;
	    name->name != NULL; name++)
		if ((name->places & GUARD_IN_ROOTS) != 0 &&
		    strncmp(name->name, first, len) == 0 &&
		    (name->name[len] == '\0' || name->name[len] == '/'))
			add_held(g, arena_printf(g->arena, "%s/%s", dir,
			    name->name), GUARD_ITSELF |
			    (name->places & GUARD_OURS));
}

static void
add_noted(struct gather *g, const char *path)
{
	const char *name = path_name(path), *dir;

	if (strcmp(name, "HEAD") != 0 && strcmp(name, "objects") != 0) {
		add_deep(g, path);
		return;
	}
	dir = arena_strndup(g->arena, path, (size_t)(name - 1 - path));
	repo_may_be(g, dir);
}

static void
add_link(struct gather *g, const char *path, unsigned kind)
{
	const char *target;

	if (gather_in_grant(g, path) ||
	    (target = gather_target(g, path)) == NULL ||
	    !gather_in_grant(g, target))
		return;
	gather_hold_links(g, path);
	guard_add_at(g, target, GUARD_ITSELF | kind);
}

/* Of a name with a star, what is there. */
static void
add_matches(struct gather *g, const char *pattern)
{
	const char *dir = path_dir(g->arena, pattern);
	const char *real = gather_target(g, dir);
	DIR *d = real != NULL && gather_is_granted(g, real) ? opendir(real) :
	    NULL;
	const struct dirent *de;

	while (d != NULL && (de = readdir(d)) != NULL)
		if (guard_name_len(path_name(pattern), de->d_name) ==
		    strlen(de->d_name))
			add_link(g, arena_join(g->arena, dir, de->d_name), 0);
	if (d != NULL)
		closedir(d);
}

/* Names of the home's that lie in a writable tree, by way of a symlink. */
static void
add_home_links(struct gather *g, const char *home)
{
	auto_fd fd = look_open(g, home);
	struct folder folder = { .fd = fd,
	    .names = gather_listed(g, home),
	    .config = gather_listed(g, arena_join(g->arena, home, ".config")) };
	struct stat st;

	for (const struct guard_name *n = guarded_names; n->name != NULL &&
	    fd >= 0; n++) {
		const char *path;

		if ((n->places & GUARD_IN_HOME) == 0 ||
		    look_name(&folder, n->name, &st) != LOOK_LINK)
			continue;
		path = arena_printf(g->arena, "%s/%s", home, n->name);
		if (strchr(n->name, '*') != NULL)
			add_matches(g, path);
		else
			add_link(g, path, n->places & GUARD_OURS);
	}
}

/* A folder that the run begins in may lie in a guarded one. */
static void
add_around(struct gather *g, const char *root)
{
	bool is_own;

	for (const char *s = strchr(root + 1, '/'); s != NULL;
	    s = strchr(s + 1, '/')) {
		size_t n = guard_match_at(root, (size_t)(s - root),
		    GUARD_IN_ROOTS, false, &is_own);

		if (n != 0)
			guard_add_at(g, arena_strndup(g->arena, root, n),
			    GUARD_ITSELF);
	}
}

static void
add_home(struct gather *g, const char *home)
{
	if (home == NULL)
		return;
	guard_add_at(g, home, GUARD_IN_HOME);
	add_home_links(g, home);
}

void
guard_places_find(struct gather *g)
{
	const struct policy *p = g->rq->policy;

	for (size_t i = 0; i < g->roots.n; i++) {
		if (is_root(g, g->roots.v[i]))
			guard_add_at(g, g->roots.v[i], GUARD_IN_ROOTS);
		add_around(g, g->roots.v[i]);
		if (i < ROOTS_AROUND ||
		    strstr(g->roots.v[i], "/.git/") != NULL)
			repo_around(g, g->roots.v[i]);
	}
	add_home(g, p->home);
	add_home(g, p->other_home);
	for (size_t i = 0; i < g->wants.n; i++) {
		struct tree_want *w = &g->wants.v[i];

		for (size_t k = 0; w->match == is_repository &&
		    k < w->found.n; k++)
			repo_at(g, &w->found.v[k]);
	}
	for (size_t i = 0; i < g->deep.n; i++)
		add_noted(g, g->deep.v[i]);
	if (g->git_dir != NULL)
		repo_may_be(g, g->git_dir);
	if (p->fs.git_dir != NULL)
		repo_may_be(g, p->fs.git_dir);
	for (size_t i = 0, n = g->guarded.n; i < n; i++)
		if (g->guarded.v[i].kind == GUARD_IN_GIT)
			guard_git_targets(g, g->guarded.v[i].path);
}
