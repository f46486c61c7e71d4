/*
 * guard: names kept as they were planned, while the run lasts.  A bind mount
 * holds what exists; this holds what does not exist yet, and what the host
 * replaces under a mount (which detaches it in the jail).
 *
 *	GUARD_ABSENT	whatever appears there is moved to quarantine and told
 *	GUARD_READONLY	a file that is replaced by a rename: mounted
 *			read-only again, and told at the end.  Once it was
 *			missing, if only for a moment: as GUARD_ABSENT; a
 *			folder always
 *	GUARD_HIDDEN	replaced, or made for the first time: masked; told at
 *			the end if it was there at the start
 *	GUARD_WRITABLE	a single granted file, replaced: bound again
 *	GUARD_LINK	a symlink, over which nothing can be mounted: what takes
 *			its place is moved to quarantine and told, and the link
 *			is made anew (also when it is merely gone, at the end)
 *
 * When the jail is gone it also looks for git directories that were made or
 * changed (launcher/guard/gitend.h), and at files in which agents keep state
 * beside what they execute (launcher/guard/agentend.h).
 *
 * The folders are opened before the command starts (guard_new()); then a
 * process of its own is forked (guard_start()).  When the run has lasted for
 * some 25 ms the process sets one inotify watch a folder and writes a journal,
 * which lets the next start do the last look should launcher and process be
 * killed together (launcher/guard/gitjournal.h).  It outlives a launcher that is
 * killed long enough to look once more.  It may enter the
 * jail's mount namespace, rename and copy; it has no network and no exec.
 *
 * Limits.  inotify does not say who made a name; hence what the host itself
 * removes and makes again (a checkout, an editor that moves the old file away
 * first) goes to quarantine, too, and so does what was replaced while nothing
 * was watched: in the first moments, the last ones, and when too much happens
 * for the kernel to queue.  Between the host's save and the new mount, about
 * a millisecond, the jail sees the new file bare.
 * Of things that are made again and again at one path the first eight are
 * kept, of the others those that differ.  Quarantine holds 4096 things and 1
 * GiB of a run, half a million files and 4 GiB of all; what comes then is
 * removed, and what was kept stays.  Files older than the run have a quarter
 * more room; beyond that they stay beside their place and are never removed.
 *
 * A thing loses its name at once; copying, comparing and removing are a
 * child's, so that something big does not keep the guard from the next name.
 * What is too big to be removed while guard_finish() waits is told with the
 * place where it still lies, and removed by that child alone.
 */
#ifndef FENCE_LAUNCHER_GUARD_H
#define FENCE_LAUNCHER_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "platform/base/err.h"

enum guard_kind { GUARD_ABSENT, GUARD_READONLY, GUARD_HIDDEN,
	GUARD_WRITABLE, GUARD_LINK,
	/* Of no list: launcher/guard/gitend.h, agentend.h. */
	GUARD_GIT, GUARD_STATE };

/* One path, absolute, no symlink in the part that exists. */
struct guard_path {
	enum guard_kind	 kind;
	const char	*path;
	/* Of what lies there at the start; 0 if nothing does. */
	dev_t		 dev;
	ino_t		 ino;
	const char	*text;	/* GUARD_LINK: where it leads */
	/* GUARD_READONLY: in no tree that the jail may write, so that only
	 * the host makes it again. */
	bool		 is_beyond;
};

struct agentend_file;

/*
 * Other work for the process (launcher/run/shading.c).  A line that is said
 * holds no control character.
 */
struct guard_side {
	/* Descriptors that it needs; the process closes the rest. */
	size_t	(*fds)(void *arg, int *v, size_t max);
	/* The descriptor to poll for reading, or -1. */
	int	(*watch)(void *arg);
	void	(*ready)(void *arg, void (*say)(const char *line, void *),
		    void *say_arg);
	/* The jail is gone, and nobody looked at git directories yet. */
	void	(*end)(void *arg, void (*say)(const char *line, void *),
		    void *say_arg);
	void	*arg;
};

