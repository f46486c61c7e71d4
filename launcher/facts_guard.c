/*
 * Guarded names (policy/guard.h) on this disk: those that exist become
 * read-only, those that do not are watched for.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/gather.h"
#include "platform/base/buf.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/fd.h"
#include "policy/decide.h"
#include "policy/guard.h"
#include "policy/pattern.h"

enum { MODULES_DEPTH = 4, GIT_FILE_MAX = 4096 };

static const struct rule guarded = { .id = RULE_GUARD };

/* ---- the walk ---- */

static bool
is_repository_or_socket(const struct tree_entry *entry, void *arg)
{
	struct gather *g = arg;

	if (entry->type == TREE_IS_SOCKET) {
		*vec_push(&g->facts->sockets) = arena_strdup(g->arena,
		    entry->path);
		return false;
	}
	return strcmp(entry->name, ".git") == 0;
}

static void
want_below(struct gather *g, const char *root, unsigned depth)
{
	gather_want(g, &(struct tree_want){ .root = root,
	    .match = is_repository_or_socket, .arg = g,
	    .skip = "node_modules", .max_depth = depth });
}

/* The workspace also where it is only read: sockets lie there, too. */
void
guard_searches(struct gather *g)
{
	const struct policy *p = g->rq->policy;

	for (size_t i = 0; i < g->roots.n; i++)
		want_below(g, g->roots.v[i], decide_is_root(p,
		    g->roots.v[i]) ? GUARD_GIT_DEPTH + 1 : 1);
	if (!gather_is_granted(g, p->workspace) &&
	    strcmp(p->workspace, "/") != 0)
		want_below(g, p->workspace, GUARD_GIT_DEPTH + 1);
}

/* ---- one name ---- */

/* A folder whose names cannot be looked at is no folder without them. */
static int
open_folder(struct gather *g, const char *path)
{
	int fd = open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);

	if (fd < 0 && errno != ENOENT && errno != ENOTDIR)
		gather_lack(g, errno, path);
	return fd;
}

/* It may be pointed elsewhere, and written through. */
static void
guard_link(struct gather *g, const char *path)
{
	struct guard_path *guard;
	struct tree_node node;
	char text[PATH_MAX];
	ssize_t n = readlink(path, text, sizeof text);

	if (n <= 0 || (size_t)n == sizeof text)
		return;
	gather_look(g, path, &node);
	if (node.kind != TREE_MISSING && gather_is_granted(g, node.real))
		gather_fact(g, FACT_DENY_WRITE, &node, &guarded);
	gather_guard(g, GUARD_LINK, path, NULL);
	guard = &g->facts->guards.v[g->facts->guards.n - 1];
	guard->text = arena_strndup(g->arena, text, (size_t)n);
}

/* Is there no symlink on the way to a missing name, for sure? */
static bool
is_plain(int dir_fd, const char *name)
{
	char first[NAME_MAX + 1];
	size_t n = strcspn(name, "/");
	struct stat st;

	if (name[n] == '\0')
		return true;
	if (n >= sizeof first)
		return false;
	memcpy(first, name, n);
	first[n] = '\0';
	return fstatat(dir_fd, first, &st, AT_SYMLINK_NOFOLLOW) != 0;
}

