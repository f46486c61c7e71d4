/*
 * hook_walk: functions of libc that open or execute by themselves, past the
 * hooks of open() and execve(): what they answer is all that is seen.
 */
#include "shim/hook.h"

#include <dirent.h>
#include <dlfcn.h>
#include <fcntl.h>
#include <fts.h>
#include <ftw.h>
#include <glob.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "shim/call.h"

enum { LISTING = O_RDONLY | O_DIRECTORY };

static int
listed(int rv, int dir_fd, const char *path)
{
	TOLD(rv < 0, NR_open, openat, dir_fd, path, LISTING);
	return rv;
}

#define HOOK_SCANDIR(name, ent)						\
HOOK(int, name, (const char *path, struct ent ***list,			\
    int (*wants)(const struct ent *),					\
    int (*compare)(const struct ent **, const struct ent **)))		\
{									\
	return listed(REAL(name)(path, list, wants, compare), AT_FDCWD,	\
	    path);							\
}

#define HOOK_SCANDIRAT(name, ent)					\
HOOK(int, name, (int dir_fd, const char *path, struct ent ***list,	\
    int (*wants)(const struct ent *),					\
    int (*compare)(const struct ent **, const struct ent **)))		\
{									\
	return listed(REAL(name)(dir_fd, path, list, wants, compare),	\
	    dir_fd, path);						\
}

HOOK_SCANDIR(scandir, dirent)
HOOK_SCANDIR(scandir64, dirent64)
HOOK_SCANDIRAT(scandirat, dirent)
HOOK_SCANDIRAT(scandirat64, dirent64)

/*
 * A walk goes on past what it may not see, and says so to the caller's
 * function alone.  Ours stands before it; which is the caller's is a matter of
 * the thread, as the walk is.
 */
#define PER_THREAD	__thread __attribute__((tls_model("initial-exec")))

static PER_THREAD union {
	int	(*ftw)(const char *, const struct stat *, int);
	int	(*ftw64)(const char *, const struct stat64 *, int);
	int	(*nftw)(const char *, const struct stat *, int, struct FTW *);
	int	(*nftw64)(const char *, const struct stat64 *, int,
		    struct FTW *);
	int	(*glob)(const char *, int);
} walker;

/* What libc says where it met EACCES, and no other error. */
static void
unseen(const char *path, int type)
{
	int saved = errno;

	errno = EACCES;
	TOLD(type == FTW_DNR, NR_open, openat, AT_FDCWD, path, LISTING);
	TOLD(type == FTW_NS, NR_stat, newfstatat, AT_FDCWD, path);
	errno = saved;
}

#define HOOK_FTW(name, st)						\
static int								\
name##_met(const char *path, const struct st *st, int type)		\
{									\
	unseen(path, type);						\
	return walker.name(path, st, type);				\
}									\
									\
HOOK(int, name, (const char *path,					\
    int (*fn)(const char *, const struct st *, int), int max))		\
{									\
	__typeof__(walker) outer = walker;				\
	int rv;								\
									\
	walker.name = fn;						\
	rv = REAL(name)(path, name##_met, max);				\
	walker = outer;							\
	TOLD(rv < 0, NR_stat, newfstatat, AT_FDCWD, path);		\
	return rv;							\
}

/* With FTW_CHDIR the working directory is where the last name lies. */
#define HOOK_NFTW(name, st)						\
static int								\
name##_met(const char *path, const struct st *st, int type,		\
    struct FTW *at)							\
{									\
	unseen(walker_chdir ? path + at->base : path, type);		\
	return walker.name(path, st, type, at);				\
}									\
									\
