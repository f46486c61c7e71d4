#include "launcher/record/kept.h"

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

#include "launcher/log.h"
#include "launcher/record/chain.h"
#include "platform/base/clock.h"
#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/base/xalloc.h"
#include "platform/fd.h"

enum {
	SPARES = 256,			/* runs at one time */
	LINE_BYTES = 256 * 1024,
	LAST_BYTES = 64 * 1024,		/* room for the end of a run */
	NAMES_MAX = 65536,
};

struct kept {
	int			 folder_fd;
	const struct event_run	*run;
	unsigned		 keep;
	int			 fd;		/* locked, or -1 */
	char			 spare[16];	/* its name until it has one */
	char			 name[KEPT_NAME + 32];	/* or "" */
	struct event		 start;		/* not written yet */
	char			*command;
	uint64_t		 sequence, lost;
	int64_t			 lost_second;
	struct chain		 chain;
	off_t			 size;		/* whole lines */
	bool			 is_told;	/* that it cannot be kept */
	int			 sys;		/* kept_open() failed */
	struct buf		 line;
};

/* ---- the folder ---- */

static int
open_folder(const char *path)
{
	auto_fd fd = open(path, O_RDONLY | O_DIRECTORY | O_CLOEXEC |
	    O_NOFOLLOW);
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return -1;
	if (st.st_uid != geteuid() || (st.st_mode & 077) != 0) {
		errno = EPERM;
		return -1;
	}
	return fd_take(&fd);
}

/*
 * A home, or another place of states, that is missing is not ours to make.
 * Root makes nothing in another user's (sudo may leave HOME as it was): the
 * folders would be root's alone, and shut their owner out.
 */
static bool
may_make(const char *state, const char *home)
{
	char above[PATH_MAX];
	struct stat st;

	(void)snprintf(above, sizeof above, "%s", state);
	if (home != NULL && str_path_below(state, home))
		(void)snprintf(above, sizeof above, "%s", home);
	else if (!path_cut(above))
		return false;
	return stat(above, &st) == 0 && (geteuid() != 0 || st.st_uid == 0);
}

int
kept_folder(const char *state, const char *home, bool make)
{
	char path[PATH_MAX];
	int fd;

	if (state == NULL || snprintf(path, sizeof path, "%s/" KEPT_FOLDER,
	    state) >= (int)sizeof path)
		return -1;
	fd = open_folder(path);
	if (fd >= 0 || errno != ENOENT || !make)
		return fd;
	if (!may_make(state, home))
		return -1;
	if (path_make_above(path, 0700) != 0 || mkdir(path, 0700) != 0)
		return -1;
	return open_folder(path);
}

bool
kept_is_name(const char *name)
{
	static const char form[] = "ddddddddTdddddd.dddZ-";

	if (strlen(name) != KEPT_NAME ||
	    strcmp(name + sizeof form - 1 + KEPT_ID, ".jsonl") != 0)
		return false;
	for (size_t i = 0; i < sizeof form - 1; i++)
		if (form[i] == 'd' ? name[i] < '0' || name[i] > '9' :
		    name[i] != form[i])
			return false;
	return strspn(name + sizeof form - 1, "0123456789abcdef") == KEPT_ID;
}

/* ---- the file ---- */

struct kept *
kept_new(int folder_fd, const struct event_run *run, unsigned keep)
{
	struct kept *k;

	if (folder_fd < 0 || keep == 0)
		return NULL;
	k = xcalloc(1, sizeof *k);
	k->folder_fd = folder_fd;
	k->run = run;
	k->keep = keep;
	k->fd = -1;
	chain_init(&k->chain);
	buf_init(&k->line, LINE_BYTES);
	return k;
}

/*
 * One name, one owner: only the run that has locked the file of a name renames
 * it, and it is made only where there is none.  A lock that came after its
 * owner had renamed it is one of another run's record.
 */
static bool
is_spare(const struct kept *k, int fd)
{
	struct stat st, named;

	return fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    st.st_size == 0 && st.st_nlink == 1 &&
	    fstatat(k->folder_fd, k->spare, &named, AT_SYMLINK_NOFOLLOW) == 0 &&
	    named.st_ino == st.st_ino && named.st_dev == st.st_dev;
}

void
kept_open(struct kept *k)
{
	static const int how[] = { 0, O_CREAT | O_EXCL };

	for (unsigned i = 0; k != NULL && k->fd < 0 && i < 2 * SPARES; i++) {
		auto_fd fd = -1;

		(void)snprintf(k->spare, sizeof k->spare, "spare%u", i / 2);
		fd = openat(k->folder_fd, k->spare, O_WRONLY | O_CLOEXEC |
		    O_NOFOLLOW | O_NONBLOCK | how[i % 2], 0600);
		if (fd < 0 && errno != ENOENT && errno != EEXIST) {
			k->sys = errno;
			return;
		}
		if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) == 0 &&
		    is_spare(k, fd))
			k->fd = fd_take(&fd);
	}
}

static void
tell_unkept(struct kept *k, int sys)
{
	if (!k->is_told)
		log_say("records of this run are not kept for fence trace: %s",
		    strerror(sys));
	k->is_told = true;
}

