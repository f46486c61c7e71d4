/*
 * probe_call: a call of a function that a policy names (trace.calls), as the
 * probe library told it (shim/probe/probe_wire.h), in words.
 */
#ifndef FENCE_LAUNCHER_PROBE_CALL_H
#define FENCE_LAUNCHER_PROBE_CALL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/base/arena.h"
#include "policy/policy.h"
#include "policy/probesig.h"

struct probe_call {
	const char	*function;
	/* As one would write them in C, escaped: "\"HOME\"", "-1", "NULL". */
	const char	*arg[PROBESIG_ARGS_MAX];
	size_t		 nargs;
	const char	*result;	/* NULL: told before the call, or void */
	int		 err;		/* errno where it failed, or 0 */
	uint32_t	 dropped;	/* calls of it not told before this */
	char		 comm[17];	/* the program's own name for itself */
};

/* The signatures of a policy, in the order that reports count them in. */
const struct probesig	*probe_call_sigs(struct arena *,
			    const struct policy *, size_t *ret_n);
/* Does a datagram claim to be such a report, and how many calls before it does
 * it say were not told?  For those that nobody reads. */
bool	 probe_call_is(const void *datagram, size_t len);
uint32_t probe_call_dropped(const void *datagram, size_t len);
/*
 * Reads one datagram, a claim by a hostile process.  0, or -1: it is no report
 * of one of these functions.  All that ret points to is in the arena.
 */
int	 probe_call_read(struct arena *, const struct probesig *, size_t n,
	    const void *datagram, size_t len, struct probe_call *ret);

#endif
