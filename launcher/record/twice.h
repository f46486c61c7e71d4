/*
 * twice: refused calls that two witnesses see.  The listener holds a call
 * before the kernel refuses it, and its record is written first; then the
 * shim in the same process reports what the kernel said.  Each record of the
 * listener takes the place of one report of the shim, so that a call which
 * only one of them sees is told by that one.
 *
 * Fixed size; the oldest is forgotten.
 */
#ifndef FENCE_LAUNCHER_TWICE_H
#define FENCE_LAUNCHER_TWICE_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launcher/record/event.h"

enum { TWICE_MAX = 256, TWICE_MS = 2000 };

struct twice {
	struct twice_call {
		pid_t		pid;	/* 0: none */
		uint32_t	hash;	/* of what was refused */
		int64_t		at_ms;
	}		v[TWICE_MAX];
	unsigned	next;
};

/* The listener's record of that process. */
void	 twice_told(struct twice *, pid_t, const struct event *,
	    int64_t now_ms);
/* The shim's: has the listener told it?  It is forgotten then. */
bool	 twice_was_told(struct twice *, pid_t, const struct event *,
	    int64_t now_ms);

#endif