/* Name it; from here on it is a record. */
static bool
begin(struct kept *k)
{
	struct timespec now;
	struct tm tm;
	char when[32];

	if (k->name[0] != '\0')
		return true;
	if (k->fd < 0) {
		if (k->sys != 0)
			tell_unkept(k, k->sys);
		return false;
	}
	clock_gettime(CLOCK_REALTIME, &now);
	gmtime_r(&now.tv_sec, &tm);
	strftime(when, sizeof when, "%Y%m%dT%H%M%S", &tm);
	(void)snprintf(k->name, sizeof k->name, "%.15s.%03dZ-%.32s.jsonl",
	    when, (int)(now.tv_nsec / 1000000), k->run->id);
	if (renameat(k->folder_fd, k->spare, k->folder_fd, k->name) == 0)
		return true;
	k->sys = errno;
	tell_unkept(k, k->sys);
	k->name[0] = '\0';
	fd_close(&k->fd);
	return false;
}

/* All of the line, or nothing of it. */
static bool
put_line(struct kept *k, off_t room)
{
	ssize_t n;

	if (k->line.failed || k->size + (off_t)k->line.len > room)
		return false;
	n = write(k->fd, k->line.data, k->line.len);
	if (n == (ssize_t)k->line.len)
		return true;
	tell_unkept(k, n < 0 ? errno : ENOSPC);
	(void)!ftruncate(k->fd, k->size);
	(void)lseek(k->fd, k->size, SEEK_SET);
	return false;
}

static bool
put(struct kept *k, struct event *e)
{
	bool is_last = e->kind == EVENT_RUN_END || e->kind == EVENT_DROPPED;

	e->sequence = k->sequence + 1;
	e->prev = k->chain.prev;
	buf_clear(&k->line);
	event_json(e, k->run, &k->line);
	buf_putc(&k->line, '\n');
	if (!put_line(k, KEPT_RUN_BYTES - (is_last ? 0 : LAST_BYTES)))
		return false;
	k->sequence++;
	k->size += (off_t)k->line.len;
	chain_add(&k->chain, k->line.data, k->line.len - 1);
	return true;
}

static void
flush_lost(struct kept *k)
{
	struct event e = { .kind = EVENT_DROPPED, .witness = WITNESS_MONITOR,
	    .enforcer = ENFORCER_NONE, .dropped = k->lost, .count = 1 };

	if (k->lost == 0)
		return;
	e.time_ms = clock_ms(CLOCK_REALTIME);
	if (put(k, &e))
		k->lost = 0;
}

static int64_t
now_second(void)
{
	return clock_ms(CLOCK_MONOTONIC) / 1000;
}

void
kept_lost(struct kept *k, uint64_t n)
{
	if (k == NULL)
		return;
	k->lost += n;
	k->lost_second = now_second();
}

static void
put_start(struct kept *k)
{
	if (k->command == NULL)
		return;
	(void)put(k, &k->start);
	free(k->command);
	k->command = NULL;
}

void
kept_event(struct kept *k, struct event *e)
{
	if (k == NULL)
		return;
	if (e->kind == EVENT_RUN_START) {
		k->start = *e;
		free(k->command);
		k->command = xstrdup(e->detail != NULL ? e->detail : "");
		k->start.detail = k->command;
		return;
	}
	if (e->kind == EVENT_RUN_END ? k->name[0] == '\0' :
	    !event_is_trouble(e) || !begin(k))
		return;
	put_start(k);
	if (e->kind == EVENT_RUN_END ||
	    (k->lost > 0 && now_second() != k->lost_second))
		flush_lost(k);
	if (!put(k, e))
		kept_lost(k, 1);
}

bool
kept_has_file(const struct kept *k)
{
	return k != NULL && k->size > 0;
}

/* ---- the end ---- */

struct names {
	char	(*v)[KEPT_NAME + 1];
	size_t	 n, cap;
};

static int
newest_first(const void *a, const void *b)
{
	return strcmp(b, a);
}

static void
list_names(int folder_fd, struct names *names)
{
	int fd = openat(folder_fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = fd < 0 ? NULL : fdopendir(fd);
	const struct dirent *e;

	if (d == NULL)
		fd_close(&fd);
	while (d != NULL && names->n < NAMES_MAX && (e = readdir(d)) != NULL)
		if (kept_is_name(e->d_name))
			memcpy(vec_push(names), e->d_name, KEPT_NAME + 1);
	if (d != NULL)
		closedir(d);
	if (names->n > 0)
		qsort(names->v, names->n, sizeof *names->v, newest_first);
}

/* The record of a run that lasts is locked, and stays. */
static void
remove_record(int folder_fd, const char *name)
{
	auto_fd fd = openat(folder_fd, name, O_RDONLY | O_CLOEXEC |
	    O_NOFOLLOW | O_NONBLOCK);

	if (fd >= 0 && flock(fd, LOCK_EX | LOCK_NB) != 0)
		return;
	(void)unlinkat(folder_fd, name, 0);
}

static void
prune(const struct kept *k)
{
	struct names names = { 0 };
	uint64_t total = 0;

	list_names(k->folder_fd, &names);
	for (size_t i = 0; i < names.n; i++) {
		struct stat st;

		if (fstatat(k->folder_fd, names.v[i], &st,
		    AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		total += (uint64_t)st.st_size;
		if (i >= k->keep || total > KEPT_BYTES)
			remove_record(k->folder_fd, names.v[i]);
	}
	vec_release(&names);
}

void
kept_free(struct kept *k)
{
	if (k == NULL)
		return;
	/* The first stays for the next run; the rest are of runs beside us. */
	if (k->fd >= 0 && k->name[0] == '\0' && strcmp(k->spare, "spare0") != 0)
		(void)unlinkat(k->folder_fd, k->spare, 0);
	fd_close(&k->fd);
	if (k->name[0] != '\0')
		prune(k);
	free(k->command);
	buf_release(&k->line);
	free(k);
}
