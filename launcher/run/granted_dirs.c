#include "launcher/run/granted_dirs.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/base/io.h"
#include "platform/base/path.h"
#include "platform/base/xalloc.h"
#include "platform/confine.h"
#include "platform/fd.h"
#include "platform/pause.h"

enum { JOURNAL_MAX = 1 << 20 };

static const char empty[] = "{}";	/* of a file that is made */

struct granted_dirs {
	int	 fd;		/* of the journal, locked; -1 until needed */
	char	*state;		/* the folder it lies in */
	pid_t	 sweeper;	/* 0 until something is made */
	int	 sweeper_fd;	/* its end is the run's; -1 */
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
	m->fd = m->sweeper_fd = -1;
	m->state = xstrdup(state);
	/* Somebody made something once: from here on it stays. */
	(void)open_journal(m, 0);
	return m;
}

/* Written down before it is made; a file's line begins with its contents. */
static int
note_next(int journal, const char *kind, const char *path, size_t n)
{
	size_t k = strlen(kind);
	char line[sizeof empty + PATH_MAX + 1];

	if (journal < 0)
		return 0;
	memcpy(line, kind, k);
	memcpy(line + k, path, n);
	n += k;
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

/*
 * The folder a name lies in, no symlink on the way.  Step by step: when things
 * are removed a filter keeps us from openat2().
 */
static int
open_above(const char *path)
{
	auto_fd fd = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	size_t end = path_dir_len(path);

	for (size_t i = 1; fd >= 0 && i <= end; i++)
		if (path[i] == '/' &&
		    enter_next(&fd, path, i, O_NOFOLLOW) != 0)
			return -1;
	return fd_take(&fd);
}

static int
make_next(int dir_fd, int journal, const char *path, size_t n)
{
	char name[NAME_MAX + 1];

	if (!name_of(path, n, name) || note_next(journal, "", path,
	    n) != 0)
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

static int	 start_sweeper(struct granted_dirs *);

/* Before the first is made. */
static int
begin(struct granted_dirs *m, const char *path, struct err *e)
{
	if (m->fd < 0 && (make_all(-1, m->state, 0) != 0 ||
	    open_journal(m, O_CREAT) != 0))
		return err_sys(e, errno, "cannot keep a journal in '%s'",
		    m->state);
	if (m->sweeper == 0 && start_sweeper(m) != 0)
		return err_sys(e, errno, "cannot start what removes '%s'",
		    path);
	return 0;
}

int
granted_dirs_make(struct granted_dirs *m, const char *path, struct err *e)
{
	if (begin(m, path, e) != 0)
		return -1;
	if (make_all(m->fd, path, O_NOFOLLOW) != 0)
		return err_sys(e, errno, "cannot make '%s'", path);
	return 0;
}

int
granted_dirs_make_file(struct granted_dirs *m, const char *path,
    struct err *e)
{
	size_t n = strlen(path);
	auto_fd dir = -1, fd = -1;

	if (begin(m, path, e) != 0)
		return -1;
	dir = open_above(path);
	if (dir < 0 || n >= PATH_MAX || strchr(path, '\n') != NULL ||
	    note_next(m->fd, empty, path, n) != 0)
		return err_sys(e, errno, "cannot make '%s'", path);
	fd = openat(dir, path_name(path), O_WRONLY | O_CREAT | O_EXCL |
	    O_NOFOLLOW | O_CLOEXEC, 0600);
	if (fd < 0 ? errno != EEXIST : io_write_all(fd, empty, strlen(empty))
	    != 0)
		return err_sys(e, errno, "cannot make '%s'", path);
	return 0;
}

int
granted_dirs_make_lasting(const char *path)
{
	return make_all(-1, path, O_NOFOLLOW);
}

static void
remove_plain(const char *path)
{
	auto_fd dir = open_above(path);

	(void)unlinkat(dir, path_name(path), AT_REMOVEDIR);
}

/*
 * Empty, too: killed before it was written.  The host's agent may put another
 * file in its place between the look and the removal: some microseconds in
 * which it would have to end its first start.
 */
static void
remove_file(const char *path)
{
	auto_fd dir = open_above(path);
	auto_fd fd = openat(dir, path_name(path), O_RDONLY | O_NOFOLLOW |
	    O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	char text[sizeof empty];
	ssize_t n = pread(fd, text, sizeof text, 0);

	if (n == 0 || (n == (ssize_t)strlen(empty) &&
	    memcmp(text, empty, (size_t)n) == 0))
		(void)unlinkat(dir, path_name(path), 0);
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
		else if (strncmp(line, empty, strlen(empty)) == 0 &&
		    line[strlen(empty)] == '/')
			remove_file(line + strlen(empty));
	}
	free(text);
	(void)!ftruncate(journal, 0);
}

/* The lock of this run becomes an exclusive one if no other run holds it. */
static void
remove_last(int journal)
{
	if (flock(journal, LOCK_EX | LOCK_NB) == 0)
		remove_empty(journal);
}

/* ---- the process that removes them ---- */

/*
 * Reads until the launcher says a byte, or all who hold the other end are gone.
 * In a group of its own, and deaf: what ends the launcher leaves it.
 */
static _Noreturn void
sweeper_main(int journal, int fd)
{
	struct err e;
	char c;

	(void)setpgid(0, 0);
	prctl(PR_SET_NAME, "fence-sweep", 0, 0, 0);
	if (dup3(fd, 0, O_CLOEXEC) < 0 || dup3(journal, 1, O_CLOEXEC) < 0)
		_exit(1);
	(void)close_range(2, ~0u, 0);
	if (confine_sweeper(&e) != 0)
		_exit(1);
	while (read(0, &c, 1) < 0 && errno == EINTR)
		continue;
	remove_last(1);
	_exit(0);
}

/* Before the first is made: no moment of a kill is too early. */
static int
start_sweeper(struct granted_dirs *m)
{
	sigset_t all, was;
	int pair[2], sys;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) != 0)
		return -1;
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &was);
	m->sweeper = fork();
	sys = errno;
	if (m->sweeper == 0) {
		close(pair[0]);
		sweeper_main(m->fd, pair[1]);
	}
	sigprocmask(SIG_SETMASK, &was, NULL);
	close(pair[1]);
	m->sweeper_fd = pair[0];
	if (m->sweeper > 0)
		return 0;
	m->sweeper = 0;
	fd_close(&m->sweeper_fd);
	errno = sys;
	return -1;
}

/* By a byte: processes of the run may still hold the socket. */
static void
end_sweeper(struct granted_dirs *m)
{
	if (m->sweeper == 0)
		return;
	(void)fd_send(m->sweeper_fd, "e", 1, NULL, 0, 0);
	fd_close(&m->sweeper_fd);
	while (waitpid(m->sweeper, NULL, 0) < 0 && errno == EINTR)
		continue;
}

int
granted_dirs_fd(const struct granted_dirs *m)
{
	return m != NULL ? m->sweeper_fd : -1;
}

void
granted_dirs_close(struct granted_dirs *m)
{
	if (m == NULL)
		return;
	end_sweeper(m);
	/* What an earlier run left, or this one if the process was killed. */
	if (m->fd >= 0)
		remove_last(m->fd);
	fd_close(&m->fd);
	free(m->state);
	free(m);
}
