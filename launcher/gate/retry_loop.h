/*
 * retry_loop: processes that are refused the same host again and again.  Some
 * programs take a refusal for a reason to ask again at once, for ever; the
 * monitor answers them late.  Pure.  Memory is fixed: the entry that was quiet
 * for longest gives way.
 */
#ifndef FENCE_LAUNCHER_RETRY_LOOP_H
#define FENCE_LAUNCHER_RETRY_LOOP_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum {
	RETRY_LOOP_ENTRIES = 64,
	RETRY_LOOP_MAX = 20,		/* refusals that are answered */
	RETRY_LOOP_QUIET_MS = 10 * 1000,	/* then all is forgotten */
};

struct retry_loop {
	struct retry_loop_entry {
		pid_t		pid;
		uint16_t	port;
		unsigned	count;		/* 0: free */
		int64_t		last_ms;
		char		host[256];
	} entry[RETRY_LOOP_ENTRIES];
};

/*
 * Counts a refusal.  True: this process was refused this host too often.
 * Processes that are not known (pid 0) count as one: in a flood there is no
 * time to look.
 */
bool	 retry_loop_refused(struct retry_loop *, pid_t, const char *host,
	    uint16_t port, int64_t now_ms);

#endif
