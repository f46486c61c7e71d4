#include "platform/linux/root.h"

#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mount.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/base/path.h"
#include "platform/base/str.h"
#include "platform/fd.h"
#include "platform/linux/early.h"
#include "platform/linux/place.h"
#include "platform/pause.h"

/* What leads to a mount in a hidden place may be walked, not listed. */
static mode_t
way_mode(const char *path)
{
	return strncmp(path, "/tmp/", 5) == 0 ||
	    strncmp(path, "/run/", 5) == 0 ||
	    strncmp(path, "/dev/", 5) == 0 ? 0755 : 0111;
}

/* ---- what is mounted upon ---- */

/* Of a way that only root can change: it needs no inode in the plan. */
static bool
is_base(const struct jail_mount *m)
{
	return m->ino == 0 && strrchr(m->path, '/') == m->path;
}

/*
 * The jail's /etc is an overlay over the host's: folders have inodes of its
 * own, files those of the host on another device.
 */
static bool
is_in_overlay(const struct root *r, const struct jail_mount *m, int fd,
    const struct stat *st)
{
	if (strncmp(m->path, "/etc/", 5) != 0)
		return false;
	if (S_ISDIR(st->st_mode))
		return st->st_dev == r->etc_dev;
	return st->st_ino == m->ino && root_in_overlay(fd);
}

/* The host's, as it was planned, or a file system of ours. */
static bool
is_planned(const struct root *r, const struct jail_mount *m, int fd)
{
	struct stat st;

	if (is_base(m))
		return true;
	return fstat(fd, &st) == 0 && (place_is_own(&r->own, st.st_dev) ||
	    (m->ino != 0 && st.st_dev == m->dev && st.st_ino == m->ino) ||
	    is_in_overlay(r, m, fd, &st));
}

/* The innermost MOUNT_OTHER that the mount lies in, or NULL. */
static const struct jail_mount *
find_other(const struct root *r, const struct jail_mount *m)
{
	for (size_t i = r->nothers; i-- > 0; ) {
		const struct jail_mount *o = r->others[i];

		if (o != m && str_path_below(m->path, o->path))
			return o;
	}
	return NULL;
}

/*
 * A spot in such a tree, by way of its descriptor: another run may have the
 * tree as well, and change all but the spots that it mounted upon.
 */
static int
open_in_other(const struct root *r, const struct jail_mount *m,
    const struct jail_mount *other)
{
	int tree = r->tree_fd[other - r->spec->mounts];
	auto_fd fd = place_open_below(tree, m->path +
	    strlen(other->path) + 1);

	if (fd < 0)
		return -1;
	if (!place_same_mount(fd, tree) && !is_planned(r, m, fd)) {
		errno = ESTALE;
		return -1;
	}
	return fd_take(&fd);
}

/* Made as a mount point for the tree, if it is missing and ours. */
static int
make_spot(const struct root *r, const struct jail_mount *m, const char *path,
    int tree_fd)
{
	struct stat st;

	if (fstat(tree_fd, &st) != 0)
		return -1;
	return place_make(&r->own, path, S_ISDIR(st.st_mode),
	    way_mode(m->path));
}

/* As it was planned, or -1. */
static int
open_planned(const struct root *r, const struct jail_mount *m,
    const char *path, int tree_fd)
{
	const struct jail_mount *other = find_other(r, m);
	auto_fd fd = -1;

	if (other != NULL)
		return open_in_other(r, m, other);
	fd = place_open(path);
	if (fd < 0 && errno == ENOENT && tree_fd >= 0)
		fd = make_spot(r, m, path, tree_fd);
	if (fd < 0)
		return -1;
	if (!is_planned(r, m, fd)) {
		errno = ESTALE;
		return -1;
	}
	return fd_take(&fd);
}

/* Where the tree is to be mounted; as hold_planned().  A mask's is not made. */
static int
open_spot(const struct root *r, const struct jail_mount *m, const char *path,
    int tree_fd)
{
	for (int n = 0; place_try(&n);) {
		auto_fd fd = open_planned(r, m, path, tree_fd);

		if (fd >= 0)
			return fd_take(&fd);
		if (!place_is_passing(errno))
			return -1;
	}
	errno = is_base(m) ? ENOENT : ESTALE;
	return -1;
}

/*
 * What was opened may be removed before the tree is laid upon it: then
 * something else than planned lies there, and another plan may do.
 */
static int
lay(int tree_fd, int spot_fd)
{
	if (place_put(tree_fd, spot_fd) == 0)
		return 0;
	if (errno == ENOENT)
		errno = ESTALE;
	return -1;
}

