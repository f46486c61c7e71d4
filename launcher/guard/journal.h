/* journal: what the journals of a run (gitjournal.h, agentend.h) share. */
#ifndef FENCE_LAUNCHER_JOURNAL_H
#define FENCE_LAUNCHER_JOURNAL_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/stat.h>

#include "platform/base/buf.h"

/* Records end with NUL: a path may hold everything else. */
void	 journal_put(struct buf *, char kind, const char *text);
/*
 * Into a new file; what is missing above it, but for a home, is made and
 * counted.  The descriptor holds the lock, also in children; -1: not written.
 */
int	 journal_write(const char *path, const struct buf *, unsigned *made);
/* Nobody holds it: its run is over, and so is whoever wanted to sweep it. */
bool	 journal_is_dead(int fd, struct stat *);
/* Is this the name of one of agentend? */
bool	 journal_is_agents(const char *name);
/* The folder of them, O_PATH; state: "…/fence", or NULL.  -1: none. */
int	 journal_folder(const char *state);

#endif
