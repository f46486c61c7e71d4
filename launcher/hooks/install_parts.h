/* What install.c shares with status.c and trial.c. */
#ifndef FENCE_LAUNCHER_INSTALL_PARTS_H
#define FENCE_LAUNCHER_INSTALL_PARTS_H

#include "launcher/hooks/entry.h"
#include "launcher/hooks/install.h"

/* The agent's file: the one named, or its default; NULL without a home. */
const char	*install_path(const struct install *);
/* A file of the agent's folder, "config.toml". */
const char	*install_beside(const struct install *, const char *name);
/* The home that files are below; NULL: none. */
const char	*install_home(const struct install *);
/* How the agent calls us. */
void	 install_call(const struct install *, struct entry_call *ret);
/* Empty for a file that is missing; *ret_exists says so. */
int	 install_read(const char *path, struct buf *, bool *ret_exists,
	    struct err *);

#endif
