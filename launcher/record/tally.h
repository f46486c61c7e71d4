/*
 * tally: refusals counted by what they have in common, for the one closing
 * line of a run without -m.  Memory is fixed: what finds no group any more
 * is counted all the same.
 */
#ifndef FENCE_LAUNCHER_TALLY_H
#define FENCE_LAUNCHER_TALLY_H

#include "launcher/record/event.h"

struct tally;

/* Where "~" and the workspace are; both may be NULL and are copied. */
struct tally	*tally_new(const char *home, const char *workspace);
void		 tally_free(struct tally *);	/* NULL is fine */
/* Events that refuse nothing are passed over. */
void		 tally_add(struct tally *, const struct event *);
/* Reports that nobody judged: n, or at least so many. */
void		 tally_dropped(struct tally *, uint64_t n, bool is_least);
/*
 * "fence: 3 refusals (2 writes below ~/.cache: filesystem.allowWrite +=
 * "~/.cache", 1 name denied.test); all of them: run again with -m", without
 * newline; nothing if nothing was refused.  is_kept: `fence trace` has them.
 */
void		 tally_text(const struct tally *, bool is_kept, struct buf *);

#endif
