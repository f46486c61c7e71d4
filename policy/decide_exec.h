/*
 * decide_exec: may these commands run?  Pure: the words are judged, the world
 * is asked through callbacks alone.  Every simple command of a line is, with
 * those behind wrappers (env, sudo, sh -c ...), in their order; the first
 * denial speaks.  Layers (policy->also) must agree, each by its own lists.
 *
 * For one simple command: command.allow permits it; else command.deny refuses
 * it; else the built-in list does (command.useDefaults).  Then the ssh rules
 * are asked, whatever permitted the command.
 */
#ifndef FENCE_POLICY_DECIDE_EXEC_H
#define FENCE_POLICY_DECIDE_EXEC_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/decide.h"
#include "policy/unseen.h"

/*
 * What a decider may ask about the machine; any of them, and the whole, may be
 * NULL: then only the words count.  What a callback returns is read before the
 * next call.
 */
struct exec_world {
	/* The last name of the file that `program` (a word in command
	 * position) really is, symlinks followed, or NULL. */
	const char	*(*real_name)(void *arg, const char *program);
	/* Text of a file that ssh reads: the user's config for NULL, a file
	 * of -F or Include as written; or NULL. */
	const char	*(*ssh_config)(void *arg, const char *path_or_null,
			    size_t *ret_len);
	/* The command of a git alias, or NULL. */
	const char	*(*git_alias)(void *arg, const char *name);
	void		*arg;
};

struct exec_verdict {
	struct verdict	 v;
	char		 command[256];	/* the simple command that spoke */
	size_t		 offset;	/* where it begins in the line */
	enum exec_unseen unseen;	/* the first, whatever the action */
	char		 unseen_text[128];
};

/* A line as for `sh -c`. */
void	 decide_line(const struct policy *, const char *line, size_t len,
	    const struct exec_world *, struct exec_verdict *);
/*
 * One execve, and what its words make it run.  program: the path that is
 * executed, or NULL: argv[0].
 */
void	 decide_argv(const struct policy *, const char *program,
	    const char *const *argv, size_t argc, const struct exec_world *,
	    struct exec_verdict *);
/*
 * The same without looking through wrappers: for a caller that asks again
 * about each exec that follows.  Nothing is unseen then.
 */
void	 decide_argv_alone(const struct policy *, const char *program,
	    const char *const *argv, size_t argc, const struct exec_world *,
	    struct exec_verdict *);
/*
 * Does a rule of the user's or of a template, in any layer, need the words of
 * an exec: more than one word, "re:", a name of many programs, or ssh?
 */
bool	 decide_exec_needs_argv(const struct policy *);
/* Is there any rule about commands but the built-in list? */
bool	 decide_exec_has_rules(const struct policy *);

#endif
