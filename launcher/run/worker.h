/*
 * worker: one of fence's own processes beside the jail, and our end of the
 * socket that it asks by.  Its death does not end the run: it is told, with
 * what is lost by it.
 */
#ifndef FENCE_LAUNCHER_WORKER_H
#define FENCE_LAUNCHER_WORKER_H

#include <stdbool.h>
#include <sys/types.h>

#include "launcher/record/witness.h"
#include "platform/base/err.h"
#include "platform/loop.h"

struct worker {
	const char	*name;
	const char	*loss;		/* "the network is closed" */
	pid_t		 pid;		/* 0: not running */
	int		 fd;		/* our end, non-blocking; or -1 */
	struct watch	*child;
	struct witness	*witness;
	bool		 is_told;	/* records are told as text anyway */
};

/* Executes path with an environment of its own (platform/spawn.h). */
int	 worker_start(struct worker *, const char *path, char *const *envp,
	    struct err *);
/* From here on its death is told.  One that does not run needs no watch. */
int	 worker_watch(struct worker *, struct loop *);
/* It may end now: that is not told any more. */
void	 worker_unwatch(struct worker *);
/* It is to end, and nobody waits for it. */
void	 worker_dismiss(struct worker *);
/* It is ended, and gone. */
void	 worker_end(struct worker *);

#endif
