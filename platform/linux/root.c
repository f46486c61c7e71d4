#include "platform/linux/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/base/xalloc.h"
#include "platform/linux/early.h"

/* Debian 12's glibc has these; others do not. */
#ifndef OPEN_TREE_CLONE
#define OPEN_TREE_CLONE		1
#endif
#ifndef AT_RECURSIVE
#define AT_RECURSIVE		0x8000
#endif
#ifndef MOVE_MOUNT_F_EMPTY_PATH
#define MOVE_MOUNT_F_EMPTY_PATH	4
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr	442
#endif

enum { ATTR_RDONLY = 1, ATTR_NOSUID = 2, ATTR_NODEV = 4 };

struct attr {
	uint64_t	set, clear, propagation, userns_fd;
};

static const char *const dev_names[ROOT_NDEVS] = {
	[ROOT_DEV_NULL] = "null", [ROOT_DEV_ZERO] = "zero",
	[ROOT_DEV_FULL] = "full", [ROOT_DEV_RANDOM] = "random",
	[ROOT_DEV_URANDOM] = "urandom", [ROOT_DEV_TTY] = "tty",
};

void
root_init(struct root *r, const struct jail_spec *spec)
{
	int tty = spec->session == JAIL_SESSION_TTY ? spec->tty_fd :
	    STDOUT_FILENO;

	*r = (struct root){ .spec = spec, .console_fd = -1,
	    .stdin_fd = -1 };
	r->tree_fd = xcalloc(spec->nmounts + 1, sizeof *r->tree_fd);
	r->kept_fd = xcalloc(spec->nkeep_fds + 1, sizeof *r->kept_fd);
	for (size_t i = 0; i < spec->nkeep_fds; i++)
		r->kept_fd[i] = -1;
	if (isatty(tty) && ttyname_r(tty, r->console, sizeof r->console) != 0)
		r->console[0] = '\0';
}

void
root_release(struct root *r)
{
	free(r->tree_fd);
	free(r->kept_fd);
	r->tree_fd = r->kept_fd = NULL;
}

/* ---- in the child ---- */

static int
hold(const char *path)
{
	return (int)syscall(SYS_open_tree, AT_FDCWD, path, OPEN_TREE_CLONE |
	    O_CLOEXEC | AT_RECURSIVE | AT_SYMLINK_NOFOLLOW);
}

static int
set_attr(int dir_fd, const char *path, int flags, uint64_t set)
{
	struct attr a = { .set = set };

	return (int)syscall(SYS_mount_setattr, dir_fd, path, flags, &a,
	    sizeof a);
}

/*
 * fence-init writes its uid map through this /proc, and covers it with the
 * jail's own.
 */
static int
lend_proc(void)
{
	struct attr a = { .clear = ATTR_RDONLY };

	return (int)syscall(SYS_mount_setattr, AT_FDCWD, "/proc", 0, &a,
	    sizeof a);
}

/* What leads to a mount in a hidden place may be walked, not listed. */
static mode_t
way_mode(const char *path)
{
	return strncmp(path, "/tmp/", 5) == 0 ||
	    strncmp(path, "/run/", 5) == 0 ||
	    strncmp(path, "/dev/", 5) == 0 ? 0755 : 0111;
}

/* A mount point for the tree, where the place is our own. */
static int
put_point(int tree_fd, const char *path, mode_t mode)
{
	struct stat st;

	if (fstat(tree_fd, &st) != 0)
		return -1;
	return early_mount_point(path, S_ISDIR(st.st_mode), mode);
}

/* Takes the tree. */
static int
put(int *tree_fd, const char *path, mode_t mode)
{
	int rc;

	if (put_point(*tree_fd, path, mode) != 0)
		return -1;
	rc = (int)syscall(SYS_move_mount, *tree_fd, "", AT_FDCWD, path,
	    MOVE_MOUNT_F_EMPTY_PATH);
	if (rc == 0) {
		close(*tree_fd);
		*tree_fd = -1;
	}
	return rc;
}

/* Somebody may have put something else there since: a jail beside us. */
static bool
is_planned(int fd, const struct jail_mount *m)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return false;
	if (m->ino == 0 || (st.st_dev == m->dev && st.st_ino == m->ino))
		return true;
	errno = ESTALE;
	return false;
}

