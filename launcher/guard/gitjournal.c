#include "launcher/guard/gitjournal.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "launcher/guard/guard_move.h"
#include "launcher/guard/journal.h"
#include "platform/base/buf.h"
#include "platform/base/io.h"
#include "platform/base/path.h"
#include "platform/base/vec.h"
#include "platform/fd.h"

enum {
	JOURNAL_MAX = 1 << 20,
	ABOVE_OURS = 2,		/* fence/runs */
	ABOVE_USUAL = 4,	/* .local/state/fence/runs */
	YOUNG_S = 60,		/* an empty one is about to be written */
};

static const char head[] = "fence run 1";

/* No home is made, nor a place for state that somebody named. */
static unsigned
above_max(const char *path)
{
	return strstr(path, "/.local/state/fence/runs/") != NULL ?
	    ABOVE_USUAL : ABOVE_OURS;
}

/* The folders above, as far as they are missing.  *made counts them. */
static int
make_above(const char *path, unsigned *made)
{
	char part[PATH_MAX];
	struct stat st;
	unsigned missing = 0;

	if (strlen(path) >= sizeof part)
		return -1;
	strcpy(part, path);
	while (path_cut(part) && stat(part, &st) != 0)
		if (errno != ENOENT || ++missing > above_max(path))
			return -1;
	for (; missing > 0; missing--) {
		strcpy(part, path);
		for (unsigned i = 0; i < missing; i++)
			(void)path_cut(part);
		if (mkdir(part, 0700) == 0)
			++*made;
		else if (errno != EEXIST)
			return -1;
	}
	return 0;
}

/* Another run may just be removing the folders that it made. */
static int
open_new(const char *path, unsigned *made)
{
	enum { NEW = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW, TRIES = 4 };
	int fd = open(path, NEW | O_CLOEXEC, 0600);

	for (int i = 0; i < TRIES && fd < 0 && errno == ENOENT &&
	    make_above(path, made) == 0; i++)
		fd = open(path, NEW | O_CLOEXEC, 0600);
	return fd;
}

void
journal_put(struct buf *b, char kind, const char *text)
{
	buf_putc(b, kind);
	buf_add(b, text, strlen(text) + 1);
}

static void
describe(struct buf *b, const struct gitend *end)
{
	char since[64];

	journal_put(b, 'F', head);
	snprintf(since, sizeof since, "%lld %ld",
	    (long long)end->since.tv_sec, end->since.tv_nsec);
	journal_put(b, 'S', since);
	if (end->quarantine != NULL)
		journal_put(b, 'Q', end->quarantine);
	for (size_t i = 0; i < end->nheld; i++)
		journal_put(b, 'H', end->held[i]);
	for (size_t i = 0; i < end->nstill; i++)
		journal_put(b, 'G', end->still[i]);
	for (size_t i = 0; i < end->nroots; i++)
		journal_put(b, 'R', end->roots[i]);
	journal_put(b, 'E', "");
}

/* Written at once and under the lock: see journal_is_dead(). */
int
journal_write(const char *path, const struct buf *b, unsigned *made)
{
	auto_fd fd = open_new(path, made);

	if (fd < 0)
		return -1;
	if (!b->failed && flock(fd, LOCK_EX) == 0 &&
	    io_write_all(fd, b->data, b->len) == 0)
		return fd_take(&fd);
	gitjournal_remove(path, *made);
	return -1;
}

int
gitjournal_write(const char *path, const struct gitend *end,
    unsigned *ret_made)
{
	struct buf b;
	int fd;

	buf_init(&b, JOURNAL_MAX);
	describe(&b, end);
	fd = journal_write(path, &b, ret_made);
	buf_release(&b);
	return fd;
}

void
gitjournal_remove(const char *path, unsigned made)
{
	char part[PATH_MAX];

	(void)unlinkat(AT_FDCWD, path, 0);
	if (strlen(path) >= sizeof part)
		return;
	strcpy(part, path);
	for (; made > 0 && path_cut(part); made--)
		if (unlinkat(AT_FDCWD, part, AT_REMOVEDIR) != 0)
			break;	/* another run uses it */
}

/* ---- sweeping ---- */

struct sweep {
	struct gitend	 end;
	struct { const char **v; size_t n, cap; } roots, held, still;
	bool		 is_whole;
};

bool
journal_is_dead(int fd, struct stat *st)
{
	if (flock(fd, LOCK_EX | LOCK_NB) != 0 || fstat(fd, st) != 0)
		return false;
	return S_ISREG(st->st_mode) && st->st_nlink > 0 &&
	    (st->st_size > 0 || time(NULL) - st->st_mtime > YOUNG_S);
}

static void
record(struct sweep *s, char kind, const char *text)
{
	long long sec;
	long nsec;

	switch (kind) {
	case 'S':
		if (sscanf(text, "%lld %ld", &sec, &nsec) == 2)
			s->end.since = (struct timespec){ sec, nsec };
		break;
	case 'Q':
		if (text[0] == '/')
			s->end.quarantine = text;
		break;
	case 'H':
		*vec_push(&s->held) = text;
		break;
	case 'G':
		*vec_push(&s->still) = text;
		break;
	case 'R':
		if (text[0] == '/')
			*vec_push(&s->roots) = text;
		break;
	case 'E':
		s->is_whole = true;
		break;
	default:
		break;
	}
}

static void
read_records(struct sweep *s, const char *text, size_t len)
{
	const char *end = text + len;

	while (text < end && text[0] != '\0') {
		record(s, text[0], text + 1);
		text += strlen(text) + 1;
	}
}

/* One that was cut short says too little of what not to touch. */
static void
sweep_one(int fd, size_t len, void (*told)(const struct guard_told *, void *),
    void *arg)
{
	struct sweep s = { .end = { .told = told, .arg = arg } };
	char *text = xcalloc(1, len + 2);
	ssize_t n = pread(fd, text, len, 0);

	if (n > 0)
		read_records(&s, text, (size_t)n);
	s.end.roots = s.roots.v;
	s.end.nroots = s.roots.n;
	s.end.held = s.held.v;
	s.end.nheld = s.held.n;
	s.end.still = s.still.v;
	s.end.nstill = s.still.n;
	if (s.is_whole && s.end.since.tv_sec > 0)
		gitend_run(&s.end);
	vec_release(&s.roots);
	vec_release(&s.held);
	vec_release(&s.still);
	free(text);
}

bool
journal_is_agents(const char *name)
{
	static const char end[] = ".agents";
	size_t n = strlen(name), k = sizeof end - 1;

	return n > k && strcmp(name + n - k, end) == 0;
}

int
journal_folder(const char *state)
{
	char path[PATH_MAX];

	if (state == NULL || snprintf(path, sizeof path, "%s/runs", state) >=
	    (int)sizeof path)
		return -1;
	return open(path, O_PATH | O_DIRECTORY | O_CLOEXEC);
}

void
gitjournal_sweep(const char *state, void (*told)(const struct guard_told *,
    void *), void *arg)
{
	auto_fd dir = journal_folder(state);
	const char *name;
	struct stat st;
	DIR *d;

	d = dir < 0 ? NULL : move_list(dir);
	while (d != NULL && (name = move_next(d)) != NULL) {
		auto_fd fd = journal_is_agents(name) ? -1 : openat(dir, name,
		    O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC);

		if (fd < 0 || !journal_is_dead(fd, &st))
			continue;
		if (st.st_size <= JOURNAL_MAX)
			sweep_one(fd, (size_t)st.st_size, told, arg);
		(void)unlinkat(dir, name, 0);
	}
	if (d != NULL)
		closedir(d);
}
