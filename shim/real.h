/*
 * real: the functions behind the hooks.  Most are looked up once, by the
 * library's constructor; a hook called earlier looks up its own.  A look-up is
 * one plain store of a value that is always the same, so it needs no lock and
 * may happen twice.
 */
#ifndef FENCE_SHIM_REAL_H
#define FENCE_SHIM_REAL_H

#include <stddef.h>

/*
 * Name, and what stands in for it while dlsym() itself is running (an
 * allocator it calls may open a file) or when this libc has no such function.
 */
#define REAL_EARLY(X)				\
	X(connect, raw_connect)			\
	X(sendto, raw_sendto)			\
	X(sendmsg, raw_sendmsg)			\
	X(sendmmsg, raw_sendmmsg)		\
	X(open, raw_open)			\
	X(open64, raw_open)			\
	X(openat, raw_openat)			\
	X(openat64, raw_openat)			\
	X(__open_2, raw_open_2)			\
	X(__open64_2, raw_open_2)		\
	X(__openat_2, raw_openat_2)		\
	X(__openat64_2, raw_openat_2)		\
	X(creat, raw_creat)			\
	X(creat64, raw_creat)			\
	X(fopen, no_pointer)			\
	X(fopen64, no_pointer)			\
	X(freopen, no_pointer)			\
	X(freopen64, no_pointer)		\
	X(opendir, no_pointer)			\
	X(statx, raw_statx)			\
	X(execv, no_int)			\
	X(execvp, no_int)			\
	X(execvpe, no_int)			\
	X(fexecve, no_int)			\
	X(posix_spawn, no_spawn)		\
	X(posix_spawnp, no_spawn)

/* Nobody may call these in a signal handler, so they can wait. */
#define REAL_LATE(X)				\
	X(mkstemp, no_int)			\
	X(mkstemp64, no_int)			\
	X(mkstemps, no_int)			\
	X(mkstemps64, no_int)			\
	X(mkostemp, no_int)			\
	X(mkostemp64, no_int)			\
	X(mkostemps, no_int)			\
	X(mkostemps64, no_int)			\
	X(mkdtemp, no_pointer)			\
	X(eaccess, no_int)			\
	X(faccessat, no_int)			\
	X(fchmodat, no_int)			\
	X(clone, no_int)			\
	X(realpath, no_pointer)			\
	X(canonicalize_file_name, no_pointer)	\
	X(__realpath_chk, no_pointer)		\
	X(__readlink_chk, no_int)		\
	X(__readlinkat_chk, no_int)		\
	X(statvfs, no_int)			\
	X(statvfs64, no_int)			\
	X(lchmod, no_int)			\
	X(fclose, no_int)			\
	X(scandir, no_int)			\
	X(scandir64, no_int)			\
	X(scandirat, no_int)			\
	X(scandirat64, no_int)			\
	X(ftw, no_int)				\
	X(ftw64, no_int)			\
	X(nftw, no_int)				\
	X(nftw64, no_int)			\
	X(glob, no_int)				\
	X(glob64, no_int)			\
	X(fts_read, no_pointer)			\
	X(fts64_read, no_pointer)		\
	X(system, no_int)			\
	X(popen, no_pointer)			\
	X(dlopen, no_pointer)			\
	X(euidaccess, no_int)

enum real_id {
#define X(name, fallback) REAL_##name,
	REAL_EARLY(X)
	REAL_LATE(X)
#undef X
	REAL_COUNT
};

enum { REAL_FIRST_LATE = REAL_mkstemp };

#define SHIM_HIDDEN	__attribute__((visibility("hidden")))

extern SHIM_HIDDEN void *real_table[REAL_COUNT];

SHIM_HIDDEN void	*real_find(enum real_id);	/* never NULL */
SHIM_HIDDEN void	 real_find_early(void);		/* both keep errno */

static inline void *
real_get(enum real_id id)
{
	void *fn = __atomic_load_n(&real_table[id], __ATOMIC_RELAXED);

	return fn != NULL ? fn : real_find(id);
}

#endif