/* Mounts that show a tree of the host's: what they may do there. */
static bool
holds(const struct root *r, const struct jail_mount *m, uint64_t *ret_attr)
{
	switch (m->kind) {
	case MOUNT_RO:
		*ret_attr = ATTR_NOSUID | ATTR_NODEV | ATTR_RDONLY;
		return r->spec->is_apart || strcmp(m->path, "/") != 0;
	case MOUNT_RW:
		*ret_attr = ATTR_NOSUID | ATTR_NODEV;
		return true;
	case MOUNT_DEV_HOST:
	case MOUNT_DEVICE:
		/* Read-only: a device is written to all the same, and its
		 * mode and owner stay the host's. */
		*ret_attr = ATTR_NOSUID | ATTR_RDONLY;
		return true;
	default:
		return false;
	}
}

/*
 * A file to read, on stdin or kept, was opened through the host's mount: by
 * its descriptor it could be chmod()ed, and by /proc/self/fd/N opened for
 * writing where no second wall forbids it.  The same file through a read-only
 * mount of its own, or -1; where that cannot be had (a name that is gone), it
 * stays.
 */
static int
hold_file(int from)
{
	char path[PATH_MAX], number[PATH_MAX] = "/proc/self/fd/";
	int flags = fcntl(from, F_GETFL), fd, ret = -1;
	struct stat st, seen;
	ssize_t n;

	early_number(number + strlen(number), (uint64_t)from);
	if (flags < 0 || (flags & O_ACCMODE) != O_RDONLY ||
	    fstat(from, &st) != 0 || !S_ISREG(st.st_mode) ||
	    (n = readlink(number, path, sizeof path - 1)) <= 0)
		return -1;
	path[n] = '\0';
	if ((fd = hold(path)) < 0)
		return -1;
	early_number(number + strlen("/proc/self/fd/"), (uint64_t)fd);
	if (fstat(fd, &seen) == 0 && seen.st_dev == st.st_dev &&
	    seen.st_ino == st.st_ino && set_attr(fd, "", AT_EMPTY_PATH,
	    ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV) == 0)
		ret = open(number, flags | O_CLOEXEC);
	close(fd);
	if (ret >= 0)
		(void)lseek(ret, lseek(from, 0, SEEK_CUR), SEEK_SET);
	return ret;
}

int
root_hold(struct root *r)
{
	const struct jail_spec *spec = r->spec;
	char path[PATH_MAX];

	for (size_t i = 0; i < spec->nmounts; i++) {
		const struct jail_mount *m = &spec->mounts[i];
		uint64_t attr;

		r->detail = (int)i;
		r->tree_fd[i] = -1;
		if (!holds(r, m, &attr))
			continue;
		r->tree_fd[i] = hold(m->path);
		if (r->tree_fd[i] < 0 || !is_planned(r->tree_fd[i], m) ||
		    set_attr(r->tree_fd[i], "",
		    AT_EMPTY_PATH | AT_RECURSIVE, attr) != 0)
			return -1;
	}
	for (size_t i = 0; i < ROOT_NDEVS; i++) {
		if (early_join(path, "/dev/", dev_names[i]) != 0 ||
		    (r->dev_fd[i] = hold(path)) < 0 ||
		    set_attr(r->dev_fd[i], "", AT_EMPTY_PATH, ATTR_RDONLY |
		    ATTR_NOSUID) != 0)
			return -1;
	}
	r->stdin_fd = hold_file(STDIN_FILENO);
	for (size_t i = 0; i < spec->nkeep_fds; i++)
		r->kept_fd[i] = hold_file(spec->keep_fds[i]);
	/* The command's terminal lives in the host's devpts; ttyname() will
	 * find it as /dev/console. */
	if (r->console[0] == '\0' || (r->console_fd = hold(r->console)) < 0)
		return 0;
	return set_attr(r->console_fd, "", AT_EMPTY_PATH, ATTR_RDONLY |
	    ATTR_NOSUID);
}

/*
 * What bwrap's --dev makes.  Our uid is 0 in this namespace, as devpts wants
 * it.
 */
