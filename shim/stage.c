#include "shim/hook.h"

#include <sys/file.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <fcntl.h>
#include <linux/falloc.h>
#include <linux/fs.h>
#include <string.h>
#include <time.h>

#include "shim/call.h"
#include "shim/stage.h"
#include "shim/sys.h"

/*
 * The granted name, perhaps behind one dot, and whatever a program adds to it
 * so that it is new.  Other names are refused as ever: a file that was not
 * meant to become the granted one would be lost with /tmp.
 */
bool
stage_is_sibling(const char *file, const struct leaf *leaf)
{
	size_t n = strlen(file);

	return leaf->len > n && (memcmp(leaf->name, file, n) == 0 ||
	    (leaf->name[0] == '.' && memcmp(leaf->name + 1, file, n) == 0));
}

static bool
is_sibling(const struct table *t, uint32_t i, const struct leaf *leaf)
{
	return stage_is_sibling(t->text + t->v[i].name, leaf);
}

/* What was found of a path. */
struct found {
	struct leaf	leaf;
	struct dir_id	dir;
	struct name	file;	/* granted */
};

/* A granted file for which is() holds, in the path's folder. */
static bool
find_file(int dir_fd, const char *path,
    bool (*is)(const struct table *, uint32_t, const struct leaf *),
    struct found *f)
{
	const struct table *t = table_get();
	bool is_known = false;
	uint32_t i;

	if (path == NULL || !leaf_of(path, &f->leaf))
		return false;
	for (i = t->first_file; i != 0; i = t->v[i].next) {
		if (!is(t, i, &f->leaf))
			continue;
		if (!is_known && !leaf_dir(dir_fd, path, &f->leaf, &f->dir))
			return false;
		is_known = true;
		table_at(t, i, &f->file);
		if (name_is_in(&f->file, &f->dir))
			return true;
	}
	return false;
}

/* The granted file whose sibling this is, if it is not really there. */
static bool
find_sibling(int dir_fd, const char *path, struct found *f)
{
	struct stat st;

	return find_file(dir_fd, path, is_sibling, f) &&
	    f->leaf.len <= TABLE_LEAF_MAX && SYS(newfstatat, dir_fd, path,
	    &st, AT_SYMLINK_NOFOLLOW) == -ENOENT;
}

static bool
find_granted(int dir_fd, const char *path, struct found *f)
{
	return find_file(dir_fd, path, table_is, f);
}

/* Is it ours alone?  In a /tmp shared with others it might be a trap. */
static long
check_dir(const char *path)
{
	struct stat st;
	long rv = SYS(newfstatat, AT_FDCWD, path, &st, AT_SYMLINK_NOFOLLOW);

	if (rv < 0)
		return rv;
	return S_ISDIR(st.st_mode) && (st.st_mode & 077) == 0 &&
	    st.st_uid == (uid_t)SYS(geteuid) ? 0 : -EACCES;
}

static bool
is_dir_ready(const char *path, bool makes)
{
	long rv = check_dir(path);

	if (rv == -ENOENT && makes) {
		SYS(mkdirat, AT_FDCWD, path, 0700);
		return check_dir(path) == 0;
	}
	return rv == 0 || rv == -ENOENT;
}

static char *
put_number(char *at, uint64_t n)
{
	char digits[20];
	size_t len = 0;

	do {
		digits[len++] = '0' + n % 10;
		n /= 10;
	} while (n > 0);
	while (len > 0)
		*at++ = digits[--len];
	return at;
}

/* The folder's part of the path is made on the way. */
static bool
stage_path(const struct found *f, bool makes, char *ret_path)
{
	char *at = stpcpy(ret_path, "/tmp/.fence-saves");

	if (!is_dir_ready(ret_path, makes))
		return false;
	*at++ = '/';
	at = put_number(at, f->dir.dev);
	*at++ = '-';
	at = put_number(at, f->dir.ino);
	*at = '\0';
	if (!is_dir_ready(ret_path, makes))
		return false;
	*at++ = '/';
	memcpy(at, f->leaf.name, f->leaf.len);
	at[f->leaf.len] = '\0';
	return true;
}

