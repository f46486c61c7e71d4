#include "launcher/made.h"

#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/base/str.h"
#include "platform/base/xalloc.h"
#include "platform/fd.h"

enum { JOURNAL_MAX = 1 << 20 };

struct made {
	int	 fd;		/* of the journal, locked; -1 until needed */
	char	*state;		/* the folder it lies in */
};

static int
open_journal(struct made *m, int flags)
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

struct made *
made_open(const char *state)
{
	struct made *m;

	if (state == NULL)
		return NULL;
	m = xcalloc(1, sizeof *m);
	m->fd = -1;
	m->state = xstrdup(state);
	/* Somebody made something once: from here on it stays. */
	(void)open_journal(m, 0);
	return m;
}

/* mkdir -p, each new directory written down before it is made. */
static int
make_all(int journal, const char *path)
{
	char part[PATH_MAX + 1];
	size_t n = strlen(path);
	struct stat st;

	if (n >= PATH_MAX || strchr(path, '\n') != NULL) {
		errno = EINVAL;
		return -1;
	}
	for (size_t i = 1; i <= n; i++) {
		if (path[i] != '/' && path[i] != '\0')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (stat(part, &st) == 0)
			continue;
		part[i] = '\n';
		if (journal >= 0 &&
		    write(journal, part, i + 1) != (ssize_t)(i + 1))
			return -1;
		part[i] = '\0';
		if (mkdir(part, 0700) != 0 && errno != EEXIST)
			return -1;
	}
	return 0;
}

int
made_directory(struct made *m, const char *path, struct err *e)
{
	if (m->fd < 0 && (make_all(-1, m->state) != 0 ||
	    open_journal(m, O_CREAT) != 0))
		return err_sys(e, errno, "cannot keep a journal in '%s'",
		    m->state);
	if (make_all(m->fd, path) != 0)
		return err_sys(e, errno, "cannot make '%s'", path);
	return 0;
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
			(void)rmdir(line);
	}
	free(text);
	(void)!ftruncate(journal, 0);
}

void
made_close(struct made *m)
{
	if (m == NULL)
		return;
	if (m->fd >= 0 && flock(m->fd, LOCK_EX | LOCK_NB) == 0)
		remove_empty(m->fd);
	fd_close(&m->fd);
	free(m->state);
	free(m);
}

/* ".json" and its like: letters behind the last dot, but for ".d". */
static bool
has_suffix(const char *name)
{
	const char *dot = strrchr(name, '.');

	if (dot == NULL || dot == name || dot[1] == '\0' ||
	    strcmp(dot, ".d") == 0)
		return false;
	for (const char *p = dot + 1; *p != '\0'; p++)
		if (!isalpha((unsigned char)*p))
			return false;
	return true;
}

bool
made_is_directory(const char *path)
{
	static const char *const files[] = { "rc", "history", "profile",
	    "lock", "-cache", "config", "file", "netrc", "cookies" };
	static const char *const others[] = { "/Library/", "/System/",
	    "/private/", "/Applications/" };
	const char *name = strrchr(path, '/') + 1;
	size_t n = strlen(name);

	if (has_suffix(name))
		return false;
	for (size_t i = 0; i < sizeof files / sizeof files[0]; i++) {
		size_t k = strlen(files[i]);

		if (n > k && strcmp(name + n - k, files[i]) == 0 &&
		    strcmp(name, ".config") != 0)
			return false;
	}
	for (size_t i = 0; i < sizeof others / sizeof others[0]; i++)
		if (strstr(path, others[i]) != NULL)
			return false;
	return true;
}