/* dir_fd: of the folder, which is no symlink, that path lies in. */
static void
guard_name(struct gather *g, int dir_fd, const char *path, const char *name,
    bool is_own)
{
	struct tree_node node = { .path = path, .real = path };
	struct fs_question q = { .op = FS_WRITE, .path = path,
	    .is_guarded = true, .guarded_len = strlen(path),
	    .is_own = is_own };
	struct verdict v;
	struct stat st;

	decide_fs_ask(g->rq->policy, &q, &v);
	if (v.action == ACTION_ALLOW || (v.rule.id != RULE_GUARD &&
	    v.rule.id != RULE_OWN))
		return;
	if (fstatat(dir_fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0) {
		gather_guard(g, GUARD_ABSENT, path, is_plain(dir_fd, name) ?
		    &node : NULL);
		return;
	}
	if (S_ISLNK(st.st_mode)) {
		guard_link(g, path);
		return;
	}
	node.kind = S_ISDIR(st.st_mode) ? TREE_DIR : TREE_FILE;
	node.dev = st.st_dev;
	node.ino = st.st_ino;
	gather_fact(g, FACT_DENY_WRITE, &node, &guarded);
}

static void
guard_below(struct gather *g, const char *root, unsigned place)
{
	auto_fd fd = open_folder(g, root);

	for (const struct guard_name *n = guarded_names; n->name != NULL &&
	    fd >= 0; n++)
		if ((n->places & place) != 0) {
			const char *path = arena_printf(g->arena, "%s/%s",
			    root, n->name);

			if (place == GUARD_IN_ROOTS ||
			    gather_in_grant(g, path))
				guard_name(g, fd, path, n->name,
				    (n->places & GUARD_OURS) != 0);
		}
}

/* ---- git ---- */

static void	 guard_git_folder(struct gather *, const char *, unsigned);

static void
guard_git_dir(struct gather *g, const char *dir)
{
	auto_fd fd = open_folder(g, dir);

	for (const char *const *n = guarded_git_names; *n != NULL && fd >= 0;
	    n++)
		if (strncmp(*n, "config", 6) != 0 ||
		    !g->rq->policy->fs.allow_git_config.value)
			guard_name(g, fd, arena_printf(g->arena, "%s/%s", dir,
			    *n), *n, false);
	guard_git_folder(g, arena_printf(g->arena, "%s/modules", dir),
	    MODULES_DEPTH);
	guard_git_folder(g, arena_printf(g->arena, "%s/worktrees", dir), 1);
}

/* Folders like .git, one for each submodule, whose name may have slashes. */
static void
guard_git_folder(struct gather *g, const char *folder, unsigned depth)
{
	DIR *dp = depth > 0 ? opendir(folder) : NULL;
	struct dirent *d;

	if (dp == NULL && depth > 0 && errno != ENOENT && errno != ENOTDIR &&
	    errno != EACCES)
		gather_lack(g, errno, folder);
	while (dp != NULL && (errno = 0, d = readdir(dp)) != NULL) {
		const char *sub;

		if (d->d_name[0] == '.')
			continue;
		sub = arena_printf(g->arena, "%s/%s", folder, d->d_name);
		if (access(arena_printf(g->arena, "%s/HEAD", sub), F_OK) == 0)
			guard_git_dir(g, sub);
		else
			guard_git_folder(g, sub, depth - 1);
	}
	if (dp != NULL && errno != 0)
		gather_lack(g, errno, folder);
	if (dp != NULL)
		closedir(dp);
}

/* Of a worktree or a submodule: ".git" is a file that says where it is. */
static void
guard_git_file(struct gather *g, const struct tree_node *file)
{
	char text[GIT_FILE_MAX];
	const char *path, *slash = strrchr(file->real, '/');
	struct tree_node node;
	struct stat st;
	ssize_t n;

	gather_fact(g, FACT_DENY_WRITE, file, &guarded);
	/* A FIFO would keep us waiting for ever. */
	if (stat(file->real, &st) != 0 || !S_ISREG(st.st_mode))
		return;
	n = fd_read_file(AT_FDCWD, file->real, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	text[strcspn(text, "\n")] = '\0';
	if (strncmp(text, "gitdir: ", 8) != 0)
		return;
	path = pattern_clean_path(g->arena, arena_strndup(g->arena,
	    file->real, (size_t)(slash - file->real)), text + 8);
	if (path == NULL)
		return;
	gather_look(g, path, &node);
	if (node.kind == TREE_DIR && gather_in_grant(g, node.real))
		guard_git_dir(g, node.real);
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
	const struct policy *p = g->rq->policy;

	drop_unreachable(g);
	for (size_t i = 0; i < g->roots.n; i++)
		if (decide_is_root(p, g->roots.v[i]))
			guard_below(g, g->roots.v[i], GUARD_IN_ROOTS);
	if (p->home != NULL)
		guard_below(g, p->home, GUARD_IN_HOME);
	for (size_t i = 0; i < g->wants.n; i++) {
		struct tree_want *w = &g->wants.v[i];

		for (size_t k = 0; w->match == is_repository_or_socket &&
		    k < w->found.n; k++)
			if (!gather_in_grant(g, w->found.v[k].real))
				continue;
			else if (w->found.v[k].kind == TREE_DIR)
				guard_git_dir(g, w->found.v[k].real);
			else
				guard_git_file(g, &w->found.v[k]);
	}
}

/* ---- after planning ---- */

void
facts_guard_mounts(struct facts *f, const struct mounts *mounts)
{
	for (size_t i = MOUNTS_BASE; i < mounts->list.n; i++) {
		const struct jail_mount *m = &mounts->list.v[i];
		struct guard_path g = { .path = m->path, .dev = m->dev,
		    .ino = m->ino };
		struct stat st;

		if (m->ino == 0)
			continue;	/* pinned, or a place of ours */
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
struct folder {
	char		path[PATH_MAX];
	struct stat	st;
};

static void
put_name(struct buf *b, struct folder *f, char kind, const char *path)
{
	size_t n = (size_t)(strrchr(path, '/') - path);

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
	struct folder last = { .path = "-" };
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
