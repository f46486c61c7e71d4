/*
 * callers: which processes called the gate, and from which port.  The gate's
 * question comes a little after the call and finds the asking process by its
 * socket; a program that closed the socket by then, or has ended, cannot be
 * found so.  The shim names the port of each call (shim/wire.h, WIRE_CALLED)
 * while the caller waits in the kernel's listener (platform/calls.h), and the
 * process is noted here.
 *
 * Calls of programs without the shim, and of libc's own resolver, come without
 * a port: nobody is noted, and the record of such a program that is gone has
 * no process.  A hostile program may bear the shim's mark and claim a port of
 * another: an answer from here is marked a guess (event.h, is_guess).
 */
#ifndef FENCE_LAUNCHER_CALLERS_H
#define FENCE_LAUNCHER_CALLERS_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "launcher/record/event.h"

enum {
	CALLERS_MAX = 128,	/* remembered; the oldest is forgotten */
	CALLERS_MS = 3000,	/* ... and anybody after this */
	CALLERS_PER_SECOND = 500,	/* looked at; more are not noted */
};

struct callers;

struct callers_place {
	uint8_t		addr[16];	/* network order, v4 as v4-mapped */
	bool		is_any;		/* a question: the port alone */
	uint16_t	port;
};

struct callers	*callers_new(void);		/* NULL: out of memory */
void		 callers_free(struct callers *);	/* NULL is fine */

/* len is 4 or 16. */
void		 callers_place(struct callers_place *, const uint8_t *addr,
		    size_t len, uint16_t port);
/* The process calls there now, and waits; who_pid() is asked for it. */
struct callers_note {
	struct callers_place	 place;
	pid_t			 pid, stop_pid;
	uint16_t		 from;		/* its port */
};
void		 callers_note(struct callers *, const struct callers_note *,
		    int64_t now_ms);
/*
 * Fills process[] with the process that called that place from that port last.
 * False: nobody is known.
 */
bool		 callers_find(struct callers *, const struct callers_place *,
		    uint16_t from, int64_t now_ms, struct event *);

#endif