struct guard_config {
	const struct guard_path	*paths;
	size_t			 npaths;
	/*
	 * "…/fence/quarantine/RUN": made, 0700, when something has to go
	 * there; NULL where there is no state directory (then a thing in the
	 * wrong place is removed, and that is told).
	 */
	const char		*quarantine;
	unsigned		 max_planted;	/* in a run; 0: as usual */
	uint64_t		 max_bytes;	/* of all quarantine; same */
	/* Writable trees, in which git directories are looked for. */
	const char *const	*roots;
	size_t			 nroots;
	/* Where the run began, a git directory of the user's; or NULL. */
	const char		*git_dir;
	/* Does the policy open this path by its name?  NULL: none. */
	bool			(*is_open)(const char *path, void *arg);
	void			*arg;
	/* Files of agents that the command may write; path and name. */
	const struct agentend_file *agent_files;
	size_t			 nagent_files;
	/* Of the journal, with a folder that is made; NULL: there is none. */
	const char		*journal;
	/* Borrowed, and held open by the process until it ends; 0 or -1. */
	int			 made_fd;
	const struct guard_side	*side;		/* or NULL */
};

/* What the guard did; strings are valid during the call. */
enum guard_deed {
	GUARD_MOVED, GUARD_REMOVED, GUARD_REMASKED, GUARD_FAILED,
	GUARD_REPLACED,	/* at the end; nobody saw by whom */
	GUARD_FLOODED,	/* too much was planted: once, to end the run */
	GUARD_CLEANED,	/* a git config: without `what`, as it was in `to` */
	GUARD_FOUND,	/* a new .git in an older work tree */
	GUARD_CUT,	/* below path not everything was looked at */
	GUARD_PUT_BACK,	/* GUARD_STATE: all of it is as it was before */
	GUARD_SAID,	/* `what` is a line of guard_side; there is no path */
};

struct guard_told {
	enum guard_deed	 deed;
	enum guard_kind	 kind;
	/*
	 * Of the list; or a folder above it, where a symlink appeared that
	 * led to such a name elsewhere.
	 */
	const char	*path;
	/*
	 * GUARD_MOVED: where it lies now.  In quarantine, or, if that cannot
	 * take it (full, too deep or too big to copy), beside its place as
	 * "NAME.fence-NNNN".  Of folded repeats the first.  GUARD_REMOVED:
	 * where it lies until that is done, or NULL.
	 */
	const char	*to;
	/* GUARD_GIT: keys that are gone; GUARD_STATE: keys that are the
	 * host's again, or why the file could not be read; or NULL. */
	const char	*what;
	/* GUARD_FAILED: errno; GUARD_REMOVED: why it was not kept, or 0. */
	int		 sys;
	unsigned	 count;	/* folded repeats, from 1 */
};

struct guard;

/* Opens what is to be watched.  Nothing to watch is no error. */
struct guard	*guard_new(const struct guard_config *, struct err *);
/*
 * Forks the process.  jail_pid: a process in the jail's mount namespace, or
 * the bwrap around it; one that is gone already is no error.  Should the
 * forked process die, the run goes on and it is told (guard_ready() answers
 * -1 then).
 */
int		 guard_start(struct guard *, pid_t jail_pid, struct err *);
/* To be watched for reading by the caller's loop; -1 if there is none. */
int		 guard_fd(const struct guard *);
/* Reads what was told, without blocking. */
int		 guard_ready(struct guard *, void (*told)(const struct
		    guard_told *, void *arg), void *arg);
/*
 * The command has ended, the jail is about to.  Not needed, but saves some
 * milliseconds: the watches are let go of meanwhile.
 */
void		 guard_ending(struct guard *);
/*
 * The jail is gone: a last look at every path.  Blocks until it is done, with
 * a ceiling; without guard_start(), or if the process died (then it answers
 * -1), it looks itself.
 */
int		 guard_finish(struct guard *, void (*told)(const struct
		    guard_told *, void *arg), void *arg);
void		 guard_free(struct guard *);	/* NULL is fine */

#endif
