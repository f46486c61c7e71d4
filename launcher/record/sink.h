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
/* Numbers the event, from 1: `sequence` of what was written has no holes. */
void		 sink_event(struct sink *, struct event *);
void		 sink_lost(struct sink *, uint64_t n);
void		 sink_flush(struct sink *);	/* tell what was lost, now */

#endif
