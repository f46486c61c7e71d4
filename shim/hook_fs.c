/*
 * hook_fs: calls that name a file.  libc's own opens (fopen's, opendir's) do
 * not pass through our open, so each refused call is told once.
 */
#include "shim/hook.h"

#include <sys/stat.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <unistd.h>

#include "shim/report.h"

/* Names that come and go are told as opens that would have made them. */
enum { CHANGES = O_WRONLY | O_CREAT };

static int
told(int rv, int dir_fd, const char *path, int flags)
{
	if (rv < 0 && told_by_kernel(errno))
		report_path(WIRE_OPEN, dir_fd, path, flags, errno);
	return rv;
}

static void *
told_stream(void *rv, const char *path, int flags)
{
	if (rv == NULL && told_by_kernel(errno))
		report_path(WIRE_OPEN, AT_FDCWD, path, flags, errno);
	return rv;
}

/* As fopen(3) reads it. */
static int
mode_flags(const char *mode)
{
	bool both = false;
	int flags;

	for (const char *m = mode; *m != '\0' && *m != ','; m++)
		both |= *m == '+';
	flags = both ? O_RDWR : *mode == 'r' ? O_RDONLY : O_WRONLY;
	if (*mode == 'w')
		flags |= O_CREAT | O_TRUNC;
	else if (*mode == 'a')
		flags |= O_CREAT | O_APPEND;
	return flags;
}

/* The mode argument is there only when these flags ask for it. */
#define MODE_AFTER(flags, mode)						\
	do {								\
		va_list ap;						\
									\
		va_start(ap, flags);					\
		if (((flags) & O_CREAT) != 0 ||				\
		    ((flags) & O_TMPFILE) == O_TMPFILE)			\
			mode = va_arg(ap, mode_t);			\
		va_end(ap);						\
	} while (0)

#define HOOK_OPEN(name)							\
HOOK(int, name, (const char *path, int flags, ...))			\
{									\
	mode_t mode = 0;						\
									\
	MODE_AFTER(flags, mode);					\
	return told(REAL(name)(path, flags, mode), AT_FDCWD, path,	\
	    flags);							\
}

#define HOOK_OPENAT(name)						\
HOOK(int, name, (int dir_fd, const char *path, int flags, ...))		\
{									\
	mode_t mode = 0;						\
									\
	MODE_AFTER(flags, mode);					\
	return told(REAL(name)(dir_fd, path, flags, mode), dir_fd,	\
	    path, flags);						\
}

#define HOOK_OPEN_2(name)						\
HOOK(int, name, (const char *path, int flags))				\
{									\
	return told(REAL(name)(path, flags), AT_FDCWD, path, flags);	\
}

#define HOOK_OPENAT_2(name)						\
HOOK(int, name, (int dir_fd, const char *path, int flags))		\
{									\
	return told(REAL(name)(dir_fd, path, flags), dir_fd, path,	\
	    flags);							\
}

#define HOOK_CREAT(name)						\
HOOK(int, name, (const char *path, mode_t mode))			\
{									\
	return told(REAL(name)(path, mode), AT_FDCWD, path,		\
	    O_WRONLY | O_CREAT | O_TRUNC);				\
}

#define HOOK_FOPEN(name)						\
HOOK(FILE *, name, (const char *path, const char *mode))		\
{									\
	return told_stream(REAL(name)(path, mode), path,		\
	    mode_flags(mode));						\
}

/* Without a path freopen() changes the mode of what is open. */
#define HOOK_FREOPEN(name)						\
HOOK(FILE *, name, (const char *path, const char *mode, FILE *f))	\
{									\
	FILE *rv = REAL(name)(path, mode, f);				\
									\
	return path == NULL ? rv :					\
	    told_stream(rv, path, mode_flags(mode));			\
}

HOOK_OPEN(open)
HOOK_OPENAT(openat)
HOOK_OPEN_2(__open_2)
HOOK_OPENAT_2(__openat_2)
HOOK_CREAT(creat)
HOOK_FOPEN(fopen)
HOOK_FREOPEN(freopen)

#ifdef __GLIBC__
HOOK_OPEN(open64)
HOOK_OPENAT(openat64)
HOOK_OPEN_2(__open64_2)
HOOK_OPENAT_2(__openat64_2)
HOOK_CREAT(creat64)
HOOK_FOPEN(fopen64)
HOOK_FREOPEN(freopen64)
#endif

HOOK(DIR *, opendir, (const char *path))
{
	return told_stream(REAL(opendir)(path), path, O_RDONLY | O_DIRECTORY);
}

HOOK(int, mkdir, (const char *path, mode_t mode))
{
	return told(REAL(mkdir)(path, mode), AT_FDCWD, path, CHANGES);
}

HOOK(int, mkdirat, (int dir_fd, const char *path, mode_t mode))
{
	return told(REAL(mkdirat)(dir_fd, path, mode), dir_fd, path, CHANGES);
}

HOOK(int, rmdir, (const char *path))
{
	return told(REAL(rmdir)(path), AT_FDCWD, path, CHANGES);
}

HOOK(int, remove, (const char *path))
{
	return told(REAL(remove)(path), AT_FDCWD, path, CHANGES);
}

HOOK(int, unlink, (const char *path))
{
	return told(REAL(unlink)(path), AT_FDCWD, path, CHANGES);
}

HOOK(int, unlinkat, (int dir_fd, const char *path, int flags))
{
	return told(REAL(unlinkat)(dir_fd, path, flags), dir_fd, path,
	    CHANGES);
}

/* Of two names the new one is told: it is what the caller wants to have. */
HOOK(int, rename, (const char *from, const char *to))
{
	return told(REAL(rename)(from, to), AT_FDCWD, to, CHANGES);
}

HOOK(int, renameat, (int from_fd, const char *from, int to_fd,
    const char *to))
{
	return told(REAL(renameat)(from_fd, from, to_fd, to), to_fd, to,
	    CHANGES);
}

HOOK(int, link, (const char *from, const char *to))
{
	return told(REAL(link)(from, to), AT_FDCWD, to, CHANGES);
}

HOOK(int, linkat, (int from_fd, const char *from, int to_fd, const char *to,
    int flags))
{
	return told(REAL(linkat)(from_fd, from, to_fd, to, flags), to_fd, to,
	    CHANGES);
}

HOOK(int, symlink, (const char *text, const char *path))
{
	return told(REAL(symlink)(text, path), AT_FDCWD, path, CHANGES);
}

HOOK(int, symlinkat, (const char *text, int dir_fd, const char *path))
{
	return told(REAL(symlinkat)(text, dir_fd, path), dir_fd, path,
	    CHANGES);
}

#ifdef __linux__
HOOK(int, renameat2, (int from_fd, const char *from, int to_fd,
    const char *to, unsigned int flags))
{
	return told(REAL(renameat2)(from_fd, from, to_fd, to, flags), to_fd,
	    to, CHANGES);
}
#endif
