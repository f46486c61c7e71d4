#include "launcher/run/granted_dirs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/base/path.h"
#include "platform/base/xalloc.h"
#include "platform/fd.h"

enum { JOURNAL_MAX = 1 << 20 };

struct granted_dirs {
	int	 fd;		/* of the journal, locked; -1 until needed */
	char	*state;		/* the folder it lies in */
};

static int
open_journal(struct granted_dirs *m, int flags)
{
	char path[PATH_MAX];

	if (m->fd >= 0)
		return 0;
	if (snprintf(path, sizeof path, "%s/made", m->state) >=
	    (int)sizeof path)
		return -1;
	m->fd = open(path, O_RDWR | O_APPEND | O_CLOEXEC | O_NOFOLLOW | flags,
	    0600);
	if (m->fd < 0 || flock(m->fd, LOCK_SH) == 0)
		return m->fd < 0 ? -1 : 0;
	fd_close(&m->fd);
	return -1;
}

struct granted_dirs *
granted_dirs_open(const char *state)
{
	struct granted_dirs *m;

	if (state == NULL)
		return NULL;
	m = xcalloc(1, sizeof *m);
	m->fd = -1;
	m->state = xstrdup(state);
	/* Somebody made something once: from here on it stays. */
	(void)open_journal(m, 0);
	return m;
}

/* Written down before it is made. */
static int
note_next(int journal, const char *path, size_t n)
{
	char line[PATH_MAX + 1];

	if (journal < 0)
		return 0;
	memcpy(line, path, n);
	line[n] = '\n';
	return write(journal, line, n + 1) == (ssize_t)(n + 1) ? 0 : -1;
}

/* The last name of the path up to n; false if it is too long. */
static bool
name_of(const char *path, size_t n, char name[NAME_MAX + 1])
{
	size_t at = n;

	while (path[at - 1] != '/')
		at--;
	if (n - at > NAME_MAX) {
		errno = ENAMETOOLONG;
		return false;
	}
	memcpy(name, path + at, n - at);
	name[n - at] = '\0';
	return true;
}

/* Goes into the next folder of the path, which ends at n. */
static int
enter_next(int *dir_fd, const char *path, size_t n, int follow)
{
	char name[NAME_MAX + 1];
	int fd;

	if (!name_of(path, n, name))
		return -1;
	if (name[0] == '\0')
		return 0;
	fd = openat(*dir_fd, name, O_PATH | O_DIRECTORY | O_CLOEXEC | follow);
	if (fd < 0)
		return -1;
	fd_close(dir_fd);
	*dir_fd = fd;
	return 0;
}

static int
make_next(int dir_fd, int journal, const char *path, size_t n)
{
	char name[NAME_MAX + 1];

	if (!name_of(path, n, name) || note_next(journal, path, n) != 0)
		return -1;
	return mkdirat(dir_fd, name, 0700) == 0 || errno == EEXIST ? 0 : -1;
}

/*
 * mkdir -p, step by step from the root: who exchanges a folder on the way for
 * a symlink leads nobody elsewhere.  follow: 0 or O_NOFOLLOW, of what is there.
 */
static int
make_all(int journal, const char *path, int follow)
{
	auto_fd fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	size_t n = strlen(path);

	if (path[0] != '/' || n >= PATH_MAX || strchr(path, '\n') != NULL) {
		errno = EINVAL;
		return -1;
	}
	for (size_t i = 1; i <= n && fd >= 0; i++)
		if ((path[i] == '/' || path[i] == '\0') &&
		    enter_next(&fd, path, i, follow) != 0 &&
		    (errno != ENOENT ||
		    make_next(fd, journal, path, i) != 0 ||
		    enter_next(&fd, path, i, O_NOFOLLOW) != 0))
			return -1;
	return fd < 0 ? -1 : 0;
}

int
granted_dirs_make(struct granted_dirs *m, const char *path, struct err *e)
{
	if (m->fd < 0 && (make_all(-1, m->state, 0) != 0 ||
	    open_journal(m, O_CREAT) != 0))
		return err_sys(e, errno, "cannot keep a journal in '%s'",
		    m->state);
	if (make_all(m->fd, path, O_NOFOLLOW) != 0)
		return err_sys(e, errno, "cannot make '%s'", path);
	return 0;
}

int
granted_dirs_make_lasting(const char *path)
{
	return make_all(-1, path, O_NOFOLLOW);
}

/*
 * No symlink on the way, as it was made.  Step by step: by now a filter keeps
 * us from openat2().
 */
static void
remove_plain(const char *path)
{
	auto_fd fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	size_t end = path_dir_len(path);

	for (size_t i = 1; i <= end; i++)
		if (path[i] == '/' &&
		    enter_next(&fd, path, i, O_NOFOLLOW) != 0)
			return;
	(void)unlinkat(fd, path + end + 1, AT_REMOVEDIR);
}

/* Children were written after their parents: from the end. */
static void
remove_empty(int journal)
{
	char *text = xcalloc(1, JOURNAL_MAX + 1);
	ssize_t n = pread(journal, text, JOURNAL_MAX, 0);
	char *line;

	text[n > 0 ? n : 0] = '\0';
	while ((line = strrchr(text, '\n')) != NULL) {
		*line = '\0';
		line = strrchr(text, '\n');
		line = line != NULL ? line + 1 : text;
		if (line[0] == '/')
			remove_plain(line);
	}
	free(text);
	(void)!ftruncate(journal, 0);
}

void
granted_dirs_close(struct granted_dirs *m)
{
	if (m == NULL)
		return;
	if (m->fd >= 0 && flock(m->fd, LOCK_EX | LOCK_NB) == 0)
		remove_empty(m->fd);
	fd_close(&m->fd);
	free(m->state);
	free(m);
}
