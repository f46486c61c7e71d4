/*
 * hook_raw: calls by number, and clone().  libuv (and with it node) looks at
 * files by number, bwrap makes its namespaces so, and some calls have no other
 * name.  What is refused is told as of the functions of that name; addresses
 * are left to the kernel's listener.
 *
 * Seven plain arguments come as the variable ones of <unistd.h> do, which is
 * therefore not included.
 */
#include "shim/hook.h"

#include <linux/sched.h>
#include <stdarg.h>

#include "shim/call.h"

#if SYS_DIRECT

/*
 * After a vfork by number the child runs on, and over, the stack of the hook,
 * which therefore has nothing there to keep.
 */
static __attribute__((noinline)) long
failed(long rv)
{
	return sys_errno(rv);
}

static __attribute__((noinline)) long
shared(long nr, long a, long b, long c, long d, long e, long f)
{
	long rv = sys_call(nr, a, b, c, d, e, f);

	return sys_failed(rv) ? failed(rv) : rv;
}

static __attribute__((noinline)) long
made(long nr, long a, long b, long c, long d, long e, long f)
{
	long rv = sys_call(nr, a, b, c, d, e, f);

	if (!sys_failed(rv))
		return rv;
	return (unsigned long)nr > UINT16_MAX ? sys_errno(rv) :
	    call_failed(rv, nr, nr, a, b, c, d, e, f);
}

static inline bool
shares_stack(long nr, long flags)
{
#ifdef SYS_vfork
	if (nr == SYS_vfork)
		return true;
#endif
	return nr == SYS_clone && (flags & CLONE_VM) != 0;
}

HOOK(long, syscall, (long nr, long a, long b, long c, long d, long e,
    long f))
{
	return shares_stack(nr, a) ? shared(nr, a, b, c, d, e, f) :
	    made(nr, a, b, c, d, e, f);
}

/* The child has a stack of its own, and does not come back here. */
HOOK(int, clone, (int (*fn)(void *), void *stack, int flags, void *arg, ...))
{
	void *parent_tid, *tls, *child_tid;
	va_list ap;
	int rv;

	va_start(ap, arg);
	parent_tid = va_arg(ap, void *);
	tls = va_arg(ap, void *);
	child_tid = va_arg(ap, void *);
	va_end(ap);
	rv = REAL(clone)(fn, stack, flags, arg, parent_tid, tls, child_tid);
	TOLD(rv < 0, SYS_clone, clone, flags);
	return rv;
}

#endif
