/*
 * What lies in a git directory besides its configuration and its hooks, and
 * what git does with it later, outside: symlinks through which it writes
 * (index, logs/HEAD, packed-refs, FETCH_HEAD: names of files and branches of
 * the run's choice come to stand where they lead), and the steps of an
 * interrupted rebase or cherry-pick, which may be commands.
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher/guard/gitconf.h"
#include "launcher/guard/gitend_parts.h"
#include "launcher/guard/guard_parts.h"
#include "launcher/guard/guard_wide.h"
#include "platform/base/xalloc.h"
#include "platform/fd.h"
#include "platform/listed.h"

enum {
	MAX_DEPTH = 32, LIST_BYTES = 4 << 10,
	MAX_OTHERS = 20000,
	LIST_MAX_BYTES = 1 << 20,	/* of a file of steps */
};

/* Folders of a git directory that need no look: git directories themselves,
 * held or looked at as such, and stores that are written without a symlink
 * being followed. */
static const char *const apart[] = { "hooks", "modules", "worktrees",
    "objects", "lfs", "annex" };

/* Folders that git itself writes to: looked at before what anybody may have
 * filled with files. */
static const char *const known[] = { "info", "logs", "refs", "rr-cache",
    "rebase-apply", "rebase-merge", "sequencer" };

/* Of the folder itself: its symlinks come first. */
enum pass { PASS_LINKS, PASS_KNOWN, PASS_OTHERS, NPASSES };

/* Parts of the store of objects in which git follows one. */
static const char *const parts[] = { "objects/info", "objects/pack" };

static bool
is_name(const char *const *list, size_t n, const char *name)
{
	for (size_t i = 0; i < n; i++)
		if (strcmp(list[i], name) == 0)
			return true;
	return false;
}

/* A branch, as HEAD may say it: within the git directory. */
static bool
is_ref(int fd, const char *name)
{
	char text[PATH_MAX];
	ssize_t n = readlinkat(fd, name, text, sizeof text - 1);

	text[n > 0 ? n : 0] = '\0';
	return strncmp(text, "refs/", 5) == 0 && strstr(text, "..") == NULL;
}

/* true: it is one that the run made. */
static bool
is_link(const struct gitstate *s, int fd, const char *name, bool is_new)
{
	struct stat st;

	return fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISLNK(st.st_mode) && !is_ref(fd, name) &&
	    (is_new || gitwalk_is_since(&st, &s->since));
}

static void
take(struct gitstate *s, int fd, const char *path, const char *name)
{
	char told[PATH_MAX + NAME_MAX + 2];

	s->has_found = true;
	snprintf(told, sizeof told, "%s/%s", path, name);
	if (s->keep != NULL)
		gitkeep_take(s->keep, fd, path, name, told);
}

static bool
is_over(struct gitstate *s)
{
	if (*s->left > 0 && guard_now() < s->end_ms &&
	    (s->pass != PASS_OTHERS || s->nothers < MAX_OTHERS)) {
		--*s->left;
		s->nothers += s->pass == PASS_OTHERS;
		return false;
	}
	s->is_cut = true;
	return true;
}

/* is_new: all that is below counts as made by the run. */
static void	 look(struct gitstate *, int up, const char *path,
		    const char *name, unsigned depth, bool is_new);

/* No sub-folders, and nothing was made in it. */
static bool
is_quiet(const struct gitstate *s, int fd, const char *name)
{
	struct stat st;

	return s->counts_links && fstatat(fd, name, &st,
	    AT_SYMLINK_NOFOLLOW) == 0 && S_ISDIR(st.st_mode) &&
	    st.st_nlink == 2 && !gitwalk_is_since(&st, &s->since);
}

/* Is this the pass for it? */
static bool
is_due(const struct gitstate *s, const char *name, unsigned char type)
{
	if (type != DT_DIR || is_name(apart, sizeof apart / sizeof *apart,
	    name))
		return type == DT_LNK && s->pass == PASS_LINKS;
	return s->pass == (is_name(known, sizeof known / sizeof *known,
	    name) ? PASS_KNOWN : PASS_OTHERS);
}

static void
entry(struct gitstate *s, int fd, const char *path, const struct listed *d,
    unsigned depth, bool is_new)
{
	unsigned char type = d->type;
	struct stat st;

	if (type == DT_UNKNOWN && fstatat(fd, d->name, &st,
	    AT_SYMLINK_NOFOLLOW) == 0)
		type = S_ISDIR(st.st_mode) ? DT_DIR : S_ISLNK(st.st_mode) ?
		    DT_LNK : DT_REG;
	if (depth == 0 && !is_due(s, d->name, type))
		return;
	if (type == DT_LNK && is_link(s, fd, d->name, is_new))
		take(s, fd, path, d->name);
	else if (type == DT_DIR && depth < MAX_DEPTH &&
	    (is_new || !is_quiet(s, fd, d->name)))
		look(s, fd, path, d->name, depth + 1, is_new);
}

