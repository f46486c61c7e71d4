/*
 * agents: the folders of coding agents in a home, each around names of theirs
 * that are guarded (policy/guard.c, GUARD_AGENT).  Where a policy grants such a
 * folder, a run gets a folder of its own in its place: copies of the guarded
 * names, the host's directories of state, and copies of the other files, which
 * are carried back.  launcher/plan/facts_shadow.c plans that,
 * launcher/shadow/ does it.
 */
#ifndef FENCE_POLICY_AGENTS_H
#define FENCE_POLICY_AGENTS_H

#include <stdbool.h>

struct agent_folder {
	/*
	 * Below the home.  Guarded names lie directly in it, or the folder is
	 * one itself.
	 */
	const char		*path;
	/*
	 * Files directly in it, separated by blanks, by which the agent is
	 * logged in: what the command makes of them the host has at once.  ""
	 * for none.
	 */
	const char		*credentials;
};

extern const struct agent_folder	 agent_folders[]; /* ends with NULL */

/*
 * Files directly in a home that an agent looks for to see whether it was ever
 * started, and replaces by a rename: nothing is bound where none is, and the
 * next start is its first one again.  Granted and missing, such a file is made
 * for the run, as an empty object.  Ends with NULL.
 */
extern const struct agent_state {
	const char	*file;
	/*
	 * Inside, the file is also in this folder of agent_folders, where a new
	 * version can be written beside it; the variable makes the agent look
	 * there.  That it cannot be replaced there makes the agent write into
	 * the file, as it does where a folder is on another file system.
	 */
	const char	*folder;
	const char	*variable;
}					 agent_states[];

/* Is `name`, directly in the folder, one of its credentials? */
bool	 agent_is_credential(const struct agent_folder *, const char *name);

#endif
