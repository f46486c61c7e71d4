/*
 * probe: the parts of libfence-probe.so, which reports calls of functions that
 * a policy names (trace.calls).  It replaces the addresses of these functions
 * in the global offset tables of all loaded objects by closures of libffi; a
 * closure calls the function as it was called, and reports the call.
 *
 * What runs in a call takes no lock and no memory, and makes system calls by
 * number alone (shim/sys.h).  No slot of this library is ever replaced, so a
 * probe of malloc(), memcpy() or sendto() meets no call of the library's own,
 * and nothing has to guard against recursion.
 */
#ifndef FENCE_SHIM_PROBE_H
#define FENCE_SHIM_PROBE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "shim/probe/probe_wire.h"

#define PROBE_HIDDEN	__attribute__((visibility("hidden")))

struct probe_set {
	const struct probe_sig	*v;	/* the table, mapped */
	uint32_t		 n;
};

extern PROBE_HIDDEN struct probe_set probe_set;

/* Which probe has the name, or -1. */
PROBE_HIDDEN int	 probe_find(const char *name);

/* ---- patch.c ---- */

/* Looks at objects that were loaded since the last time. */
PROBE_HIDDEN void	 patch_objects(void);

/* ---- closure.c ---- */

/*
 * The closure that calls target and reports it as a call of probe; the same
 * for the same pair.  NULL: no room or no memory.  Takes locks.
 */
PROBE_HIDDEN void	*closure_get(uint32_t probe, void *target);
/* Is it the address of a closure? */
PROBE_HIDDEN bool	 closure_is(const void *address);

/* ---- capture.c ---- */

struct capture {
	const struct probe_sig	*sig;
	uint32_t		 probe;
	struct probe_report	*r;	/* with capture_room() bytes behind */
};

/* May one more call of the probe be reported now?  Counts it if not. */
PROBE_HIDDEN bool	 capture_may(uint32_t probe);
PROBE_HIDDEN size_t	 capture_room(const struct probe_sig *);
/* The arguments before the call, the rest after it; then it is sent. */
PROBE_HIDDEN void	 capture_begin(struct capture *, const uint64_t *args,
			    int err);
PROBE_HIDDEN void	 capture_end(struct capture *, uint64_t result, int err);
PROBE_HIDDEN void	 capture_send(struct capture *);
/* Memory for the counters, which a forked child begins anew. */
PROBE_HIDDEN bool	 capture_init(void);
/* Tells at the end what was counted and not told. */
PROBE_HIDDEN void	 capture_finish(void);

#endif
