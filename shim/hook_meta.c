/*
 * hook_meta: calls that look at a file by its name, or change what is written
 * about it.  A refusal of the former is told where it hides the path; what is
 * staged next to a granted file (stage.h) is found again by all of them.
 */
#include "shim/hook.h"

#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/time.h>
#include <sys/vfs.h>
#include <sys/xattr.h>

#include <fcntl.h>
#include <stdlib.h>
#include <sys/inotify.h>
#include <unistd.h>
#include <utime.h>

#include "shim/call.h"
#include "shim/stage.h"

static inline int
look(unsigned nr, int dir_fd, const char *path, void *st, int flags)
{
	return CALL_AS(nr, newfstatat, dir_fd, path, st, flags);
}

HOOK(int, stat, (const char *path, struct stat *st))
{
	return look(NR_stat, AT_FDCWD, path, st, 0);
}

HOOK(int, lstat, (const char *path, struct stat *st))
{
	return look(NR_lstat, AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

HOOK(int, fstatat, (int dir_fd, const char *path, struct stat *st,
    int flags))
{
	return look(SYS_newfstatat, dir_fd, path, st, flags);
}

/* libc has a way of its own where the kernel has none. */
HOOK(int, statx, (int dir_fd, const char *path, int flags,
    unsigned int mask, struct statx *st))
{
	int rv = REAL(statx)(dir_fd, path, flags, mask, st);

	STAGED(rv, -1, dir_fd, path, false, REAL(statx)(dir_fd, staged,
	    flags, mask, st));
	TOLD(rv < 0, SYS_statx, statx, dir_fd, path);
	return rv;
}

#ifdef __GLIBC__
/* A 64-bit system has one kind of stat under all these names. */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "two stats");

HOOK(int, stat64, (const char *path, struct stat64 *st))
{
	return look(NR_stat, AT_FDCWD, path, st, 0);
}

HOOK(int, lstat64, (const char *path, struct stat64 *st))
{
	return look(NR_lstat, AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

HOOK(int, fstatat64, (int dir_fd, const char *path, struct stat64 *st,
    int flags))
{
	return look(SYS_newfstatat, dir_fd, path, st, flags);
}

/* What programs built against glibc before 2.33 call. */
#define HOOK_XSTAT(name, type, nr, flags)				\
HOOK(int, name, (int version, const char *path, struct type *st))	\
{									\
	(void)version;							\
	return look(nr, AT_FDCWD, path, st, flags);			\
}

#define HOOK_FXSTATAT(name, type)					\
HOOK(int, name, (int version, int dir_fd, const char *path,		\
    struct type *st, int flags))					\
{									\
	(void)version;							\
	return look(SYS_newfstatat, dir_fd, path, st, flags);		\
}

HOOK_XSTAT(__xstat, stat, NR_stat, 0)
HOOK_XSTAT(__xstat64, stat64, NR_stat, 0)
HOOK_XSTAT(__lxstat, stat, NR_lstat, AT_SYMLINK_NOFOLLOW)
HOOK_XSTAT(__lxstat64, stat64, NR_lstat, AT_SYMLINK_NOFOLLOW)
HOOK_FXSTATAT(__fxstatat, stat)
HOOK_FXSTATAT(__fxstatat64, stat64)
#endif

HOOK(int, access, (const char *path, int mode))
{
	return CALL_OLD((access, path, mode), (faccessat, AT_FDCWD, path,
	    mode));
}

#define HOOK_EACCESS(name)						\
HOOK(int, name, (const char *path, int mode))				\
{									\
	int rv = REAL(name)(path, mode);				\
									\
	STAGED(rv, -1, AT_FDCWD, path, false, REAL(name)(staged, mode));\
	TOLD(rv < 0, SYS_faccessat2, faccessat2, AT_FDCWD, path);	\
	return rv;							\
}

HOOK_EACCESS(eaccess)
HOOK_EACCESS(euidaccess)

/* With flags libc has work of its own. */
HOOK(int, faccessat, (int dir_fd, const char *path, int mode, int flags))
{
	int rv;

	if (flags == 0)
		return CALL(faccessat, dir_fd, path, mode);
	rv = REAL(faccessat)(dir_fd, path, mode, flags);
	STAGED(rv, -1, dir_fd, path, false, REAL(faccessat)(dir_fd, staged,
	    mode, flags));
	TOLD(rv < 0, SYS_faccessat, faccessat, dir_fd, path);
	return rv;
}

HOOK(ssize_t, readlink, (const char *path, char *buf, size_t size))
{
	return CALL_OLD((readlink, path, buf, size), (readlinkat, AT_FDCWD,
	    path, buf, size));
}

HOOK(ssize_t, readlinkat, (int dir_fd, const char *path, char *buf,
    size_t size))
{
	return CALL(readlinkat, dir_fd, path, buf, size);
}

HOOK(int, chdir, (const char *path))
{
	return CALL(chdir, path);
}

HOOK(int, statfs, (const char *path, struct statfs *st))
{
	return CALL(statfs, path, st);
}

HOOK(int, statvfs, (const char *path, struct statvfs *st))
{
	int rv = REAL(statvfs)(path, st);

	TOLD(rv < 0, SYS_statfs, statfs, path);
	return rv;
}

HOOK(int, inotify_add_watch, (int fd, const char *path, uint32_t mask))
{
	return CALL(inotify_add_watch, fd, path, mask);
}

HOOK(int, name_to_handle_at, (int dir_fd, const char *path,
    struct file_handle *handle, int *mount_id, int flags))
{
	return CALL(name_to_handle_at, dir_fd, path, handle, mount_id, flags);
}

HOOK(ssize_t, getxattr, (const char *path, const char *name, void *value,
    size_t size))
{
	return CALL(getxattr, path, name, value, size);
}

HOOK(ssize_t, lgetxattr, (const char *path, const char *name, void *value,
    size_t size))
{
	return CALL(lgetxattr, path, name, value, size);
}

HOOK(ssize_t, listxattr, (const char *path, char *list, size_t size))
{
	return CALL(listxattr, path, list, size);
}

HOOK(ssize_t, llistxattr, (const char *path, char *list, size_t size))
{
	return CALL(llistxattr, path, list, size);
}

/* libc follows the links by calls of its own: told is what was asked. */
HOOK(char *, realpath, (const char *path, char *resolved))
{
	char *rv = REAL(realpath)(path, resolved);

	TOLD(rv == NULL, NR_readlink, readlinkat, AT_FDCWD, path);
	return rv;
}

HOOK(char *, canonicalize_file_name, (const char *path))
{
	char *rv = REAL(canonicalize_file_name)(path);

	TOLD(rv == NULL, NR_readlink, readlinkat, AT_FDCWD, path);
	return rv;
}

#ifdef __GLIBC__
HOOK(int, statfs64, (const char *path, struct statfs64 *st))
{
	return CALL(statfs, path, st);
}

HOOK(int, statvfs64, (const char *path, struct statvfs64 *st))
{
	int rv = REAL(statvfs64)(path, st);

	TOLD(rv < 0, SYS_statfs, statfs, path);
	return rv;
}

/* What fortified programs call; libc ends those that are wrong. */
char	*__realpath_chk(const char *, char *, size_t);
ssize_t	 __readlink_chk(const char *, char *, size_t, size_t);
ssize_t	 __readlinkat_chk(int, const char *, char *, size_t, size_t);

HOOK(char *, __realpath_chk, (const char *path, char *resolved, size_t room))
{
	char *rv = REAL(__realpath_chk)(path, resolved, room);

	TOLD(rv == NULL, NR_readlink, readlinkat, AT_FDCWD, path);
	return rv;
}

HOOK(ssize_t, __readlink_chk, (const char *path, char *buf, size_t size,
    size_t room))
{
	ssize_t rv = size > room ?
	    REAL(__readlink_chk)(path, buf, size, room) :
	    CALL_OLD((readlink, path, buf, size), (readlinkat, AT_FDCWD,
	    path, buf, size));

	return rv;
}

HOOK(ssize_t, __readlinkat_chk, (int dir_fd, const char *path, char *buf,
    size_t size, size_t room))
{
	ssize_t rv = size > room ?
	    REAL(__readlinkat_chk)(dir_fd, path, buf, size, room) :
	    CALL(readlinkat, dir_fd, path, buf, size);

	return rv;
}
#endif

/* ---- changes ---- */

HOOK(int, chmod, (const char *path, mode_t mode))
{
	return CALL_OLD((chmod, path, mode), (fchmodat, AT_FDCWD, path, mode));
}

HOOK(int, fchmod, (int fd, mode_t mode))
{
	return CALL(fchmod, fd, mode);
}

HOOK(int, fchmodat, (int dir_fd, const char *path, mode_t mode, int flags))
{
	int rv;

	if (flags == 0)
		return CALL(fchmodat, dir_fd, path, mode);
	rv = REAL(fchmodat)(dir_fd, path, mode, flags);
	STAGED(rv, -1, dir_fd, path, false, REAL(fchmodat)(dir_fd, staged,
	    mode, flags));
	TOLD(rv < 0, SYS_fchmodat, fchmodat, dir_fd, path);
	return rv;
}

/* Of old the same as fchmodat() with its flag. */
HOOK(int, lchmod, (const char *path, mode_t mode))
{
	int rv = REAL(lchmod)(path, mode);

	TOLD(rv < 0, SYS_fchmodat, fchmodat, AT_FDCWD, path);
	return rv;
}

HOOK(int, chown, (const char *path, uid_t uid, gid_t gid))
{
	return CALL_OLD((chown, path, uid, gid), (fchownat, AT_FDCWD, path,
	    uid, gid, 0));
}

HOOK(int, fchown, (int fd, uid_t uid, gid_t gid))
{
	return CALL(fchown, fd, uid, gid);
}

HOOK(int, lchown, (const char *path, uid_t uid, gid_t gid))
{
	return CALL_OLD((lchown, path, uid, gid), (fchownat, AT_FDCWD, path,
	    uid, gid, AT_SYMLINK_NOFOLLOW));
}

HOOK(int, fchownat, (int dir_fd, const char *path, uid_t uid, gid_t gid,
    int flags))
{
	return CALL(fchownat, dir_fd, path, uid, gid, flags);
}

/* A path of NULL stands for the descriptor. */
static int
set_times(unsigned nr, int dir_fd, const char *path,
    const struct timespec *times, int flags)
{
	int rv = CALL_AS(nr, utimensat, dir_fd, path, times, flags);

	TOLD(rv < 0 && path == NULL, nr, utimensat, dir_fd, "");
	return rv;
}

static int
set_timevals(unsigned nr, int dir_fd, const char *path,
    const struct timeval *times, int flags)
{
	struct timespec ts[2];
	int i;

	if (times == NULL)
		return set_times(nr, dir_fd, path, NULL, flags);
	for (i = 0; i < 2; i++) {
		if (times[i].tv_usec < 0 || times[i].tv_usec >= 1000000) {
			errno = EINVAL;
			return -1;
		}
		ts[i].tv_sec = times[i].tv_sec;
		ts[i].tv_nsec = times[i].tv_usec * 1000;
	}
	return set_times(nr, dir_fd, path, ts, flags);
}

HOOK(int, utimensat, (int dir_fd, const char *path,
    const struct timespec times[2], int flags))
{
	const char *volatile file = path;	/* declared as never NULL */

	if (file == NULL) {
		errno = EINVAL;		/* the kernel would take dir_fd */
		return -1;
	}
	return set_times(SYS_utimensat, dir_fd, path, times, flags);
}

HOOK(int, futimens, (int fd, const struct timespec times[2]))
{
	return set_times(SYS_utimensat, fd, NULL, times, 0);
}

HOOK(int, futimesat, (int dir_fd, const char *path,
    const struct timeval times[2]))
{
	return set_timevals(NR_utimes, dir_fd, path, times, 0);
}

HOOK(int, utimes, (const char *path, const struct timeval times[2]))
{
	return set_timevals(NR_utimes, AT_FDCWD, path, times, 0);
}

HOOK(int, lutimes, (const char *path, const struct timeval times[2]))
{
	return set_timevals(NR_utimes, AT_FDCWD, path, times,
	    AT_SYMLINK_NOFOLLOW);
}

HOOK(int, futimes, (int fd, const struct timeval times[2]))
{
	return set_timevals(NR_utimes, fd, NULL, times, 0);
}

HOOK(int, utime, (const char *path, const struct utimbuf *times))
{
	struct timespec ts[2] = { { 0 } };

	if (times == NULL)
		return set_times(NR_utime, AT_FDCWD, path, NULL, 0);
	ts[0].tv_sec = times->actime;
	ts[1].tv_sec = times->modtime;
	return set_times(NR_utime, AT_FDCWD, path, ts, 0);
}

HOOK(int, truncate, (const char *path, off_t len))
{
	return CALL(truncate, path, len);
}

#ifdef __GLIBC__
HOOK(int, truncate64, (const char *path, off64_t len))
{
	return CALL(truncate, path, len);
}
#endif

HOOK(int, setxattr, (const char *path, const char *name, const void *value,
    size_t size, int flags))
{
	return CALL(setxattr, path, name, value, size, flags);
}

HOOK(int, lsetxattr, (const char *path, const char *name, const void *value,
    size_t size, int flags))
{
	return CALL(lsetxattr, path, name, value, size, flags);
}

HOOK(int, fsetxattr, (int fd, const char *name, const void *value,
    size_t size, int flags))
{
	return CALL(fsetxattr, fd, name, value, size, flags);
}

HOOK(int, removexattr, (const char *path, const char *name))
{
	return CALL(removexattr, path, name);
}

HOOK(int, lremovexattr, (const char *path, const char *name))
{
	return CALL(lremovexattr, path, name);
}

HOOK(int, fremovexattr, (int fd, const char *name))
{
	return CALL(fremovexattr, fd, name);
}