HOOK(int, name, (const char *path,					\
    int (*fn)(const char *, const struct st *, int, struct FTW *),	\
    int max, int flags))						\
{									\
	__typeof__(walker) outer = walker;				\
	bool outer_chdir = walker_chdir;				\
	int rv;								\
									\
	walker.name = fn;						\
	walker_chdir = (flags & FTW_CHDIR) != 0;			\
	rv = REAL(name)(path, name##_met, max, flags);			\
	walker = outer;							\
	walker_chdir = outer_chdir;					\
	TOLD(rv < 0, NR_stat, newfstatat, AT_FDCWD, path);		\
	return rv;							\
}

static PER_THREAD bool walker_chdir;

HOOK_FTW(ftw, stat)
HOOK_FTW(ftw64, stat64)
HOOK_NFTW(nftw, stat)
HOOK_NFTW(nftw64, stat64)

static int
glob_met(const char *path, int err)
{
	int saved = errno;

	errno = err;
	(void)listed(-1, AT_FDCWD, path);
	errno = saved;
	return walker.glob != NULL ? walker.glob(path, err) : 0;
}

/* With GLOB_ALTDIRFUNC it is the caller that opens. */
#define HOOK_GLOB(name, result)						\
HOOK(int, name, (const char *pattern, int flags,			\
    int (*fn)(const char *, int), result *ret))				\
{									\
	__typeof__(walker) outer = walker;				\
	int rv;								\
									\
	if ((flags & GLOB_ALTDIRFUNC) != 0)				\
		return REAL(name)(pattern, flags, fn, ret);		\
	walker.glob = fn;						\
	rv = REAL(name)(pattern, flags, glob_met, ret);			\
	walker = outer;							\
	return rv;							\
}

HOOK_GLOB(glob, glob_t)
HOOK_GLOB(glob64, glob64_t)

static void
fts_met(int info, int err, const char *path)
{
	int saved = errno;

	errno = err;
	TOLD(info == FTS_DNR || info == FTS_ERR, NR_open, openat, AT_FDCWD,
	    path, LISTING);
	TOLD(info == FTS_NS, NR_stat, newfstatat, AT_FDCWD, path);
	errno = saved;
}

#define HOOK_FTS(name, fts, ent)					\
HOOK(ent *, name, (fts *walk))						\
{									\
	ent *rv = REAL(name)(walk);					\
									\
	if (rv != NULL)							\
		fts_met(rv->fts_info, rv->fts_errno, rv->fts_accpath);	\
	return rv;							\
}

HOOK_FTS(fts_read, FTS, FTSENT)
HOOK_FTS(fts64_read, FTS64, FTSENT64)

/* ---- shells and libraries ---- */

static const char shell[] = "/bin/sh";

/* That there is none looks like a command of this status. */
HOOK(int, system, (const char *line))
{
	int rv = REAL(system)(line), saved = errno;

	if (WIFEXITED(rv) && WEXITSTATUS(rv) == 127 &&
	    sys_errno(SYS(faccessat, AT_FDCWD, shell, X_OK)) < 0)
		TOLD(true, SYS_execve, execve, shell);
	errno = saved;
	return rv;
}

HOOK(FILE *, popen, (const char *line, const char *mode))
{
	FILE *rv = REAL(popen)(line, mode);

	TOLD(rv == NULL, SYS_execve, execve, shell);
	return rv;
}

/*
 * A library is looked for where the caller's own was found, so dlopen() has to
 * see the caller's address: ours looks before, and goes over without a frame.
 * Of a name without a slash nobody here knows where it is looked for.
 */
SHIM_HIDDEN void *dlopen_look(const char *file);

void *
dlopen_look(const char *file)
{
	int saved = errno, fd;

	if (file != NULL && strchr(file, '/') != NULL) {
		fd = sys_errno(SYS(openat, AT_FDCWD, file,
		    O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOCTTY));
		TOLD(fd < 0, NR_open, openat, AT_FDCWD, file, O_RDONLY);
		if (fd >= 0)
			SYS(close, fd);
	}
	errno = saved;
	return real_get(REAL_dlopen);
}

#if defined(__x86_64__)
__asm__(
"	.text\n"
"	.globl	dlopen\n"
"	.type	dlopen, @function\n"
"dlopen:\n"
"	.cfi_startproc\n"
"	endbr64\n"
"	push	%rdi\n"
"	.cfi_adjust_cfa_offset 8\n"
"	push	%rsi\n"
"	.cfi_adjust_cfa_offset 8\n"
"	sub	$8, %rsp\n"
"	.cfi_adjust_cfa_offset 8\n"
"	call	dlopen_look\n"
"	add	$8, %rsp\n"
"	.cfi_adjust_cfa_offset -8\n"
"	pop	%rsi\n"
"	.cfi_adjust_cfa_offset -8\n"
"	pop	%rdi\n"
"	.cfi_adjust_cfa_offset -8\n"
"	jmp	*%rax\n"
"	.cfi_endproc\n"
"	.size	dlopen, . - dlopen\n");
#elif defined(__aarch64__)
__asm__(
"	.text\n"
"	.globl	dlopen\n"
"	.type	dlopen, %function\n"
"dlopen:\n"
"	hint	#34\n"
"	stp	x29, x30, [sp, #-32]!\n"
"	stp	x0, x1, [sp, #16]\n"
"	bl	dlopen_look\n"
"	mov	x16, x0\n"
"	ldp	x0, x1, [sp, #16]\n"
"	ldp	x29, x30, [sp], #32\n"
"	br	x16\n"
"	.size	dlopen, . - dlopen\n");
#endif
