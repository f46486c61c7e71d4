/*
 * enforce: what a policy asks and this version cannot give.  A restriction,
 * or a value whose enforcer is not built, is an error before anything is
 * started; rules that are guidance are a notice.
 */
#ifndef FENCE_LAUNCHER_ENFORCE_H
#define FENCE_LAUNCHER_ENFORCE_H

#include "platform/base/err.h"
#include "policy/policy.h"

/*
 * Looks at the first layer, in which the strictest of all layers is settled.
 * Calls notice() with whole sentences.
 */
int	 enforce_check(const struct policy *,
	    void (*notice)(const char *text, void *arg), void *arg,
	    struct err *);

#endif
