#include "platform/linux/place.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/sysmacros.h>
#include <time.h>
#include <unistd.h>

#include "platform/fd.h"
#include "platform/linux/early.h"

/* Younger than the headers of the oldest system we build on. */
enum {
	NR_OPEN_TREE = 428, NR_MOVE_MOUNT = 429, NR_FSOPEN = 430,
	NR_FSCONFIG = 431, NR_FSMOUNT = 432, NR_OPENAT2 = 437,
	NR_MOUNT_SETATTR = 442,
	TREE_CLONE = 1,
	MOVE_FROM_EMPTY = 4, MOVE_TO_EMPTY = 0x40,
	NO_MAGIC = 2, NO_SYMLINKS = 4, BENEATH = 8, /* openat2: RESOLVE_… */
	MOUNT_ID = 0x1000,			/* statx: mask */
	IS_MOUNT_ROOT = 0x2000,			/* statx: attributes */
	FS_CLOEXEC = 1, FS_SET_STRING = 1, FS_CREATE = 6,
};

enum { TRIES = 100, TRIES_IN_A_ROW = 10, PAUSE_NS = 10 * 1000 };

struct attr {
	uint64_t	set, clear, propagation, userns_fd;
};

struct how {
	uint64_t	flags, mode, resolve;
};

/* ---- looking ---- */

int
place_open(const char *path)
{
	struct how how = { .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
	    .resolve = NO_SYMLINKS | NO_MAGIC };

	return (int)syscall(NR_OPENAT2, AT_FDCWD, path, &how, sizeof how);
}

int
place_open_below(int dir_fd, const char *path)
{
	struct how how = { .flags = O_PATH | O_NOFOLLOW | O_CLOEXEC,
	    .resolve = NO_SYMLINKS | NO_MAGIC | BENEATH };

	return (int)syscall(NR_OPENAT2, dir_fd, path, &how, sizeof how);
}

bool
place_is_at(int fd, dev_t dev, ino_t ino)
{
	struct stat st;

	return fstat(fd, &st) == 0 && st.st_dev == dev && st.st_ino == ino;
}

int
place_planned(const char *path, dev_t dev, ino_t ino)
{
	auto_fd fd = place_open(path);

	if (fd < 0)
		return -1;
	if (!place_is_at(fd, dev, ino)) {
		errno = ESTALE;
		return -1;
	}
	return fd_take(&fd);
}

bool
place_is_passing(int sys)
{
	return sys == ESTALE || sys == ENOENT || sys == ELOOP ||
	    sys == ENOTDIR;
}

bool
place_try(int *n)
{
	struct timespec pause = { .tv_nsec = *n * PAUSE_NS };

	if (*n > 0 && *n < TRIES && *n % TRIES_IN_A_ROW == 0)
		(void)nanosleep(&pause, NULL);
	return (*n)++ < TRIES;
}

/* The headers of the oldest system we build on lack the member. */
static bool
mount_id(int fd, uint64_t *ret)
{
	struct statx stx;

	if (statx(fd, "", AT_EMPTY_PATH, MOUNT_ID, &stx) != 0 ||
	    (stx.stx_mask & MOUNT_ID) == 0)
		return false;
	memcpy(ret, (const char *)&stx + 0x90, sizeof *ret);
	return true;
}

bool
place_same_mount(int fd, int other_fd)
{
	uint64_t a, b;

	return mount_id(fd, &a) && mount_id(other_fd, &b) && a == b;
}

bool
place_is_mount(int fd, dev_t dev, ino_t ino)
{
	struct statx stx;

	return statx(fd, "", AT_EMPTY_PATH, STATX_INO, &stx) == 0 &&
	    (stx.stx_attributes & IS_MOUNT_ROOT) != 0 && (ino == 0 ||
	    (makedev(stx.stx_dev_major, stx.stx_dev_minor) == dev &&
	    stx.stx_ino == ino));
}

/* ---- mounting ---- */

int
place_clone(int fd, int how)
{
	return (int)syscall(NR_OPEN_TREE, fd, "", TREE_CLONE | O_CLOEXEC |
	    AT_EMPTY_PATH | how);
}

