/*
 * What the kernel answers, in its order (6.18, measured on a read-only bind
 * mount by another user than root; E: the mode or the owner refuses it):
 *
 *	open, to be made	exists: EEXIST (O_EXCL), EISDIR; else EROFS
 *				before E
 *	open, it exists		E before EROFS; what is no regular file opens
 *	mkdir, mknod, symlink,	exists: EEXIST; EROFS before E
 *	    link, bind
 *	unlink, rmdir		EROFS before ENOENT, ENOTDIR, E
 *	rename			other mount: EXDEV; EROFS before ENOENT, E
 *	link			missing: ENOENT; exists: EEXIST; EROFS; EXDEV
 *	truncate		ENOENT, EISDIR, EINVAL and E before EROFS
 *	chmod, chown, utime,	ENOENT; EROFS before E
 *	    setxattr
 *
 * A path below a missing folder is ENOENT, below a file ENOTDIR and below a
 * folder that may not be searched EACCES, always first.
 *
 * Paths are walked by hand: whatever symlinks say, nothing outside the jail's
 * root is reached, and nothing but O_PATH is opened.
 */
#include "platform/linux/held_file.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/magic.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

#include "platform/fd.h"
#include "platform/linux/notify.h"

enum {
	PAGE = 4096, LINKS_MAX = 40, PROC_PATH = 64,
	NR_FACCESSAT2 = 439,
	TMPFILE = O_TMPFILE & ~O_DIRECTORY,
};

/* ---- memory ---- */

/* Page by page, as it may lie at the end of the last one. */
static int
read_path(pid_t tid, uint64_t at, char ret[PATH_MAX])
{
	for (size_t len = 0; at != 0 && len < PATH_MAX;) {
		size_t n = PAGE - ((at + len) & (PAGE - 1));

		if (n > PATH_MAX - len)
			n = PATH_MAX - len;
		if (notify_read(tid, at + len, ret + len, n) != 0)
			return -1;
		if (memchr(ret + len, '\0', n) != NULL)
			return 0;
		len += n;
	}
	return -1;
}

/* The path of a unix socket; abstract and unnamed ones have none. */
static int
read_socket(pid_t tid, uint64_t at, uint64_t len, char ret[PATH_MAX])
{
	struct sockaddr_un un = { 0 };
	const size_t skip = offsetof(struct sockaddr_un, sun_path);

	if (len <= skip || len > sizeof un ||
	    notify_read(tid, at, &un, len) != 0 || un.sun_family != AF_UNIX ||
	    un.sun_path[0] == '\0')
		return -1;
	memcpy(ret, un.sun_path, len - skip);
	ret[len - skip] = '\0';
	return 0;
}

/* ---- facts ---- */

static int
look(int fd, struct statx *ret)
{
	return statx(fd, "", AT_EMPTY_PATH | AT_STATX_DONT_SYNC,
	    STATX_BASIC_STATS | STATX_MNT_ID, ret);
}

static bool
is_mount_root(const struct statx *st)
{
	return (st->stx_attributes & STATX_ATTR_MOUNT_ROOT) != 0;
}

/* Nobody's file has no mode at all and is a mount of its own. */
static bool
is_mask(int fd)
{
	struct statx st;

	return look(fd, &st) == 0 && (st.stx_mode & 07777) == 0 &&
	    is_mount_root(&st);
}

static bool
has_mount_flag(int fd, unsigned long flag)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 &&
	    ((unsigned long)fs.f_flags & flag) != 0;
}

/*
 * May we?  0, or what access() says: E first, then EROFS.  The jail's
 * processes have our ids and, as we, no capability.
 */
static int
may(int fd, int mode)
{
	return syscall(NR_FACCESSAT2, fd, "", mode, AT_EMPTY_PATH) == 0 ? 0 :
	    errno;
}

/* A folder that the jail made around what it shows (MOUNT_CLOSED). */
static bool
is_closed(int fd)
{
	struct statx st;

	return look(fd, &st) == 0 && S_ISDIR(st.stx_mode) &&
	    (st.stx_mode & 0777) == 0111 && is_mount_root(&st) &&
	    has_mount_flag(fd, ST_RDONLY);
}

