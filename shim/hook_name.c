/*
 * hook_name: calls that make, move and remove names.  Of two names the new
 * one is told: it is what the caller wants to have.
 */
#include "shim/hook.h"

#include <sys/stat.h>
#include <sys/types.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "shim/refuse.h"
#include "shim/report.h"
#include "shim/stage.h"
#include "shim/sys.h"

static int
told(int rv, int dir_fd, const char *path)
{
	if (rv < 0 && told_by_kernel(errno))
		stage_report(dir_fd, path, REPORT_CHANGES, errno);
	return rv;
}

/* A guarded name that is held by a mount is refused as one that is missing. */
static bool
is_held(int rv, int dir_fd, const char *path)
{
	if (rv >= 0 || errno != EBUSY || !refuse_is_bound(dir_fd, path))
		return false;
	errno = EACCES;
	return true;
}

/*
 * A mount point is busy, and its neighbours are on another file system:
 * whether that is fence's doing the monitor knows.
 */
static int
told_change(int rv, int dir_fd, const char *path)
{
	(void)is_held(rv, dir_fd, path);
	if (rv < 0 && (told_by_kernel(errno) || errno == EBUSY ||
	    errno == EXDEV))
		stage_report_change(dir_fd, path, errno);
	return rv;
}

HOOK(int, mkdir, (const char *path, mode_t mode))
{
	int rv;

	if (refuse_name(AT_FDCWD, path))
		return -1;
	rv = REAL(mkdir)(path, mode);
	STAGED(rv, -1, AT_FDCWD, path, true, REAL(mkdir)(staged, mode));
	return told(rv, AT_FDCWD, path);
}

HOOK(int, mkdirat, (int dir_fd, const char *path, mode_t mode))
{
	int rv;

	if (refuse_name(dir_fd, path))
		return -1;
	rv = REAL(mkdirat)(dir_fd, path, mode);
	STAGED(rv, -1, dir_fd, path, true, REAL(mkdirat)(dir_fd, staged,
	    mode));
	return told(rv, dir_fd, path);
}

HOOK(int, symlink, (const char *text, const char *path))
{
	int rv;

	if (refuse_name(AT_FDCWD, path))
		return -1;
	rv = REAL(symlink)(text, path);
	STAGED(rv, -1, AT_FDCWD, path, true, REAL(symlink)(text, staged));
	return told(rv, AT_FDCWD, path);
}

HOOK(int, symlinkat, (const char *text, int dir_fd, const char *path))
{
	int rv;

	if (refuse_name(dir_fd, path))
		return -1;
	rv = REAL(symlinkat)(text, dir_fd, path);
	STAGED(rv, -1, dir_fd, path, true, REAL(symlinkat)(text, dir_fd,
	    staged));
	return told(rv, dir_fd, path);
}

HOOK(int, rmdir, (const char *path))
{
	int rv = REAL(rmdir)(path);

	STAGED(rv, -1, AT_FDCWD, path, false, REAL(rmdir)(staged));
	return told_change(rv, AT_FDCWD, path);
}

HOOK(int, remove, (const char *path))
{
	int rv = REAL(remove)(path);

	STAGED(rv, -1, AT_FDCWD, path, false, REAL(remove)(staged));
	return told_change(rv, AT_FDCWD, path);
}

HOOK(int, unlink, (const char *path))
{
	int rv = REAL(unlink)(path);

	STAGED(rv, -1, AT_FDCWD, path, false, REAL(unlink)(staged));
	return told_change(rv, AT_FDCWD, path);
}

HOOK(int, unlinkat, (int dir_fd, const char *path, int flags))
{
	int rv = REAL(unlinkat)(dir_fd, path, flags);

	STAGED(rv, -1, dir_fd, path, false, REAL(unlinkat)(dir_fd, staged,
	    flags));
	return told_change(rv, dir_fd, path);
}

