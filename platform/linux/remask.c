#include "platform/remask.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <linux/nsfs.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/fd.h"
#include "platform/linux/place.h"
#include "platform/linux/root.h"

/* The masks that root.c made. */
#define MASK_FILE	"/run/fence/none"
#define MASK_DIR	"/run/fence/none.d"

/* Of the process that entered: there is no way back, so there is one. */
static int inner_fd = -1, outer_fd = -1;

/* ---- entering ---- */

static pid_t
parent_of(pid_t pid)
{
	char path[64], text[1024];
	const char *p;
	int parent;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (fd_read_file(AT_FDCWD, path, text, sizeof text) < 0 ||
	    (p = strrchr(text, ')')) == NULL ||
	    sscanf(p, ") %*c %d", &parent) != 1)
		return 0;
	return parent;
}

static int
open_ns(pid_t pid)
{
	char path[64];

	snprintf(path, sizeof path, "/proc/%d/ns/mnt", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static bool
is_same(int a, int b)
{
	struct stat x, y;

	return fstat(a, &x) == 0 && fstat(b, &y) == 0 &&
	    x.st_dev == y.st_dev && x.st_ino == y.st_ino;
}

/*
 * The jail's tree was built in a mount namespace around it, by the parent of
 * its first process.  What is writable there is locked read-only inside, so
 * MOUNT_RW has to come from there.  -1 if the parent lives where we do.
 */
static int
open_outer(pid_t pid)
{
	auto_fd own = open("/proc/self/ns/mnt", O_RDONLY | O_CLOEXEC);
	pid_t parent = parent_of(pid);
	auto_fd fd = parent > 0 ? open_ns(parent) : -1;

	if (own < 0 || fd < 0 || is_same(fd, own) || is_same(fd, inner_fd))
		return -1;
	return fd_take(&fd);
}

/* Whoever owns the outer user namespace has every right in the inner. */
int
remask_enter(pid_t jail_pid)
{
	auto_fd owner = -1;

	inner_fd = open_ns(jail_pid);
	if (inner_fd < 0)
		return -1;
	outer_fd = open_outer(jail_pid);
	owner = ioctl(outer_fd >= 0 ? outer_fd : inner_fd, NS_GET_USERNS);
	if (owner < 0 || setns(owner, CLONE_NEWUSER) != 0)
		return -1;
	return setns(inner_fd, CLONE_NEWNS);
}

/* ---- mounting ---- */

/* The thing itself, once more: now read-only. */
static int
tree_readonly(int place)
{
	auto_fd fd = place_clone(place, PLACE_TREE);

	if (fd < 0 || place_attr(fd, PLACE_TREE, PLACE_RDONLY | PLACE_NOSUID |
	    PLACE_NODEV, 0) != 0)
		return -1;
	return fd_take(&fd);
}

static int
tree_writable_here(int place)
{
	auto_fd fd = place_clone(place, PLACE_TREE);

	if (fd < 0 || place_attr(fd, PLACE_TREE, PLACE_NOSUID | PLACE_NODEV,
	    PLACE_RDONLY) != 0)
		return -1;
	return fd_take(&fd);
}

static int
tree_writable(int place, const char *path, dev_t dev, ino_t ino)
{
	auto_fd there = -1, tree = -1;
	int saved;

	if (outer_fd < 0)
		return tree_writable_here(place);
	if (setns(outer_fd, CLONE_NEWNS) != 0)
		return -1;
	there = place_planned(path, dev, ino);
	if (there >= 0)
		tree = tree_writable_here(there);
	saved = errno;
	if (setns(inner_fd, CLONE_NEWNS) != 0)
		return -1;
	errno = saved;
	return fd_take(&tree);
}

/* A jail without them is none of ours; ENOENT means the path itself. */
static int
tree_mask(const char *mask)
{
	auto_fd place = place_open(mask);

	if (place >= 0)
		return tree_readonly(place);
	if (errno == ENOENT)
		errno = ENODEV;
	return -1;
}

static int
tree_for(enum mount_kind kind, int place, const char *path, dev_t dev,
    ino_t ino)
{
	switch (kind) {
	case MOUNT_RO:
		return tree_readonly(place);
	case MOUNT_RW:
		return tree_writable(place, path, dev, ino);
	case MOUNT_MASK_FILE:
		return tree_mask(MASK_FILE);
	case MOUNT_MASK_DIR:
		return tree_mask(MASK_DIR);
	default:
		errno = EINVAL;
		return -1;
	}
}

/* A mask of root_etc.c: the overlay over /etc hides the name for good. */
static bool
is_laid(const char *path, int place)
{
	struct stat st;

	return strncmp(path, "/etc/", 5) == 0 && fstat(place, &st) == 0 &&
	    S_ISREG(st.st_mode) && st.st_size == 0 &&
	    (st.st_mode & 07777) == 0 && root_in_overlay(place);
}

int
remask_put(const char *path, enum mount_kind kind, dev_t dev, ino_t ino)
{
	auto_fd place = place_open(path);
	auto_fd tree = -1;

	if (place < 0)
		return -1;
	if (place_is_mount(place, 0, 0) || is_laid(path, place))
		return 1;
	if (!place_is_at(place, dev, ino)) {
		errno = ESTALE;
		return -1;
	}
	tree = tree_for(kind, place, path, dev, ino);
	if (tree < 0)
		return -1;
	return place_put(tree, place);
}