static int
put_dev(struct root *r, const char *dev)
{
	static const char *const links[][2] = {
		{ "/proc/self/fd", "/fd" }, { "/proc/self/fd/0", "/stdin" },
		{ "/proc/self/fd/1", "/stdout" },
		{ "/proc/self/fd/2", "/stderr" }, { "/proc/kcore", "/core" },
		{ "pts/ptmx", "/ptmx" },
	};
	char path[PATH_MAX], name[PATH_MAX];

	if (mount("tmpfs", dev, "tmpfs", MS_NOSUID, "mode=0755") != 0)
		return -1;
	for (size_t i = 0; i < ROOT_NDEVS; i++)
		if (early_join(name, "/", dev_names[i]) != 0 ||
		    early_join(path, dev, name) != 0 ||
		    put(&r->dev_fd[i], path, 0755) != 0)
			return -1;
	for (size_t i = 0; i < sizeof links / sizeof links[0]; i++)
		if (early_join(path, dev, links[i][1]) != 0 ||
		    symlink(links[i][0], path) != 0)
			return -1;
	if (early_join(path, dev, "/shm") != 0 || mkdir(path, 01777) != 0 ||
	    chmod(path, 01777) != 0)
		return -1;
	if (early_join(path, dev, "/pts") != 0 || mkdir(path, 0755) != 0 ||
	    mount("devpts", path, "devpts", MS_NOSUID | MS_NOEXEC,
	    "newinstance,ptmxmode=0666,mode=620") != 0)
		return -1;
	if (r->console_fd < 0)
		return 0;
	return early_join(path, dev, "/console") != 0 ? -1 :
	    put(&r->console_fd, path, 0755);
}

/* The host's /dev; what is shared memory there is the jail's own here. */
static int
put_host_dev(struct root *r, size_t i, const char *path)
{
	char shm[PATH_MAX];

	if (put(&r->tree_fd[i], path, 0755) != 0 ||
	    early_join(shm, path, "/shm") != 0)
		return -1;
	return access(shm, F_OK) != 0 ? 0 : mount("tmpfs", shm, "tmpfs",
	    MS_NOSUID | MS_NODEV, "mode=1777");
}

/* A bind of something of ours: with these attributes, as a whole or not. */
static int
put_ours(const char *from, const char *path, int how, uint64_t attr)
{
	int fd = (int)syscall(SYS_open_tree, AT_FDCWD, from, OPEN_TREE_CLONE |
	    O_CLOEXEC | AT_SYMLINK_NOFOLLOW | how);

	if (fd < 0 || (attr != 0 && set_attr(fd, "", AT_EMPTY_PATH | how,
	    attr) != 0))
		return -1;
	return put(&fd, path, way_mode(path));
}

/*
 * Something nobody may open; read-only, so that chmod fails.  Where we may not
 * go ourselves (root's jail, and a folder that another user keeps to himself)
 * the command may not, either: it has fewer rights than we have here.  What is
 * gone since it was planned, as sockets are, needs no mask; the guard sees it
 * return.
 */
static int
put_mask(const char *mask, const char *path)
{
	struct stat st;
	int saved;

	if (put_ours(mask, path, 0, ATTR_RDONLY | ATTR_NOSUID |
	    ATTR_NODEV) == 0)
		return 0;
	saved = errno;
	if (saved == EACCES || (lstat(path, &st) != 0 && errno == ENOENT))
		return 0;
	errno = saved;
	return -1;
}

static int
put_tmpfs(const struct jail_mount *m, const char *path)
{
	char options[64] = "mode=1777,size=";

	if (early_mount_point(path, 1, 0755) != 0)
		return -1;
	if (m->kind == MOUNT_OWN)
		memcpy(options, "mode=0700", strlen("mode=0700"));
	if (m->size > 0)
		early_number(options + strlen(options), m->size);
	else
		options[strlen("mode=1777")] = '\0';
	return mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV, options);
}

static int
put_link(const struct jail_mount *m, const char *path)
{
	if (early_parents(path, 0111) != 0)
		return -1;
	return symlink(m->text, path) == 0 || errno == EEXIST ? 0 : -1;
}

/* A place of ours that nobody may list; read-only once all is mounted. */
static int
put_hidden(const char *path)
{
	if (early_mount_point(path, 1, 0111) != 0)
		return -1;
	return mount("tmpfs", path, "tmpfs", MS_NOSUID | MS_NODEV,
	    "mode=0111");
}

static bool
is_closed_last(enum mount_kind kind)
{
	return kind == MOUNT_CLOSED || kind == MOUNT_MASK_AROUND ||
	    kind == MOUNT_ETC_OWN;
}

