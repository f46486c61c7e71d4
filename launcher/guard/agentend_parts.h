/*
 * agentend_parts: the journal of agentend.  What the files held before a run,
 * until it has ended.
 */
#ifndef FENCE_LAUNCHER_AGENTEND_PARTS_H
#define FENCE_LAUNCHER_AGENTEND_PARTS_H

#include "launcher/guard/agentend.h"

/* The descriptor holds the lock, also in children; -1: it cannot be kept. */
int	 agentjournal_write(const char *path, const struct agentend *,
	    unsigned *made);
/*
 * A number that stands for the journals beside path whose runs last.  With
 * end: files that they know are, in it, what they were for these.
 */
unsigned long agentjournal_live(const char *path, struct agentend *end,
	    struct arena *);

#endif
