/*
 * callers: who called the gate a moment ago.  The gate's question comes a
 * little after the call, and finds its asker by the socket; a program that
 * closed it by then, or is gone, left nothing to be found by.  So calls are
 * noted by the listener (calls.h) while the caller is there.
 *
 * The shim says from which port a call was made (shim/wire.h, WIRE_CALLED).
 * Of other calls that is not known, libc's own resolver's among them: where
 * several called the same place at once, which question is whose is a guess.
 * Then no one of them is named, but the nearest process that all come from;
 * of several runs of one program only what they have in common is told.
 *
 * Even a single caller is a guess for as long as a hostile program may bear
 * the shim's mark and be noted nowhere: manual, RECORD OF A REFUSAL.
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
	uint16_t		 from;		/* its port; 0: not known */
};
void		 callers_note(struct callers *, const struct callers_note *,
		    int64_t now_ms);
/*
 * Fills process[] with who called that place, for one question and others
 * from the same port.  To be asked for every question whose asker is not to
 * be found or not looked for, so that those are left who have not been heard.
 * False: nobody is known.
 */
bool		 callers_find(struct callers *, const struct callers_place *,
		    uint16_t from, int64_t now_ms, struct event *);
/* A question was asked by this one, as its socket told. */
void		 callers_heard(struct callers *, const struct callers_place *,
		    uint16_t from, pid_t, int64_t now_ms);

#endif
