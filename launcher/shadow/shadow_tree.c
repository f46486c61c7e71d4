#include "launcher/shadow/shadow_tree.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/fs.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher/guard/guard_move.h"
#include "launcher/guard/guard_wide.h"
#include "platform/base/io.h"
#include "platform/base/path.h"
#include "platform/base/vec.h"
#include "platform/fd.h"

enum { TURNS = 4 };	/* how often a file that changes is read again */

void
shadow_copying_init(struct shadow_copying *c, enum shadow_way way)
{
	*c = (struct shadow_copying){ .way = way, .bytes = SHADOW_BYTES,
	    .entries = SHADOW_ENTRIES };
}

/* ---- copying ---- */

static int
copy_slowly(int in, int out, off_t at)
{
	static char data[64 << 10];
	ssize_t n;

	if (lseek(out, at, SEEK_SET) < 0)
		return -1;
	while ((n = pread(in, data, sizeof data, at)) > 0) {
		if (io_write_all(out, data, (size_t)n) != 0)
			return -1;
		at += n;
	}
	return n < 0 ? -1 : ftruncate(out, at);
}

/*
 * Moves to what is no hole, and says how much of that there is before the
 * next; 0: a hole is all of the rest.  A copy of holes would fill a disk.
 */
static uint64_t
next_data(int in, off_t *at, uint64_t size)
{
	off_t data = lseek(in, *at, SEEK_DATA), hole;

	if (data < 0)
		return errno == ENXIO ? 0 : size - (uint64_t)*at;
	if ((uint64_t)data >= size)
		return 0;
	hole = lseek(in, data, SEEK_HOLE);
	*at = data;
	return (hole < 0 || (uint64_t)hole > size ? size : (uint64_t)hole) -
	    (uint64_t)data;
}

static int
copy_bytes(int in, int out, uint64_t size, uint64_t *left)
{
	off_t from, to = 0;
	ssize_t done = 1;

	if (ioctl(out, FICLONE, in) == 0)
		return 0;
	if (size > *left) {
		errno = EFBIG;
		return -1;
	}
	*left -= size;
	/* Of an earlier turn. */
	if (ftruncate(out, 0) != 0)
		return -1;
	/* Not more than was there: a writer beside us could go on for ever. */
	while ((uint64_t)to < size) {
		uint64_t n = next_data(in, &to, size);

		if (n == 0)
			return ftruncate(out, (off_t)size);
		from = to;
		done = copy_file_range(in, &from, out, &to, (size_t)n, 0);
		if (done <= 0)
			break;
	}
	if (done < 0 && (errno == ENOSPC || errno == EDQUOT || errno == EIO))
		return -1;
	if (done < 0 || to == 0)
		return copy_slowly(in, out, to);
	return ftruncate(out, to);
}

static bool
is_unchanged(const struct stat *a, const struct stat *b)
{
	return a->st_size == b->st_size &&
	    a->st_mtim.tv_sec == b->st_mtim.tv_sec &&
	    a->st_mtim.tv_nsec == b->st_mtim.tv_nsec;
}

static mode_t
file_mode(const struct shadow_copying *c, mode_t mode)
{
	return c->way == SHADOW_OUTWARD ? (mode & 0755) | 0600 :
	    (mode & 0777) | 0600;
}

static bool
is_too_long(const struct shadow_copying *c, int out)
{
	struct stat st;

	if (c->longest == 0 || (fstat(out, &st) == 0 &&
	    (uint64_t)st.st_size <= c->longest))
		return false;
	errno = EFBIG;
	return true;
}

static int
fill_file(struct shadow_copying *c, int in, int out, mode_t mode)
{
	struct stat before, after;

	for (int i = 0; i < TURNS; i++) {
		struct timespec times[2];

		if (fstat(in, &before) != 0 ||
		    copy_bytes(in, out, (uint64_t)before.st_size,
		    &c->bytes) != 0 || fstat(in, &after) != 0 ||
		    is_too_long(c, out))
			return -1;
		times[0] = before.st_atim;
		times[1] = before.st_mtim;
		if (fchmod(out, file_mode(c, mode)) != 0 ||
		    futimens(out, times) != 0)
			return -1;
		if (is_unchanged(&before, &after))
			break;
	}
	return c->is_synced ? fsync(out) : 0;
}

