#include "launcher/guard/gitend.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/guard/gitend_parts.h"
#include "launcher/guard/guard_parts.h"
#include "launcher/guard/guard_wide.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/fd.h"

enum {
	MAX_ENTRIES = 4000000, MAX_MS = 3000,
	EARLY_ENTRIES = 2000, EARLY_MS = 20,
	MAX_LINKS = 8,		/* a .git file, a commondir, … */
	LINK_MAX_BYTES = PATH_MAX + 64,
};

/* What the walk found, in the root that is searched. */
struct finding {
	char	*rel;
	char	*name;		/* NULL: rel is the folder */
};

struct search {
	const struct gitend	*end;
	struct gitkeep		*keep;		/* NULL: only looks */
	const char		*root;
	int			 root_fd;
	int64_t			 end_ms;
	size_t			 left;
	bool			 is_needed;
	struct { struct finding *v; size_t n, cap; } found;
};

static void
found(const char *rel, const char *name, void *arg)
{
	struct search *s = arg;

	*vec_push(&s->found) = (struct finding){ xstrdup(rel),
	    name != NULL ? xstrdup(name) : NULL };
}

static void
path_of(const char *root, const char *rel, char ret[PATH_MAX])
{
	snprintf(ret, PATH_MAX, "%s%s%s", strcmp(root, "/") == 0 ? "" : root,
	    rel[0] != '\0' || strcmp(root, "/") == 0 ? "/" : "", rel);
}

static bool
is_among(const char *const *list, size_t n, const char *path)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], path) == 0)
			return true;
	return false;
}

static bool
is_held(const struct gitend *end, const char *path)
{
	return is_among(end->held, end->nheld, path);
}

static bool
is_there(int fd, const char *name)
{
	struct stat st;

	return fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0;
}

static bool
is_git(int fd)
{
	return is_there(fd, "HEAD") && (is_there(fd, "commondir") ||
	    (is_there(fd, "objects") && is_there(fd, "refs")));
}

static bool
is_since(const struct search *s, int fd, const char *name)
{
	struct stat st;

	return fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW |
	    (name[0] == '\0' ? AT_EMPTY_PATH : 0)) == 0 &&
	    gitwalk_is_since(&st, &s->end->since);
}

static bool
has_new_hook(const struct search *s, int fd)
{
	struct wide w;
	auto_fd hooks = wide_open_dir(&w, fd, "hooks");
	DIR *d = hooks < 0 ? NULL : move_list(hooks);
	const char *name;
	bool has = false;

	while (d != NULL && !has && (name = move_next(d)) != NULL)
		has = is_since(s, hooks, name);
	if (d != NULL)
		closedir(d);
	wide_back(&w);
	return has;
}

/* Was it made in this run?  Where the kernel does not know, changed is new. */
static bool
is_new(const struct search *s, int fd, const char *name)
{
	struct statx x;

	if (statx(fd, name, AT_SYMLINK_NOFOLLOW | (name[0] == '\0' ?
	    AT_EMPTY_PATH : 0), STATX_BTIME | STATX_CTIME,
	    &x) != 0)
		return false;
	if ((x.stx_mask & STATX_BTIME) == 0)
		x.stx_btime = x.stx_ctime;
	return x.stx_btime.tv_sec > s->end->since.tv_sec ||
	    (x.stx_btime.tv_sec == s->end->since.tv_sec &&
	    x.stx_btime.tv_nsec >= s->end->since.tv_nsec);
}

/*
 * A folder that was there before may have been renamed to what it is; but
 * every command of git makes files in it.
 */
static bool
may_be_moved(const struct search *s, int fd, const char *rel)
{
	auto_fd up = -1;
	char *above;

	if (rel[0] == '\0' || !is_since(s, fd, ""))
		return false;
	above = xstrdup(rel);
	above[path_dir_len(rel)] = '\0';
	up = gitwalk_open(s->root_fd, above);
	free(above);
	return up < 0 || is_since(s, up, "");
}

