/*
 * A .git file and the "gitdir" of a folder in worktrees/ name each other.  A
 * later run that begins beside the one is granted what it leads to if the
 * other agrees (launcher/plan/gitdir.h), each as it is written.  So the half
 * that leads out of what this run could write stays only where the other half
 * is there and as new: somebody made a work tree meanwhile, outside.  An older
 * one may have been laid ready.
 */
#include <fcntl.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/guard/gitend_parts.h"
#include "platform/base/arena.h"
#include "platform/base/path.h"
#include "platform/fd.h"
#include "policy/pattern.h"

/* A plain new file, with no symlink on the way: as O_PATH it starts nothing. */
static int
open_plain(const char *file, const struct timespec *since)
{
	auto_fd at = open(file, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	char real[PATH_MAX], self[FD_PATH_MAX];
	struct stat st;

	if (at < 0 || fstat(at, &st) != 0 || !S_ISREG(st.st_mode) ||
	    !gitwalk_is_since(&st, since) || fd_real_path(at, real) != 0 ||
	    strcmp(real, file) != 0)
		return -1;
	fd_path(at, self);
	return open(self, O_RDONLY | O_CLOEXEC);
}

bool
gitback_path(const char *text, const char *base, char ret[PATH_MAX])
{
	struct arena *a = arena_new();
	const char *path = pattern_clean_path(a, base, text);
	bool fits = path != NULL && strlen(path) < PATH_MAX;

	if (fits)
		strcpy(ret, path);
	arena_free(a);
	return fits;
}

bool
gitback_names(const char *file, const struct timespec *since,
    const char *begin, const char *want)
{
	char text[PATH_MAX + 64], base[PATH_MAX], path[PATH_MAX];
	auto_fd fd = open_plain(file, since);
	ssize_t n = fd < 0 ? -1 : pread(fd, text, sizeof text - 1, 0);
	size_t skip = strlen(begin), len = path_dir_len(file);

	while (n > 0 && (text[n - 1] == '\n' || text[n - 1] == '\r'))
		n--;
	if (n <= (ssize_t)skip || memcmp(text, begin, skip) != 0 ||
	    len >= sizeof base)
		return false;
	text[n] = '\0';
	memcpy(base, file, len);
	base[len] = '\0';
	return gitback_path(text + skip, len > 0 ? base : "/", path) &&
	    strcmp(path, want) == 0;
}
