/*
 * digest: the refusals of a run by the rule that spoke, and the policy that
 * would allow them as one block to paste; the last lines of a run with -m.
 * Memory is fixed: rules and lines beyond it are counted, and that is said.
 */
#ifndef FENCE_LAUNCHER_DIGEST_H
#define FENCE_LAUNCHER_DIGEST_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/record/event.h"

struct digest;

/* Where "~" is; may be NULL, and is copied. */
struct digest	*digest_new(const char *home);
void		 digest_free(struct digest *);	/* NULL is fine */
/* Events that refuse nothing are passed over. */
void		 digest_add(struct digest *, const struct event *);
/* Reports that nobody judged: n, or at least so many (tally.h). */
void		 digest_lost(struct digest *, uint64_t n, bool is_least);
/*
 * Lines, each with its newline; nothing if nothing was refused.  From the first
 * line that begins with "{" to the last that begins with "}" it is a policy
 * (JSONC), whose comments say what no entry does.
 */
void		 digest_text(const struct digest *, struct buf *);

#endif
