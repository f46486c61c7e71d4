/*
 * Git directories on this disk: of repositories, submodules and worktrees, and
 * those that a writable folder lies in.
 */
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>

#include "launcher/plan/facts_parts.h"
#include "launcher/plan/gitdir.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/fd.h"
#include "policy/pattern.h"

enum { MODULES_DEPTH = 16, GIT_FILE_MAX = 4096 };

/* A symlink that leads nowhere is there, too: git follows it one day. */
static bool
has(struct gather *g, const char *dir, const char *name)
{
	const char *path = arena_join(g->arena, dir, name);
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

/*
 * A work tree inside the git directory that is granted only because git needs
 * it ("git clone --bare" and "git worktree add" in there): no part of the
 * repository.
 */
static bool
is_in_needed(struct gather *g, const char *file)
{
	const struct policy *p = g->rq->policy;

	return file != NULL && p->fs.git_dir != NULL &&
	    str_path_below(file, p->fs.git_dir) &&
	    !str_path_below(file, p->workspace) &&
	    has(g, path_dir(g->arena, file), path_name(file));
}

/*
 * COMMON/worktrees/NAME names its work tree.  A work tree that this run cannot
 * write belongs to somebody else: HEAD, index and an operation in progress stay
 * as they are.  Names that a run wrote there to be believed later are taken
 * away by gitend.c.
 */
static void
add_worktree(struct gather *g, const char *dir)
{
	const char *back = arena_join(g->arena, dir, "gitdir"), *file;

	if (!has(g, dir, "commondir"))
		return;		/* of a submodule with such a name */
	file = gitdir_file(g->arena, back, "", dir);
	if ((g->git_dir != NULL && strcmp(dir, g->git_dir) == 0) ||
	    (file != NULL && gather_in_grant(g, file) &&
	    !is_in_needed(g, file))) {
		guard_add_at(g, back, GUARD_ITSELF);
	} else if (gather_is_granted(g, dir)) {
		guard_add_at(g, dir, GUARD_ITSELF);
		g->facts->has_others = true;
		if (is_in_needed(g, file))
			guard_add_at(g, path_dir(g->arena, file),
			    GUARD_ITSELF);
	}
}

static void
add_git_dir(struct gather *g, const char *dir, unsigned depth)
{
	size_t was = g->guarded.n;

	guard_add_at(g, dir, GUARD_IN_GIT);
	if (g->guarded.n == was || depth == 0)
		return;		/* known already */
	if (strcmp(path_name(path_dir(g->arena, dir)), "worktrees") == 0)
		add_worktree(g, dir);
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
		sub = arena_join(g->arena, folder, d->d_name);
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
void
repo_around(struct gather *g, const char *root)
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

void
repo_may_be(struct gather *g, const char *dir)
{
	if (is_git_dir(g, dir))
		add_git_dir(g, dir, MODULES_DEPTH);
}

void
repo_at(struct gather *g, const struct tree_node *node)
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
