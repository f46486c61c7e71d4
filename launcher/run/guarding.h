/*
 * guarding: the guard of one run, and telling what it did: to the witness,
 * and always on stderr, with the command that takes it back.
 */
#ifndef FENCE_LAUNCHER_GUARDING_H
#define FENCE_LAUNCHER_GUARDING_H

#include <sys/types.h>

#include "launcher/guard/guard.h"
#include "launcher/plan/plan.h"
#include "launcher/record/witness.h"
#include "platform/loop.h"

struct guarding;

struct guarding_config {
	struct loop		*loop;
	struct witness		*witness;
	struct guard_config	 guard;
	/* Called when something had to be moved away; NULL: go on. */
	void			(*violated)(void *arg);
	/* So much was made that the run has to end. */
	void			(*flooded)(void *arg);
	void			*arg;
};

/* The guard of a planned run: its paths, and where quarantine is; in the
 * arena of the plan. */
void		 guarding_plan(const struct plan *, const char *run_id,
		    struct guard_config *ret);
struct guarding	*guarding_new(const struct guarding_config *, struct err *);
/* The jail is being built, the command is not there yet. */
int		 guarding_start(struct guarding *, pid_t jail_pid,
		    struct err *);
/* The command has ended, what is left of the jail is ending. */
void		 guarding_ending(struct guarding *);
/* The jail is gone. */
void		 guarding_finish(struct guarding *);
void		 guarding_free(struct guarding *);	/* NULL is fine */

#endif
