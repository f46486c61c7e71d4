#include "launcher/plan/gitdir.h"

#include <fcntl.h>
#include <limits.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/guard/gitconf.h"
#include "platform/base/io.h"
#include "platform/base/path.h"
#include "platform/base/xalloc.h"
#include "platform/fd.h"
#include "policy/pattern.h"

enum { LINK_MAX = PATH_MAX + 64 };	/* of a file that names a path */

/* ---- small files ---- */

const char *
gitdir_text(struct arena *a, const char *text, size_t len, const char *begin,
    const char *base)
{
	size_t skip = strlen(begin);

	while (len > 0 && (text[len - 1] == '\n' || text[len - 1] == '\r'))
		len--;
	if (len <= skip || memcmp(text, begin, skip) != 0 ||
	    memchr(text, '\0', len) != NULL ||
	    memchr(text, '\n', len) != NULL)
		return NULL;
	return pattern_clean_path(a, base, arena_strndup(a, text + skip,
	    len - skip));
}

/* A FIFO would keep us waiting for ever. */
static int
open_own(const char *path, struct stat *st)
{
	auto_fd fd = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK |
	    O_NOCTTY | O_CLOEXEC);

	return fd >= 0 && fstat(fd, st) == 0 && S_ISREG(st->st_mode) &&
	    st->st_uid == geteuid() ? fd_take(&fd) : -1;
}

const char *
gitdir_file(struct arena *a, const char *path, const char *begin,
    const char *base)
{
	char text[LINK_MAX];
	struct stat st;
	auto_fd fd = open_own(path, &st);
	ssize_t n = fd < 0 ? -1 : io_read_all(fd, text, sizeof text);

	return n <= 0 || n == sizeof text ? NULL :
	    gitdir_text(a, text, (size_t)n, begin, base);
}

/* ---- what git takes for a git directory ---- */

static bool
is_own_folder(const char *path)
{
	struct stat st;

	return lstat(path, &st) == 0 && S_ISDIR(st.st_mode) &&
	    st.st_uid == geteuid();
}

static bool
has(struct arena *a, const char *dir, const char *name)
{
	struct stat st;

	return lstat(arena_join(a, dir, name), &st) == 0;
}

/* With objects and refs of its own. */
static bool
is_whole(struct arena *a, const char *dir)
{
	return has(a, dir, "HEAD") && !has(a, dir, "commondir") &&
	    is_own_folder(arena_join(a, dir, "objects")) &&
	    is_own_folder(arena_join(a, dir, "refs"));
}

/* ---- a .git file ---- */

struct named {
	struct arena	*arena;
	const char	*base;		/* of a relative path */
	const char	*path;		/* core.worktree: the last one holds */
};

static void
take_worktree(const struct gitconf_entry *e, void *arg)
{
	struct named *n = arg;

	if (strcmp(e->name, "core.worktree") == 0)
		n->path = e->value == NULL || e->value[0] == '\0' ? "" :
		    pattern_clean_path(n->arena, n->base, e->value);
}

/* False, where only a part of it could be read. */
static bool
read_worktree(struct named *n, const char *path)
{
	struct stat st;
	auto_fd fd = open_own(path, &st);
	char *text;
	ssize_t len;
	bool is_read;

	if (fd < 0 || st.st_size <= 0 || st.st_size > GITCONF_MAX)
		return fd < 0 || st.st_size == 0;
	text = xrealloc(NULL, (size_t)st.st_size, 1);
	len = io_read_all(fd, text, (size_t)st.st_size);
	is_read = len > 0 && gitconf_each(text, (size_t)len, take_worktree,
	    n) == 0;
	free(text);
	return is_read;
}

/* The work tree that the git directory names, or NULL. */
static const char *
worktree_of(struct arena *a, const char *dir, bool *ret_is_read)
{
	struct named n = { .arena = a, .base = dir };

	*ret_is_read = read_worktree(&n, arena_join(a, dir, "config")) &&
	    read_worktree(&n, arena_join(a, dir, "config.worktree"));
	return *ret_is_read ? n.path : NULL;
}