static bool
is_changed(const struct search *s, int fd, const char *rel)
{
	static const char *const names[] = { "HEAD", "config",
	    "config.worktree", "commondir", "hooks", "info/attributes" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (is_since(s, fd, names[i]))
			return true;
	return is_new(s, fd, "") || is_new(s, fd, "objects") ||
	    is_new(s, fd, "refs") || may_be_moved(s, fd, rel) ||
	    has_new_hook(s, fd);
}

/* ---- where files lead ---- */

/* git follows a symlink here. */
static ssize_t
read_through(int fd, const char *name, char *ret, size_t max)
{
	struct wide w = { .fd = -1 };
	auto_fd in = openat(fd, name, O_RDONLY | O_NONBLOCK | O_NOCTTY |
	    O_CLOEXEC);
	ssize_t n;

	if (in < 0)
		in = wide_open_file(&w, fd, name);
	n = in < 0 ? -1 : pread(in, ret, max, 0);
	wide_back(&w);
	return n;
}

/* What a small file says behind its begin, but for line ends at its end. */
static bool
read_link_file(int fd, const char *name, const char *begin,
    char ret[LINK_MAX_BYTES])
{
	ssize_t n = read_through(fd, name, ret, LINK_MAX_BYTES - 1);
	size_t skip = strlen(begin);

	while (n > 0 && (ret[n - 1] == '\n' || ret[n - 1] == '\r'))
		n--;
	if (n <= (ssize_t)skip || memcmp(ret, begin, skip) != 0)
		return false;
	ret[n] = '\0';
	memmove(ret, ret + skip, (size_t)n - skip + 1);
	return ret[0] != '\0';
}

/* As the kernel sees it; the folder need not be in a root. */
static bool
real_path(int fd, const char *text, char ret[PATH_MAX])
{
	auto_fd to = openat(fd, text, O_PATH | O_DIRECTORY | O_CLOEXEC);

	return to >= 0 && fd_real_path(to, ret) == 0;
}

/* There was no symlink on the way; another run may have put one there. */
static int
open_root(const char *root)
{
	auto_fd top = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return top < 0 ? -1 : gitwalk_open(top, root + strspn(root, "/"));
}

static const char *
root_of(const struct gitend *end, const char *path)
{
	for (size_t i = 0; i < end->nroots; i++)
		if (str_path_below(path, end->roots[i]))
			return end->roots[i];
	return NULL;
}

struct worktree {
	const struct gitend	*end;
	int			 fd;
};

static bool
is_outside(const char *text, void *arg)
{
	const struct worktree *w = arg;
	char real[PATH_MAX];

	return !real_path(w->fd, text, real) || root_of(w->end, real) == NULL;
}

/* ---- one git directory ---- */

static void treat(struct search *, int fd, const char *path, unsigned depth);

static void
tell_cut(const struct search *s, const char *path)
{
	struct guard_told t = { .deed = GUARD_CUT, .kind = GUARD_GIT,
	    .path = path, .count = 1 };

	if (s->keep != NULL)
		s->end->told(&t, s->end->arg);
}

static void
look_at_state(struct search *s, int fd, const char *path, bool is_changed)
{
	struct gitstate state = { .keep = s->keep, .since = s->end->since,
	    .left = &s->left, .end_ms = s->end_ms };

	s->is_needed |= gitstate_look(&state, fd, path, is_changed);
	if (state.is_cut)
		tell_cut(s, path);
}

/* Of a .git the walk sees the folders of submodules and work trees alone. */
static bool
is_unseen(const char *rest)
{
	static const char dotgit[] = "/.git/";

	while ((rest = strstr(rest, dotgit)) != NULL) {
		rest += sizeof dotgit - 1;
		if (strncmp(rest, "modules/", 8) != 0 &&
		    strncmp(rest, "worktrees/", 10) != 0)
			return true;
		rest--;
	}
	return false;
}

/*
 * The target of a changed file counts as changed.  An unchanged file may
 * lead to something that was renamed to its place and that the walk passes by.
 */
static void
follow(struct search *s, int fd, const char *text, unsigned depth,
    bool is_changed)
{
	char real[PATH_MAX];
	auto_fd root_fd = -1, to = -1;
	const char *root, *rest;

	if (depth >= MAX_LINKS || !real_path(fd, text, real) ||
	    (root = root_of(s->end, real)) == NULL)
		return;
	rest = real + (strcmp(root, "/") == 0 ? 0 : strlen(root));
	root_fd = open_root(root);
	to = root_fd < 0 ? -1 : gitwalk_open(root_fd, rest +
	    strspn(rest, "/"));
	if (to >= 0 && (is_changed || is_unseen(real) || !is_git(to)))
		treat(s, to, real, depth + 1);
}

/* A new folder of worktrees/ that names a work tree out of the roots. */
static void
look_at_back(struct search *s, int fd, const char *path)
{
	char text[LINK_MAX_BYTES], file[PATH_MAX], told[PATH_MAX + 16];

	if (!is_there(fd, "gitdir") || !is_there(fd, "commondir") ||
	    (read_link_file(fd, "gitdir", "", text) &&
	    gitback_path(text, path, file) && (root_of(s->end, file) != NULL ||
	    gitback_names(file, &s->end->since, "gitdir: ", path))))
		return;
	snprintf(told, sizeof told, "%s/gitdir", path);
	gitkeep_take(s->keep, fd, path, "gitdir", told);
}

static void
treat(struct search *s, int fd, const char *path, unsigned depth)
{
	struct worktree w = { s->end, fd };
	char text[LINK_MAX_BYTES];

	if (is_held(s->end, path))
		return;
	s->is_needed = true;
	if (s->keep == NULL)
		return;
	gitkeep_rest(s->keep, fd, path);
	gitkeep_config(s->keep, fd, path, "config", is_outside, &w);
	gitkeep_config(s->keep, fd, path, "config.worktree", is_outside, &w);
	gitkeep_hooks(s->keep, fd, path);
	look_at_back(s, fd, path);
	if (read_link_file(fd, "commondir", "", text))
		follow(s, fd, text, depth, true);
	look_at_state(s, fd, path, true);
}

/* ---- new ones in somebody's work tree ---- */

/* path: of the .git.  Is there an older one in a folder further up? */
static bool
is_in_older(const struct search *s, const char *path)
{
	char up[PATH_MAX];
	struct stat st;
	size_t n = strlen(path);

	if (n + sizeof ".git" > sizeof up)
		return false;
	memcpy(up, path, n + 1);
	for (int i = 0; n > 0; i++) {
		while (n > 0 && up[n - 1] != '/')
			n--;
		strcpy(up + n, ".git");
		if (i > 0 && lstat(up, &st) == 0 &&
		    !is_new(s, AT_FDCWD, up))
			return true;
		n -= n > 0;
	}
	return false;
}

/* dir: of the folder in which it lies. */
static void
announce(struct search *s, int dir, const char *name, const char *path)
{
	struct guard_told t = { .deed = GUARD_FOUND, .kind = GUARD_GIT,
	    .path = path, .count = 1 };

	if (s->keep != NULL && is_new(s, dir, name) && is_in_older(s, path))
		s->end->told(&t, s->end->arg);
}

/* ---- all of them ---- */

static void
look_at_folder(struct search *s, const char *rel)
{
	auto_fd fd = gitwalk_open(s->root_fd, rel);
	char path[PATH_MAX], text[LINK_MAX_BYTES];

	path_of(s->root, rel, path);
	if (fd < 0 || is_held(s->end, path) || !is_git(fd))
		return;
	if (is_among(s->end->still, s->end->nstill, path) ||
	    !is_changed(s, fd, rel)) {
		look_at_state(s, fd, path, false);
		if (read_link_file(fd, "commondir", "", text))
			follow(s, fd, text, 0, false);
		return;
	}
	treat(s, fd, path, 0);
	if (strcasecmp(path_name(path), ".git") == 0)
		announce(s, AT_FDCWD, path, path);
}

/* A new .git file that leads out of the roots; true: it is gone. */
static bool
leads_out(struct search *s, int dir, const char *folder, const char *name,
    const char *path, const char *text)
{
	char to[PATH_MAX], back[PATH_MAX + 16];

	if (s->keep == NULL || !gitback_path(text, folder, to) ||
	    root_of(s->end, to) != NULL)
		return false;
	snprintf(back, sizeof back, "%s/gitdir", to);
	if (gitback_names(back, &s->end->since, "", path))
		return false;
	gitkeep_take(s->keep, dir, folder, name, path);
	return true;
}

/* A .git that is a file or a symlink. */
static void
look_at_file(struct search *s, const char *rel, const char *name)
{
	auto_fd dir = gitwalk_open(s->root_fd, rel);
	char text[LINK_MAX_BYTES], folder[PATH_MAX], path[PATH_MAX + 256];
	bool is_changed;
	struct stat st;

	if (dir < 0 || fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return;
	is_changed = gitwalk_is_since(&st, &s->end->since);
	s->is_needed |= is_changed;
	path_of(s->root, rel, folder);
	snprintf(path, sizeof path, "%s/%s", folder, name);
	/* A symlink may lead to a folder, or to such a file. */
	if (S_ISLNK(st.st_mode))
		follow(s, dir, name, 0, is_changed);
	if (read_link_file(dir, name, "gitdir: ", text)) {
		if (is_changed && S_ISREG(st.st_mode) &&
		    leads_out(s, dir, folder, name, path, text))
			return;
		follow(s, dir, text, 0, is_changed);
	}
	if (is_changed)
		announce(s, dir, name, path);
}

static void
look_at_found(struct search *s)
{
	size_t i;

	for (i = 0; i < s->found.n && guard_now() < s->end_ms; i++) {
		const struct finding *f = &s->found.v[i];

		if (f->name == NULL)
			look_at_folder(s, f->rel);
		else
			look_at_file(s, f->rel, f->name);
	}
	s->is_needed |= i < s->found.n;
}

static void
search_root(struct search *s, const char *root)
{
	auto_fd fd = open_root(root);
	struct gitwalk w = { .root = root, .root_fd = fd,
	    .since = s->end->since, .left = &s->left,
	    .end_ms = s->end_ms, .found = found, .arg = s };
	bool is_whole;

	if (fd < 0)
		return;		/* a single file, or gone */
	s->root = root;
	s->root_fd = fd;
	is_whole = gitwalk(&w);
	look_at_found(s);
	if (!is_whole || guard_now() >= s->end_ms) {
		s->is_needed = true;
		tell_cut(s, s->root);
	}
	for (size_t i = 0; i < s->found.n; i++) {
		free(s->found.v[i].rel);
		free(s->found.v[i].name);
	}
	vec_release(&s->found);
}

static bool
is_below_another(const struct gitend *end, size_t at)
{
	for (size_t i = 0; i < end->nroots; i++)
		if (i != at && str_path_below(end->roots[at],
		    end->roots[i]) && (i < at ||
		    strcmp(end->roots[i], end->roots[at]) != 0))
			return true;
	return false;
}

/* Its configuration and hooks were the guard's; the rest was the run's. */
static void
look_at_held(struct search *s, const char *path)
{
	const char *root = root_of(s->end, path), *rest;
	auto_fd root_fd = root == NULL ? -1 : open_root(root);
	auto_fd fd = -1;

	if (root_fd < 0)
		return;
	rest = path + (strcmp(root, "/") == 0 ? 0 : strlen(root));
	fd = gitwalk_open(root_fd, rest + strspn(rest, "/"));
	if (fd >= 0)
		look_at_state(s, fd, path, false);
}

static void
search_all(struct search *s)
{
	for (size_t i = 0; i < s->end->nheld; i++)
		look_at_held(s, s->end->held[i]);
	for (size_t i = 0; i < s->end->nroots; i++)
		if (!is_below_another(s->end, i))
			search_root(s, s->end->roots[i]);
}

bool
gitend_is_needed(const struct gitend *end)
{
	struct search s = { .end = end, .left = EARLY_ENTRIES,
	    .end_ms = guard_now() + EARLY_MS };

	search_all(&s);
	return s.is_needed;
}

void
gitend_run(const struct gitend *end)
{
	struct search s = { .end = end, .left = MAX_ENTRIES,
	    .end_ms = guard_now() + MAX_MS };

	s.keep = gitkeep_new(end);
	search_all(&s);
	gitkeep_free(s.keep);
}
