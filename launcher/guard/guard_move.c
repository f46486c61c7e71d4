#include "launcher/guard/guard_move.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/guard/guard_wide.h"
#include "platform/fd.h"

enum {
	MAX_DEPTH = 64, MAX_ENTRIES = 20000,
	TURNS = 4,	/* how often a file that changes is read again */
	WEIGH_ENTRIES = 1000000,
	ROUNDS = 4096,	/* of a removal: a maker beside us may go on */
};
#define MAX_BYTES	((uint64_t)256 << 20)	/* of one thing */
#define MAX_RUN		((uint64_t)1 << 30)	/* of all */

struct budget {
	uint64_t	bytes;
	unsigned	entries;
	const volatile bool *is_stopped;
};

/* Copying */

static int
copy_bytes(int in, int out, uint64_t *left)
{
	static char data[64 << 10];
	off_t at = 0;
	ssize_t n;

	while ((n = pread(in, data, sizeof data, at)) > 0) {
		if ((uint64_t)n > *left) {
			errno = EFBIG;
			return -1;
		}
		*left -= (uint64_t)n;
		for (ssize_t done = 0, k; done < n; done += k)
			if ((k = pwrite(out, data + done, (size_t)(n - done),
			    at + done)) < 0)
				return -1;
		at += n;
	}
	return n < 0 ? -1 : ftruncate(out, at);
}