static int
renamed(int rv, int from_fd, const char *from, int to_fd, const char *to,
    unsigned int flags)
{
	if (rv < 0 && stage_rename(from_fd, from, to_fd, to, flags, &rv))
		return rv;
	if (is_held(rv, from_fd, from))
		return told(rv, from_fd, from);
	return told_change(rv, to_fd, to);
}

static int
linked(int rv, int from_fd, const char *from, int to_fd, const char *to,
    int flags)
{
	if (rv < 0 && stage_link(from_fd, from, to_fd, to, flags, &rv))
		return rv;
	return told_change(rv, to_fd, to);
}

HOOK(int, rename, (const char *from, const char *to))
{
	if (refuse_name(AT_FDCWD, to))
		return -1;
	return renamed(REAL(rename)(from, to), AT_FDCWD, from, AT_FDCWD, to,
	    0);
}

HOOK(int, renameat, (int from_fd, const char *from, int to_fd,
    const char *to))
{
	if (refuse_name(to_fd, to))
		return -1;
	return renamed(REAL(renameat)(from_fd, from, to_fd, to), from_fd,
	    from, to_fd, to, 0);
}

HOOK(int, link, (const char *from, const char *to))
{
	if (refuse_name(AT_FDCWD, to))
		return -1;
	return linked(REAL(link)(from, to), AT_FDCWD, from, AT_FDCWD, to, 0);
}

HOOK(int, linkat, (int from_fd, const char *from, int to_fd, const char *to,
    int flags))
{
	if (refuse_name(to_fd, to))
		return -1;
	return linked(REAL(linkat)(from_fd, from, to_fd, to, flags), from_fd,
	    from, to_fd, to, flags);
}

#ifdef __linux__
/* An exchange gives the old place a new thing, too. */
HOOK(int, renameat2, (int from_fd, const char *from, int to_fd,
    const char *to, unsigned int flags))
{
	if (refuse_name(to_fd, to) || ((flags & RENAME_EXCHANGE) != 0 &&
	    refuse_name(from_fd, from)))
		return -1;
	return renamed(REAL(renameat2)(from_fd, from, to_fd, to, flags),
	    from_fd, from, to_fd, to, flags);
}

/*
 * The kernel has one call for what follows, and libc adds nothing to it, so
 * no function of libc has to be found for them.
 */
static int
make_node(int dir_fd, const char *path, mode_t mode, dev_t dev)
{
	int rv;

	if (refuse_name(dir_fd, path))
		return -1;
	if (dev != (unsigned int)dev) {
		errno = EINVAL;
		return -1;
	}
	rv = sys_errno(SYS(mknodat, dir_fd, path, mode, dev));
	STAGED(rv, -1, dir_fd, path, true, sys_errno(SYS(mknodat, dir_fd,
	    staged, mode, dev)));
	return told(rv, dir_fd, path);
}

HOOK(int, mknod, (const char *path, mode_t mode, dev_t dev))
{
	return make_node(AT_FDCWD, path, mode, dev);
}

HOOK(int, mknodat, (int dir_fd, const char *path, mode_t mode, dev_t dev))
{
	return make_node(dir_fd, path, mode, dev);
}

HOOK(int, mkfifo, (const char *path, mode_t mode))
{
	return make_node(AT_FDCWD, path, mode | S_IFIFO, 0);
}

HOOK(int, mkfifoat, (int dir_fd, const char *path, mode_t mode))
{
	return make_node(dir_fd, path, mode | S_IFIFO, 0);
}
#endif

#ifdef __GLIBC__
/* What programs built against glibc before 2.33 call. */
HOOK(int, __xmknod, (int version, const char *path, mode_t mode, dev_t *dev))
{
	(void)version;
	return make_node(AT_FDCWD, path, mode, *dev);
}

HOOK(int, __xmknodat, (int version, int dir_fd, const char *path,
    mode_t mode, dev_t *dev))
{
	(void)version;
	return make_node(dir_fd, path, mode, *dev);
}
#endif
