/*
 * install: fence's hook in the files of an agent: put there, taken away, and
 * looked at.  Files are replaced as a whole, by rename, where they really
 * lie; what install changed is remembered in fence's state directory, so that
 * uninstall brings back the very bytes.
 */
#ifndef FENCE_LAUNCHER_INSTALL_H
#define FENCE_LAUNCHER_INSTALL_H

#include <stdbool.h>

#include "launcher/hooks/agent.h"
#include "launcher/hooks/hook.h"
#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "platform/base/err.h"

struct install {
	struct arena		*arena;
	const struct agent	*agent;
	struct hook_options	 opts;		/* what is pinned */
	const char		*file;		/* -f, or NULL */
	char			**env;
};

/* What install and uninstall did. */
enum install_done { INSTALL_NOTHING, INSTALL_DONE, INSTALL_RESTORED };

/* What an agent's file is to hold, from nothing. */
int	 install_print(const struct install *, struct buf *ret, struct err *);
/* *ret_path: the file, as it was named or by default. */
int	 install_put(const struct install *, const char **ret_path,
	    enum install_done *ret, struct err *);
int	 install_remove(const struct install *, const char **ret_path,
	    enum install_done *ret, struct err *);

/*
 * Asks the installed hook about a command that the policy denies.  *ret_what:
 * the command; *ret_answer: what it said.  -1: it does not refuse.
 */
int	 install_try(const struct install *, const char **ret_what,
	    const char **ret_answer, struct err *);

/*
 * Lines for people about one agent.  True: it is installed, and nothing is
 * known that would keep it from acting.
 */
bool	 install_status(const struct install *, struct buf *ret,
	    bool *ret_is_installed);

#endif
