/*
 * policywatch: --watch-policy.  The policy files of a run are watched; when
 * one changes, the policy is resolved anew, and its part about the network
 * is the monitor's from then on.  What is not valid, or no longer trusted,
 * changes nothing and is told, once.  Connections that are open stay.
 */
#ifndef FENCE_LAUNCHER_POLICYWATCH_H
#define FENCE_LAUNCHER_POLICYWATCH_H

#include "launcher/gate/monitor.h"
#include "launcher/plan/plan.h"
#include "launcher/record/witness.h"
#include "platform/loop.h"

struct policywatch;

struct policywatch_config {
	struct loop		*loop;
	const struct plan	*plan;
	struct monitor		*monitor;
	struct witness		*witness;
};

/*
 * Before the monitor is confined: what it needs it opens here.  All that the
 * config names outlives it, but for the monitor, which goes first.
 */
struct policywatch	*policywatch_new(const struct policywatch_config *,
			    struct err *);
void			 policywatch_free(struct policywatch *);

#endif