static bool
is_like(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size &&
	    a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	    a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

/* The copy takes the times it had when it was read: is_like() needs them. */
static int
copy_content(int in, int out, uint64_t *left)
{
	struct stat before, after;

	for (int i = 0; i < TURNS; i++) {
		struct timespec times[2];

		if (fstat(in, &before) != 0 || copy_bytes(in, out, left) != 0
		    || fstat(in, &after) != 0)
			return -1;
		times[0] = before.st_atim;
		times[1] = before.st_mtim;
		if (fchmod(out, before.st_mode & 0777) != 0 ||
		    futimens(out, times) != 0)
			return -1;
		if (is_like(&before, &after))
			break;
	}
	return 0;
}

static int
copy_file(struct budget *b, int from, const char *name, int to,
    const char *new_name)
{
	struct wide w;
	auto_fd in = wide_open_file(&w, from, name);
	auto_fd out = -1;
	struct stat st;
	int rc = -1;

	if (in >= 0 && fstat(in, &st) == 0) {
		if (!S_ISREG(st.st_mode))
			errno = ESTALE;
		else if ((out = openat(to, new_name, O_WRONLY | O_CREAT |
		    O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)) >= 0)
			rc = copy_content(in, out, &b->bytes);
	}
	wide_back(&w);
	return rc;
}

static int
copy_link(int from, const char *name, int to, const char *new_name)
{
	char target[PATH_MAX];
	ssize_t n = readlinkat(from, name, target, sizeof target - 1);

	if (n < 0)
		return -1;
	target[n] = '\0';
	return symlinkat(target, to, new_name);
}

static int copy_any(struct budget *, int from, const char *name, int to,
    const char *new_name, unsigned depth);

static int
copy_entries(struct budget *b, int in, int out, unsigned depth)
{
	DIR *d = move_list(in);
	const char *name;
	int rc = 0;

	if (d == NULL)
		return -1;
	while (rc == 0 && (name = move_next(d)) != NULL) {
		rc = copy_any(b, in, name, out, name, depth + 1);
		if (rc != 0 && errno == ENOENT)
			rc = 0;		/* it went away: not ours to keep */
	}
	closedir(d);
	return rc;
}

/* Its owner can look into the copy, whatever the original's mode. */
static int
copy_dir(struct budget *b, int from, const char *name, int to,
    const char *new_name, unsigned depth)
{
	struct wide w;
	auto_fd in = wide_open_dir(&w, from, name);
	auto_fd out = -1;
	struct stat st;
	int rc = -1;

	if (in >= 0 && fstat(in, &st) == 0 &&
	    mkdirat(to, new_name, 0700) == 0) {
		out = openat(to, new_name, O_RDONLY | O_DIRECTORY |
		    O_NOFOLLOW | O_CLOEXEC);
		rc = out < 0 ? -1 : copy_entries(b, in, out, depth);
	}
	if (rc == 0)
		rc = fchmod(out, ((w.fd >= 0 ? w.mode : st.st_mode) & 0777) |
		    0700);
	wide_back(&w);
	return rc;
}

static int
copy_any(struct budget *b, int from, const char *name, int to,
    const char *new_name, unsigned depth)
{
	struct stat st;

	if (depth > MAX_DEPTH || b->entries == 0) {
		errno = EFBIG;
		return -1;
	}
	if (b->is_stopped != NULL && *b->is_stopped) {
		errno = ECANCELED;
		return -1;
	}
	b->entries--;
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return -1;
	switch (st.st_mode & S_IFMT) {
	case S_IFDIR:
		return copy_dir(b, from, name, to, new_name, depth);
	case S_IFREG:
		return copy_file(b, from, name, to, new_name);
	case S_IFLNK:
		return copy_link(from, name, to, new_name);
	default:	/* a FIFO, a socket; the kernel refuses the rest */
		return mknodat(to, new_name, st.st_mode & (S_IFMT | 0777),
		    st.st_rdev);
	}
}

int
move_copy(struct move *m, int from, const char *name, int to,
    const char *new_name)
{
	uint64_t left = MAX_RUN - m->copied;
	struct budget b = { left < MAX_BYTES ? left : MAX_BYTES,
	    MAX_ENTRIES, m->is_stopped };
	uint64_t begin = b.bytes;
	int saved, rc;

	rc = copy_any(&b, from, name, to, new_name, 0);
	m->copied += begin - b.bytes;
	if (rc == 0)
		return 0;
	saved = errno;
	if (saved != EEXIST)	/* else it is another's */
		(void)move_remove(to, new_name);
	errno = saved;
	return -1;
}

/* Removing what was copied */

bool
move_has_writer(int fd)
{
	if (fcntl(fd, F_SETLEASE, F_RDLCK) == 0) {
		(void)fcntl(fd, F_SETLEASE, F_UNLCK);
		return false;
	}
	return errno == EAGAIN;
}

static void
late_end(struct move *m, struct move_late *l)
{
	uint64_t left = MAX_RUN - m->copied;

	(void)copy_content(l->in, l->out, &left);
	m->copied = MAX_RUN - left;
	fd_close(&l->in);
	fd_close(&l->out);
}

/* Takes both. */
static void
late_add(struct move *m, int in, int out)
{
	if (m->nlate == MOVE_LATE) {
		late_end(m, &m->late[0]);
		m->nlate--;
		memmove(m->late, m->late + 1, m->nlate * sizeof *m->late);
	}
	m->late[m->nlate++] = (struct move_late){ in, out };
}

void
move_late(struct move *m, bool is_last)
{
	size_t n = 0;

	for (size_t i = 0; i < m->nlate; i++) {
		if (is_last || !move_has_writer(m->late[i].in))
			late_end(m, &m->late[i]);
		else
			m->late[n++] = m->late[i];
	}
	m->nlate = n;
}

/*
 * Whoever has the file open for writing goes on after it lost its name here:
 * an editor that made it and has not closed it yet.
 */
static int
drop_file(struct move *m, int from, const char *name, int to,
    const char *new_name, bool is_copied)
{
	struct wide w;
	auto_fd in = wide_open_file(&w, from, name);
	auto_fd out = -1;

	wide_back(&w);
	if (in >= 0 && move_has_writer(in))
		out = openat(to, new_name, O_WRONLY | O_NOFOLLOW | O_CLOEXEC);
	if (out < 0 && !is_copied) {
		errno = ESTALE;
		return -1;
	}
	if (unlinkat(from, name, 0) != 0)
		return -1;
	if (out >= 0)
		late_add(m, fd_take(&in), fd_take(&out));
	return 0;
}

static int
drop_dir(struct move *m, int from, const char *name, int to,
    const char *new_name)
{
	auto_fd in = wide_open_doomed(from, name);
	auto_fd out = openat(to, new_name, O_RDONLY | O_DIRECTORY |
	    O_NOFOLLOW | O_CLOEXEC);
	DIR *d = in < 0 || out < 0 ? NULL : move_list(in);
	const char *entry;

	if (d == NULL)
		return -1;
	while ((entry = move_next(d)) != NULL)
		(void)move_drop(m, in, entry, out, entry);
	closedir(d);
	return unlinkat(from, name, AT_REMOVEDIR);
}

int
move_drop(struct move *m, int from, const char *name, int to,
    const char *new_name)
{
	struct stat st, copy;

	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT ? 0 : -1;
	if (fstatat(to, new_name, &copy, AT_SYMLINK_NOFOLLOW) != 0 ||
	    (st.st_mode & S_IFMT) != (copy.st_mode & S_IFMT)) {
		errno = ESTALE;
		return -1;
	}
	switch (st.st_mode & S_IFMT) {
	case S_IFREG:
		return drop_file(m, from, name, to, new_name,
		    is_like(&st, &copy));
	case S_IFDIR:
		return drop_dir(m, from, name, to, new_name);
	default:
		return unlinkat(from, name, 0);
	}
}
/* Weighing */

static void
weigh_entries(int fd, struct weight *w, unsigned depth)
{
	DIR *d = move_list(fd);
	const char *name;
	struct stat st;

	while (d != NULL && w->entries < WEIGH_ENTRIES &&
	    (name = move_next(d)) != NULL) {
		auto_fd sub = -1;

		if (fstatat(fd, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
			continue;
		w->entries++;
		w->bytes += (uint64_t)st.st_blocks * 512;
		if (S_ISDIR(st.st_mode) && depth < MAX_DEPTH)
			sub = openat(fd, name, O_RDONLY | O_DIRECTORY |
			    O_NOFOLLOW | O_CLOEXEC);
		if (sub >= 0)
			weigh_entries(sub, w, depth + 1);
	}
	if (d != NULL)
		closedir(d);
}

void
move_weigh(int dir, const char *name, struct weight *w)
{
	auto_fd fd = openat(dir, name, O_RDONLY | O_DIRECTORY | O_NOFOLLOW |
	    O_CLOEXEC);

	if (fd >= 0)
		weigh_entries(fd, w, 0);
}

/* Removing */

/*
 * One folder's content.  What lies deeper than we hold folders open is
 * brought up to the top, where the next round finds it.
 */
static void
remove_entries(int top, int fd, unsigned depth, unsigned *serial)
{
	DIR *d = move_list(fd);
	const char *name;

	while (d != NULL && (name = move_next(d)) != NULL) {
		auto_fd sub = -1;

		if (unlinkat(fd, name, 0) == 0 ||
		    unlinkat(fd, name, AT_REMOVEDIR) == 0)
			continue;
		sub = wide_open_doomed(fd, name);
		if (sub < 0)
			continue;
		if (depth < MAX_DEPTH)
			remove_entries(top, sub, depth + 1, serial);
		else {
			char up[32];

			snprintf(up, sizeof up, "deep.%u", (*serial)++);
			(void)renameat(fd, name, top, up);
			continue;
		}
		(void)unlinkat(fd, name, AT_REMOVEDIR);
	}
	if (d != NULL)
		closedir(d);
}

int
move_remove(int dir, const char *name)
{
	unsigned serial = 0;
	auto_fd top = -1;

	if (unlinkat(dir, name, 0) == 0 || errno == ENOENT)
		return 0;
	if (errno != EISDIR && errno != EPERM)
		return -1;
	top = wide_open_doomed(dir, name);
	for (int i = 0; i < ROUNDS; i++) {
		unsigned was = serial;

		if (unlinkat(dir, name, AT_REMOVEDIR) == 0 ||
		    errno == ENOENT)
			return 0;
		if (top < 0 || (errno != ENOTEMPTY && errno != EEXIST))
			return -1;
		remove_entries(top, top, 0, &serial);
		if (i >= TURNS && was == serial)
			break;
	}
	return unlinkat(dir, name, AT_REMOVEDIR);
}
