/*
 * agentend: files of agents that hold state and settings (agentconf.h) and lie
 * where a run may write them.  They are read before the command starts; when
 * the jail is gone, what the agent would execute outside is the host's again,
 * and the file as the run left it lies in quarantine.
 *
 * Nobody knows who wrote a key: a change that the host's own agent made to such
 * a key during the run is undone as well.  Runs that overlap all compare with
 * the contents that the first of them found.  A journal beside the others
 * (gitjournal.h) holds these contents; it is written before the command starts,
 * so that the next start can finish the work of a run that was killed.
 */
#ifndef FENCE_LAUNCHER_AGENTEND_H
#define FENCE_LAUNCHER_AGENTEND_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>
#include <time.h>

#include "launcher/guard/guard.h"
#include "platform/base/arena.h"
#include "platform/base/err.h"

/* One file, there or not. */
struct agentend_file {
	const char	*path;		/* absolute, no symlink in it */
	const char	*name;		/* for agentconf_find() */
	/* What agentend_begin() found; before is NULL if there was none. */
	const char	*before;
	size_t		 len;
	mode_t		 mode;
	ino_t		 ino;
};

struct agentend {
	struct agentend_file	*files;
	size_t			 nfiles;
	struct timespec		 since;	/* CLOCK_REALTIME_COARSE */
	const char		*quarantine;	/* see guard_config */
	/* kind GUARD_STATE; strings are valid during the call. */
	void			(*told)(const struct guard_told *, void *);
	void			*arg;
};

/*
 * Reads the files and writes the journal, "…/fence/runs/RUN.agents"; NULL: no
 * journal.  *ret_fd holds its lock, or is -1.  -1: a file cannot be read or
 * is too long, so that nothing could be put back.
 */
int	 agentend_begin(struct agentend *, struct arena *,
	    const char *journal, unsigned *made, int *ret_fd, struct err *);
/* Only looks at names and times: may there be something to do? */
bool	 agentend_is_needed(const struct agentend *);
void	 agentend_run(const struct agentend *);
/* Of runs that were killed; state: "…/fence". */
void	 agentend_sweep(const char *state,
	    void (*told)(const struct guard_told *, void *), void *arg);

#endif
