/*
 * shell: the words that run the line of -c.  Nothing else here uses a shell.
 */
#ifndef FENCE_LAUNCHER_SHELL_H
#define FENCE_LAUNCHER_SHELL_H

#include "launcher/options.h"
#include "platform/base/arena.h"
#include "platform/base/err.h"

/* Options that say how -c runs, without it, or with words beside it. */
int	 shell_check(const struct run_options *, char *const *argv,
	    struct err *);

/*
 * With -c: the shell, its option and the line as it was given.  Whether the
 * shell is there is for who looks for the program, the first of the words.
 */
int	 shell_words(struct arena *, const struct run_options *,
	    char *const *env, char ***ret_argv, struct err *);

#endif