/* Takes the tree. */
static int
put(const struct root *r, const struct jail_mount *m, const char *path,
    int *tree_fd)
{
	auto_fd spot = open_spot(r, m, path, *tree_fd);

	if (spot < 0 || lay(*tree_fd, spot) != 0)
		return -1;
	fd_close(tree_fd);
	return 0;
}

/* The tree stays open: what is mounted in it goes by way of it. */
static int
put_other(struct root *r, size_t i, const char *path)
{
	const struct jail_mount *m = &r->spec->mounts[i];
	auto_fd spot = open_spot(r, m, path, r->tree_fd[i]);

	if (spot < 0 || lay(r->tree_fd[i], spot) != 0)
		return -1;
	r->others[r->nothers++] = m;
	return 0;
}

/* A file in the /dev that is ours.  Takes the tree. */
static int
put_device(int *tree_fd, const char *path)
{
	if (mknod(path, S_IFREG | 0644, 0) != 0 ||
	    place_put_at(*tree_fd, path) != 0)
		return -1;
	fd_close(tree_fd);
	return 0;
}

/* Empty, and ours from here on. */
static int
put_tmpfs(struct root *r, const struct jail_mount *m, const char *path,
    const char *mode, uint64_t attr)
{
	auto_fd tree = place_tmpfs(mode, m->size, attr);

	if (tree < 0 || place_claim(&r->own, tree) != 0)
		return -1;
	return put(r, m, path, &tree);
}

/* ---- the mounts of the plan ---- */

/*
 * What bwrap's --dev makes.  Our uid is 0 in this namespace, as devpts wants
 * it.
 */
static int
put_dev(struct root *r, const struct jail_mount *m, const char *dev)
{
	static const char *const links[][2] = {
		{ "/proc/self/fd", "/fd" }, { "/proc/self/fd/0", "/stdin" },
		{ "/proc/self/fd/1", "/stdout" },
		{ "/proc/self/fd/2", "/stderr" }, { "/proc/kcore", "/core" },
		{ "pts/ptmx", "/ptmx" },
	};
	char path[PATH_MAX], name[PATH_MAX];

	if (put_tmpfs(r, m, dev, "0755", PLACE_NOSUID) != 0)
		return -1;
	for (size_t i = 0; i < ROOT_NDEVS; i++)
		if (early_join(name, "/", root_dev_names[i]) != 0 ||
		    early_join(path, dev, name) != 0 ||
		    put_device(&r->dev_fd[i], path) != 0)
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
	    put_device(&r->console_fd, path);
}

/* The host's /dev; what is shared memory there is the jail's own here. */
static int
put_host_dev(struct root *r, size_t i, const char *path)
{
	static const struct jail_mount plain = { .path = "/dev" };
	char shm[PATH_MAX];

	if (put(r, &r->spec->mounts[i], path, &r->tree_fd[i]) != 0 ||
	    early_join(shm, path, "/shm") != 0)
		return -1;
	return access(shm, F_OK) != 0 ? 0 :
	    put_tmpfs(r, &plain, shm, "1777", PLACE_HELD);
}

/* A bind of something of ours: with these attributes, as a whole or not. */
static int
put_ours(const struct root *r, const struct jail_mount *m, const char *path,
    const char *from, int how, uint64_t attr)
{
	auto_fd source = place_open(from);
	auto_fd tree = source < 0 ? -1 : place_clone(source, how);

	if (tree < 0 || place_attr(tree, how, attr, 0) != 0)
		return -1;
	return put(r, m, path, &tree);
}

static bool
is_mask(enum mount_kind kind)
{
	return kind == MOUNT_MASK_DIR || kind == MOUNT_MASK_FILE;
}

/* Missing in a folder that is there. */
static bool
is_gone(const char *path)
{
	char dir[PATH_MAX];
	auto_fd fd = -1;
	struct stat st;

	if (early_join(dir, path, "") != 0)
		return false;
	fd = place_open(path_cut(dir) ? dir : "/");
	return fd >= 0 && fstatat(fd, path_name(path), &st,
	    AT_SYMLINK_NOFOLLOW) != 0 && errno == ENOENT;
}

/*
 * Something nobody may open; read-only, so that chmod fails.  Where we may not
 * go ourselves (root's jail, and a folder that another user keeps to himself)
 * the command may not, either: it has fewer rights than we have here.  What is
 * gone since it was planned, as sockets are, needs no mask; the guard sees it
 * return.
 */
