/*
 * hook_meta: calls that look at a file by its name, or change what is written
 * about it.  They are here only so that a program finds again what it has
 * saved next to a granted file (stage.h); refusals are not told, as the call
 * that matters follows.
 *
 * Where the kernel's call is libc's, it is made directly: one function fewer
 * to look up in each program that starts.
 */
#include "shim/hook.h"

#include <sys/stat.h>
#include <sys/time.h>

#include <fcntl.h>
#include <unistd.h>
#include <utime.h>

#include "shim/report.h"
#include "shim/stage.h"
#include "shim/sys.h"

/* The call, and once more with what is staged for it. */
#define CALL(nr, dir_fd, path, ...)					\
	long rv = sys_errno(SYS(nr, dir_fd, path, ##__VA_ARGS__));	\
									\
	STAGED(rv, -1, dir_fd, path, false,				\
	    sys_errno(SYS(nr, dir_fd, staged, ##__VA_ARGS__)));		\
	return rv

static int
look(int dir_fd, const char *path, void *st, int flags)
{
	CALL(newfstatat, dir_fd, path, st, flags);
}

HOOK(int, stat, (const char *path, struct stat *st))
{
	return look(AT_FDCWD, path, st, 0);
}

HOOK(int, lstat, (const char *path, struct stat *st))
{
	return look(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

HOOK(int, fstatat, (int dir_fd, const char *path, struct stat *st,
    int flags))
{
	return look(dir_fd, path, st, flags);
}

HOOK(int, statx, (int dir_fd, const char *path, int flags,
    unsigned int mask, struct statx *st))
{
	int rv = REAL(statx)(dir_fd, path, flags, mask, st);

	STAGED(rv, -1, dir_fd, path, false, REAL(statx)(dir_fd, staged,
	    flags, mask, st));
	return rv;
}

#ifdef __GLIBC__
/* A 64-bit system has one kind of stat under all these names. */
_Static_assert(sizeof(struct stat) == sizeof(struct stat64), "two stats");

HOOK(int, stat64, (const char *path, struct stat64 *st))
{
	return look(AT_FDCWD, path, st, 0);
}

HOOK(int, lstat64, (const char *path, struct stat64 *st))
{
	return look(AT_FDCWD, path, st, AT_SYMLINK_NOFOLLOW);
}

HOOK(int, fstatat64, (int dir_fd, const char *path, struct stat64 *st,
    int flags))
{
	return look(dir_fd, path, st, flags);
}

/* What programs built against glibc before 2.33 call. */
#define HOOK_XSTAT(name, type, flags)					\
HOOK(int, name, (int version, const char *path, struct type *st))	\
{									\
	(void)version;							\
	return look(AT_FDCWD, path, st, flags);				\
}

#define HOOK_FXSTATAT(name, type)					\
HOOK(int, name, (int version, int dir_fd, const char *path,		\
    struct type *st, int flags))					\
{									\
	(void)version;							\
	return look(dir_fd, path, st, flags);				\
}

HOOK_XSTAT(__xstat, stat, 0)
HOOK_XSTAT(__xstat64, stat64, 0)
HOOK_XSTAT(__lxstat, stat, AT_SYMLINK_NOFOLLOW)
HOOK_XSTAT(__lxstat64, stat64, AT_SYMLINK_NOFOLLOW)
HOOK_FXSTATAT(__fxstatat, stat)
HOOK_FXSTATAT(__fxstatat64, stat64)
#endif

HOOK(int, access, (const char *path, int mode))
{
	CALL(faccessat, AT_FDCWD, path, mode);
}

#define HOOK_EACCESS(name)						\
HOOK(int, name, (const char *path, int mode))				\
{									\
	int rv = REAL(name)(path, mode);				\
									\
	STAGED(rv, -1, AT_FDCWD, path, false, REAL(name)(staged, mode));\
	return rv;							\
}

HOOK_EACCESS(eaccess)
HOOK_EACCESS(euidaccess)

/* With flags libc has work of its own. */
HOOK(int, faccessat, (int dir_fd, const char *path, int mode, int flags))
{
	int rv = REAL(faccessat)(dir_fd, path, mode, flags);

	STAGED(rv, -1, dir_fd, path, false, REAL(faccessat)(dir_fd, staged,
	    mode, flags));
	return rv;
}

HOOK(ssize_t, readlink, (const char *path, char *buf, size_t size))
{
	CALL(readlinkat, AT_FDCWD, path, buf, size);
}

HOOK(ssize_t, readlinkat, (int dir_fd, const char *path, char *buf,
    size_t size))
{
	CALL(readlinkat, dir_fd, path, buf, size);
}

HOOK(int, chmod, (const char *path, mode_t mode))
{
	CALL(fchmodat, AT_FDCWD, path, mode);
}

HOOK(int, fchmodat, (int dir_fd, const char *path, mode_t mode, int flags))
{
	int rv = REAL(fchmodat)(dir_fd, path, mode, flags);

	STAGED(rv, -1, dir_fd, path, false, REAL(fchmodat)(dir_fd, staged,
	    mode, flags));
	return rv;
}

HOOK(int, chown, (const char *path, uid_t uid, gid_t gid))
{
	CALL(fchownat, AT_FDCWD, path, uid, gid, 0);
}

HOOK(int, lchown, (const char *path, uid_t uid, gid_t gid))
{
	CALL(fchownat, AT_FDCWD, path, uid, gid, AT_SYMLINK_NOFOLLOW);
}

HOOK(int, fchownat, (int dir_fd, const char *path, uid_t uid, gid_t gid,
    int flags))
{
	CALL(fchownat, dir_fd, path, uid, gid, flags);
}

static int
set_times(int dir_fd, const char *path, const struct timespec *times,
    int flags)
{
	CALL(utimensat, dir_fd, path, times, flags);
}

static int
set_timevals(int dir_fd, const char *path, const struct timeval *times,
    int flags)
{
	struct timespec ts[2];
	int i;

	if (times == NULL)
		return set_times(dir_fd, path, NULL, flags);
	for (i = 0; i < 2; i++) {
		if (times[i].tv_usec < 0 || times[i].tv_usec >= 1000000) {
			errno = EINVAL;
			return -1;
		}
		ts[i].tv_sec = times[i].tv_sec;
		ts[i].tv_nsec = times[i].tv_usec * 1000;
	}
	return set_times(dir_fd, path, ts, flags);
}

HOOK(int, utimensat, (int dir_fd, const char *path,
    const struct timespec times[2], int flags))
{
	const char *volatile file = path;	/* declared as never NULL */

	if (file == NULL) {
		errno = EINVAL;		/* the kernel would take dir_fd */
		return -1;
	}
	return set_times(dir_fd, path, times, flags);
}

HOOK(int, futimesat, (int dir_fd, const char *path,
    const struct timeval times[2]))
{
	return set_timevals(dir_fd, path, times, 0);
}

HOOK(int, utimes, (const char *path, const struct timeval times[2]))
{
	return set_timevals(AT_FDCWD, path, times, 0);
}

HOOK(int, lutimes, (const char *path, const struct timeval times[2]))
{
	return set_timevals(AT_FDCWD, path, times, AT_SYMLINK_NOFOLLOW);
}

HOOK(int, utime, (const char *path, const struct utimbuf *times))
{
	struct timespec ts[2] = { { 0 } };

	if (times == NULL)
		return set_times(AT_FDCWD, path, NULL, 0);
	ts[0].tv_sec = times->actime;
	ts[1].tv_sec = times->modtime;
	return set_times(AT_FDCWD, path, ts, 0);
}

/* This one writes, and nothing follows it. */
static int
cut(const char *path, off_t len)
{
	int rv = sys_errno(SYS(truncate, path, len));

	STAGED(rv, -1, AT_FDCWD, path, false,
	    sys_errno(SYS(truncate, staged, len)));
	if (rv < 0 && told_by_kernel(errno))
		stage_report(AT_FDCWD, path, O_WRONLY, errno);
	return rv;
}

HOOK(int, truncate, (const char *path, off_t len))
{
	return cut(path, len);
}

#ifdef __GLIBC__
HOOK(int, truncate64, (const char *path, off64_t len))
{
	return cut(path, len);
}
#endif
