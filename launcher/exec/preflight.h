/*
 * preflight: the rules about commands (command.*, ssh.*), asked about the
 * command of a run before anything is started.  What the words cannot tell is
 * refused where command.unseen says so, and otherwise left to the rules that
 * act while the run lasts.
 */
#ifndef FENCE_LAUNCHER_PREFLIGHT_H
#define FENCE_LAUNCHER_PREFLIGHT_H

#include "platform/base/arena.h"
#include "platform/base/err.h"
#include "policy/decide_exec.h"

struct preflight {
	struct arena		*arena;
	const struct policy	*policy;
	char *const		*env;		/* the command's */
	const char		*cwd;
	const char		*line;		/* of -c, or NULL */
	char *const		*argv;		/* else */
	const char		*program;	/* where argv[0] leads, or NULL */
};

/* One verdict, for the error below and for `fence why`. */
void	 preflight_ask(const struct preflight *, struct exec_verdict *ret);
/* -1: refused; the error says which command, which rule and what allows it. */
int	 preflight_check(const struct preflight *, struct err *);

#endif
