/*
 * Guarded names (policy/guard.h) on this disk: those that exist become
 * read-only, those that do not are watched for.
 */
#include <assert.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/plan/facts_parts.h"
#include "platform/base/buf.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/fd.h"
#include "policy/decide.h"
#include "policy/guard.h"
#include "policy/pattern.h"

enum {
	MODULES_DEPTH = 16, GIT_FILE_MAX = 4096,
	ROOTS_AROUND = 32,	/* of which the folders above are looked at */
};

static const struct rule guarded = { .id = RULE_GUARD };

/* ---- the walk ---- */

/* The walk ends at a .git; what else it sees on its way is noted. */
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

/* The workspace also where it is only read: sockets lie there, too. */
void
guard_searches(struct gather *g)
{
	const struct policy *p = g->rq->policy;

	for (size_t i = 0; i < g->roots.n; i++)
		want_below(g, g->roots.v[i], is_root(g, g->roots.v[i]) ?
		    GUARD_GIT_DEPTH + 1 : 1);
	if (!gather_is_granted(g, p->workspace) &&
	    strcmp(p->workspace, "/") != 0)
		want_below(g, p->workspace, GUARD_GIT_DEPTH + 1);
}

/* A folder whose names cannot be looked at is no folder without them. */
static int
open_folder(struct gather *g, const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
		gather_lack(g, errno, path);
	return fd;
}

/*
 * A folder whose names are looked at one by one.  Folders that several names
 * share are looked at once.
 */
enum look { LOOK_GONE, LOOK_PLAIN, LOOK_LINK, LOOK_CLOSED };

struct folder {
	int		 fd;
	const struct name_filter *names;	/* NULL: not listed */
	unsigned	 n;
	struct { char path[64]; enum look is; } shared[64];
};

