/*
 * agent_files: which files of agents, of those that hold state beside what the
 * agent executes (launcher/guard/agentconf.h), a planned run may write.
 * Guarded names are not among them: they are read-only, or the policy opens
 * them by name.
 */
#ifndef FENCE_LAUNCHER_AGENT_FILES_H
#define FENCE_LAUNCHER_AGENT_FILES_H

#include "launcher/guard/guard.h"
#include "launcher/plan/plan.h"

/* Sets agent_files and nagent_files, in the arena of the plan. */
void	 agent_files_plan(const struct plan *, struct guard_config *);

#endif
