/*
 * tracer: receives the calls that a jail holds, where it holds executions, and
 * takes the second look at an execution, when the new program is loaded and
 * before its first instruction.  What was read of a held execve() (calls.h)
 * may lie in memory that other threads or processes write, and the path may
 * lead elsewhere a moment later.
 *
 * The tracer is a process of its own, since the monitor may not trace
 * (confine.h).  launcher/run/run.c starts it before the monitor confines
 * itself; launcher/exec/exec_watch.c talks to it.  Of each execution that is
 * permitted the tracer knows what /proc/PID/exe and cmdline have to be.  It
 * attaches to the caller, lets the call go on, and compares.  What is equal
 * runs; of what is not, or could not be foreseen, it asks the monitor, and
 * kills what may not run.
 *
 * Most executions the tracer permits by itself, because each change of
 * processes costs as much as everything else about an execution: its screen
 * (struct tracer_screen) says which.  All others, and calls of other kinds, it
 * hands to the monitor (TRACER_CALL).  It never refuses by itself, and while
 * the monitor is stopped it hands over everything.
 *
 * The tracer is attached from the answer to the held call until the end of
 * that call, whether it succeeds or not: programs inside may be traced by
 * debuggers of their own at any other time.  A caller that a debugger traces
 * already cannot be traced twice: its execution goes on without the second
 * look, and that is told (TRACER_UNSEEN).
 *
 * It refuses calls as well, with a line on the caller's standard error, which
 * the monitor may not open for writing.  A line that would have to wait is
 * dropped.
 *
 * The tracer ends with its socket or its parent; whatever it is attached to
 * is killed then.
 */
#ifndef FENCE_PLATFORM_TRACER_H
#define FENCE_PLATFORM_TRACER_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "platform/base/err.h"
#include "platform/calls.h"

enum {
	TRACER_FORESEEN_MAX = 16 * 1024, /* bytes: of more it asks */
	TRACER_LINE_MAX = 1024,
};

/*
 * Runs in the tracer, with what the launcher's memory held when that was
 * started.  True: the execution is permitted, and *ret, which may use the
 * arena, is what was read of it; exe NULL: the monitor is to be asked about
 * what is loaded.  False: the monitor is to decide.
 */
struct tracer_screen {
	bool	(*permits)(const struct held_call *, struct arena *,
		    struct held_exec *ret, void *arg);
	void	*arg;
	const struct calls_wall *wall;	/* calls.h; NULL is fine */
};

/*
 * The caller owns *ret_fd, non-blocking, and waits for *ret_pid.  Without a
 * screen every call is handed over.
 */
int	 tracer_start(const struct tracer_screen *, int *ret_fd,
	    pid_t *ret_pid, struct err *);

/*
 * Each sends one message: 0, or -1 with errno.  EAGAIN: not now; nothing was
 * sent, and the descriptor will be writable again.
 */

/* First of all: the descriptor of the held calls, which nobody else receives
 * from then on. */
int	 tracer_listen(int fd, int calls_fd);
/* The call may go on; without exe or with a long cmdline, it will be asked
 * about. */
int	 tracer_permit(int fd, const struct held_call *, const char *exe,
	    const char *cmdline, size_t cmdline_len);
/* The call fails with this errno.  line: with its newline, or NULL. */
int	 tracer_refuse(int fd, const struct held_call *, int sys,
	    const char *line);
/* The answer to TRACER_ASKS. */
int	 tracer_answer(int fd, pid_t pid, bool may_run, const char *line);

enum tracer_word_kind {
	TRACER_ASKS = 1,	/* may pid, which stands still, run? */
	TRACER_UNSEEN,		/* pid runs what was read; sys: why */
	TRACER_CALL,		/* call is held, and waits for an answer */
};

struct tracer_word {
	enum tracer_word_kind	kind;
	pid_t			pid;
	int			sys;
	bool			is_traced;	/* UNSEEN: by a debugger */
	struct held_call	call;
};

/* Not waited for: 1; 0 while there is none; -1: the tracer is gone. */
int	 tracer_next(int fd, struct tracer_word *);

#endif
