/*
 * sink: one reader of events, a descriptor that gets whole lines.  It does not
 * hold up the run: a reader that has stopped reading costs one short wait,
 * and then records.  What was lost is told, with its number, as soon as the
 * second in which it was lost is over.
 */
#ifndef FENCE_LAUNCHER_SINK_H
#define FENCE_LAUNCHER_SINK_H

#include "launcher/record/event.h"

struct sink;

/*
 * JSON if `run` is given, else text.  Both fd and run are borrowed and stay
 * until sink_free().  fd -1: all calls do nothing.
 */
struct sink	*sink_new(int fd, const struct event_run *, int is_tty);
void		 sink_free(struct sink *);	/* NULL is fine */
/*
 * How many bytes this reader gets in a run, of what the shim claims and in
 * all; the last record of a run and the number of lost ones are not counted.
 */
enum { SINK_CLAIMED_MAX = 64 << 20, SINK_BYTES_MAX = 128 << 20 };
void		 sink_limit(struct sink *, uint64_t claimed, uint64_t all);
/* Numbers the event, from 1: `sequence` of what was written has no holes. */
void		 sink_event(struct sink *, struct event *);
/* is_least: there may be more, of which nobody knows. */
void		 sink_lost(struct sink *, uint64_t n, bool is_least);
void		 sink_flush(struct sink *);	/* tell what was lost, now */

#endif