/* 0, or why no name can be made in or taken from that folder by the jail. */
static int
folder_refuses(int fd)
{
	int sys = may(fd, W_OK | X_OK);

	if (sys == EACCES)
		return is_mask(fd) ? EACCES : is_closed(fd) ? EROFS : -1;
	return sys == 0 || sys == EROFS ? sys : -1;
}

/* ---- paths ---- */

/* Where a path leads. */
struct found {
	int	dir_fd;		/* the folder that its last name lies in */
	int	fd;		/* what lies there; -1: nothing */
	char	last[NAME_MAX + 1];
	bool	is_dot;		/* ".", "..", "/": no name of its own */
	bool	has_slash;	/* behind the last name */
	int	sys;		/* it leads nowhere */
	bool	is_masked;	/* ... since the jail hides a part of it */
	struct statx st;	/* of fd */
};

static void
found_release(struct found *f)
{
	fd_close(&f->dir_fd);
	fd_close(&f->fd);
}

/* Puts a link's text in front of what is left. */
static int
put_link(int fd, const char *name, char left[PATH_MAX], unsigned *links)
{
	char text[PATH_MAX], rest[PATH_MAX];
	ssize_t n = readlinkat(fd, name, text, sizeof text - 1);

	if (n < 0)
		return errno;
	text[n] = '\0';
	if (++*links > LINKS_MAX)
		return ELOOP;
	if (snprintf(rest, sizeof rest, "%s%s%s", text, left[0] != '\0' ? "/" :
	    "", left) >= (int)sizeof rest)
		return ENAMETOOLONG;
	strcpy(left, rest);
	return 0;
}

struct walk {
	int		 root_fd;
	bool		 is_last_link;
	bool		 is_entry;	/* the last name is never followed */
	unsigned	 links;
	char		 left[PATH_MAX];
	char		 name[NAME_MAX + 1];
};

/* The next name of what is left; false: there is none, or it is too long. */
static bool
next_name(struct walk *w, struct found *f)
{
	size_t skip = strspn(w->left, "/"), n = strcspn(w->left + skip, "/");

	if (n == 0 || n >= sizeof w->name) {
		f->sys = n == 0 ? 0 : ENAMETOOLONG;
		return false;
	}
	memcpy(w->name, w->left + skip, n);
	w->name[n] = '\0';
	memmove(w->left, w->left + skip + n, strlen(w->left + skip + n) + 1);
	f->has_slash = w->left[0] == '/';
	return true;
}

/*
 * Those of /proc lead the kernel to what they stand for, if it lets their
 * reader; and to the reader's own process, which is not the caller.
 */
static bool
is_magic(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == PROC_SUPER_MAGIC;
}

/* Into a link, from the root if its text says so. */
static int
follow(struct walk *w, struct found *f, int fd, const char *name)
{
	int sys = is_magic(fd) ? ELOOP : put_link(fd, name, w->left,
	    &w->links);

	if (sys == 0 && w->left[0] == '/') {
		fd_close(&f->dir_fd);
		f->dir_fd = openat(w->root_fd, ".", O_PATH | O_DIRECTORY |
		    O_CLOEXEC);
		if (f->dir_fd < 0)
			sys = errno;
	}
	return sys;
}

/* One folder on; sys says why not. */
static int
enter(struct walk *w, struct found *f)
{
	int fd = openat(f->dir_fd, w->name, O_PATH | O_DIRECTORY |
	    O_NOFOLLOW | O_CLOEXEC), sys = errno;

	if (fd >= 0) {
		fd_close(&f->dir_fd);
		f->dir_fd = fd;
		return 0;
	}
	if (sys != ENOTDIR && sys != ELOOP)
		return sys;
	sys = follow(w, f, f->dir_fd, w->name);
	return sys == EINVAL ? ENOTDIR : sys;
}

