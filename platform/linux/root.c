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
	*r = (struct root){ .spec = spec, .console_fd = -1 };
	r->tree_fd = xcalloc(spec->nmounts + 1, sizeof *r->tree_fd);
	if (isatty(STDOUT_FILENO) && ttyname_r(STDOUT_FILENO, r->console,
	    sizeof r->console) != 0)
		r->console[0] = '\0';
}

void
root_release(struct root *r)
{
	free(r->tree_fd);
	r->tree_fd = NULL;
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
 * bwrap writes its uid map through this /proc; fence-init then covers it with
 * the jail's own.
 */
static int
lend_proc(void)
{
	struct attr a = { .clear = ATTR_RDONLY };

	return (int)syscall(SYS_mount_setattr, AT_FDCWD, "/proc", 0, &a,
	    sizeof a);
}

/* A mount point for the tree, where the place is our own. */
static int
put_point(int tree_fd, const char *path)
{
	struct stat st;

	if (fstat(tree_fd, &st) != 0)
		return -1;
	return early_mount_point(path, S_ISDIR(st.st_mode));
}

/* Takes the tree. */
static int
put(int *tree_fd, const char *path)
{
	int rc;

	if (put_point(*tree_fd, path) != 0)
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

static bool
is_base(const struct jail_mount *m)
{
	return strcmp(m->path, "/") == 0;
}

int
root_hold(struct root *r)
{
	const struct jail_spec *spec = r->spec;
	char path[PATH_MAX];

	for (size_t i = 0; i < spec->nmounts; i++) {
		const struct jail_mount *m = &spec->mounts[i];

		r->detail = (int)i;
		r->tree_fd[i] = -1;
		if ((m->kind != MOUNT_RO && m->kind != MOUNT_RW) || is_base(m))
			continue;
		r->tree_fd[i] = hold(m->path);
		if (r->tree_fd[i] < 0 || !is_planned(r->tree_fd[i], m) ||
		    set_attr(r->tree_fd[i], "",
		    AT_EMPTY_PATH | AT_RECURSIVE, ATTR_NOSUID | ATTR_NODEV |
		    (m->kind == MOUNT_RO ? ATTR_RDONLY : 0)) != 0)
			return -1;
	}
	for (size_t i = 0; i < ROOT_NDEVS; i++) {
		/* Read-only: a device is written to all the same, and its
		 * mode and owner stay the host's. */
		if (early_join(path, "/dev/", dev_names[i]) != 0 ||
		    (r->dev_fd[i] = hold(path)) < 0 ||
		    set_attr(r->dev_fd[i], "", AT_EMPTY_PATH, ATTR_RDONLY |
		    ATTR_NOSUID) != 0)
			return -1;
	}
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
		    put(&r->dev_fd[i], path) != 0)
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
	    put(&r->console_fd, path);
}

/* A bind of something nobody may open; read-only, so that chmod fails. */
static int
put_mask(const char *mask, const char *path)
{
	int fd = hold(mask);

	if (fd < 0 || set_attr(fd, "", AT_EMPTY_PATH, ATTR_RDONLY |
	    ATTR_NOSUID | ATTR_NODEV) != 0)
		return -1;
	return put(&fd, path);
}

static int
put_mount(struct root *r, size_t i, const char *mask_file,
    const char *mask_dir)
{
	const struct jail_mount *m = &r->spec->mounts[i];

	switch (m->kind) {
	case MOUNT_RO:
	case MOUNT_RW:
		return is_base(m) ? 0 : put(&r->tree_fd[i], m->path);
	case MOUNT_TMPFS:
		return mount("tmpfs", m->path, "tmpfs", MS_NOSUID | MS_NODEV,
		    "mode=1777");
	case MOUNT_MASK_DIR:
		return put_mask(mask_dir, m->path);
	case MOUNT_MASK_FILE:
		return put_mask(mask_file, m->path);
	case MOUNT_MASK_AROUND:
		return mount("tmpfs", m->path, "tmpfs", MS_NOSUID | MS_NODEV,
		    "mode=0111");
	case MOUNT_DEV:
		return put_dev(r, m->path);
	case MOUNT_PROC:
		return 0;	/* fence-init's: it belongs to its pids */
	}
	errno = EINVAL;
	return -1;
}

int
root_build(struct root *r, const char *run_dir)
{
	const struct jail_spec *spec = r->spec;
	char mask_file[PATH_MAX], mask_dir[PATH_MAX];

	r->detail = 0;
	if (early_join(mask_file, run_dir, "/none") != 0 ||
	    early_join(mask_dir, run_dir, "/none.d") != 0 ||
	    early_write(mask_file, O_CREAT | O_EXCL, 0, "", 0) != 0 ||
	    mkdir(mask_dir, 0) != 0)
		return -1;
	/* Our own /run is still writable: make mount points there now. */
	for (size_t i = 0; i < spec->nmounts; i++) {
		r->detail = (int)i;
		if (strncmp(spec->mounts[i].path, "/run/", 5) == 0 &&
		    r->tree_fd[i] >= 0 && put_point(r->tree_fd[i],
		    spec->mounts[i].path) != 0)
			return -1;
	}
	r->detail = 0;
	if (set_attr(AT_FDCWD, "/", AT_RECURSIVE, ATTR_RDONLY | ATTR_NOSUID |
	    ATTR_NODEV) != 0 || lend_proc() != 0)
		return -1;
	for (size_t i = 0; i < spec->nmounts; i++) {
		r->detail = (int)i;
		if (put_mount(r, i, mask_file, mask_dir) != 0)
			return -1;
	}
	/* Last: the mount points inside such a mask were made meanwhile. */
	for (size_t i = 0; i < spec->nmounts; i++)
		if (spec->mounts[i].kind == MOUNT_MASK_AROUND &&
		    set_attr(AT_FDCWD, spec->mounts[i].path, 0,
		    ATTR_RDONLY) != 0)
			return -1;
	return 0;
}