static int
put_mask(const struct root *r, size_t i, const char *path)
{
	const struct jail_mount *m = &r->spec->mounts[i];
	auto_fd spot = -1;
	auto_fd tree = -1;
	int saved;

	if (r->is_laid[i]) {
		auto_fd laid = place_open(path);

		if (laid >= 0 && root_is_laid(r, i, laid))
			return 0;
		r->is_laid[i] = false;
	}
	spot = open_spot(r, m, path, -1);
	saved = errno;
	if (spot < 0) {
		if (saved == EACCES || is_gone(path))
			return 0;
		errno = saved;
		return -1;
	}
	tree = place_clone(r->mask_fd[m->kind == MOUNT_MASK_DIR], 0);
	return tree < 0 ? -1 : lay(tree, spot);
}

/* A folder of ours, which may be there. */
static int
open_own(const struct root *r, const char *path)
{
	auto_fd fd = place_open(path);
	struct stat st;

	if (fd < 0)
		return errno != ENOENT ? -1 :
		    place_make(&r->own, path, true, 0111);
	if (fstat(fd, &st) != 0)
		return -1;
	if (!place_is_own(&r->own, st.st_dev)) {
		errno = ESTALE;
		return -1;
	}
	return fd_take(&fd);
}

static int
put_link(const struct root *r, const struct jail_mount *m, const char *path)
{
	char dir[PATH_MAX];
	auto_fd fd = -1;

	if (early_join(dir, path, "") != 0)
		return -1;
	fd = open_own(r, path_cut(dir) ? dir : "");
	return fd >= 0 && (symlinkat(m->text, fd, path_name(path)) == 0 ||
	    errno == EEXIST) ? 0 : -1;
}

static int
put_place(const struct root *r, const char *path)
{
	auto_fd fd = open_own(r, path);

	return fd >= 0 ? 0 : -1;
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
	case MOUNT_RW:
		if (r->tree_fd[i] < 0)
			return 0;	/* "/" in place */
		/* FALLTHROUGH */
	case MOUNT_DEVICE:
		return put(r, m, path, &r->tree_fd[i]);
	case MOUNT_OTHER:
		return put_other(r, i, path);
	case MOUNT_TMPFS:
		return put_tmpfs(r, m, path, "1777", PLACE_HELD);
	case MOUNT_OWN:
		return put_tmpfs(r, m, path, "0700", PLACE_HELD);
	case MOUNT_MASK_DIR:
	case MOUNT_MASK_FILE:
		return put_mask(r, i, path);
	case MOUNT_CLOSED:
	case MOUNT_MASK_AROUND:
		/* Nobody may list it; read-only once all is mounted. */
		return put_tmpfs(r, m, path, "0111", PLACE_HELD);
	case MOUNT_ETC:
		return !r->spec->is_apart ? 0 : put_ours(r, m, path, "/etc",
		    PLACE_TREE, PLACE_LOCKED);
	case MOUNT_ETC_OWN:
		return put_ours(r, m, path, r->etc_dir, 0, PLACE_HELD);
	case MOUNT_LINK:
		return put_link(r, m, path);
	case MOUNT_PLACE:
		return put_place(r, path);
	case MOUNT_DEV:
		return put_dev(r, m, path);
	case MOUNT_DEV_HOST:
		return put_host_dev(r, i, path);
	case MOUNT_PROC:
		/* fence-init covers it with one that belongs to its pids;
		 * bwrap starts fence-init by way of this one. */
		return !r->spec->is_apart ? 0 : put_ours(r, m, path, "/proc",
		    0, PLACE_HELD);
	}
	errno = EINVAL;
	return -1;
}

/* Read-only as the mount is that they are opened in. */
static int
open_masks(struct root *r, const char *under)
{
	static const char *const names[] = { "/none", "/none.d" };
	char run[PATH_MAX], path[PATH_MAX];

	if (early_join(run, under, r->run_dir) != 0)
		return -1;
	for (size_t i = 0; i < 2; i++)
		if (early_join(path, run, names[i]) != 0 ||
		    (r->mask_fd[i] = place_open(path)) < 0 ||
		    fstat(r->mask_fd[i], &r->mask[i]) != 0)
			return -1;
	return 0;
}

/* What masks and other mounts stand on, once there is a root for them. */
static int
put_run(struct root *r, const char *under)
{
	static const struct jail_mount run = { .path = "/run" };

	if (r->spec->is_apart && put_ours(r, &run, ROOT_APART "/run", "/run",
	    0, PLACE_LOCKED) != 0)
		return -1;
	return open_masks(r, under);
}

/* Does the path lead to our mount, or to a mask that is none? */
static bool
is_shown(const struct root *r, size_t i, int fd)
{
	const struct jail_mount *m = &r->spec->mounts[i];
	const struct stat *mask = &r->mask[m->kind == MOUNT_MASK_DIR];

	if (m->kind == MOUNT_OTHER)
		return place_is_mount(fd, m->source_dev, m->source_ino);
	return is_mask(m->kind) ?
	    place_is_mount(fd, mask->st_dev, mask->st_ino) :
	    place_is_mount(fd, m->dev, m->kind == MOUNT_MASK_AROUND ? 0 :
	    m->ino);
}

