/*
 * exec_judge: what the policy says of one execution, as it was asked for or as
 * it is loaded (platform/calls.h).  Pure, but for what the execution names.
 */
#ifndef FENCE_LAUNCHER_EXEC_JUDGE_H
#define FENCE_LAUNCHER_EXEC_JUDGE_H

#include <stdbool.h>

#include "platform/base/buf.h"
#include "platform/calls.h"
#include "policy/decide_exec.h"
#include "policy/policy.h"

struct exec_judge {
	const struct policy	*policy;
	/* The environment that the command itself gets: none of its variables
	 * was set by a program inside. */
	char *const		*envp;
	/* What ssh and git would read; NULL: nobody looks. */
	const struct exec_world	*world;
	bool			 has_rules;	/* of commands, by argv */
	bool			 has_loader;	/* env.loader: refuse */
};

struct exec_judged {
	struct exec_verdict	 verdict;
	const struct exec_step	*step;		/* of what was refused */
};

/* True: it is refused, and ret says why. */
bool	 exec_judge(const struct exec_judge *, const struct held_exec *,
	    struct exec_judged *ret);
/*
 * What the refused program's standard error is told, with its newline and at
 * most max bytes; no control bytes.
 */
void	 exec_judge_line(const struct exec_judged *, bool is_final,
	    size_t max, struct buf *);

#endif