/* "COMMON/worktrees/NAME": COMMON, or NULL. */
static const char *
common_of(struct arena *a, const char *dir)
{
	const char *folder = path_dir(a, dir);

	return strcmp(path_name(folder), "worktrees") == 0 ?
	    path_dir(a, folder) : NULL;
}

/* ret->dir is a linked worktree's, as far as it says. */
static void
judge_linked(struct arena *a, const char *file, struct gitdir *ret)
{
	const char *common = common_of(a, ret->dir), *said, *back;

	said = gitdir_file(a, arena_join(a, ret->dir, "commondir"), "",
	    ret->dir);
	if (common == NULL || said == NULL || strcmp(said, common) != 0 ||
	    !is_own_folder(common) || !is_whole(a, common))
		return;
	ret->kind = GITDIR_STRANGE;
	back = gitdir_file(a, arena_join(a, ret->dir, "gitdir"), "",
	    ret->dir);
	if (back == NULL || strcmp(back, file) != 0)
		return;
	ret->kind = GITDIR_FOUND;
	ret->common = common;
}

static void
judge_whole(struct arena *a, struct gitdir *ret)
{
	const char *back;
	bool is_read;

	back = worktree_of(a, ret->dir, &is_read);
	ret->common = ret->dir;
	if (back != NULL && strcmp(back, ret->top) == 0)
		ret->kind = GITDIR_FOUND;
	else if (back == NULL && is_read &&
	    strcmp(path_name(ret->dir), ".git") != 0)
		ret->kind = GITDIR_UNNAMED;
	else
		ret->kind = GITDIR_STRANGE;
}

static void
follow(struct arena *a, const char *file, struct gitdir *ret)
{
	const char *path = gitdir_file(a, file, "gitdir: ", ret->top);

	ret->dir = path != NULL ? path_real(a, path) : NULL;
	if (ret->dir == NULL || !is_own_folder(ret->dir) ||
	    !has(a, ret->dir, "HEAD"))
		return;
	if (has(a, ret->dir, "commondir"))
		judge_linked(a, file, ret);
	else if (is_whole(a, ret->dir))
		judge_whole(a, ret);
}

/* ---- from the folder upwards ---- */

/* true: git looks no further. */
static bool
look_in(struct arena *a, const char *top, struct gitdir *ret)
{
	const char *file = arena_join(a, strcmp(top, "/") == 0 ? "" : top,
	    ".git");
	struct stat st;

	ret->top = top;
	if (lstat(file, &st) != 0) {
		if (!has(a, top, "HEAD"))
			return false;
		if (is_own_folder(top) && is_whole(a, top))
			*ret = (struct gitdir){ GITDIR_BARE, top, top, top };
		return has(a, top, "objects") && has(a, top, "refs");
	}
	if (S_ISDIR(st.st_mode) && !has(a, file, "HEAD"))
		return false;
	if (S_ISDIR(st.st_mode) && st.st_uid == geteuid() &&
	    is_whole(a, file)) {
		ret->kind = GITDIR_FOUND;
		ret->dir = ret->common = file;
	} else if (S_ISREG(st.st_mode))
		follow(a, file, ret);
	return true;
}

void
gitdir_find(struct arena *a, const char *folder, struct gitdir *ret)
{
	const char *real = path_real(a, folder);
	char *top = real != NULL ? arena_strdup(a, real) : NULL;
	struct stat first, st;

	*ret = (struct gitdir){ .kind = GITDIR_NONE };
	if (top == NULL || lstat(top, &first) != 0)
		return;
	/* git stays on its file system. */
	while (lstat(top, &st) == 0 && st.st_dev == first.st_dev &&
	    !look_in(a, arena_strdup(a, top), ret))
		if (!path_cut(top))
			return;
}