static int
put_mount(struct root *r, size_t i, const char *path)
{
	const struct jail_mount *m = &r->spec->mounts[i];

	switch (m->kind) {
	case MOUNT_RO:
		if (r->tree_fd[i] < 0)
			return 0;	/* "/" in place */
		/* FALLTHROUGH */
	case MOUNT_RW:
	case MOUNT_DEVICE:
		return put(&r->tree_fd[i], path, way_mode(m->path));
	case MOUNT_TMPFS:
	case MOUNT_OWN:
		return put_tmpfs(m, path);
	case MOUNT_MASK_DIR:
		return put_mask(r->mask_dir, path);
	case MOUNT_MASK_FILE:
		return put_mask(r->mask_file, path);
	case MOUNT_CLOSED:
	case MOUNT_MASK_AROUND:
		return put_hidden(path);
	case MOUNT_ETC:
		return !r->spec->is_apart ? 0 : put_ours("/etc", path,
		    AT_RECURSIVE, ATTR_RDONLY | ATTR_NOSUID | ATTR_NODEV);
	case MOUNT_ETC_OWN:
		return put_ours(r->etc_dir, path, 0, ATTR_NOSUID |
		    ATTR_NODEV);
	case MOUNT_LINK:
		return put_link(m, path);
	case MOUNT_PLACE:
		return early_mount_point(path, 1, 0111);
	case MOUNT_DEV:
		return early_mount_point(path, 1, 0755) != 0 ? -1 :
		    put_dev(r, path);
	case MOUNT_DEV_HOST:
		return put_host_dev(r, i, path);
	case MOUNT_PROC:
		/* fence-init covers it with one that belongs to its pids;
		 * bwrap starts fence-init by way of this one. */
		return !r->spec->is_apart ? 0 : put_ours("/proc", path, 0,
		    ATTR_NOSUID | ATTR_NODEV);
	}
	errno = EINVAL;
	return -1;
}

static int
put_mounts(struct root *r)
{
	const struct jail_spec *spec = r->spec;
	const char *under = spec->is_apart ? ROOT_APART : "";
	char path[PATH_MAX];

	for (size_t i = 0; i < spec->nmounts; i++) {
		r->detail = (int)i;
		if (early_join(path, under, spec->mounts[i].path) != 0 ||
		    put_mount(r, i, path) != 0)
			return -1;
		/* The base is there: our /run, with all it carries. */
		if (i == 0 && spec->is_apart && put_ours("/run",
		    ROOT_APART "/run", 0, ATTR_RDONLY | ATTR_NOSUID |
		    ATTR_NODEV) != 0)
			return -1;
	}
	/* Last: the mount points inside were made meanwhile. */
	for (size_t i = 0; i < spec->nmounts; i++)
		if (is_closed_last(spec->mounts[i].kind) &&
		    (early_join(path, under, spec->mounts[i].path) != 0 ||
		    set_attr(AT_FDCWD, path, 0, ATTR_RDONLY) != 0))
			return -1;
	return 0;
}

int
root_build(struct root *r, const char *run_dir, const char *etc_dir)
{
	const struct jail_spec *spec = r->spec;

	r->detail = 0;
	r->etc_dir = etc_dir;
	if (early_join(r->mask_file, run_dir, "/none") != 0 ||
	    early_join(r->mask_dir, run_dir, "/none.d") != 0 ||
	    early_write(r->mask_file, O_CREAT | O_EXCL, 0, "", 0) != 0 ||
	    mkdir(r->mask_dir, 0) != 0)
		return -1;
	/* Our own /run is still writable: make mount points there now. */
	for (size_t i = 0; i < spec->nmounts; i++) {
		r->detail = (int)i;
		if (strncmp(spec->mounts[i].path, "/run/", 5) != 0)
			continue;
		if ((r->tree_fd[i] >= 0 && put_point(r->tree_fd[i],
		    spec->mounts[i].path, 0755) != 0) ||
		    (spec->mounts[i].kind == MOUNT_OWN &&
		    early_mkdirs(spec->mounts[i].path, 0755) != 0))
			return -1;
	}
	r->detail = 0;
	if (spec->is_apart)
		return mkdir(ROOT_APART, 0755) != 0 ? -1 : put_mounts(r);
	if (set_attr(AT_FDCWD, "/", AT_RECURSIVE, ATTR_RDONLY | ATTR_NOSUID |
	    ATTR_NODEV) != 0 || lend_proc() != 0)
		return -1;
	return put_mounts(r);
}

int
root_enter(const struct root *r)
{
	if (!r->spec->is_apart)
		return chdir("/");
	/* The old root lies on top of the new one until it is let go of. */
	if (chdir(ROOT_APART) != 0 || syscall(SYS_pivot_root, ".", ".") != 0 ||
	    umount2(".", MNT_DETACH) != 0)
		return -1;
	return chdir("/");
}
