/*
 * diff: what one policy lets through that another does not.  Every answer of
 * a decider that differs between the two comes from an entry or a value that
 * is told here.
 */
#ifndef FENCE_POLICY_DIFF_H
#define FENCE_POLICY_DIFF_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/base/buf.h"
#include "policy/keys.h"
#include "policy/policy.h"

/* One difference. */
struct diff_line {
	const struct key	*key;
	bool			 is_more;	/* b lets it through */
	const char		*what;		/* of the call alone */
	const struct origin	*at;
};

/* Those that b lets through, then the others. */
void	 diff_each(const struct policy *a, const struct policy *b,
	    void (*fn)(const struct diff_line *, void *arg), void *arg);
/* "+ network.sni off, was enforce  fence.jsonc:3:5", escaped. */
void	 diff_put(struct buf *, const struct diff_line *);
/*
 * Lines "+ ..." for what b lets through and a does not, then "- ..." for the
 * reverse, each with its place.  Returns the number of the former.
 */
size_t	 diff_policies(const struct policy *a, const struct policy *b,
	    struct buf *);

#endif
