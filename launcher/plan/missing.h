/*
 * missing: directories that a plan needs and that do not exist, and files of
 * agents (policy/agents.h, agent_states).  A plan lists them; run/ makes them and
 * plans again (launcher/run/prepare.h).
 */
#ifndef FENCE_LAUNCHER_MISSING_H
#define FENCE_LAUNCHER_MISSING_H

#include <stdbool.h>
#include <stddef.h>

struct missing_dir {
	const char	*path;		/* real */
	/*
	 * NULL: granted, and removed at the end if it is still empty.  Else a
	 * directory of fence's own, in these words, which the command must
	 * not make itself: it stays.
	 */
	const char	*what;
	/* Granted, a file of "{}": removed if that is all it holds then. */
	bool		 is_file;
};

/*
 * Does a granted name that does not exist look like that of a directory, of
 * this system's?  "~/.cache/x" does; "~/.x.json" and "~/Library/x" do not.
 */
bool	 missing_is_directory(const char *path);

#endif
