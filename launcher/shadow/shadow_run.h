/*
 * shadow_run: which runs live, what each shadows, and which have nobody left to
 * end them.  A run is a file in runs/, locked by the processes of the run.
 * Private to this room.
 */
#ifndef FENCE_LAUNCHER_SHADOW_RUN_H
#define FENCE_LAUNCHER_SHADOW_RUN_H

#include <stdbool.h>
#include <stddef.h>

#include "launcher/shadow/shadow.h"
#include "launcher/shadow/shadow_store.h"
#include "platform/base/err.h"

struct run_folder {
	char		*path;
	bool		 is_rest_carried;
	struct { struct shadow_item *v; size_t n, cap; } items;
};

struct run {
	char		*id;
	int		 fd;		/* locked */
	struct { struct run_folder *v; size_t n, cap; } folders;
};

/*
 * Writes it down, under the store's lock.  The run's lock is in its fd.  Until
 * run_begun() (-1 with errno) there is nothing to end if we are killed.
 */
int	 run_create(const struct store *, const char *id,
	    const struct shadow_folder *, size_t n, struct run *ret,
	    struct err *);
int	 run_begun(const struct run *);
/*
 * The next one that nobody holds: 1, and it is held; 0: no more.  *list begins
 * as NULL and is freed by the last call.  One that is incomplete is removed.
 */
int	 run_next_dead(const struct store *, void **list, struct run *ret);
/*
 * Do all live runs treat each name as this one does?  Else what is kept by the
 * policy of one could be carried by another's.  -1: ERR_JAIL.
 */
int	 run_fits(const struct store *, const struct run *, struct err *);
/* Does another run than this (or NULL) live? */
bool	 run_others_live(const struct store *, const char *id);
bool	 run_has_dead(const struct store *);	/* without any lock */
/* is_done: its file goes; else the next start takes it up. */
void	 run_close(const struct store *, struct run *, bool is_done);
void	 run_release(struct run *);	/* memory and descriptor alone */

#endif
