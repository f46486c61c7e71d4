#include "platform/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "platform/base/str.h"
#include "platform/fd.h"
#include "platform/linux/place.h"
#include "platform/mounttable.h"

bool
tree_is_lack(int sys)
{
	return sys == EMFILE || sys == ENFILE || sys == ENOMEM || sys == EIO;
}

int
tree_look(struct arena *a, const char *path, struct tree_node *ret)
{
	char real[PATH_MAX];
	struct stat st;
	int rc;

	*ret = (struct tree_node){ .path = path, .kind = TREE_MISSING };
	/* The kernel knows the way: a realpath() asks for every component. */
	auto_fd fd = open(path, O_PATH | O_CLOEXEC);

	if (fd < 0 || fstat(fd, &st) != 0) {
		ret->is_closed = errno == EACCES;
		return tree_is_lack(errno) ? -1 : 0;
	}
	rc = fd_real_path(fd, real);
	if (rc != 0)
		return rc > 0 || errno == ENAMETOOLONG ? 0 : -1;
	ret->real = arena_strdup(a, real);
	ret->kind = S_ISDIR(st.st_mode) ? TREE_DIR : TREE_FILE;
	ret->dev = st.st_dev;
	ret->ino = st.st_ino;
	return 0;
}

int
tree_look_below(const char *path, struct tree_node *ret)
{
	struct stat st;

	*ret = (struct tree_node){ .path = path, .kind = TREE_MISSING };
	if (lstat(path, &st) != 0) {
		ret->is_closed = errno == EACCES;
		return tree_is_lack(errno) ? -1 : 0;
	}
	if (S_ISLNK(st.st_mode))
		return 1;
	ret->real = path;
	ret->kind = S_ISDIR(st.st_mode) ? TREE_DIR : TREE_FILE;
	ret->dev = st.st_dev;
	ret->ino = st.st_ino;
	return 0;
}

int
tree_look_plain(const char *path, dev_t *ret_dev, ino_t *ret_ino)
{
	struct stat st;

	for (int n = 0; place_try(&n);) {
		auto_fd fd = place_open(path);

		if (fd < 0 && !place_is_passing(errno))
			return -1;
		if (fd < 0 || fstat(fd, &st) != 0 || S_ISLNK(st.st_mode))
			continue;
		*ret_dev = st.st_dev;
		*ret_ino = st.st_ino;
		return 0;
	}
	errno = ESTALE;
	return -1;
}

struct type_of {
	const char	*path;
	size_t		 len;		/* of the mount point found so far */
	char		 type[32];
};

static void
take_type(const struct mount_line *m, void *arg)
{
	struct type_of *t = arg;
	size_t n = strlen(m->path);

	if (n < t->len || !str_path_below(t->path, m->path))
		return;
	t->len = n;
	snprintf(t->type, sizeof t->type, "%s", m->type);
}

/* One file, and yet two numbers: seen twice without any change between. */
static bool
is_unsteady(const char *path)
{
	auto_fd fd = place_open(path), again = place_open(path);
	struct stat a, b, c;

	if (fd < 0 || again < 0 || fstat(fd, &a) != 0 ||
	    fstat(fd, &b) != 0 || fstat(again, &c) != 0)
		return false;
	return a.st_ino != b.st_ino || (a.st_ino != c.st_ino &&
	    a.st_dev == c.st_dev && a.st_mode == c.st_mode &&
	    a.st_size == c.st_size &&
	    memcmp(&a.st_ctim, &c.st_ctim, sizeof a.st_ctim) == 0 &&
	    memcmp(&a.st_mtim, &c.st_mtim, sizeof a.st_mtim) == 0);
}

/* Of these it is known that they do not; two files may be much alike. */
static bool
is_steady_type(const char *type)
{
	static const char *const types[] = { "ext2", "ext3", "ext4", "xfs",
	    "btrfs", "f2fs", "tmpfs", "ramfs" };

	for (size_t i = 0; i < sizeof types / sizeof types[0]; i++)
		if (strcmp(type, types[i]) == 0)
			return true;
	return false;
}

int
tree_changed(const char *path, struct err *e)
{
	struct type_of t = { .path = path };

	if (mount_line_each(take_type, &t) == 0 && !is_steady_type(t.type) &&
	    is_unsteady(path)) {
		err_set(e, ERR_JAIL, "the file system of '%s' (%s) changes "
		    "inode numbers", path, t.type);
		err_hint(e, "what is mounted there cannot be compared with "
		    "what was judged: use another file system");
		return -1;
	}
	return err_sys(e, ESTALE, "something else lies at '%s' than a moment "
	    "ago", path);
}

bool
tree_is_kernel(const char *path)
{
	struct statfs fs;

	return statfs(path, &fs) == 0 &&
	    mount_magic_is_kernel((unsigned long)fs.f_type);
}
