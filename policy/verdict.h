/* verdict: how the decide_* functions fill in their answer. */
#ifndef FENCE_POLICY_VERDICT_H
#define FENCE_POLICY_VERDICT_H

#include "policy/decide.h"

/* An entry spoke.  reason and remedy are empty afterwards. */
void	 verdict_entry(struct verdict *, enum action, size_t key,
	    const struct strlist *, size_t index);
/* No entry of the list spoke; reason says so. */
void	 verdict_default(struct verdict *, enum action, size_t key,
	    const struct strlist *);
/* A single value of the policy. */
void	 verdict_key(struct verdict *, enum action, size_t key,
	    struct origin);
/* Nothing that a key names: RULE_PLACE and those behind it. */
void	 verdict_rule(struct verdict *, enum action, enum rule_id,
	    const char *text, struct origin);
void	 verdict_reason(struct verdict *, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
/* value: may be NULL; one that does not fit leaves no remedy rather than a
 * wrong one. */
void	 verdict_remedy(struct verdict *, enum remedy_kind, size_t key,
	    const char *value);
/*
 * To add the path as an entry that means it and nothing else, with "~" for
 * home; NULL: without.
 */
void	 verdict_remedy_path(struct verdict *, size_t key, const char *home,
	    const char *path);
void	 verdict_remedy_number(struct verdict *, enum remedy_kind, size_t key,
	    unsigned number);
/* There is a one-shot option that does the same; nothing without a remedy. */
void	 verdict_flag(struct verdict *);

#endif
