/*
 * hook_name: calls that make, move and remove names.
 */
#include "shim/hook.h"

#include <sys/stat.h>
#include <sys/types.h>

#include <fcntl.h>
#include <stdio.h>
#include <unistd.h>

#include "shim/call.h"
#include "shim/refuse.h"
#include "shim/stage.h"

HOOK(int, mkdir, (const char *path, mode_t mode))
{
	return refuse_name(NR_mkdir, AT_FDCWD, path) ? -1 :
	    CALL_OLD((mkdir, path, mode), (mkdirat, AT_FDCWD, path, mode));
}

HOOK(int, mkdirat, (int dir_fd, const char *path, mode_t mode))
{
	return refuse_name(SYS_mkdirat, dir_fd, path) ? -1 :
	    CALL(mkdirat, dir_fd, path, mode);
}

HOOK(int, symlink, (const char *text, const char *path))
{
	return refuse_name(NR_symlink, AT_FDCWD, path) ? -1 :
	    CALL_OLD((symlink, text, path), (symlinkat, text, AT_FDCWD, path));
}

HOOK(int, symlinkat, (const char *text, int dir_fd, const char *path))
{
	return refuse_name(SYS_symlinkat, dir_fd, path) ? -1 :
	    CALL(symlinkat, text, dir_fd, path);
}

HOOK(int, rmdir, (const char *path))
{
	return CALL_OLD((rmdir, path),
	    (unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
}

HOOK(int, unlink, (const char *path))
{
	return CALL_OLD((unlink, path), (unlinkat, AT_FDCWD, path, 0));
}

HOOK(int, unlinkat, (int dir_fd, const char *path, int flags))
{
	return CALL(unlinkat, dir_fd, path, flags);
}

/* As libc does it: a folder answers so to unlink(). */
HOOK(int, remove, (const char *path))
{
	int rv = CALL_OLD((unlink, path), (unlinkat, AT_FDCWD, path, 0));

	if (rv == 0 || errno != EISDIR)
		return rv;
	return CALL_OLD((rmdir, path),
	    (unlinkat, AT_FDCWD, path, AT_REMOVEDIR));
}

/* ---- two names ---- */

/* A guarded name that is held by a mount is refused as one that is missing. */
static bool
is_held(enum wire_call call, unsigned nr, int dir_fd, const char *path)
{
	if (errno != EBUSY || !refuse_is_bound(dir_fd, path))
		return false;
	errno = EACCES;
	stage_report_change((struct told){ call, nr, 0, EACCES }, dir_fd,
	    path);
	return true;
}

static int
renamed(unsigned nr, long answer, int from_fd, const char *from, int to_fd,
    const char *to, unsigned int flags)
{
	int rv = sys_errno(answer);

	if (rv >= 0 || stage_rename(from_fd, from, to_fd, to, flags, &rv))
		return rv;
	if (!is_held(WIRE_REMOVE, nr, from_fd, from) &&
	    !is_held(WIRE_MAKE, nr, to_fd, to))
		TOLD(true, nr, renameat2, from_fd, from, to_fd, to);
	return rv;
}

static int
linked(unsigned nr, long answer, int from_fd, const char *from, int to_fd,
    const char *to, int flags)
{
	int rv = sys_errno(answer);

	if (rv >= 0 || stage_link(from_fd, from, to_fd, to, flags, &rv))
		return rv;
	TOLD(true, nr, linkat, from_fd, from, to_fd, to);
	return rv;
}

HOOK(int, rename, (const char *from, const char *to))
{
	if (refuse_name(NR_rename, AT_FDCWD, to))
		return -1;
	return renamed(NR_rename, SYS_OLD((rename, from, to),
	    (renameat2, AT_FDCWD, from, AT_FDCWD, to)), AT_FDCWD, from,
	    AT_FDCWD, to, 0);
}

HOOK(int, renameat, (int from_fd, const char *from, int to_fd,
    const char *to))
{
	if (refuse_name(NR_rename, to_fd, to))
		return -1;
	return renamed(NR_rename, SYS_OLD((renameat, from_fd, from, to_fd, to),
	    (renameat2, from_fd, from, to_fd, to)), from_fd, from, to_fd, to,
	    0);
}

HOOK(int, link, (const char *from, const char *to))
{
	if (refuse_name(NR_link, AT_FDCWD, to))
		return -1;
	return linked(NR_link, SYS_OLD((link, from, to),
	    (linkat, AT_FDCWD, from, AT_FDCWD, to)), AT_FDCWD, from,
	    AT_FDCWD, to, 0);
}

HOOK(int, linkat, (int from_fd, const char *from, int to_fd, const char *to,
    int flags))
{
	if (refuse_name(SYS_linkat, to_fd, to))
		return -1;
	return linked(SYS_linkat, SYS(linkat, from_fd, from, to_fd, to, flags),
	    from_fd, from, to_fd, to, flags);
}

/* An exchange gives the old place a new thing, too. */
HOOK(int, renameat2, (int from_fd, const char *from, int to_fd,
    const char *to, unsigned int flags))
{
	if (refuse_name(SYS_renameat2, to_fd, to) ||
	    ((flags & RENAME_EXCHANGE) != 0 &&
	    refuse_name(SYS_renameat2, from_fd, from)))
		return -1;
	return renamed(SYS_renameat2, SYS(renameat2, from_fd, from, to_fd, to,
	    flags), from_fd, from, to_fd, to, flags);
}

/* ---- nodes ---- */

static int
make_node(unsigned nr, int dir_fd, const char *path, mode_t mode, dev_t dev)
{
	if (refuse_name(nr, dir_fd, path))
		return -1;
	if (dev != (unsigned int)dev) {
		errno = EINVAL;
		return -1;
	}
	return CALL_AS(nr, mknodat, dir_fd, path, mode, dev);
}

HOOK(int, mknod, (const char *path, mode_t mode, dev_t dev))
{
	return make_node(NR_mknod, AT_FDCWD, path, mode, dev);
}

HOOK(int, mknodat, (int dir_fd, const char *path, mode_t mode, dev_t dev))
{
	return make_node(SYS_mknodat, dir_fd, path, mode, dev);
}

HOOK(int, mkfifo, (const char *path, mode_t mode))
{
	return make_node(NR_mknod, AT_FDCWD, path, mode | S_IFIFO, 0);
}

HOOK(int, mkfifoat, (int dir_fd, const char *path, mode_t mode))
{
	return make_node(SYS_mknodat, dir_fd, path, mode | S_IFIFO, 0);
}

#ifdef __GLIBC__
/* What programs built against glibc before 2.33 call. */
HOOK(int, __xmknod, (int version, const char *path, mode_t mode, dev_t *dev))
{
	(void)version;
	return make_node(NR_mknod, AT_FDCWD, path, mode, *dev);
}

HOOK(int, __xmknodat, (int version, int dir_fd, const char *path,
    mode_t mode, dev_t *dev))
{
	(void)version;
	return make_node(SYS_mknodat, dir_fd, path, mode, *dev);
}
#endif
