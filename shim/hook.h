/*
 * hook: how a function of libc is replaced.  A hook is written once:
 *
 *	HOOK(int, connect, (int fd, const struct sockaddr *sa, socklen_t len))
 *	{
 *		int rv = REAL(connect)(fd, sa, len);
 *		...
 *	}
 *
 * ELF: the hook has the name itself and is found first, because the library
 * is preloaded; REAL() is the next definition after ours (real.h).  Mach-O:
 * the hook is a static function beside an __interpose pair, and dyld does not
 * interpose the interposer, so REAL() is the plain name.
 *
 * A hook calls first, and touches nothing on the way back of a call that
 * succeeded: result and errno are then what they would be without us.
 *
 * Included before any header of libc.
 */
#ifndef FENCE_SHIM_HOOK_H
#define FENCE_SHIM_HOOK_H

/*
 * Both would make the headers rename or inline the very functions that are
 * defined here; a packager's CFLAGS bring them.
 */
#undef _FORTIFY_SOURCE
#undef _FILE_OFFSET_BITS

#include <errno.h>
#include <stdbool.h>

#ifdef __APPLE__

#define HOOK(type, name, params)					\
	static type hook_##name params;					\
	__attribute__((used, section("__DATA,__interpose")))		\
	static const struct { const void *ours, *theirs; }		\
	pair_##name = { (const void *)hook_##name, (const void *)name };\
	static type hook_##name params

#define REAL(name)	(name)

#else

#include "shim/real.h"

#define HOOK(type, name, params)					\
	__attribute__((visibility("default"))) type name params;	\
	type name params

#define REAL(name)	((__typeof__(&name))real_get(REAL_##name))

#endif

/* The answers of a wall, as against those of a missing or busy file. */
static inline bool
told_by_kernel(int err)
{
	return err == EACCES || err == EPERM || err == EROFS;
}

#endif
