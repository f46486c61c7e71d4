/*
 * facts: what the policy's paths are on this disk.  The I/O of planning, and
 * the refusals that can only be made once one has looked.  launcher/plan/mounts.c
 * turns the facts into mounts.
 *
 *	facts.c		entries of the policy, fence's own files
 *	facts_guard.c	guarded names; facts_look.c: one by one
 *	facts_places.c	where names are guarded; facts_repo.c: repositories
 *	facts_gitdir.c	the workspace's git directory, where it lies elsewhere
 *	facts_after.c	what the planned mounts leave to the guard
 *	facts_shadow.c	agents' folders that are replaced
 *	facts_state.c	agents' files that are made because they are granted
 *	facts_secret.c	keys of the machine's, hidden from root's runs
 *	facts_socket.c	unix sockets of the host; stray.c finds odd ones
 *	facts_check.c	refusals
 */
#ifndef FENCE_LAUNCHER_FACTS_H
#define FENCE_LAUNCHER_FACTS_H

#include <stdbool.h>
#include <stddef.h>

#include "launcher/guard/guard.h"
#include "launcher/plan/missing.h"
#include "launcher/plan/mounts.h"
#include "platform/base/arena.h"
#include "platform/base/err.h"
#include "policy/policy.h"

struct exec_file;
struct shadow_folder;

struct facts {
	struct mount_fact	*v;
	size_t			 n, cap;
	/* What no mount holds: names that are missing. */
	struct guard_list {
		struct guard_path	*v;
		size_t			 n, cap;
	}			 guards;
	/* Sockets that the walk saw; which of them live, facts_socket.c
	 * finds out. */
	struct path_list	 sockets;
	/* Folders of other work trees are read-only in a git directory that
	 * may be written. */
	bool			 has_others;
	/* The git directory that git finds where the run begins, or NULL. */
	const char		*git_dir;
	struct {
		struct missing_dir	*v;
		size_t			 n, cap;
	}			 missing;
	/* Agents' folders that are the jail's own. */
	struct {
		struct shadow_folder	*v;
		size_t			 n, cap;
	}			 shadows;
	const char		*store;	/* where these lie; or NULL */
	/* NAME=VALUE, for the agents in them. */
	struct path_list	 variables;
};

struct facts_request {
	struct arena	*arena;
	struct policy	*policy;	/* first layer; gets policy_own() */
	const char	*cwd;
	/* fence's state directory; NULL: agents' folders are not shadowed. */
	const char	*state;
	/* Paths as the command will spell them: HOME, PWD. */
	const char	*ways[2];
	size_t		 nways;
	/* Missing directories that are granted are planned as if they were
	 * there, and listed; else they stay unwritable. */
	bool		 as_if_made;
	/* --expose-host-path, --expose-host-path-rw. */
	struct exposed {
		const char	*path;
		bool		 is_writable;
	}		*exposed;
	size_t		 nexposed;
	/* Programs that are denied by their files. */
	const struct exec_file	*programs;
	size_t		 nprograms;
	/* fence's own: policy files in force, record, programs. */
	const struct own_file {
		const char	*path;
		const char	*what;
		/* A directory that is listed as missing where the command
		 * could make it in our stead. */
		bool		 must_exist;
		/* Where it was opened to be written, or NULL. */
		const char	*opened;
	}		*own;
	size_t		 nown;
	/* For lines to the user. */
	void		(*notice)(const char *text, void *arg);
	void		*arg;
};

int	 facts_gather(const struct facts_request *, struct facts *,
	    struct err *);
void	 facts_release(struct facts *);
/* After planning: is each writable tree one that can be made so? */
int	 facts_check_roots(const struct path_list *, struct err *);
/* After planning: what mounts hold must be held again when the host
 * replaces it. */
void	 facts_guard_mounts(struct facts *, const struct mounts *);
/* The table for the shim (shim/wire.h, WIRE_TABLE). */
void	 facts_names(const struct facts *, const struct mounts *,
	    struct buf *);

#endif