int
place_clone_at(const char *path, int how)
{
	return (int)syscall(NR_OPEN_TREE, AT_FDCWD, path, TREE_CLONE |
	    O_CLOEXEC | AT_SYMLINK_NOFOLLOW | how);
}

int
place_attr(int fd, int how, uint64_t set, uint64_t clear)
{
	struct attr a = { .set = set, .clear = clear };

	return (int)syscall(NR_MOUNT_SETATTR, fd, "", AT_EMPTY_PATH | how, &a,
	    sizeof a);
}

static int
fs_set(int fs, const char *key, const char *value)
{
	return (int)syscall(NR_FSCONFIG, fs, FS_SET_STRING, key, value, 0);
}

int
place_tmpfs(const char *mode, uint64_t size, uint64_t attr)
{
	auto_fd fs = (int)syscall(NR_FSOPEN, "tmpfs", FS_CLOEXEC);
	char number[24];

	early_number(number, size);
	if (fs < 0 || fs_set(fs, "source", "tmpfs") != 0 ||
	    fs_set(fs, "mode", mode) != 0 ||
	    (size > 0 && fs_set(fs, "size", number) != 0) ||
	    syscall(NR_FSCONFIG, fs, FS_CREATE, NULL, NULL, 0) != 0)
		return -1;
	return (int)syscall(NR_FSMOUNT, fs, FS_CLOEXEC, attr);
}

int
place_put(int tree_fd, int place_fd)
{
	return (int)syscall(NR_MOVE_MOUNT, tree_fd, "", place_fd, "",
	    MOVE_FROM_EMPTY | MOVE_TO_EMPTY);
}

int
place_put_at(int tree_fd, const char *path)
{
	return (int)syscall(NR_MOVE_MOUNT, tree_fd, "", AT_FDCWD, path,
	    MOVE_FROM_EMPTY);
}

/* ---- file systems of our own ---- */

int
place_claim(struct place_own *own, int fd)
{
	struct stat st;

	if (fstat(fd, &st) != 0)
		return -1;
	if (own->n == own->cap) {
		errno = ENOSPC;
		return -1;
	}
	own->v[own->n++] = st.st_dev;
	return 0;
}

bool
place_is_own(const struct place_own *own, dev_t dev)
{
	for (size_t i = 0; i < own->n; i++)
		if (own->v[i] == dev)
			return true;
	return false;
}

/* The deepest folder of a path that is there; *at: where its name ends. */
static int
deepest(const char *path, size_t *at)
{
	char part[PATH_MAX];
	int fd;

	if (early_join(part, path, "") != 0)
		return -1;
	do {
		while (*at > 0 && part[--*at] != '/')
			continue;
		part[*at] = '\0';
		fd = place_open(*at > 0 ? part : "/");
	} while (fd < 0 && errno == ENOENT && *at > 0);
	return fd;
}

/* Makes the name in the folder if it is missing, and goes there. */
static int
make_next(int *fd, const char *name, bool is_dir, mode_t mode)
{
	int rc = is_dir ? mkdirat(*fd, name, mode) :
	    mknodat(*fd, name, S_IFREG | 0644, 0);
	int next;

	if (rc != 0 && errno != EEXIST)
		return -1;
	next = openat(*fd, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	close(*fd);
	*fd = next;
	return next < 0 ? -1 : 0;
}

int
place_make(const struct place_own *own, const char *path, bool is_dir,
    mode_t mode)
{
	size_t at = strlen(path);
	auto_fd fd = deepest(path, &at);
	char name[NAME_MAX + 1];
	struct stat st;

	if (fd < 0 || fstat(fd, &st) != 0)
		return -1;
	if (!place_is_own(own, st.st_dev)) {
		errno = ESTALE;
		return -1;
	}
	while (path[at] != '\0') {
		size_t n = strcspn(path + at + 1, "/");

		if (n > NAME_MAX) {
			errno = ENAMETOOLONG;
			return -1;
		}
		memcpy(name, path + at + 1, n);
		name[n] = '\0';
		at += n + 1;
		if (make_next(&fd, name, is_dir || path[at] != '\0', mode) !=
		    0)
			return -1;
	}
	return fd_take(&fd);
}
