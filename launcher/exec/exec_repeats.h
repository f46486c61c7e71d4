/*
 * exec_repeats: how often a process was refused the same.  A shell forks for
 * each command, so its children's refusals count as its own, too.  Whoever
 * looks for a program along PATH tries several paths: that is one refusal.
 */
#ifndef FENCE_LAUNCHER_EXEC_REPEATS_H
#define FENCE_LAUNCHER_EXEC_REPEATS_H

#include <stdint.h>
#include <sys/types.h>

enum { EXEC_REPEATS_FINAL = 3, EXEC_REPEATS = 128 };

struct exec_repeats {
	struct exec_repeat {
		pid_t		pid;
		uint32_t	what;
		uint32_t	path;	/* by which it was tried first */
		unsigned	count;
	}		entry[EXEC_REPEATS];	/* the oldest is forgotten */
	unsigned	next;
};

/* A refusal as numbers; equal refusals of one process have equal numbers. */
struct exec_refusal {
	pid_t		pid, parent;	/* parent: 0 for none */
	uint32_t	what;		/* arguments and rule */
	uint32_t	path;		/* as it was written */
};

/* Counts for the process and its parent; the larger count.  0: the same
 * attempt goes on along PATH. */
unsigned	 exec_repeats_count(struct exec_repeats *,
		    const struct exec_refusal *);

#endif
