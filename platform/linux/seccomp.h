/*
 * seccomp: the third wall.  The jail's filter is made from two tables, the
 * refusals (seccomp_rows.c) and the calls that `profile: strict` permits
 * (seccomp_strict.c), and is told as bytes.  libseccomp lives in seccomp.c
 * and gives the numbers; the instructions are ours (seccomp_code.h), since
 * its own programs know neither ranges nor arguments of 32 bits that must
 * *not* be something.
 *
 * By default a call that no row names is permitted: a deny list.  Numbers
 * past the last known one, and those that no call has, say ENOSYS: a kernel's
 * newer mount call never slips through, and programs fall back as on an older
 * kernel.  x86-64 also takes i386 entry, arm64 takes arm; any other kind, x32
 * included, kills the process.
 *
 * Under `strict` the refusals hold as before, and of the rest only the calls
 * of the second table exist: the others say ENOSYS, as on a kernel that was
 * built without them, since that is what libcs and runtimes fall back on.
 * 32-bit entry says ENOSYS as a whole.
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
	/* removexattrat; 424 and above are the same on all systems. */
	SECCOMP_LAST_CALL = 466,
};

/*
 * Whose filter.  Root's jail refuses more: what it leaves on disk belongs to
 * root.  NESTED lets namespaces and mounts be made, for programs that bring a
 * sandbox of their own.
 */
enum seccomp_who {
	SECCOMP_USER, SECCOMP_ROOT,
	SECCOMP_USER_NESTED, SECCOMP_ROOT_NESTED,
	SECCOMP_USER_STRICT, SECCOMP_ROOT_STRICT,
	SECCOMP_NWHO
};

/* "argument number arg, masked, is value"; mask 0 is no test. */
struct seccomp_test {
	unsigned	arg;
	uint32_t	mask;
	uint32_t	value;
};

/* In which filters a row stands; a bit for each of enum seccomp_who. */
#define SECCOMP_IN(who)		(1u << (who))
#define SECCOMP_IN_ROOTS	(SECCOMP_IN(SECCOMP_ROOT) | \
	    SECCOMP_IN(SECCOMP_ROOT_NESTED) | SECCOMP_IN(SECCOMP_ROOT_STRICT))
#define SECCOMP_IN_NESTED	(SECCOMP_IN(SECCOMP_USER_NESTED) | \
	    SECCOMP_IN(SECCOMP_ROOT_NESTED))
#define SECCOMP_IN_STRICT	(SECCOMP_IN(SECCOMP_USER_STRICT) | \
	    SECCOMP_IN(SECCOMP_ROOT_STRICT))
#define SECCOMP_IN_ALL		(SECCOMP_IN(SECCOMP_NWHO) - 1)

/*
 * A row applies when all its tests do.  Of the rows of one call the first
 * that applies decides; errno 0, and none that applies, leave the call as one
 * that no row names.  Masks are 32 bits wide, as the arguments are to
 * the kernel: what is above them does not count.
 */
struct seccomp_row {
	const char		*name;
	int			 error;		/* errno it gets, or 0 */
	const char		*why;
	struct seccomp_test	 test[SECCOMP_ROW_TESTS];
	unsigned		 in;		/* SECCOMP_IN(...) */
};

extern const struct seccomp_row seccomp_rows[];
extern const size_t seccomp_nrows;

/* A call that exists under `strict`, and who was seen to need it. */
struct seccomp_call {
	const char	*name;
	const char	*who;
};

extern const struct seccomp_call seccomp_strict[];
extern const size_t seccomp_nstrict;

/* A filter is for one kind of machine; tests make both. */
enum seccomp_machine {
	SECCOMP_X86_64, SECCOMP_AARCH64, SECCOMP_NMACHINES,
#if defined(__x86_64__)
	SECCOMP_HERE = SECCOMP_X86_64
#elif defined(__aarch64__)
	SECCOMP_HERE = SECCOMP_AARCH64
#else
#error "no seccomp filter for this processor"
#endif
};

/* A way into a machine's kernel; the native one comes first. */
enum { SECCOMP_NENTRIES = 2 };

struct seccomp_entry {
	uint32_t	token;		/* libseccomp's */
	uint32_t	audit;		/* seccomp_data.arch */
	uint32_t	end;		/* from here on another kind */
	bool		is_end_killed;	/* ... which dies (x32), or passes */
};

extern const struct seccomp_entry
	 seccomp_entries[SECCOMP_NMACHINES][SECCOMP_NENTRIES];

/* The call's number; -1 if this entry has no such call, -2 if none has. */
int	 seccomp_number(const struct seccomp_entry *, const char *name);
/* Is it a call's number that was known when the tables were written? */
bool	 seccomp_is_known(const struct seccomp_entry *, uint32_t number);

/* Which filter a jail gets.  `strict` knows no nesting. */
enum seccomp_who
	 seccomp_choose(bool is_root, bool is_strict, bool may_nest);

/*
 * Appends the filter: an array of struct sock_filter.  platform/linux/genfilter
 * makes it when fence is built, and the launcher ships those bytes (filter.c),
 * so that it needs no libseccomp.  A cross build makes it when it runs.
 */
int	 seccomp_make_filter(enum seccomp_machine, enum seccomp_who,
	     struct buf *, struct err *);
int	 seccomp_jail_filter(enum seccomp_who, struct buf *, struct err *);

#endif
