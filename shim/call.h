/*
 * call: a function of libc that is one system call and no more.  Its hook is
 * one line:
 *
 *	HOOK(int, chdir, (const char *path))
 *	{
 *		return CALL(chdir, path);
 *	}
 *
 * The call is made by its number, so no function of libc has to be found.  What
 * the kernel refused is told by its row in call_rows: which argument is the
 * path, what was to become of it, and which errors may be a refusal.
 */
#ifndef FENCE_SHIM_CALL_H
#define FENCE_SHIM_CALL_H

#include "shim/report.h"
#include "shim/sys.h"

/* What a report says of functions that are made of another call. */
#ifdef SYS_open
#define NR_creat		SYS_creat
#define NR_link			SYS_link
#define NR_lstat		SYS_lstat
#define NR_mkdir		SYS_mkdir
#define NR_mknod		SYS_mknod
#define NR_open			SYS_open
#define NR_readlink		SYS_readlink
#define NR_rename		SYS_rename
#define NR_stat			SYS_stat
#define NR_symlink		SYS_symlink
#define NR_unlink		SYS_unlink
#define NR_utime		SYS_utime
#define NR_utimes		SYS_utimes
#else
#define NR_creat		SYS_openat
#define NR_link			SYS_linkat
#define NR_lstat		SYS_newfstatat
#define NR_mkdir		SYS_mkdirat
#define NR_mknod		SYS_mknodat
#define NR_open			SYS_openat
#define NR_readlink		SYS_readlinkat
#define NR_rename		SYS_renameat2
#define NR_stat			SYS_newfstatat
#define NR_symlink		SYS_symlinkat
#define NR_unlink		SYS_unlinkat
#define NR_utime		SYS_utimensat
#define NR_utimes		SYS_utimensat
#endif

enum { CALL_ARGS = 6 };

/* A call that was made, as the kernel received it. */
struct call {
	uint16_t	 nr;		/* of the row */
	uint16_t	 told_as;
	long		 arg[CALL_ARGS];
};

/*
 * After the kernel's answer rv, which is an error: tries the path of a sibling
 * instead (stage.h), tells, and answers as libc does.
 */
SHIM_HIDDEN long call_failed(long rv, unsigned told_as, unsigned nr, long a,
	    long b, long c, long d, long e, long f);
/* Tells by errno, where it may be a refusal; keeps it. */
SHIM_HIDDEN void call_tell(const struct call *);

static inline long
call_made(unsigned told_as, long nr, long a, long b, long c, long d, long e,
    long f)
{
	long rv = sys_call(nr, a, b, c, d, e, f);

	return __builtin_expect(sys_failed(rv), 0) ?
	    call_failed(rv, told_as, nr, a, b, c, d, e, f) : rv;
}

#define CALL(nr, ...)	CALL_AS(SYS_##nr, nr, ##__VA_ARGS__)
/* Told as another. */
#define CALL_AS(told_as, nr, ...)					\
	CALL_LONGS(told_as, SYS_##nr, ##__VA_ARGS__, 0, 0, 0, 0, 0, 0)
#define CALL_LONGS(told_as, nr, a, b, c, d, e, f, ...)			\
	call_made(told_as, nr, (long)(a), (long)(b), (long)(c),	\
	    (long)(d), (long)(e), (long)(f))
/*
 * Younger systems have only the form with a folder; where there are both, the
 * program means the one that libc makes: it may have a filter of its own.
 * CALL_OLD((unlink, path), (unlinkat, AT_FDCWD, path, 0))
 */
#ifdef SYS_open
#define CALL_OLD(old, young)	CALL old
#define SYS_OLD(old, young)	SYS old
#else
#define CALL_OLD(old, young)	CALL young
#define SYS_OLD(old, young)	SYS young
#endif

/*
 * A call that libc made in its own way.  TOLD(rv < 0, NR_stat, newfstatat,
 * AT_FDCWD, path) tells if the claim holds, by the row of newfstatat.
 */
#define TOLD(failed, told_as, nr, ...)					\
	do {								\
		if (failed)						\
			call_tell(&(struct call){ SYS_##nr, told_as,	\
			    { CALL_ARGV(__VA_ARGS__, 0, 0, 0, 0) } });	\
	} while (0)
#define CALL_ARGV(a, b, c, d, ...)					\
	(long)(a), (long)(b), (long)(c), (long)(d)

#endif
