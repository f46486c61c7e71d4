#include "launcher/guard/guard_wide.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <sys/stat.h>

#include "platform/fd.h"

/* The mode of exactly that inode, wherever it is by now. */
static int
set_mode(int fd, mode_t mode)
{
	char path[FD_PATH_MAX];

	fd_path(fd, path);
	return chmod(path, mode);
}

int
wide_give(struct wide *w, int dir, const char *name)
{
	auto_fd fd = name == NULL ? fcntl(dir, F_DUPFD_CLOEXEC, 3) :
	    openat(dir, name, O_PATH | O_NOFOLLOW | O_CLOEXEC);
	struct stat st;
	mode_t need;

	w->fd = -1;
	if (fd < 0 || fstat(fd, &st) != 0)
		return -1;
	if (!S_ISDIR(st.st_mode) && !S_ISREG(st.st_mode)) {
		errno = EACCES;
		return -1;
	}
	w->mode = st.st_mode & 07777;
	need = S_ISDIR(st.st_mode) ? 0700 : 0400;
	if ((st.st_mode & need) == need)
		return 0;
	w->given = w->mode | need;
	if (set_mode(fd, w->given) != 0)
		return -1;
	w->fd = fd_take(&fd);
	return 0;
}

void
wide_back(struct wide *w)
{
	int saved = errno;
	struct stat st;

	/* Unless somebody changed it meanwhile. */
	if (w->fd >= 0 && fstat(w->fd, &st) == 0 &&
	    (st.st_mode & 07777) == w->given)
		(void)set_mode(w->fd, w->mode);
	fd_close(&w->fd);
	errno = saved;
}

/* Whatever it is by now: no symlink, no waiting, no terminal of ours. */
enum { READING = O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY };

int
wide_open_file(struct wide *w, int dir, const char *name)
{
	int fd = openat(dir, name, READING | O_CLOEXEC);

	w->fd = -1;
	if (fd >= 0 || errno != EACCES || wide_give(w, dir, name) != 0)
		return fd;
	return openat(dir, name, READING | O_CLOEXEC);
}

/* Is another file system, or another part of this one, mounted there? */
static bool
is_mount(int dir, int fd)
{
	enum { MNT_ID = 0x1000 };	/* STATX_MNT_ID, since Linux 5.8 */
	struct statx up, here;

	return statx(dir, "", AT_EMPTY_PATH, MNT_ID, &up) == 0 &&
	    statx(fd, "", AT_EMPTY_PATH, MNT_ID, &here) == 0 &&
	    (up.stx_mask & here.stx_mask & MNT_ID) != 0 &&
	    up.stx_mnt_id != here.stx_mnt_id;
}

int
wide_open_dir(struct wide *w, int dir, const char *name)
{
	auto_fd fd = -1;

	(void)wide_give(w, dir, name);
	fd = openat(dir, name, READING | O_DIRECTORY | O_CLOEXEC);
	if (fd >= 0 && is_mount(dir, fd)) {
		errno = EXDEV;
		return -1;
	}
	return fd_take(&fd);
}

int
wide_open_doomed(int dir, const char *name)
{
	struct wide w;
	int fd = wide_open_dir(&w, dir, name);

	fd_close(&w.fd);
	return fd;
}
