/*
 * hook: what `fence hook AGENT` does: one tool call in, one answer out.  The
 * policy is the one that fence-run, started where the tool works, would have;
 * or the one that the hook was installed with.
 */
#ifndef FENCE_LAUNCHER_HOOK_H
#define FENCE_LAUNCHER_HOOK_H

#include <stdbool.h>
#include <stddef.h>

#include "launcher/hooks/agent.h"
#include "launcher/hooks/answer.h"
#include "launcher/options.h"
#include "platform/base/arena.h"

struct hook_options {
	struct run_options	run;	/* settings, template_name */
	bool			wrap;	/* rewrite also for Codex */
	bool			no_wrap;	/* decide only */
};

/*
 * Changes the working directory to the tool's.  env: the process's.  Always
 * answers; answer_release() frees it.
 */
void	 hook_answer(struct arena *, const struct agent *,
	    const struct hook_options *, const char *text, size_t len,
	    char **env, struct answer_out *ret);

/* " --settings '/x y'" or " --template NAME", quoted; nothing for none. */
void	 hook_put_pinned(struct buf *, const struct run_options *);

/* The program of ours that is called `name` ("fence", "fence-run"). */
const char	*hook_program(struct arena *, const char *name);

#endif
