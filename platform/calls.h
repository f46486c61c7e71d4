/*
 * calls: calls of the jail that the system holds until somebody outside has
 * looked at them.  The launcher (launcher/gate/held_calls.c) gets a
 * descriptor with the event JAIL_CALLS (jail.h), looks at each held call and
 * answers it; the descriptor is the launcher's to close.  Where executions are
 * held, the tracer receives the calls (tracer.h), and hands on to the launcher
 * what it does not permit; where files are, the looker does so (looker.h).
 *
 * Held are, by jail.h's spec:
 *
 *	wants_calls	calls that name a network address
 *	wants_exec	execve() and execveat()
 *	wants_files	calls that make, change or remove a file, an open if it
 *			writes; calls on unix sockets by path; and what the
 *			jail's filter refuses with EPERM
 *	any		an attempt to make a second listener (HELD_LISTENER)
 *
 * What the filter refuses (HELD_REFUSED) is answered with its errno, and
 * never let go: nothing but the answer refuses it.  So is a second listener.  Without a listener such a
 * call fails (ENOSYS).
 *
 * Calls with an address or a file are held for telling, not for refusing.  The caller
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
	HELD_LISTENER,		/* EBUSY, or EFAULT */
	HELD_FILE,
	HELD_REFUSED,		/* by the jail's filter */
	HELD_KINDS
};

/* What a held call is to do with a file. */
enum held_file {
	FILE_OPEN, FILE_OPEN2,	/* flags: of open(); where openat2()'s lie */
	FILE_CREAT,
	FILE_MAKE,		/* mkdir, mknod, symlink: it is new */
	FILE_LINK,		/* of name[0], as name[1] */
	FILE_UNLINK, FILE_RMDIR,
	FILE_RENAME,		/* name[0] to name[1] */
	FILE_TRUNCATE,
	FILE_CHANGE,		/* mode or owner: its owner may */
	FILE_TIMES,
	FILE_ATTRIBUTE,
	FILE_BIND, FILE_CONNECT,/* a unix socket's name */
};

/* A name in the caller's memory, relative to a descriptor of its own. */
struct held_name_at {
	uint64_t	path;
	int		dir_fd;		/* AT_FDCWD: the cwd */
};

struct held_file_at {
	enum held_file	file;
	unsigned	nr;		/* native number */
	struct held_name_at name[2];
	uint64_t	flags;		/* as the call has them */
	bool		is_last_link;	/* a symlink at the end is meant itself */
	bool		is_narrow;
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
	int		sock_fd;	/* the caller's */
	/* HELD_ADDRESS, HELD_FILE; of the former a unix socket's name. */
	bool		has_file;
	struct held_file_at file;
	/* HELD_REFUSED; of HELD_LISTENER sys alone. */
	unsigned	nr;		/* native number; 0: not known */
	uint32_t	first;		/* its argument that matters */
	int		sys;		/* the answer: an errno */
};

/* What the jail's filter refuses; NULL: it does so without a listener. */
struct calls_wall;
struct jail_spec;

struct calls_wall *calls_wall_new(const struct jail_spec *);
void	 calls_wall_free(struct calls_wall *);	/* NULL is fine */

/*
 * Reads the next held call: 1; 0 if that call has ended meanwhile; -1 when no
 * process is left that could call.  Blocks while no call is held, so call it
 * once for each time that the descriptor is readable.
 */
int	 held_call_next(int calls_fd, const struct calls_wall *,
	    struct held_call *);
/*
 * Lets the call go on, or fail with an errno.  What the filter refuses never
 * goes on.  After calls_fd is closed, calls
 * that wait and calls that would be held fail with ENOSYS.
 */
void	 held_call_go(int calls_fd, const struct held_call *);
void	 held_call_refuse(int calls_fd, const struct held_call *, int sys);

/* The type of the socket that a held call is made on, SOCK_DGRAM...; 0. */
int	 held_call_sock_type(const struct held_call *);

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
