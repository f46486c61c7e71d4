/*
 * exec_watch: supervision of what the command executes, for a run whose policy
 * needs it.  Held calls come from the tracer (platform/tracer.h), which permits
 * most executions by itself (exec_screen.h).  Of the others the monitor reads
 * each (platform/calls.h), asks the decider, and refuses the call with EACCES
 * or lets the tracer permit it.  The tracer comes back with a question if what
 * is loaded is not what was read.
 *
 * A refusal is recorded, and told to the program's own standard error, unless
 * that is where the record is printed.  The monitor waits for nobody: what
 * the tracer cannot take now is kept, as long as its caller is held.
 */
#ifndef FENCE_LAUNCHER_EXEC_WATCH_H
#define FENCE_LAUNCHER_EXEC_WATCH_H

#include "launcher/record/witness.h"
#include "platform/calls.h"
#include "platform/loop.h"
#include "policy/policy.h"

struct exec_watch;

struct exec_watch_config {
	struct loop		*loop;
	const struct policy	*policy;
	struct witness		*witness;
	char *const		*envp;		/* the command's */
	int			 tracer_fd;	/* of exec_watch_tracer(); borrowed */
	int			 told_fd;	/* records are printed there; -1 */
	const struct calls_wall	*wall;		/* calls.h; NULL is fine */
	bool			 has_rules;	/* command rules act by argv */
	/* A call of any kind is held; executions are for exec_watch_call(). */
	void			(*held)(const struct held_call *, void *arg);
	/* The tracer is gone: nothing may be executed any more. */
	void			(*lost)(void *arg);
	void			*arg;
};

/* tracer_start() with a screen by this policy; tracer_fd need not be set. */
int		 exec_watch_tracer(const struct exec_watch_config *,
		    int *ret_fd, pid_t *ret_pid, struct err *);
/* NULL: errno says why. */
struct exec_watch *exec_watch_new(const struct exec_watch_config *);
void		 exec_watch_free(struct exec_watch *);	/* NULL is fine */
/* The listener, borrowed; from now on the tracer receives its calls. */
void		 exec_watch_listen(struct exec_watch *, int calls_fd);
/* A held_call_fn: HELD_EXEC. */
void		 exec_watch_call(int calls_fd, const struct held_call *,
		    void *exec_watch);

#endif
