/*
 * answers: what the monitor sends to fence-net, in order, some with a
 * descriptor.  An answer that does not fit into the socket waits; at 4,096 of
 * them the next is lost, and so are answers that the socket refuses.
 */
#ifndef FENCE_LAUNCHER_ANSWERS_H
#define FENCE_LAUNCHER_ANSWERS_H

#include "platform/loop.h"
#include "proxy/ask.h"

struct answers {
	int		 net_fd;	/* borrowed */
	/* Of net_fd, the monitor's, or NULL: reads while no answer waits. */
	struct watch	*net;
	struct queued	*first, **last;
	unsigned	 n;
};

void	 answers_init(struct answers *, int net_fd);
/* Takes the fd, or -1. */
void	 answers_send(struct answers *, const struct ask_answer *, int fd);
void	 answers_flush(struct answers *);	/* when net_fd can be written */
void	 answers_drop(struct answers *);	/* all that wait */

#endif
