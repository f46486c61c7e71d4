/*
 * Every tree that a mount of the jail shows is opened, cloned and given its
 * attributes before anything covers the host's tree.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/base/path.h"
#include "platform/base/xalloc.h"
#include "platform/fd.h"
#include "platform/linux/early.h"
#include "platform/linux/place.h"
#include "platform/linux/root.h"
#include "platform/pause.h"

enum { OWN_MORE = 4 };		/* file systems of ours besides the mounts */

const char *const root_dev_names[ROOT_NDEVS] = {
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
	    .stdin_fd = -1, .mask_fd = { -1, -1 } };
	r->own.cap = spec->nmounts + OWN_MORE;
	r->own.v = xcalloc(r->own.cap, sizeof *r->own.v);
	r->tree_fd = xcalloc(spec->nmounts + 1, sizeof *r->tree_fd);
	r->kept_fd = xcalloc(spec->nkeep_fds + 1, sizeof *r->kept_fd);
	r->is_laid = xcalloc(spec->nmounts + 1, sizeof *r->is_laid);
	r->others = xcalloc(spec->nmounts + 1, sizeof *r->others);
	for (size_t i = 0; i < spec->nkeep_fds; i++)
		r->kept_fd[i] = -1;
	for (size_t i = 0; i < spec->nmounts; i++)
		r->tree_fd[i] = -1;
	for (size_t i = 0; i < ROOT_NDEVS; i++)
		r->dev_fd[i] = -1;
	if (isatty(tty) && ttyname_r(tty, r->console, sizeof r->console) != 0)
		r->console[0] = '\0';
}

void
root_release(struct root *r)
{
	/* The child shares our descriptor table: close the trees that it held
	 * and did not mount. */
	for (size_t i = 0; i < r->spec->nmounts; i++)
		fd_close(&r->tree_fd[i]);
	for (size_t i = 0; i < ROOT_NDEVS; i++)
		fd_close(&r->dev_fd[i]);
	for (size_t i = 0; i < 2; i++)
		fd_close(&r->mask_fd[i]);
	fd_close(&r->console_fd);
	free(r->own.v);
	free(r->tree_fd);
	free(r->kept_fd);
	free(r->is_laid);
	free(r->others);
	r->own.v = NULL;
	r->tree_fd = r->kept_fd = NULL;
	r->is_laid = NULL;
	r->others = NULL;
}

/*
 * Clones the tree whose inode the plan names.  Another jail may exchange names
 * all the time: wrong inodes are passed over for a hundred lookups, then ESTALE
 * ends this plan.  "/" and "/dev" have no inode in the plan.
 */
static int
hold_planned(const struct jail_mount *m)
{
	bool is_other = m->kind == MOUNT_OTHER;
	const char *path = is_other ? m->source : m->path;
	dev_t dev = is_other ? m->source_dev : m->dev;
	ino_t ino = is_other ? m->source_ino : m->ino;

	for (int n = 0; place_try(&n);) {
		auto_fd fd = ino == 0 ? place_open(path) :
		    place_planned(path, dev, ino);

		if (fd >= 0 && !pretend_lacks("steady"))
			return place_clone(fd, PLACE_TREE);
		if (fd < 0 && !place_is_passing(errno))
			return -1;
	}
	errno = ESTALE;
	return -1;
}

/* Does the mount show a tree of the host's, and with which attributes? */
static bool
holds(const struct root *r, const struct jail_mount *m, uint64_t *ret_attr)
{
	switch (m->kind) {
	case MOUNT_RO:
		*ret_attr = PLACE_LOCKED;
		return r->spec->is_apart || strcmp(m->path, "/") != 0;
	case MOUNT_RW:
	case MOUNT_OTHER:
		*ret_attr = PLACE_HELD;
		return r->spec->is_apart || strcmp(m->path, "/") != 0;
	case MOUNT_DEV_HOST:
	case MOUNT_DEVICE:
		/* Read-only: a device is written to all the same, and its
		 * mode and owner stay the host's. */
		*ret_attr = PLACE_NOSUID | PLACE_RDONLY;
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
	struct stat st;

	early_number(number + strlen(number), (uint64_t)from);
	if (flags < 0 || (flags & O_ACCMODE) != O_RDONLY ||
	    fstat(from, &st) != 0 || !S_ISREG(st.st_mode) ||
	    path_read_link(AT_FDCWD, number, path, sizeof path) <= 0)
		return -1;
	if ((fd = place_clone_at(path, 0)) < 0)
		return -1;
	early_number(number + strlen("/proc/self/fd/"), (uint64_t)fd);
	if (place_is_at(fd, st.st_dev, st.st_ino) &&
	    place_attr(fd, 0, PLACE_LOCKED, 0) == 0)
		ret = open(number, flags | O_CLOEXEC);
	close(fd);
	if (ret >= 0)
		(void)lseek(ret, lseek(from, 0, SEEK_CUR), SEEK_SET);
	return ret;
}

static int
hold_trees(struct root *r)
{
	const struct jail_spec *spec = r->spec;
	uint64_t attr;

	for (size_t i = 0; i < spec->nmounts; i++) {
		r->detail = (int)i;
		if (holds(r, &spec->mounts[i], &attr) &&
		    ((r->tree_fd[i] = hold_planned(&spec->mounts[i])) < 0 ||
		    place_attr(r->tree_fd[i], PLACE_TREE, attr, 0) != 0))
			return -1;
	}
	return 0;
}

int
root_hold(struct root *r)
{
	const struct jail_spec *spec = r->spec;
	char path[PATH_MAX];

	if (hold_trees(r) != 0)
		return -1;
	for (size_t i = 0; i < ROOT_NDEVS; i++) {
		if (early_join(path, "/dev/", root_dev_names[i]) != 0 ||
		    (r->dev_fd[i] = place_clone_at(path, 0)) < 0 ||
		    place_attr(r->dev_fd[i], 0, PLACE_RDONLY | PLACE_NOSUID,
		    0) != 0)
			return -1;
	}
	r->stdin_fd = hold_file(STDIN_FILENO);
	for (size_t i = 0; i < spec->nkeep_fds; i++)
		r->kept_fd[i] = hold_file(spec->keep_fds[i]);
	/* The command's terminal lives in the host's devpts; ttyname() will
	 * find it as /dev/console. */
	if (r->console[0] == '\0' ||
	    (r->console_fd = place_clone_at(r->console, 0)) < 0)
		return 0;
	return place_attr(r->console_fd, 0, PLACE_RDONLY | PLACE_NOSUID, 0);
}
