/*
 * seccomp: the third wall, a deny list.  The jail's filter is made from one
 * table by libseccomp, which lives in seccomp.c, and is told as bytes.
 *
 * Every known call that no row names is allowed.  Numbers past the last
 * known one say ENOSYS: a kernel's newer mount call never slips through, and
 * programs fall back as on an older kernel.  x86-64 also takes i386 entry,
 * arm64 takes arm; any other kind, x32 included, kills the process.
 */
#ifndef FENCE_LINUX_SECCOMP_H
#define FENCE_LINUX_SECCOMP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/base/buf.h"
#include "platform/base/err.h"

enum {
	SECCOMP_ROW_TESTS = 2,
	/* removexattrat; 403 and above are the same on all systems. */
	SECCOMP_LAST_CALL = 466,
	/* Younger than libseccomp 2.5; ENOSYS, libcs use fchmodat instead. */
	SECCOMP_FCHMODAT2 = 452,
};

/* Root's jail refuses more: what it leaves on disk belongs to root. */
enum seccomp_who { SECCOMP_USER, SECCOMP_ROOT, SECCOMP_NWHO };

/* "argument number arg, masked, is value"; mask 0 is no test. */
struct seccomp_test {
	unsigned	arg;
	uint32_t	mask;
	uint32_t	value;
};

/*
 * One refusal; it applies when all its tests do.  Masks are 32 bits wide, as
 * the arguments are to the kernel: what is above them does not count.
 */
struct seccomp_row {
	const char		*name;
	int			 error;		/* errno it gets */
	const char		*why;
	struct seccomp_test	 test[SECCOMP_ROW_TESTS];
	bool			 is_roots;	/* in SECCOMP_ROOT's filter only */
};

extern const struct seccomp_row seccomp_rows[];
extern const size_t seccomp_nrows;

/*
 * Appends the filter: an array of struct sock_filter.  Making it costs most of
 * a millisecond, so platform/linux/genfilter does it when fence is built, and
 * the launcher ships those bytes (filter.c).  A cross build makes it when it
 * runs.
 */
int	 seccomp_make_filter(enum seccomp_who, struct buf *, struct err *);
int	 seccomp_jail_filter(enum seccomp_who, struct buf *, struct err *);

#endif
