/*
 * repeat: who is refused the same thing again and again.  Some programs take a
 * refusal for a reason to ask at once again, for ever; what such a one asks
 * is worth no answer, and no hurry.  Pure; memory is fixed, the entry that was
 * quiet for longest gives way.
 */
#ifndef FENCE_LAUNCHER_REPEAT_H
#define FENCE_LAUNCHER_REPEAT_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	REPEAT_ENTRIES = 64,
	REPEAT_MAX = 20,		/* refusals that are answered */
	REPEAT_QUIET_MS = 10 * 1000,	/* after which it all is forgotten */
};

struct repeat {
	struct repeat_entry {
		pid_t		pid;
		uint16_t	port;
		unsigned	count;		/* 0: free */
		int64_t		last_ms;
		char		host[256];
	} entry[REPEAT_ENTRIES];
};

/*
 * One more refusal.  Is it one too many?  Those whose process is not known
 * (pid 0) count as one: in a flood there is no time to look.
 */
bool	 repeat_is_loop(struct repeat *, pid_t, const char *host,
	    uint16_t port, int64_t now_ms);

#endif
