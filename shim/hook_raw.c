/*
 * hook_raw: syscall(2).  libuv (and with it node) looks at files by number, so
 * it would miss what is staged; bwrap makes its namespaces by number, and is
 * told when it may not; nothing else of it is ours.
 *
 * Seven plain arguments come as the variable ones of <unistd.h> do, which is
 * therefore not included.
 */
#include "shim/hook.h"

#include <fcntl.h>
#include <linux/sched.h>

#include "shim/report.h"
#include "shim/stage.h"
#include "shim/sys.h"

#if SYS_DIRECT

static __attribute__((noinline)) long
look(long dir_fd, const char *path, long flags, long mask, long st)
{
	long rv = sys_errno(SYS(statx, dir_fd, path, flags, mask, st));

	STAGED(rv, -1, dir_fd, path, false,
	    sys_errno(SYS(statx, dir_fd, staged, flags, mask, st)));
	return rv;
}

static long
nested(long rv)
{
	if (rv < 0 && errno == EPERM)
		report_path(WIRE_NEST, AT_FDCWD, "/", 0, EPERM);
	return rv;
}

static __attribute__((noinline)) long
make_namespace(long flags, long stack, long c, long d, long e)
{
	return nested(sys_errno(SYS(clone, flags, stack, c, d, e)));
}

HOOK(int, unshare, (int flags))
{
	long rv = sys_errno(SYS(unshare, flags));

	return (int)(flags & CLONE_NEWUSER ? nested(rv) : rv);
}

/*
 * Apart, so that the hook has nothing to keep on the stack: after a vfork by
 * number the child runs on, and over, the same one.
 */
static __attribute__((noinline)) long
failed(long rv)
{
	return sys_errno(rv);
}

HOOK(long, syscall, (long nr, long a, long b, long c, long d, long e,
    long f))
{
	long rv;

	if (nr == SYS_statx)
		return look(a, (const char *)b, c, d, e);
	if (nr == SYS_clone && (a & (CLONE_NEWUSER | CLONE_VM)) ==
	    CLONE_NEWUSER)
		return make_namespace(a, b, c, d, e);
	rv = sys_call(nr, a, b, c, d, e, f);
	return sys_failed(rv) ? failed(rv) : rv;
}

#endif
