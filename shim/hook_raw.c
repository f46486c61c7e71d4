/*
 * hook_raw: syscall(2).  libuv (and with it node) looks at files by number, so
 * it would miss what is staged; nothing else of it is ours.
 *
 * Seven plain arguments come as the variable ones of <unistd.h> do, which is
 * therefore not included.
 */
#include "shim/hook.h"

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
	rv = sys_call(nr, a, b, c, d, e, f);
	return sys_failed(rv) ? failed(rv) : rv;
}

#endif
