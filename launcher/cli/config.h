/* config: what the files of `fence config` and `fence import` share. */
#ifndef FENCE_LAUNCHER_CONFIG_H
#define FENCE_LAUNCHER_CONFIG_H

#include "launcher/cli/cmd.h"
#include "policy/resolve.h"

extern const struct opt	config_init_opts[];
cmd_fn			config_init;

/*
 * Where the user's own policy goes.  -1: one of another name is there, which
 * it would stand beside.
 */
int	 config_user_path(struct arena *, const struct resolve_request *,
	    const char **ret, struct err *);
/*
 * Writes a policy; a file that is there is replaced if force, or the user on
 * standard input, says so.  Returns the exit status.
 */
int	 config_write(const char *path, const struct buf *, bool force,
	    struct err *);

/* Asks on standard output; is the answer yes? */
bool	 config_ask(const char *question);

#endif