static int
copy_file(struct shadow_copying *c, int from, const char *name, int to,
    const char *new_name)
{
	struct wide w;
	auto_fd in = wide_open_file(&w, from, name);
	auto_fd out = -1;
	mode_t mode;
	struct stat st;
	int rc = -1;

	mode = w.fd >= 0 ? w.mode : 0;
	if (in >= 0 && fstat(in, &st) == 0) {
		mode = w.fd >= 0 ? mode : st.st_mode;
		if (!S_ISREG(st.st_mode))
			errno = ENXIO;
		else if (c->way == SHADOW_OUTWARD && st.st_nlink > 1)
			errno = EMLINK;
		else if ((out = openat(to, new_name, O_RDWR | O_CREAT |
		    O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0600)) >= 0)
			rc = fill_file(c, in, out, mode);
	}
	wide_back(&w);
	return rc;
}

/*
 * May a symlink in a folder so deep reach the host?  "../../a/b": steps up
 * first, to a folder of the tree, and from there down, where another symlink
 * is judged in the same way.  Steps up behind a name could start anywhere.
 */
static bool
stays_inside(const char *target, unsigned depth)
{
	bool is_down = false;

	if (target[0] == '/' || target[0] == '\0')
		return false;
	for (const char *p = target; *p != '\0';) {
		size_t n = strcspn(p, "/");

		if (n == 2 && p[0] == '.' && p[1] == '.') {
			if (is_down || depth == 0)
				return false;
			depth--;
		} else if (n > 0 && !(n == 1 && p[0] == '.')) {
			is_down = true;
		}
		p += n + strspn(p + n, "/");
	}
	return true;
}

static int
copy_link(struct shadow_copying *c, int from, const char *name, int to,
    const char *new_name, unsigned depth)
{
	char target[PATH_MAX];
	ssize_t n = path_read_link(from, name, target, sizeof target);

	if (n < 0)
		return -1;
	/* depth counts the tree itself: a name directly in it is at 1. */
	if (c->way == SHADOW_OUTWARD &&
	    (depth == 0 || !stays_inside(target, depth - 1))) {
		errno = ELOOP;
		return -1;
	}
	return symlinkat(target, to, new_name);
}

static int copy_any(struct shadow_copying *, int from, const char *name,
    int to, const char *new_name, unsigned depth);

static bool
is_refusal(int sys)
{
	return sys == ELOOP || sys == EMLINK || sys == ENXIO;
}

static int
copy_entries(struct shadow_copying *c, int in, int out, unsigned depth)
{
	DIR *list = move_list(in);
	const char *name;
	int sys = list == NULL ? errno : 0;

	while (sys == 0 && (name = move_next(list)) != NULL) {
		if (copy_any(c, in, name, out, name, depth + 1) == 0 ||
		    errno == ENOENT)
			continue;	/* copied, or it went away */
		sys = errno;
		if (is_refusal(sys)) {
			if (c->nrefused++ == 0)
				c->refused = sys;
			(void)move_remove(out, name);
			sys = 0;
		}
	}
	if (list != NULL)
		closedir(list);
	errno = sys;
	return sys == 0 ? 0 : -1;
}

static int
make_dir(int to, const char *name)
{
	return mkdirat(to, name, 0700) != 0 ? -1 : openat(to, name,
	    O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC);
}

static int
copy_dir(struct shadow_copying *c, int from, const char *name, int to,
    const char *new_name, unsigned depth)
{
	struct wide w;
	auto_fd in = wide_open_dir(&w, from, name);
	auto_fd out = in < 0 ? -1 : make_dir(to, new_name);
	struct stat st;
	int rc = -1;

	if (out >= 0 && fstat(in, &st) == 0 &&
	    copy_entries(c, in, out, depth) == 0)
		rc = fchmod(out, file_mode(c, w.fd >= 0 ? w.mode :
		    st.st_mode) | 0700);
	wide_back(&w);
	return rc;
}