/* The last name.  True: it was a link, and the way goes on. */
static bool
arrive(struct walk *w, struct found *f)
{
	f->fd = openat(f->dir_fd, w->name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	if (f->fd < 0) {
		f->sys = errno == ENOENT ? 0 : errno;
		return false;
	}
	if (look(f->fd, &f->st) != 0) {
		f->sys = errno;
		return false;
	}
	if (!S_ISLNK(f->st.stx_mode) || w->is_entry ||
	    (w->is_last_link && !f->has_slash))
		return false;
	f->sys = follow(w, f, f->fd, "");
	fd_close(&f->fd);
	return f->sys == 0;
}

static bool
is_dot(const char *name)
{
	return strcmp(name, ".") == 0 || strcmp(name, "..") == 0;
}

/* dir_fd is taken; "/" at the start has been heeded. */
static void
find(struct walk *w, int dir_fd, struct found *f)
{
	*f = (struct found){ .dir_fd = dir_fd, .fd = -1 };
	while (dir_fd >= 0 && f->sys == 0) {
		bool is_last;

		f->is_dot = true;
		if (!next_name(w, f))
			break;
		is_last = w->left[strspn(w->left, "/")] == '\0';
		if (is_last && !is_dot(w->name)) {
			f->is_dot = false;
			if (arrive(w, f))
				continue;
			break;
		}
		f->sys = enter(w, f);
	}
	if (f->dir_fd < 0 && f->sys == 0)
		f->sys = ENOENT;
	if (f->sys == EACCES && f->dir_fd >= 0)
		f->is_masked = is_mask(f->dir_fd);
	memcpy(f->last, w->name, sizeof f->last);
	if (f->sys == 0 && f->is_dot) {
		f->fd = openat(f->dir_fd, ".", O_PATH | O_CLOEXEC);
		if (f->fd < 0 || look(f->fd, &f->st) != 0)
			f->sys = errno;
	}
}

/* ---- a call ---- */

struct asked {
	int			 root_fd;
	const struct held_call	*call;
	const struct held_file_at *at;
	struct held_refusal	*ret;
	struct found		 f[2];
};

static void
dir_name(const struct held_name_at *at, pid_t tid, char ret[PROC_PATH])
{
	if (at->dir_fd == AT_FDCWD)
		snprintf(ret, PROC_PATH, "/proc/%d/cwd", (int)tid);
	else
		snprintf(ret, PROC_PATH, "/proc/%d/fd/%d", (int)tid,
		    at->dir_fd);
}

/* The path as a record has it. */
static int
keep_path(struct asked *a, unsigned i, const char *path)
{
	char *ret = a->ret->path[i];
	char name[PROC_PATH];
	ssize_t n = 0;

	if (path[0] != '/') {
		dir_name(&a->at->name[i], a->call->tid, name);
		n = readlink(name, ret, PATH_MAX);
		if (n <= 0 || n >= PATH_MAX || ret[0] != '/')
			return -1;
		if (n > 1)
			ret[n++] = '/';
	}
	strcpy(ret + n, path);
	return 0;
}

/* Is it a folder's entry that is meant, also with a slash behind it? */
static bool
is_entry(enum held_file file, unsigned i)
{
	return file == FILE_MAKE || file == FILE_BIND || file == FILE_UNLINK ||
	    file == FILE_RMDIR || file == FILE_RENAME ||
	    (file == FILE_LINK && i == 1);
}

/* 0, or -1: it is not known what the name is. */
static int
find_name(struct asked *a, unsigned i, bool is_last_link)
{
	struct walk w = { .root_fd = a->root_fd,
	    .is_last_link = is_last_link,
	    .is_entry = is_entry(a->at->file, i) };
	const struct held_name_at *at = &a->at->name[i];
	char name[PROC_PATH];
	int rc, fd;

	if (a->at->file == FILE_BIND || a->at->file == FILE_CONNECT)
		rc = read_socket(a->call->tid, at->path, a->at->flags, w.left);
	else
		rc = read_path(a->call->tid, at->path, w.left);
	if (rc != 0 || w.left[0] == '\0' || keep_path(a, i, w.left) != 0)
		return -1;
	dir_name(at, a->call->tid, name);
	fd = w.left[0] == '/' ? openat(a->root_fd, ".", O_PATH | O_DIRECTORY |
	    O_CLOEXEC) : open(name, O_PATH | O_DIRECTORY | O_CLOEXEC);
	find(&w, fd, &a->f[i]);
	/* On the way to it: whatever the call is. */
	if (a->f[i].is_masked) {
		a->ret->sys = EACCES;
		a->ret->is_told[i] = true;
	}
	return a->f[i].sys == 0 ? 0 : -1;
}

static void
tell(struct asked *a, unsigned i, int sys)
{
	if (sys > 0) {
		a->ret->sys = sys;
		a->ret->is_told[i] = true;
	}
}

/* "FILE/", which leads nowhere (ENOTDIR). */
static bool
is_no_folder(const struct found *f)
{
	return f->has_slash && !S_ISDIR(f->st.stx_mode);
}

/* Of "NEW/" nothing else is made (ENOENT). */
static bool
makes_folder(const struct asked *a)
{
	const char *call = calls_name(a->at->nr);

	return call != NULL && strncmp(call, "mkdir", 5) == 0;
}

static void
look_make(struct asked *a, unsigned i)
{
	const struct found *f = &a->f[i];

	if (f->fd < 0 && !f->is_dot && (!f->has_slash || makes_folder(a)))
		tell(a, i, folder_refuses(f->dir_fd));
}

/* Where no name may be taken away, a missing one is not looked for. */
static void
look_remove(struct asked *a)
{
	const struct found *f = &a->f[0];
	int sys = f->is_dot ? -1 : folder_refuses(f->dir_fd);

	if (sys == 0 && f->fd >= 0 && is_mount_root(&f->st) &&
	    S_ISDIR(f->st.stx_mode) == (a->at->file == FILE_RMDIR))
		sys = EBUSY;
	tell(a, 0, sys);
}

static bool
is_apart(const struct found *x, const struct found *y)
{
	struct statx a, b;

	return look(x->dir_fd, &a) == 0 && look(y->dir_fd, &b) == 0 &&
	    a.stx_mnt_id != b.stx_mnt_id;
}

static void
look_rename(struct asked *a)
{
	const struct found *from = &a->f[0], *to = &a->f[1];
	int sys, other;

	if (from->is_dot || to->is_dot)
		return;
	sys = folder_refuses(from->dir_fd);
	other = folder_refuses(to->dir_fd);
	if (sys < 0 || other < 0)
		return;
	if (is_apart(from, to)) {
		if (from->fd >= 0) {
			tell(a, 0, EXDEV);
			tell(a, 1, EXDEV);
		}
	} else if (sys != 0 || other != 0) {
		tell(a, 0, sys);
		tell(a, 1, other);
	} else if (from->fd >= 0 && is_mount_root(&from->st)) {
		tell(a, 0, EBUSY);
	} else if (from->fd >= 0 && to->fd >= 0 && is_mount_root(&to->st)) {
		tell(a, 1, EBUSY);
	}
}

static void
look_link(struct asked *a)
{
	const struct found *from = &a->f[0], *to = &a->f[1];
	int sys;

	if (from->fd < 0 || to->fd >= 0 || to->is_dot || to->has_slash ||
	    S_ISDIR(from->st.stx_mode) || is_no_folder(from))
		return;
	sys = folder_refuses(to->dir_fd);
	tell(a, 1, sys);
	if (sys == 0 && is_apart(from, to)) {
		tell(a, 0, EXDEV);
		tell(a, 1, EXDEV);
	}
}

/* A regular file that is there already. */
static void
look_write(struct asked *a, int mode)
{
	const struct found *f = &a->f[0];
	int sys;

	if (f->fd < 0 || f->is_dot || !S_ISREG(f->st.stx_mode) ||
	    is_no_folder(f))
		return;
	sys = may(f->fd, mode);
	if (sys == EROFS || (sys == EACCES && is_mask(f->fd)))
		tell(a, 0, sys);
}

static void
look_open(struct asked *a, uint64_t flags)
{
	const struct found *f = &a->f[0];
	bool is_new = (flags & O_CREAT) != 0 && (flags & O_EXCL) != 0;
	int mode = (flags & O_ACCMODE) == O_WRONLY ? W_OK :
	    (flags & O_ACCMODE) == O_RDONLY ? R_OK : R_OK | W_OK;

	a->ret->open_flags = (uint32_t)flags;
	if ((flags & O_PATH) != 0 || find_name(a, 0,
	    (flags & O_NOFOLLOW) != 0 || is_new) != 0)
		return;
	if ((flags & O_TRUNC) != 0)
		mode |= W_OK;
	if ((flags & TMPFILE) != 0) {
		if (f->fd >= 0 && S_ISDIR(f->st.stx_mode))
			tell(a, 0, folder_refuses(f->fd));
	} else if (f->fd < 0) {
		if ((flags & O_CREAT) != 0 && !f->has_slash)
			look_make(a, 0);
	} else if (!is_new && (mode & W_OK) != 0) {
		look_write(a, mode);
	}
}

/* Of what it resolves in another way than open() nothing is foreseen. */
static void
look_open2(struct asked *a)
{
	struct { uint64_t flags, mode, resolve; } how;

	if (notify_read(a->call->tid, a->at->flags, &how, sizeof how) != 0 ||
	    how.resolve != 0 || ((how.flags & (O_ACCMODE | O_CREAT |
	    O_TRUNC)) == 0))
		return;
	look_open(a, how.flags);
}

/*
 * Its owner alone may change it, if it were not for the mount; its times and
 * attributes whoever may write to it.
 */
static void
look_change(struct asked *a, bool is_owners)
{
	const struct found *f = &a->f[0];
	int sys;

	if (f->fd < 0 || is_no_folder(f))
		return;
	sys = may(f->fd, W_OK);
	if (sys == EACCES && is_mask(f->fd))
		tell(a, 0, EROFS);
	else if (is_owners || sys == EACCES)
		sys = f->st.stx_uid != geteuid() ? -1 :
		    has_mount_flag(f->fd, ST_RDONLY) ? EROFS : 0;
	if (sys == EROFS)
		tell(a, 0, sys);
}

/* A socket of the host's that the jail hides, or that it has no place for. */
static void
look_connect(struct asked *a)
{
	const struct found *f = &a->f[0];
	struct stat st;
	bool is_known = find_name(a, 0, false) == 0;

	if (is_known && f->fd >= 0 && is_mask(f->fd))
		tell(a, 0, EACCES);
	else if (((is_known && f->fd < 0) || (!is_known &&
	    f->sys == ENOENT)) && a->ret->path[0][0] == '/' &&
	    stat(a->ret->path[0], &st) == 0 && S_ISSOCK(st.st_mode))
		tell(a, 0, ENOENT);
}

static void
look_names(struct asked *a)
{
	bool is_last_link = a->at->is_last_link;
	enum held_file file = a->at->file;
	int rc = find_name(a, 0, is_last_link);

	if (file == FILE_RENAME || file == FILE_LINK)
		rc |= find_name(a, 1, true);
	if (rc != 0)
		return;
	if (file == FILE_MAKE || file == FILE_BIND)
		look_make(a, 0);
	else if (file == FILE_UNLINK || file == FILE_RMDIR)
		look_remove(a);
	else if (file == FILE_RENAME)
		look_rename(a);
	else if (file == FILE_LINK)
		look_link(a);
	else if (file == FILE_TRUNCATE)
		look_write(a, W_OK);
	else
		look_change(a, file == FILE_CHANGE);
}

void
held_file_look(int root_fd, const struct held_call *c,
    struct held_refusal *ret)
{
	struct asked a = { .root_fd = root_fd, .call = c, .at = &c->file,
	    .ret = ret, .f = { { .dir_fd = -1, .fd = -1 },
	    { .dir_fd = -1, .fd = -1 } } };

	ret->sys = 0;
	ret->is_told[0] = ret->is_told[1] = false;
	ret->open_flags = 0;
	ret->path[0][0] = ret->path[1][0] = '\0';
	switch (c->file.file) {
	case FILE_OPEN:
		look_open(&a, c->file.flags);
		break;
	case FILE_CREAT:
		look_open(&a, O_CREAT | O_WRONLY | O_TRUNC);
		break;
	case FILE_OPEN2:
		look_open2(&a);
		break;
	case FILE_CONNECT:
		look_connect(&a);
		break;
	default:
		look_names(&a);
	}
	found_release(&a.f[0]);
	found_release(&a.f[1]);
}
