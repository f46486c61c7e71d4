/*
 * judge: one report of a refused call -> what was refused, by which wall and
 * by which rule; or that fence did not refuse it.  The witness calls this and
 * writes the record.  Nothing is kept, and nothing is written.
 */
#ifndef FENCE_LAUNCHER_JUDGE_H
#define FENCE_LAUNCHER_JUDGE_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/record/event.h"
#include "platform/base/arena.h"
#include "policy/host.h"
#include "policy/policy.h"
#include "shim/wire.h"

struct judge {
	const struct policy	*policy;	/* of the run */
	const struct policy	*net;		/* the network's part, now */
	bool			 has_masks;	/* of files of commands */
};

enum judged {
	JUDGED_NOTHING,		/* no refusal: an answer, as every host's */
	JUDGED_HOST,		/* the host's permissions refuse it, or would
				 * without fence */
	JUDGED_FENCE,
};

/* Is the process needed to judge it?  Else it may be looked for afterwards. */
bool	 judge_needs_who(const struct wire_report *, const char *path);
/*
 * Fills kind, object, enforcer and verdict of an event that has `sys`, and,
 * where judge_needs_who(), the process.  `path` is the report's, "" for none.
 * What the event points to is the arena's or the policy's.
 */
enum judged	 judge_report(const struct judge *, struct arena *,
	    const struct wire_report *, const char *path, struct event *);
/* The same for an address that no route leads to; it points to the host. */
bool	 judge_address(const struct judge *, const struct host *,
	    uint16_t port, struct event *);
/* judge_call.c: a call of no path that the jail's filter refuses. */
enum judged	 judge_call(const struct judge *, const struct wire_report *,
		    struct event *);

#endif
