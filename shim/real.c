#include "shim/hook.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/types.h>

#include <dlfcn.h>
#include <fcntl.h>
#include <stdarg.h>
#include <unistd.h>

#include "shim/real.h"
#include "shim/sys.h"

void *real_table[REAL_COUNT];

/* Set while a dlsym() of ours runs, in whichever thread. */
static int searching;

static int
raw_openat(int dir_fd, const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);		/* our hooks always pass a mode */
	mode = va_arg(ap, mode_t);
	va_end(ap);
	return sys_errno(SYS(openat, dir_fd, path, flags, mode));
}

static int
raw_open(const char *path, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = va_arg(ap, mode_t);
	va_end(ap);
	return sys_errno(SYS(openat, AT_FDCWD, path, flags, mode));
}

static int
raw_openat_2(int dir_fd, const char *path, int flags)
{
	return sys_errno(SYS(openat, dir_fd, path, flags, 0));
}

static int
raw_open_2(const char *path, int flags)
{
	return sys_errno(SYS(openat, AT_FDCWD, path, flags, 0));
}

static int
raw_creat(const char *path, mode_t mode)
{
	return sys_errno(SYS(openat, AT_FDCWD, path,
	    O_WRONLY | O_CREAT | O_TRUNC, mode));
}

static int
raw_connect(int fd, const struct sockaddr *sa, socklen_t len)
{
	return sys_errno(SYS(connect, fd, sa, len));
}

static ssize_t
raw_sendto(int fd, const void *buf, size_t n, int flags,
    const struct sockaddr *sa, socklen_t len)
{
	return sys_errno(SYS(sendto, fd, buf, n, flags, sa, len));
}

static ssize_t
raw_sendmsg(int fd, const struct msghdr *mh, int flags)
{
	return sys_errno(SYS(sendmsg, fd, mh, flags));
}

static int
raw_sendmmsg(int fd, struct mmsghdr *vec, unsigned int n, int flags)
{
	return sys_errno(SYS(sendmmsg, fd, vec, n, flags));
}

static int
raw_statx(int dir_fd, const char *path, int flags, unsigned int mask,
    struct statx *st)
{
	return sys_errno(SYS(statx, dir_fd, path, flags, mask, st));
}

static int
no_int(void)
{
	errno = ENOSYS;
	return -1;
}

static void *
no_pointer(void)
{
	errno = ENOSYS;
	return NULL;
}

static int
no_spawn(void)
{
	return ENOSYS;		/* posix_spawn() returns its error */
}

static const struct {
	const char	*name;
	void		*fallback;
} functions[REAL_COUNT] = {
#define X(name, fallback) [REAL_##name] = { #name, (void *)fallback },
	REAL_EARLY(X)
	REAL_LATE(X)
#undef X
};

static bool
is_raw(void *fn)
{
	return fn != (void *)no_int && fn != (void *)no_pointer &&
	    fn != (void *)no_spawn;
}

void *
real_find(enum real_id id)
{
	void *fallback = functions[id].fallback;
	int saved = errno;
	void *fn;

	/*
	 * Somebody whom dlsym() called is here again, or another thread was
	 * faster; a system call is right for both.  What has none is looked
	 * up all the same.
	 */
	if (__atomic_load_n(&searching, __ATOMIC_RELAXED) > 0 &&
	    is_raw(fallback))
		return fallback;
	__atomic_add_fetch(&searching, 1, __ATOMIC_RELAXED);
	fn = dlsym(RTLD_NEXT, functions[id].name);
	__atomic_sub_fetch(&searching, 1, __ATOMIC_RELAXED);
	if (fn == NULL)
		fn = fallback;
	__atomic_store_n(&real_table[id], fn, __ATOMIC_RELAXED);
	errno = saved;
	return fn;
}

void
real_find_early(void)
{
	int id;

	for (id = 0; id < REAL_FIRST_LATE; id++)
		real_get(id);
}