static int
copy_any(struct shadow_copying *c, int from, const char *name, int to,
    const char *new_name, unsigned depth)
{
	struct stat st;

	if (depth > SHADOW_DEPTH || c->entries == 0) {
		errno = EFBIG;
		return -1;
	}
	c->entries--;
	if (fstatat(from, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return -1;
	switch (st.st_mode & S_IFMT) {
	case S_IFDIR:
		return copy_dir(c, from, name, to, new_name, depth);
	case S_IFREG:
		return copy_file(c, from, name, to, new_name);
	case S_IFLNK:
		return copy_link(c, from, name, to, new_name, depth);
	default:
		errno = ENXIO;
		return -1;
	}
}

int
shadow_tree_copy(struct shadow_copying *c, int from, const char *name,
    int to, const char *new_name)
{
	int rc = copy_any(c, from, name, to, new_name, 0);
	int sys = errno;

	if (rc != 0 && sys != EEXIST)	/* else it is not ours */
		(void)move_remove(to, new_name);
	errno = sys;
	return rc;
}

int
shadow_tree_move(int from, const char *name, int to, const char *new_name)
{
	struct wide w;
	int rc = renameat(from, name, to, new_name);

	if (rc == 0 || errno != EACCES || wide_give(&w, from, name) != 0)
		return rc;
	rc = renameat(from, name, to, new_name);
	wide_back(&w);
	return rc;
}

/* ---- digests ---- */

struct digesting {
	struct sha256	 sha;
	bool		 is_stamp;
	uint64_t	 bytes;		/* left */
	unsigned	 entries;	/* left */
};

static void
add_number(struct digesting *d, uint64_t v)
{
	unsigned char b[8];

	for (int i = 0; i < 8; i++)
		b[i] = (unsigned char)(v >> (8 * i));
	sha256_add(&d->sha, b, sizeof b);
}

/* With its length before it, so that two texts are never one. */
static void
add_text(struct digesting *d, const char *text, size_t n)
{
	add_number(d, n);
	sha256_add(&d->sha, text, n);
}

static void
add_stamp(struct digesting *d, const struct stat *st)
{
	add_number(d, st->st_mode);
	add_number(d, (uint64_t)st->st_ino);
	add_number(d, (uint64_t)st->st_size);
	add_number(d, (uint64_t)st->st_mtim.tv_sec);
	add_number(d, (uint64_t)st->st_mtim.tv_nsec);
	add_number(d, (uint64_t)st->st_ctim.tv_sec);
	add_number(d, (uint64_t)st->st_ctim.tv_nsec);
}

static int
add_file(struct digesting *d, int dir, const char *name,
    const struct stat *st)
{
	static char data[64 << 10];
	struct wide w;
	auto_fd fd = -1;
	uint64_t size = 0;
	off_t at = 0;
	ssize_t n = -1;

	add_number(d, (st->st_mode & 0100) != 0);
	fd = wide_open_file(&w, dir, name);
	while (fd >= 0 && (n = pread(fd, data, sizeof data, at)) > 0) {
		if ((uint64_t)n > d->bytes) {
			n = -1;
			break;
		}
		d->bytes -= (uint64_t)n;
		sha256_add(&d->sha, data, (size_t)n);
		size += (uint64_t)n;
		at += n;
	}
	wide_back(&w);
	add_number(d, size);
	return n < 0 ? -1 : 0;
}

static int
compare_names(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

static int add_any(struct digesting *, int dir, const char *name,
    unsigned depth);

static int
add_dir(struct digesting *d, int dir, const char *name, unsigned depth)
{
	struct { char **v; size_t n, cap; } names = { 0 };
	struct wide w;
	auto_fd fd = wide_open_dir(&w, dir, name);
	DIR *list = fd < 0 ? NULL : move_list(fd);
	const char *entry;
	int rc = list == NULL ? -1 : 0;

	while (list != NULL && names.n < d->entries &&
	    (entry = move_next(list)) != NULL)
		*vec_push(&names) = xstrdup(entry);
	if (names.n > 0)
		qsort(names.v, names.n, sizeof *names.v, compare_names);
	for (size_t i = 0; i < names.n; i++) {
		if (rc == 0)
			rc = add_any(d, fd, names.v[i], depth + 1);
		free(names.v[i]);
	}
	vec_release(&names);
	if (list != NULL)
		closedir(list);
	wide_back(&w);
	add_number(d, UINT64_MAX);	/* the end of this folder */
	return rc;
}

/* 0; -1: too much, or it may not be looked at. */
static int
add_any(struct digesting *d, int dir, const char *name, unsigned depth)
{
	char target[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (depth > SHADOW_DEPTH || d->entries == 0)
		return -1;
	d->entries--;
	if (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0)
		return errno == ENOENT && depth > 0 ? 0 : -1;
	if (!d->is_stamp && !S_ISREG(st.st_mode) && !S_ISDIR(st.st_mode) &&
	    !S_ISLNK(st.st_mode))
		return 0;
	if (depth > 0)	/* the thing itself may be called otherwise */
		add_text(d, name, strlen(name));
	add_number(d, st.st_mode & S_IFMT);
	if (d->is_stamp)
		add_stamp(d, &st);
	switch (st.st_mode & S_IFMT) {
	case S_IFDIR:
		return add_dir(d, dir, name, depth);
	case S_IFLNK:
		n = path_read_link(dir, name, target, sizeof target);
		if (n < 0)
			return -1;
		add_text(d, target, (size_t)n);
		return 0;
	case S_IFREG:
		return d->is_stamp ? 0 : add_file(d, dir, name, &st);
	default:
		return 0;
	}
}

static void
digest(int dir, const char *name, bool is_stamp, char ret[SHA256_HEX])
{
	struct digesting d = { .is_stamp = is_stamp,
	    .bytes = SHADOW_DIGEST_BYTES, .entries = SHADOW_ENTRIES };
	struct stat st;

	if (dir < 0 || (fstatat(dir, name, &st, AT_SYMLINK_NOFOLLOW) != 0 &&
	    (errno == ENOENT || errno == ENOTDIR))) {
		strcpy(ret, "-");
		return;
	}
	sha256_init(&d.sha);
	if (add_any(&d, dir, name, 0) == 0)
		sha256_end_hex(&d.sha, ret);
	else
		strcpy(ret, "?");
}

void
shadow_tree_stamp(int dir, const char *name, char ret[SHA256_HEX])
{
	digest(dir, name, true, ret);
}

void
shadow_tree_content(int dir, const char *name, char ret[SHA256_HEX])
{
	digest(dir, name, false, ret);
}

bool
shadow_tree_is_like(const char *a, const char *b)
{
	return strcmp(a, b) == 0 && a[0] != '?';
}

bool
shadow_tree_is_empty(int dir)
{
	DIR *d = dir < 0 ? NULL : move_list(dir);
	bool is_empty = d == NULL || move_next(d) == NULL;

	if (d != NULL)
		closedir(d);
	return is_empty && (d != NULL || dir < 0);
}

/* ---- opening ---- */

int
shadow_tree_open(const char *path)
{
	struct open_how how = { .flags = O_PATH | O_DIRECTORY | O_CLOEXEC,
	    .resolve = RESOLVE_NO_SYMLINKS };
	auto_fd root = -1;
	long fd;

	if (path[0] != '/') {
		errno = EINVAL;
		return -1;
	}
	fd = syscall(SYS_openat2, AT_FDCWD, path, &how, sizeof how);
	if (fd >= 0 || (errno != ENOSYS && errno != EPERM))
		return (int)fd;
	/* Linux before 5.6, or a filter: step by step. */
	root = open("/", O_PATH | O_DIRECTORY | O_CLOEXEC);
	return root < 0 ? -1 : shadow_tree_open_at(root, path);
}

int
shadow_tree_open_at(int dir, const char *path)
{
	auto_fd fd = openat(dir, ".", O_PATH | O_DIRECTORY | O_CLOEXEC);
	char name[NAME_MAX + 1];

	for (const char *p = path; fd >= 0 && *(p += strspn(p, "/")) != '\0';) {
		size_t n = strcspn(p, "/");
		int next;

		if (n > NAME_MAX || (n == 2 && memcmp(p, "..", 2) == 0)) {
			errno = EINVAL;
			return -1;
		}
		memcpy(name, p, n);
		name[n] = '\0';
		p += n;
		next = openat(fd, name, O_PATH | O_DIRECTORY | O_NOFOLLOW |
		    O_CLOEXEC);
		fd_close(&fd);
		fd = next;
	}
	return fd_take(&fd);
}
