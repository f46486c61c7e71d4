/*
 * fold: equal refusals of one process become one record with a count.  The
 * first is written at once; the repeats of the next seconds are one record,
 * with their number and the times of the first and the last of them.
 *
 * Two reports are equal if their keys are: the pid, and the report's bytes.  A
 * repeat is neither judged nor looked at again.  Memory is fixed.
 */
#ifndef FENCE_LAUNCHER_FOLD_H
#define FENCE_LAUNCHER_FOLD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "launcher/record/event.h"

enum { FOLD_MAX = 32, FOLD_MS = 2000 };

struct fold;
/* Writes a record of repeats: count, start_ms and end_ms are set. */
typedef void	 fold_fn(struct event *, void *);

struct fold	*fold_new(fold_fn *, void *arg);
void		 fold_free(struct fold *);	/* writes nothing */
/*
 * What was written a moment ago, and counts this, too; NULL: nothing.  It is
 * good until the next call.
 */
const struct event	*fold_repeat(struct fold *, pid_t, const void *key,
		    size_t len, int64_t now_ms);
/* That this was written.  The event is copied. */
void		 fold_note(struct fold *, pid_t, const void *key, size_t len,
		    const struct event *, int64_t now_ms);
/* Writes the repeats whose time is over, or all of them. */
void		 fold_flush(struct fold *, bool all, int64_t now_ms);

#endif
