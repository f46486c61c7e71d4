/*
 * answer: a decision about a tool call, in the words of the agent that asked.
 * Pure: what goes to stdout and stderr, and the exit status.  stdout is one
 * JSON object or nothing, never more.
 */
#ifndef FENCE_LAUNCHER_HOOK_ANSWER_H
#define FENCE_LAUNCHER_HOOK_ANSWER_H

#include "launcher/hooks/agent.h"
#include "launcher/hooks/input.h"
#include "platform/base/buf.h"

enum answer_kind {
	ANSWER_NONE,		/* nothing that we judge */
	ANSWER_ALLOW,		/* as it is */
	ANSWER_REWRITE,		/* with `text` as the command */
	ANSWER_DENY,		/* text: why */
	ANSWER_ERROR,		/* text: what went wrong; nothing may run */
};

struct answer {
	enum answer_kind kind;
	const char	*text;
};

struct answer_out {
	struct buf	 out, err;
	int		 status;
};

/* in may be NULL for ANSWER_ERROR. */
void	 answer_put(const struct agent *, const struct hook_input *in,
	    const struct answer *, struct answer_out *ret);
void	 answer_release(struct answer_out *);

#endif
