/*
 * hook_fs: calls that open a file.  libc's own opens (fopen's, opendir's) do
 * not pass through our open, so each refused call is told once.
 */
#include "shim/hook.h"

#include <sys/stat.h>

#include <dirent.h>
#include <fcntl.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "shim/call.h"
#include "shim/hidden.h"
#include "shim/refuse.h"
#include "shim/stage.h"

static void
tell(unsigned nr, int dir_fd, const char *path, int flags)
{
	if (told_by_kernel(errno) || hidden_may(errno, dir_fd, path))
		stage_report((struct told){ WIRE_OPEN, nr, flags, errno },
		    dir_fd, path);
}

static int
told(int rv, unsigned nr, int dir_fd, const char *path, int flags)
{
	if (rv < 0)
		tell(nr, dir_fd, path, flags);
	return rv;
}

static void *
told_stream(void *rv, const char *path, int flags)
{
	if (rv == NULL)
		tell(NR_open, AT_FDCWD, path, flags);
	return rv;
}

static inline bool
makes(int flags)
{
	return (flags & O_CREAT) != 0;
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
	int rv;								\
									\
	MODE_AFTER(flags, mode);					\
	if (makes(flags) && refuse_name(NR_open, AT_FDCWD, path))	\
		return -1;						\
	rv = REAL(name)(path, flags, mode);				\
	STAGED(rv, -1, AT_FDCWD, path, makes(flags),			\
	    REAL(name)(staged, flags, mode));				\
	return told(rv, NR_open, AT_FDCWD, path, flags);		\
}

#define HOOK_OPENAT(name)						\
HOOK(int, name, (int dir_fd, const char *path, int flags, ...))		\
{									\
	mode_t mode = 0;						\
	int rv;								\
									\
	MODE_AFTER(flags, mode);					\
	if (makes(flags) && refuse_name(SYS_openat, dir_fd, path))	\
		return -1;						\
	rv = REAL(name)(dir_fd, path, flags, mode);			\
	STAGED(rv, -1, dir_fd, path, makes(flags),			\
	    REAL(name)(dir_fd, staged, flags, mode));			\
	return told(rv, SYS_openat, dir_fd, path, flags);		\
}

/* Fortified programs come here with flags that make nothing. */
#define HOOK_OPEN_2(name)						\
HOOK(int, name, (const char *path, int flags))				\
{									\
	int rv = REAL(name)(path, flags);				\
									\
	STAGED(rv, -1, AT_FDCWD, path, false,				\
	    REAL(name)(staged, flags));					\
	return told(rv, NR_open, AT_FDCWD, path, flags);		\
}

#define HOOK_OPENAT_2(name)						\
HOOK(int, name, (int dir_fd, const char *path, int flags))		\
{									\
	int rv = REAL(name)(dir_fd, path, flags);			\
									\
	STAGED(rv, -1, dir_fd, path, false,				\
	    REAL(name)(dir_fd, staged, flags));				\
	return told(rv, SYS_openat, dir_fd, path, flags);		\
}

#define HOOK_CREAT(name)						\
HOOK(int, name, (const char *path, mode_t mode))			\
{									\
	int rv;								\
									\
	if (refuse_name(NR_creat, AT_FDCWD, path))			\
		return -1;						\
	rv = REAL(name)(path, mode);					\
	STAGED(rv, -1, AT_FDCWD, path, true, REAL(name)(staged, mode));	\
	return told(rv, NR_creat, AT_FDCWD, path,			\
	    O_WRONLY | O_CREAT | O_TRUNC);				\
}

#define HOOK_FOPEN(name)						\
HOOK(FILE *, name, (const char *path, const char *mode))		\
{									\
	int flags = mode_flags(mode);					\
	FILE *rv;							\
									\
	if (makes(flags) && refuse_name(NR_open, AT_FDCWD, path))	\
		return NULL;						\
	rv = REAL(name)(path, mode);					\
	STAGED(rv, NULL, AT_FDCWD, path, makes(flags),			\
	    REAL(name)(staged, mode));					\
	return told_stream(rv, path, flags);				\
}

/*
 * Without a path freopen() changes the mode of what is open.  One that fails
 * has closed the stream, so there is no second try for a sibling, and one that
 * is refused has to close it as well.
 */
#define HOOK_FREOPEN(name)						\
HOOK(FILE *, name, (const char *path, const char *mode, FILE *f))	\
{									\
	int flags = mode_flags(mode);					\
	FILE *rv;							\
									\
	if (path == NULL)						\
		return REAL(name)(path, mode, f);			\
	if (makes(flags) && refuse_name(NR_open, AT_FDCWD, path)) {		\
		REAL(fclose)(f);					\
		errno = EACCES;						\
		return NULL;						\
	}								\
	rv = REAL(name)(path, mode, f);					\
	return told_stream(rv, path, flags);				\
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
	DIR *rv = REAL(opendir)(path);

	STAGED(rv, NULL, AT_FDCWD, path, false, REAL(opendir)(staged));
	return told_stream(rv, path, O_RDONLY | O_DIRECTORY);
}

/*
 * Names that libc makes up.  Those of a sibling are made up again where it is
 * kept, and the caller learns which letters were taken.
 */
enum { LETTERS = 6 };

static char *
letters(char *name, int suffix_len)
{
	return name + strlen(name) - suffix_len - LETTERS;
}

static bool
find_temp(char *path, int suffix_len, char staged[STAGE_PATH_MAX])
{
	if (!stage_on() || !stage_find(AT_FDCWD, path, true, staged))
		return false;
	memset(letters(staged, suffix_len), 'X', LETTERS);
	return true;
}

static void
take_letters(char *path, char *staged, int suffix_len)
{
	memcpy(letters(path, suffix_len), letters(staged, suffix_len),
	    LETTERS);
}

#define HOOK_TEMP(name, suffix_len, params, ...)			\
HOOK(int, name, params)							\
{									\
	int rv = REAL(name)(path, ##__VA_ARGS__);			\
	char staged[STAGE_PATH_MAX];					\
									\
	if (rv < 0 && find_temp(path, suffix_len, staged)) {		\
		rv = REAL(name)(staged, ##__VA_ARGS__);			\
		take_letters(path, staged, suffix_len);			\
	}								\
	return told(rv, NR_open, AT_FDCWD, path,			\
	    O_RDWR | O_CREAT | O_EXCL);					\
}

HOOK_TEMP(mkstemp, 0, (char *path))
HOOK_TEMP(mkstemps, n, (char *path, int n), n)

HOOK(char *, mkdtemp, (char *path))
{
	char *rv = REAL(mkdtemp)(path);
	char staged[STAGE_PATH_MAX];

	if (rv == NULL && find_temp(path, 0, staged)) {
		rv = REAL(mkdtemp)(staged) == NULL ? NULL : path;
		take_letters(path, staged, 0);
	}
	TOLD(rv == NULL, NR_mkdir, mkdirat, AT_FDCWD, path);
	return rv;
}

#ifdef __GLIBC__
HOOK_TEMP(mkostemp, 0, (char *path, int flags), flags)
HOOK_TEMP(mkostemps, n, (char *path, int n, int flags), n, flags)
HOOK_TEMP(mkstemp64, 0, (char *path))
HOOK_TEMP(mkstemps64, n, (char *path, int n), n)
HOOK_TEMP(mkostemp64, 0, (char *path, int flags), flags)
HOOK_TEMP(mkostemps64, n, (char *path, int n, int flags), n, flags)
#endif