/* What the kernel says of a name that cannot be made, or is not there. */
static bool
may_be_staged(int err)
{
	return told_by_kernel(err) || err == ENOENT;
}

bool
stage_find(int dir_fd, const char *path, bool makes,
    char ret_path[STAGE_PATH_MAX])
{
	struct found f;

	return may_be_staged(errno) && find_sibling(dir_fd, path, &f) &&
	    stage_path(&f, makes, ret_path);
}

/* --- One file's bytes into another, in place --- */

static long
write_all(int fd, const char *bytes, size_t len)
{
	size_t at = 0;
	long n;

	while (at < len) {
		n = SYS(pwrite64, fd, bytes + at, len - at, at);
		if (n == -EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? n : -EIO;
		at += n;
	}
	return 0;
}

/*
 * Room first: a disk that is full must be found out before the old bytes are
 * gone.  File systems that cannot promise room are taken as they are.
 */
static long
make_room(int fd, size_t len)
{
	long rv = SYS(fallocate, fd, FALLOC_FL_KEEP_SIZE, 0, len);

	return rv == -ENOSPC || rv == -EDQUOT || rv == -EFBIG ? rv : 0;
}

static long
copy_bytes(int from_fd, int to_fd, size_t len)
{
	long rv, mem;

	if (len > 0) {
		mem = SYS(mmap, NULL, len, PROT_READ, MAP_PRIVATE, from_fd,
		    0);
		if (sys_failed(mem))
			return mem;
		rv = make_room(to_fd, len);
		if (rv == 0)
			rv = write_all(to_fd, (const char *)mem, len);
		SYS(munmap, mem, len);
		if (rv < 0)
			return rv;
	}
	rv = SYS(ftruncate, to_fd, len);
	if (rv < 0)
		return rv;
	rv = SYS(fsync, to_fd);
	return rv == -EINVAL ? 0 : rv;	/* nothing to sync there */
}

/*
 * Two that save at once would leave the bytes of one with the length of the
 * other.  The lock goes with the descriptor; one that is not to be had in
 * time (its holder is stopped, or is ourselves below a signal handler) is
 * done without.
 */
static void
lock_briefly(int fd)
{
	const struct timespec pause = { .tv_nsec = 2000000 };
	int tries = 50;

	while (SYS(flock, fd, LOCK_EX | LOCK_NB) == -EWOULDBLOCK &&
	    tries-- > 0)
		SYS(nanosleep, &pause, NULL);
}

static long
copy_over(int from_fd, int to_dir_fd, const char *to)
{
	struct stat st, old;
	long rv;
	int fd;

	fd = SYS(openat, to_dir_fd, to,
	    O_WRONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return fd;
	rv = SYS(fstat, from_fd, &st);
	if (rv == 0)
		rv = SYS(fstat, fd, &old);
	if (rv == 0 && (!S_ISREG(st.st_mode) || !S_ISREG(old.st_mode)))
		rv = -EINVAL;
	/* One file under two names: as for rename(2), all is done. */
	if (rv == 0 && (st.st_dev != old.st_dev || st.st_ino != old.st_ino)) {
		lock_briefly(fd);
		rv = copy_bytes(from_fd, fd, st.st_size);
	}
	SYS(close, fd);
	return rv;
}

/* --- Names that go over to other names --- */

static long
save(int from_dir_fd, const char *from, int to_dir_fd, const char *to,
    unsigned int flags)
{
	long rv;
	int fd;

	fd = SYS(openat, from_dir_fd, from, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
	    O_NOCTTY | O_NONBLOCK);
	if (fd < 0)
		return fd;
	if ((flags & RENAME_NOREPLACE) != 0)
		rv = -EEXIST;
	else
		rv = copy_over(fd, to_dir_fd, to);
	SYS(close, fd);
	return rv < 0 ? rv : SYS(unlinkat, from_dir_fd, from, 0);
}

/* That a name is there, or is not, is the caller's own affair. */
static int
saved(const struct name *file, long rv)
{
	if (rv < 0 && rv != -EEXIST && rv != -ENOENT)
		report_dir((struct told){ .nr = NR_rename, .err = -rv },
		    file->path, file->dir_len);
	return sys_errno(rv);
}

/*
 * Both names, by what they are called now.  A path below /tmp is absolute, so
 * the descriptor beside it does not matter.
 */
struct pair {
	const char	*from, *to;
	char		 staged_from[STAGE_PATH_MAX];
	char		 staged_to[STAGE_PATH_MAX];
};

/* False if none of them is a sibling. */
static bool
find_pair(struct pair *p, int from_fd, const char *from, int to_fd,
    const char *to)
{
	struct found f;

	p->from = from;
	p->to = to;
	if (find_sibling(from_fd, from, &f) &&
	    stage_path(&f, false, p->staged_from))
		p->from = p->staged_from;
	if (find_sibling(to_fd, to, &f) && stage_path(&f, true, p->staged_to))
		p->to = p->staged_to;
	return p->from != from || p->to != to;
}

static bool
is_plain_file(int dir_fd, const char *path)
{
	struct stat st;

	return SYS(newfstatat, dir_fd, path, &st, AT_SYMLINK_NOFOLLOW) == 0 &&
	    S_ISREG(st.st_mode);
}

static int
moved(unsigned nr, int to_fd, const char *to, long rv)
{
	if (told_by_kernel(-rv))
		stage_report_change((struct told){ WIRE_MAKE, nr, 0, -rv },
		    to_fd, to);
	return sys_errno(rv);
}

bool
stage_rename(int from_fd, const char *from, int to_fd, const char *to,
    unsigned int flags, int *result)
{
	bool crosses = errno == EXDEV, is_staged;
	struct found f;
	struct pair p;

	/* The granted file itself stays, whatever it is to be called. */
	if (!stage_on() || !(crosses || may_be_staged(errno)) ||
	    find_granted(from_fd, from, &f))
		return false;
	is_staged = find_pair(&p, from_fd, from, to_fd, to);
	/* From another mount, as "mv $(mktemp) FILE" does it, is a save too. */
	if ((flags & ~RENAME_NOREPLACE) == 0 && (is_staged ||
	    (crosses && is_plain_file(from_fd, from))) &&
	    find_granted(to_fd, to, &f)) {
		*result = saved(&f.file, save(from_fd, p.from, to_fd, to,
		    flags));
		return true;
	}
	if (is_staged)
		*result = moved(NR_rename, to_fd, to, SYS(renameat2, from_fd,
		    p.from, to_fd, p.to, flags));
	return is_staged;
}

bool
stage_link(int from_fd, const char *from, int to_fd, const char *to,
    int flags, int *result)
{
	struct pair p;

	if (!stage_on() || !(errno == EXDEV || may_be_staged(errno)) ||
	    !find_pair(&p, from_fd, from, to_fd, to))
		return false;
	*result = moved(SYS_linkat, to_fd, to, SYS(linkat, from_fd, p.from,
	    to_fd, p.to, flags));
	return true;
}

/* --- What is told --- */

void
stage_report(struct told t, int dir_fd, const char *path)
{
	struct found f;

	if (stage_on() && told_by_kernel(t.err) &&
	    find_sibling(dir_fd, path, &f))
		report_dir(t, f.file.path, f.file.dir_len);
	else
		report_path(t, dir_fd, path);
}

void
stage_report_change(struct told t, int dir_fd, const char *path)
{
	struct found f;

	if (stage_on() && find_granted(dir_fd, path, &f))
		report_dir(t, f.file.path, f.file.dir_len);
	else
		stage_report(t, dir_fd, path);
}
