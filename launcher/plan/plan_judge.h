/*
 * plan_judge: the planned mounts asked about once more.  The planner turns
 * facts into mounts by the order of their paths; here each mount that grants
 * is put to the decider again, and each denial is looked for among the mounts.
 * A difference is a mistake of ours: the run does not start.
 */
#ifndef FENCE_LAUNCHER_PLAN_JUDGE_H
#define FENCE_LAUNCHER_PLAN_JUDGE_H

#include "launcher/plan/facts.h"
#include "launcher/plan/mounts.h"
#include "platform/base/err.h"
#include "policy/policy.h"

/* The policy knows its places (policy->places). */
int	 plan_judge(const struct policy *, const struct facts *,
	    const struct mounts *, struct err *);

#endif
