/*
 * calls: calls of the jail that the system holds until somebody outside has
 * looked at them.  The launcher (launcher/gate/held_calls.c) gets a
 * descriptor with the event JAIL_CALLS (jail.h), looks at each held call and
 * answers it; the descriptor is the launcher's to close.  Where executions are
 * held, the tracer receives the calls (tracer.h), and hands on to the launcher
 * what it does not permit.
 *
 * Held are, by jail.h's spec:
 *
 *	wants_calls	calls that name a network address
 *	wants_exec	execve() and execveat()
 *	either		an attempt to make a second listener (HELD_LISTENER)
 *
 * Calls with an address are held for telling, not for refusing.  The caller
 * may change the address after the launcher read it, and a signal may end a
 * call before the launcher looked; the jail refuses what it refuses in either
 * case.  Calls of the shim that bear HELD_CALL_MARK (shim/wire.h says where)
 * are not held: the shim reports them itself.
 *
 * An execution is held for refusing, too.  What the launcher reads of it may
 * lie in memory that others write, so held_call_go() is not for it: whoever
 * permits an execution lets tracer.h compare what is executed with what was
 * read.
 *
 * Holding a call costs 10 to 80 µs.
 */
#ifndef FENCE_PLATFORM_CALLS_H
#define FENCE_PLATFORM_CALLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "platform/base/arena.h"

enum {
	HELD_CALL_MARK = 0x66656e63,
	/* Borne by a call without a descriptor: the shim made such a call. */
	HELD_CALL_MADE = 0x66656e64,
};

enum held_kind {
	HELD_ADDRESS,
	HELD_EXEC,
	HELD_LISTENER,		/* the kernel refuses it: EBUSY */
	HELD_KINDS
};

/* Where the arguments of an execution lie in the caller's memory. */
struct held_exec_at {
	uint64_t	path, argv, envp;
	int		dir_fd;		/* of execveat(); -100: the cwd */
	bool		is_by_fd;	/* dir_fd itself is executed */
	bool		is_narrow;	/* pointers of 32 bits */
};

struct held_call {
	uint64_t	id;
	pid_t		tid;		/* a thread, as the caller counts */
	enum held_kind	kind;
	/* HELD_EXEC */
	struct held_exec_at exec;
	/* HELD_ADDRESS; family 0: it names no internet address. */
	int		family;		/* AF_INET, AF_INET6, 0 */
	uint8_t		addr[16];	/* network order */
	uint16_t	port;		/* host order */
	bool		was_made;	/* before: HELD_CALL_MADE */
	uint16_t	from;		/* its own port; 0: not known */
};

/*
 * Reads the next held call: 1; 0 if that call has ended meanwhile; -1 when no
 * process is left that could call.  Blocks while no call is held, so call it
 * once for each time that the descriptor is readable.
 */
int	 held_call_next(int calls_fd, struct held_call *);
/*
 * Lets the call go on, or fail with an errno.  After calls_fd is closed, calls
 * that wait and calls that would be held fail with ENOSYS.
 */
void	 held_call_go(int calls_fd, const struct held_call *);
void	 held_call_refuse(int calls_fd, const struct held_call *, int sys);

/* The name of a system call by its native number; NULL: none we tell of. */
const char	*calls_name(unsigned nr);
/*
 * Why the jail's filter refuses it, given the argument that matters (0: not
 * known); NULL: the filter does not.
 */
const char	*calls_why(const char *name, uint32_t arg);

/*
 * What an execution asks for.  A script is two executions or more: step[0] as
 * it was asked for, then that of each interpreter (#!), the last of which is
 * the program that will run.
 */
enum { EXEC_STEPS = 6 };

struct exec_step {
	const char	*program;	/* as it is written */
	const char	*real;		/* in the jail; NULL: not known */
	const char	**argv;		/* NULL behind the last */
	size_t		 argc;
	bool		 is_missing;	/* nothing lies at real */
};

struct held_exec {
	struct exec_step step[EXEC_STEPS];
	unsigned	 nsteps;
	bool		 is_by_fd;	/* a descriptor, not a path */
	/* More than the kernel accepts: the call will fail (E2BIG). */
	bool		 is_too_long;
	const char	**envp;		/* NULL behind the last; or NULL */
	size_t		 envc;
	/* What /proc/PID/exe and cmdline will hold; NULL: not known. */
	const char	*exe;
	const char	*cmdline;
	size_t		 cmdline_len;
};

/*
 * root_fd: the jail's root (exec_root()), in which paths are resolved; -1:
 * no path is.  Texts are the arena's.  -1: the caller is gone, or names memory
 * that it does not have.
 */
int	 held_exec_read(int root_fd, const struct held_call *,
	    bool wants_env, struct arena *, struct held_exec *ret);
/* The root of that process, for looking up paths; -1. */
int	 exec_root(pid_t tid);
/*
 * Opens a file for reading as it lies under that root, whatever symlinks say;
 * nothing is waited for.  path is absolute.  -1.
 */
int	 exec_open(int root_fd, struct arena *, const char *path);
/*
 * What runs in a process now: step[0] with program and real as /proc/PID/exe
 * has them, and its arguments.  -1: it is gone.
 */
int	 exec_image_read(pid_t pid, bool wants_env, struct arena *,
	    struct held_exec *ret);

#endif