static void
list(struct gitstate *s, int fd, const char *path, unsigned depth,
    bool is_new)
{
	_Alignas(8) char entries[LIST_BYTES];
	long n;

	while (!is_over(s) && (n = syscall(SYS_getdents64, fd, entries,
	    sizeof entries)) > 0)
		for (long at = 0; at < n && !is_over(s);) {
			const struct listed *d = (void *)(entries + at);

			at += d->size;
			if (strcmp(d->name, ".") != 0 &&
			    strcmp(d->name, "..") != 0)
				entry(s, fd, path, d, depth, is_new);
		}
}

static int
open_dir(struct wide *w, int up, const char *name)
{
	int fd = openat(up, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);

	w->fd = -1;
	return fd >= 0 || errno != EACCES ? fd : wide_open_dir(w, up, name);
}

/*
 * A folder in which something was made or to which it was renamed may hold
 * older symlinks that came along.
 */
static void
look(struct gitstate *s, int up, const char *path, const char *name,
    unsigned depth, bool is_new)
{
	char below[PATH_MAX];
	struct wide w;
	auto_fd fd = open_dir(&w, up, name);
	struct stat st;

	if (fd >= 0 && fstat(fd, &st) == 0 && snprintf(below, sizeof below,
	    "%s/%s", path, name) < (int)sizeof below)
		list(s, fd, below, depth, is_new ||
		    gitwalk_is_since(&st, &s->since));
	wide_back(&w);
}

/* ---- steps ---- */

/* "exec make", "x make": a line of git-rebase-todo. */
static bool
is_command(const char *line)
{
	line += strspn(line, " \t");
	if (strncmp(line, "exec", 4) == 0)
		line += 4;
	else if (*line == 'x')
		line++;
	else
		return false;
	return *line == '\0' || strchr(" \t\r\n", *line) != NULL;
}

static bool
has_command(const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end) {
		if (is_command(text))
			return true;
		text += strcspn(text, "\n") + 1;
	}
	return false;
}

/* git executes git-merge-STRATEGY, also by way of a folder of that name. */
static bool
has_slash(const char *text, size_t len)
{
	return memchr(text, '/', len) != NULL;
}

static void
find_strategy(const struct gitconf_entry *e, void *arg)
{
	bool *has = arg;

	*has |= strcmp(e->name, "options.strategy") == 0 &&
	    e->value != NULL && strchr(e->value, '/') != NULL;
}

static bool
has_strategy(const char *text, size_t len)
{
	bool has = false;

	return gitconf_each(text, len, find_strategy, &has) != 0 || has;
}

/* A NUL, which git reads over or ends at, and too much are no such file. */
static bool
reads_bad(int fd, const char *name, bool (*is_bad)(const char *, size_t))
{
	struct wide w;
	auto_fd in = wide_open_file(&w, fd, name);
	char *text = xcalloc(1, LIST_MAX_BYTES + 2);
	size_t len = 0;
	ssize_t n;
	bool is;

	while (in >= 0 && len <= LIST_MAX_BYTES && (n = pread(in, text + len,
	    LIST_MAX_BYTES + 1 - len, (off_t)len)) > 0)
		len += (size_t)n;
	is = in < 0 || len > LIST_MAX_BYTES || memchr(text, '\0', len) != NULL
	    || is_bad(text, len);
	free(text);
	wide_back(&w);
	return is;
}

static const struct {
	const char	*folder, *name;
	bool		(*is_bad)(const char *text, size_t len);
} steps[] = {
	{ "rebase-merge", "git-rebase-todo", has_command },
	{ "rebase-merge", "strategy", has_slash },
	{ "sequencer", "opts", has_strategy },
};

static void
look_at_steps(struct gitstate *s, int fd, const char *path, bool is_new)
{
	for (size_t i = 0; i < sizeof steps / sizeof *steps; i++) {
		struct wide w;
		auto_fd dir = open_dir(&w, fd, steps[i].folder);
		char below[PATH_MAX];
		struct stat in, st;

		if (dir >= 0 && fstat(dir, &in) == 0 && fstatat(dir,
		    steps[i].name, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
		    (is_new || gitwalk_is_since(&in, &s->since) ||
		    gitwalk_is_since(&st, &s->since)) &&
		    snprintf(below, sizeof below, "%s/%s", path,
		    steps[i].folder) < (int)sizeof below &&
		    (!S_ISREG(st.st_mode) || reads_bad(dir, steps[i].name,
		    steps[i].is_bad)))
			take(s, dir, below, steps[i].name);
		wide_back(&w);
	}
}

bool
gitstate_look(struct gitstate *s, int fd, const char *path, bool is_new)
{
	struct wide w;
	auto_fd top = open_dir(&w, fd, ".");

	s->has_found = s->is_cut = false;
	s->counts_links = top >= 0 && gitwalk_counts_links(top);
	look_at_steps(s, fd, path, is_new);
	s->nothers = 0;
	for (s->pass = 0; s->pass < NPASSES && top >= 0; s->pass++) {
		list(s, top, path, 0, is_new);
		(void)lseek(top, 0, SEEK_SET);
		for (size_t i = 0; s->pass == PASS_KNOWN && i < sizeof parts /
		    sizeof *parts; i++)
			if (is_new || !is_quiet(s, fd, parts[i]))
				look(s, fd, path, parts[i], MAX_DEPTH,
				    is_new);
	}
	wide_back(&w);
	return s->has_found || s->is_cut;
}