static bool
is_to_show(const struct jail_mount *m)
{
	if (m->kind == MOUNT_LINK || m->kind == MOUNT_PLACE)
		return false;
	return !is_base(m) || is_closed_last(m->kind);
}

/*
 * Whoever renames a folder of the host's takes along what is mounted in it:
 * the path, looked up once more, has to lead to our mount.
 */
static int
finish_mount(const struct root *r, size_t i, const char *path)
{
	const struct jail_mount *m = &r->spec->mounts[i];

	for (int n = 0; place_try(&n);) {
		auto_fd fd = place_open(path);

		if (fd >= 0 && is_shown(r, i, fd))
			return !is_closed_last(m->kind) ? 0 :
			    place_attr(fd, 0, PLACE_RDONLY, 0);
		if (fd < 0 && is_mask(m->kind) &&
		    (errno == EACCES || is_gone(path)))
			return 0;
		if (fd < 0 && !place_is_passing(errno))
			return -1;
	}
	errno = ESTALE;
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
		    put_mount(r, i, path) != 0 ||
		    (i == 0 && put_run(r, under) != 0))
			return -1;
	}
	pause_at("in-child-put");
	/* Last: the mount points inside were made meanwhile. */
	for (size_t i = 0; i < spec->nmounts; i++) {
		r->detail = (int)i;
		/* What is laid over /etc was looked at in put_mask(), and no
		 * rename in the host's /etc takes it away. */
		if (!r->is_laid[i] && is_to_show(&spec->mounts[i]) &&
		    (early_join(path, under, spec->mounts[i].path) != 0 ||
		    finish_mount(r, i, path) != 0))
			return -1;
	}
	for (size_t i = 0; i < spec->nmounts; i++)
		fd_close(&r->tree_fd[i]);
	fd_close(&r->mask_fd[0]);
	fd_close(&r->mask_fd[1]);
	return 0;
}

/* Our own /run is still writable: mount points in it are made now. */
static int
make_run_spots(struct root *r)
{
	const struct jail_spec *spec = r->spec;

	for (size_t i = 0; i < spec->nmounts; i++) {
		const struct jail_mount *m = &spec->mounts[i];
		auto_fd fd = -1;

		r->detail = (int)i;
		if (strncmp(m->path, "/run/", 5) != 0)
			continue;
		if (r->tree_fd[i] >= 0)
			fd = make_spot(r, m, m->path, r->tree_fd[i]);
		else if (m->kind == MOUNT_OWN)
			fd = place_make(&r->own, m->path, true, 0755);
		else
			continue;
		if (fd < 0)
			return -1;
	}
	r->detail = 0;
	return 0;
}

/* Our /run, the masks in it, and what /etc is by now. */
static int
make_ready(struct root *r)
{
	auto_fd run = place_open("/run");
	char path[PATH_MAX];
	struct stat st;

	if (run < 0 || place_claim(&r->own, run) != 0 ||
	    stat("/etc", &st) != 0)
		return -1;
	r->etc_dev = st.st_dev;
	if (early_join(path, r->run_dir, "/none") != 0 ||
	    early_write(path, O_CREAT | O_EXCL, 0, "", 0) != 0 ||
	    early_join(path, r->run_dir, "/none.d") != 0 ||
	    mkdir(path, 0) != 0)
		return -1;
	return make_run_spots(r);
}

static int
attr_at(const char *path, int how, uint64_t set, uint64_t clear)
{
	auto_fd fd = place_open(path);

	return fd < 0 ? -1 : place_attr(fd, how, set, clear);
}

int
root_build(struct root *r, const char *run_dir, const char *etc_dir)
{
	r->detail = 0;
	r->run_dir = run_dir;
	r->etc_dir = etc_dir;
	if (make_ready(r) != 0)
		return -1;
	if (r->spec->is_apart)
		return mkdir(ROOT_APART, 0755) != 0 ? -1 : put_mounts(r);
	/* fence-init writes its uid map through this /proc, and covers it
	 * with the jail's own. */
	if (attr_at("/", PLACE_TREE, r->spec->mounts[0].kind == MOUNT_RW ?
	    PLACE_HELD : PLACE_LOCKED, 0) != 0 ||
	    attr_at("/run", PLACE_TREE, PLACE_LOCKED, 0) != 0 ||
	    attr_at("/proc", 0, 0, PLACE_RDONLY) != 0)
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
