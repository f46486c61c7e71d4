/*
 * gitend: git directories that a run made or changed.  What git would execute
 * from them later, outside, is taken away when the run has ended:
 *
 *	hooks		that are no samples, to quarantine
 *	config, config.worktree
 *			an executing key (gitconf.h) is removed in place; the
 *			file as it was lies in quarantine
 *	gitdir, .git file
 *			of a linked work tree, where the one is new and names
 *			the other out of the roots, where none as new leads back
 *
 * A git directory is a folder with HEAD and either objects and refs, or
 * commondir; also one to which a changed ".git" file or commondir leads, or an
 * unchanged one by a way that the walk does not take.  Those that the guard
 * held in this run are its own, as are those in which nothing changed; of these
 * goes only what nobody held:
 *
 *	symlinks	that the run made, through which git writes elsewhere
 *	rebase-merge/git-rebase-todo, rebase-merge/strategy, sequencer/opts
 *			that the run made or changed and that execute
 */
#ifndef FENCE_LAUNCHER_GITEND_H
#define FENCE_LAUNCHER_GITEND_H

#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "launcher/guard/guard.h"

struct gitend {
	const char *const	*roots;	/* writable trees, absolute, real */
	size_t			 nroots;
	const char *const	*held;	/* git directories the guard held */
	size_t			 nheld;
	/* Others whose configuration and hooks were read-only: they count as
	 * changed only if something that the run made leads to them. */
	const char *const	*still;
	size_t			 nstill;
	struct timespec		 since;	/* CLOCK_REALTIME_COARSE */
	const char		*quarantine;	/* see guard_config */
	/* What the policy opens by its name stays; NULL: nothing. */
	bool			(*is_open)(const char *path, void *arg);
	void			*open_arg;
	/* kind GUARD_GIT; strings are valid during the call. */
	void			(*told)(const struct guard_told *, void *);
	void			*arg;
};

/* Only looks, at a few entries at most: may there be something to do? */
bool	 gitend_is_needed(const struct gitend *);
/* Bounded in entries and time; what was not looked at is told. */
void	 gitend_run(const struct gitend *);

#endif
