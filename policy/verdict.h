/* verdict: how the decide_* functions fill in their answer. */
#ifndef FENCE_POLICY_VERDICT_H
#define FENCE_POLICY_VERDICT_H

#include "policy/decide.h"

/* An entry spoke.  reason and remedy are empty afterwards. */
void	 verdict_entry(struct verdict *, enum action, const char *key,
	    const struct strlist *, size_t index);
/* No entry of the list spoke; reason says so. */
void	 verdict_default(struct verdict *, enum action, const char *key,
	    const struct strlist *);
/* A rule that is no list: a switch of the policy, or built in. */
void	 verdict_rule(struct verdict *, enum action, const char *rule,
	    struct origin);
void	 verdict_reason(struct verdict *, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
/* A value that does not fit leaves no remedy rather than a wrong one. */
void	 verdict_remedy(struct verdict *, const char *key, const char *fmt,
	    ...) __attribute__((format(printf, 3, 4)));
/* The one-shot option that does the same; nothing without a remedy. */
void	 verdict_flag(struct verdict *, const char *flag);

#endif