static enum look
look_at(const struct folder *f, const char *name, struct stat *ret)
{
	if (fstatat(f->fd, name, ret, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == EACCES ? LOOK_CLOSED : LOOK_GONE;
	return S_ISLNK(ret->st_mode) ? LOOK_LINK : LOOK_PLAIN;
}

/* name: of the list (policy/guard.h), of which n bytes are the folder. */
static enum look
look_shared(struct folder *f, const char *name, size_t n)
{
	struct stat st;

	for (unsigned i = 0; i < f->n; i++)
		if (strncmp(f->shared[i].path, name, n) == 0 &&
		    f->shared[i].path[n] == '\0')
			return f->shared[i].is;
	assert(f->n < sizeof f->shared / sizeof f->shared[0] &&
	    n < sizeof f->shared[0].path);
	memcpy(f->shared[f->n].path, name, n);
	f->shared[f->n].path[n] = '\0';
	f->shared[f->n].is = look_at(f, f->shared[f->n].path, &st);
	return f->shared[f->n++].is;
}

/*
 * GONE and PLAIN: no symlink is on the way.  LINK: the name is one, or lies
 * below one, where it may be missing.
 */
static enum look
look_name(struct folder *f, const char *name, struct stat *ret)
{
	if (f->names != NULL && name_filter_lacks(f->names, name))
		return LOOK_GONE;
	for (const char *slash = strchr(name, '/'); slash != NULL;
	    slash = strchr(slash + 1, '/')) {
		enum look is = look_shared(f, name, (size_t)(slash - name));

		if (is != LOOK_PLAIN)
			return is;
	}
	return look_at(f, name, ret);
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

/* A symlink that leads nowhere is there, too: git follows it one day. */
static bool
has(struct gather *g, const char *dir, const char *name)
{
	const char *path = arena_printf(g->arena, "%s/%s", dir, name);
	struct stat st;

	if (lstat(path, &st) == 0)
		return true;
	if (errno == EACCES)
		gather_closed(path, g);
	return false;
}

/* What git takes for a git directory, or would if one part came back. */
static bool
is_git_dir(struct gather *g, const char *dir)
{
	return (has(g, dir, "objects") && has(g, dir, "refs") &&
	    (has(g, dir, "HEAD") || has(g, dir, "config"))) ||
	    (has(g, dir, "commondir") && has(g, dir, "HEAD"));
}

static bool
is_plain_folder(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode);
}

static void	 add_git_folders(struct gather *, const char *, unsigned);

static void
add_git_dir(struct gather *g, const char *dir, unsigned depth)
{
	size_t was = g->guarded.n;

	guard_add_at(g, dir, GUARD_IN_GIT);
	if (g->guarded.n == was || depth == 0)
		return;		/* known already */
	add_git_folders(g, arena_printf(g->arena, "%s/modules", dir),
	    depth - 1);
	add_git_folders(g, arena_printf(g->arena, "%s/worktrees", dir),
	    depth - 1);
}

/*
 * Folders like .git, one for each submodule, whose name may have slashes.  No
 * symlink is followed: git makes none there.
 */
static void
add_git_folders(struct gather *g, const char *folder, unsigned depth)
{
	DIR *dp = depth > 0 && is_plain_folder(folder) ? opendir(folder) :
	    NULL;
	struct dirent *d;

	if (depth > 0 && dp == NULL && errno == EACCES)
		gather_closed(folder, g);
	while (dp != NULL && (errno = 0, d = readdir(dp)) != NULL) {
		const char *sub;

		if (strcmp(d->d_name, ".") == 0 ||
		    strcmp(d->d_name, "..") == 0)
			continue;
		sub = arena_printf(g->arena, "%s/%s", folder, d->d_name);
		if (!is_plain_folder(sub))
			continue;
		if (has(g, sub, "HEAD") || has(g, sub, "config") ||
		    has(g, sub, "hooks"))
			add_git_dir(g, sub, depth - 1);
		else if (strcmp(d->d_name, "objects") != 0 &&
		    strcmp(d->d_name, "refs") != 0)
			add_git_folders(g, sub, depth - 1);
	}
	if (dp != NULL && errno != 0)
		gather_lack(g, errno, folder);
	if (dp != NULL)
		closedir(dp);
}

/* Of a worktree or a submodule: ".git" is a file that says where it is. */
static void
add_git_file(struct gather *g, const struct tree_node *file)
{
	char text[GIT_FILE_MAX];
	const char *path;
	struct tree_node node;
	struct stat st;
	ssize_t n;

	guard_add_at(g, file->real, GUARD_ITSELF);
	/* A FIFO would keep us waiting for ever. */
	if (stat(file->real, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	n = fd_read_file(AT_FDCWD, file->real, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (strncmp(text, "gitdir: ", 8) != 0)
		return;
	path = pattern_clean_path(g->arena, path_dir(g->arena, file->real),
	    text + 8);
	if (path == NULL)
		return;
	gather_look(g, path, &node);
	if (node.kind == TREE_DIR && gather_is_granted(g, node.real))
		add_git_dir(g, node.real, MODULES_DEPTH);
}

/*
 * A writable folder may be a git directory itself, or lie in one: a bare
 * repository, a granted .git, a shell that stands in .git/hooks.
 */
static void
add_git_around(struct gather *g, const char *root)
{
	char *dir = arena_strdup(g->arena, root), *slash;

	for (; (slash = strrchr(dir, '/')) != NULL; *slash = '\0') {
		if (dir[0] != '\0' && is_git_dir(g, dir))
			add_git_dir(g, arena_strdup(g->arena, dir),
			    MODULES_DEPTH);
		if (slash == dir)
			return;
	}
}

/* What lies there is held where it really is, and so is the way to it. */
static void
add_held(struct gather *g, const char *path, unsigned kind)
{
	struct tree_node node;

	gather_look(g, path, &node);
	if (node.kind == TREE_MISSING)
		return;
	if (strcmp(node.path, node.real) != 0) {
		gather_hold_links(g, path);
		/* What a link leads to may be all that is around it. */
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
	if (is_git_dir(g, dir))
		add_git_dir(g, dir, MODULES_DEPTH);
}

static void
add_repository(struct gather *g, const struct tree_node *node)
{
	if (strcmp(node->path, node->real) != 0)
		gather_hold_links(g, node->path);
	if (!gather_is_granted(g, node->real))
		return;
	if (node->kind == TREE_DIR)
		add_git_dir(g, node->real, MODULES_DEPTH);
	else
		add_git_file(g, node);
}

/* Names of the home's that lie in a writable tree, by way of a symlink. */
static void
add_home_links(struct gather *g, const char *home)
{
	auto_fd fd = open_folder(g, home);
	struct folder folder = { .fd = fd,
	    .names = gather_listed(g, home) };
	struct stat st;

	for (const struct guard_name *n = guarded_names; n->name != NULL &&
	    fd >= 0; n++) {
		const char *path, *target;

		if ((n->places & GUARD_IN_HOME) == 0 ||
		    look_name(&folder, n->name, &st) != LOOK_LINK)
			continue;
		path = arena_printf(g->arena, "%s/%s", home, n->name);
		if (gather_in_grant(g, path) ||
		    (target = gather_target(g, path)) == NULL ||
		    !gather_in_grant(g, target))
			continue;
		gather_hold_links(g, path);
		guard_add_at(g, target, GUARD_ITSELF |
		    (n->places & GUARD_OURS));
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

static void
find_places(struct gather *g)
{
	const struct policy *p = g->rq->policy;

	for (size_t i = 0; i < g->roots.n; i++) {
		if (is_root(g, g->roots.v[i]))
			guard_add_at(g, g->roots.v[i], GUARD_IN_ROOTS);
		add_around(g, g->roots.v[i]);
		if (i < ROOTS_AROUND ||
		    strstr(g->roots.v[i], "/.git/") != NULL)
			add_git_around(g, g->roots.v[i]);
	}
	add_home(g, p->home);
	add_home(g, p->other_home);
	for (size_t i = 0; i < g->wants.n; i++) {
		struct tree_want *w = &g->wants.v[i];

		for (size_t k = 0; w->match == is_repository &&
		    k < w->found.n; k++)
			add_repository(g, &w->found.v[k]);
	}
	for (size_t i = 0; i < g->deep.n; i++)
		add_noted(g, g->deep.v[i]);
	for (size_t i = 0, n = g->guarded.n; i < n; i++)
		if (g->guarded.v[i].kind == GUARD_IN_GIT)
			guard_git_targets(g, g->guarded.v[i].path);
}

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
	for (struct policy *p = g->rq->policy; p != NULL; p = p->also)
		p->places = places;
}

/* ---- one name ---- */

/* It, or a part of it, may be pointed elsewhere, and written through. */
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

	/* Also where an entry denies it: a glob is no wall for a missing name. */
	decide_fs(g->rq->policy, FS_WRITE, path, &v);
	if (v.action == ACTION_ALLOW)
		return;
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

static void
guard_below(struct gather *g, const char *root, unsigned place)
{
	auto_fd fd = open_folder(g, root);
	struct folder folder = { .fd = fd,
	    .names = gather_listed(g, root) };

	for (const struct guard_name *n = guarded_names; n->name != NULL &&
	    fd >= 0; n++)
		if ((n->places & place) != 0) {
			const char *path = arena_printf(g->arena, "%s/%s",
			    root[1] == '\0' ? "" : root, n->name);

			if (place == GUARD_IN_ROOTS ||
			    gather_in_grant(g, path))
				guard_name(g, &folder, path, n->name);
		}
}

static void
guard_git_dir(struct gather *g, const char *dir)
{
	auto_fd fd = open_folder(g, dir);
	struct folder folder = { .fd = fd };

	for (const char *const *n = guarded_git_names; *n != NULL && fd >= 0;
	    n++) {
		const char *path = arena_printf(g->arena, "%s/%s", dir, *n);

		if (gather_is_granted(g, path))
			guard_name(g, &folder, path, *n);
	}
}

static void
guard_itself(struct gather *g, const char *path)
{
	const char *name = path_name(path);
	auto_fd fd = open_folder(g, arena_strndup(g->arena, path,
	    (size_t)(name - path)));
	struct folder folder = { .fd = fd };

	if (!gather_is_granted(g, path))
		return;
	if (fd >= 0)
		guard_name(g, &folder, path, name);
	else			/* not even its folder is there */
		gather_guard(g, GUARD_ABSENT, path, NULL);
}

/* ---- all ---- */

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
	find_places(g);
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
	/* What links of guarded names lead to has come to it. */
	give_places(g);
}

/* ---- after planning ---- */

/*
 * Nothing can be made where a mount is in the way; what appears there is the
 * host's own.
 */
static void
drop_closed(struct facts *f, const struct mounts *mounts)
{
	struct guard_list *l = &f->guards;
	size_t k = 0;

	for (size_t i = 0; i < l->n; i++) {
		size_t at = mounts_over(mounts, l->v[i].path);

		if (l->v[i].kind != GUARD_ABSENT ||
		    mounts->list.v[at].kind == MOUNT_RW)
			l->v[k++] = l->v[i];
	}
	l->n = k;
}

/* Could the command make it, were it gone? */
static bool
is_in_roots(const struct mounts *mounts, const char *path)
{
	for (size_t i = 0; i < mounts->roots.n; i++)
		if (str_path_below(path, mounts->roots.v[i]))
			return true;
	return false;
}

void
facts_guard_mounts(struct facts *f, const struct mounts *mounts)
{
	drop_closed(f, mounts);
	for (size_t i = MOUNTS_BASE; i < mounts->list.n; i++) {
		const struct jail_mount *m = &mounts->list.v[i];
		struct guard_path g = { .path = m->path, .dev = m->dev,
		    .ino = m->ino };
		struct stat st;

		if (m->ino == 0)
			continue;	/* pinned, or a place of ours */
		g.is_beyond = !is_in_roots(mounts, m->path);
		if (m->kind == MOUNT_MASK_FILE || m->kind == MOUNT_MASK_DIR)
			g.kind = GUARD_HIDDEN;
		else if (m->kind == MOUNT_RO)
			g.kind = GUARD_READONLY;
		else if (m->kind == MOUNT_RW && lstat(m->path, &st) == 0 &&
		    !S_ISDIR(st.st_mode))
			g.kind = GUARD_WRITABLE;
		else
			continue;
		*vec_push(&f->guards) = g;
	}
}

/* The folder of the name before: most are in the same. */
struct last_folder {
	char		path[PATH_MAX];
	struct stat	st;
};

static void
put_name(struct buf *b, struct last_folder *f, char kind, const char *path)
{
	size_t n = path_dir_len(path);

	if (n >= sizeof f->path)
		return;
	if (strncmp(f->path, path, n) != 0 || f->path[n] != '\0') {
		memcpy(f->path, path, n);
		f->path[n] = '\0';
		if (stat(n > 0 ? f->path : "/", &f->st) != 0)
			f->st = (struct stat){ 0 };
	}
	buf_printf(b, "%c %llu %llu %s", kind,
	    (unsigned long long)f->st.st_dev,
	    (unsigned long long)f->st.st_ino, path);
	buf_putc(b, '\0');
}

void
facts_names(const struct facts *f, const struct mounts *mounts,
    struct buf *b)
{
	struct last_folder last = { .path = "-" };
	bool is_hiding = mounts->list.v[0].kind == MOUNT_CLOSED;

	for (size_t i = MOUNTS_BASE; i < mounts->list.n && !is_hiding; i++)
		is_hiding = mounts->list.v[i].kind == MOUNT_MASK_AROUND;
	if (is_hiding)
		buf_add(b, "D", 2);
	for (size_t i = 0; i < f->guards.n; i++)
		if (f->guards.v[i].kind == GUARD_ABSENT ||
		    f->guards.v[i].kind == GUARD_LINK)
			put_name(b, &last, 'g', f->guards.v[i].path);
		else if (f->guards.v[i].kind == GUARD_WRITABLE)
			put_name(b, &last, 'f', f->guards.v[i].path);
}
