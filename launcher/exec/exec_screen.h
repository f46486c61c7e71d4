/*
 * exec_screen: which executions the tracer permits without asking the monitor
 * (platform/tracer.h).  It runs in the tracer's process, with the policy as it
 * was when that started, and judges as the monitor does (exec_judge.h).  It
 * permits what the rules allow by the words alone; what they deny, and what
 * they decide by a file of ssh or git, is left to the monitor.
 */
#ifndef FENCE_LAUNCHER_EXEC_SCREEN_H
#define FENCE_LAUNCHER_EXEC_SCREEN_H

#include "launcher/exec/exec_judge.h"
#include "launcher/exec/exec_watch.h"

struct exec_screen {
	struct exec_judge	judge;
	struct exec_world	world;
	int			root_fd;	/* of the jail; -1: none yet */
	bool			has_asked;	/* a rule wants a file */
};

/* What the configuration names is borrowed. */
void	 exec_screen_init(struct exec_screen *,
	    const struct exec_watch_config *);
/* For struct tracer_screen. */
bool	 exec_screen_permits(const struct held_call *, struct arena *,
	    struct held_exec *ret, void *exec_screen);

#endif
