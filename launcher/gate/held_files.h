/*
 * held_files: calls on files that the jail holds, and calls that its filter
 * refuses.  The looker (platform/looker.h) says which of the former will be
 * refused; the record is made while the caller waits, and then the call goes
 * on and is refused by the kernel.  Of the latter the answer is the refusal.
 */
#ifndef FENCE_LAUNCHER_HELD_FILES_H
#define FENCE_LAUNCHER_HELD_FILES_H

#include "launcher/gate/held_calls.h"

struct held_files;

struct held_files_config {
	struct loop		*loop;
	struct witness		*witness;
	struct held_calls	*calls;
	const struct jail_spec	*spec;		/* its names; borrowed */
	int			 looker_fd;	/* borrowed */
	/* The tracer receives the calls, and the looker is asked. */
	bool			 is_asked;
	/* Said of the run; each at most once. */
	void			(*blind)(void *arg);	/* of some paths */
	void			(*lost)(void *arg);	/* of all */
	void			*arg;
};

/* NULL: out of memory. */
struct held_files	*held_files_new(const struct held_files_config *);
/*
 * Does a single file that may be written lie in the path's folder, by the table
 * of shim/wire.h?  A save beside it the shim makes elsewhere, and tells what
 * it cannot make.  Pure.
 */
bool		 held_files_is_staged(const char *names, size_t len,
		    const char *path);
void		 held_files_free(struct held_files *);	/* NULL is fine */

#endif
