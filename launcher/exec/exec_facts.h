/*
 * exec_facts: what the decider of command lines may ask about this machine
 * (policy/decide_exec.h, struct exec_world), answered from the disk: which
 * file a word leads to, what ssh and git would read.  Nothing is started; each
 * file is read once, up to a bound, and what cannot be read is not there.
 * For preflight, `fence why`, agents' hooks, and executions while a run lasts.
 */
#ifndef FENCE_LAUNCHER_EXEC_FACTS_H
#define FENCE_LAUNCHER_EXEC_FACTS_H

#include "platform/base/arena.h"
#include "policy/decide_exec.h"

struct exec_facts;

/*
 * env: of the command (PATH, HOME); cwd: where it starts, absolute.  All are
 * borrowed; the facts live in the arena.  root_fd: of the jail that paths are
 * of (exec_root()), where what is hidden from it is not read either; or -1.
 */
struct exec_facts	*exec_facts_new(struct arena *, char *const *env,
			    const char *cwd, int root_fd);
/* The word in command position leads to this path; spares a search. */
void			 exec_facts_know(struct exec_facts *,
			    const char *word, const char *path);
const struct exec_world	*exec_facts_world(const struct exec_facts *);

#endif
