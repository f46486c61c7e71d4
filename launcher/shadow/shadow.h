/*
 * shadow: the jail's own copy of an agent's folder (~/.claude).  Names in it
 * that are guarded can be written inside, are seen by later jailed runs, and
 * are never obeyed by the host.
 *
 * The planner says which folders a run shadows and what each name in them is;
 * launcher/run/ calls shadow_begin() before the mounts are made, mounts
 * `source` writable at `path` and the SHADOW_BOUND names of the host over it.
 * The guard's process, which outlives a launcher that is killed, carries state
 * back to the host: shadow_ready() while the run lasts, shadow_end() when the
 * jail is gone.  What a process that was killed left undone, shadow_sweep()
 * does at the next start.  `fence shadow` is launcher/shadow/shadow_cli.h.
 *
 * Promises.  Nothing of the host's is lost: a file of the host is replaced by
 * a rename after the new content was written, never written to, and never
 * where the host changed it meanwhile (but see SHADOW_CREDENTIAL); where the
 * disk is full the jail's version stays in the store and the next start tries
 * again.  All content below `source` is hostile: it is read through open
 * folders, no symlink is followed, and bytes, entries and depth have a
 * ceiling.  Devices, FIFOs, sockets, files of several names and setuid bits
 * never reach the host; a symlink does only in a new folder, where it is
 * relative and stays in that folder.
 *
 * The store is "STATE/shadow", 0700:
 *	version, lock	the format; held by whoever changes anything here
 *	runs/RUN	what a run shadows; locked as long as the run lives
 *	KEY/index	the host's folder, and what each copy began from
 *	KEY/jail/	what is mounted; it holds CARRIED names only while a
 *			run lives, or while they could not be carried
 *	KEY/aside/N/	versions that had to give way
 * No jail may see the store itself: it holds what other policies hide.
 */
#ifndef FENCE_LAUNCHER_SHADOW_H
#define FENCE_LAUNCHER_SHADOW_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "platform/base/err.h"

enum shadow_kind {
	/*
	 * The jail's own, begun from the host's; never written to the host.
	 * To be listed whether or not the host has it: what a run makes under
	 * this name is kept, under a name of no list it is carried.
	 */
	SHADOW_KEPT,
	/*
	 * The caller mounts something there: a folder of the host, a mask.
	 * The store has an empty folder (is_dir) or file as mount point.
	 */
	SHADOW_BOUND,
	/*
	 * A file that is copied in, and back when it changed.  Where the host
	 * changed it, too, the host's stays and the jail's is set aside.  One
	 * that was removed inside is set aside.  A database of SQLite is one
	 * with its journals (NAME-wal, NAME-journal); NAME-shm is never
	 * copied.
	 */
	SHADOW_CARRIED,
	/*
	 * The same, carried while the run lasts (shadow_ready()).  Where both
	 * changed it the one that was written last holds; one that was
	 * removed inside, or emptied, or does not parse any more (NAME.json)
	 * stays on the host.
	 */
	SHADOW_CREDENTIAL,
	/*
	 * Kept, and carried as far as `sift` lets it: the executing keys of
	 * the file stay the host's.
	 */
	SHADOW_SIFTED,
	/*
	 * Neither copied nor carried nor kept: what runs make under this name
	 * is gone when the last of them has ended.
	 */
	SHADOW_FRESH,
};

struct shadow_item {
	const char	*name;		/* directly in the folder: no slash */
	enum shadow_kind kind;
	bool		 is_dir;	/* SHADOW_BOUND: which mount point */
};

struct shadow_folder {
	const char	*path;		/* on the host, real; may be missing */
	const struct shadow_item *items;
	size_t		 nitems;
	/*
	 * Are names of no list, made inside, carried to the host at the end?
	 * Else they are kept.
	 */
	bool		 is_rest_carried;
};

/*
 * What of the jail's version may reach the host.  Both are the whole file,
 * hostile or not; host is NULL where the host has none.  0: *ret has the bytes
 * for the host, and *ret_is_held says that something of the jail's was left
 * out.  -1: none of it may (it does not parse).
 */
typedef int	 shadow_sift_fn(const char *path, const char *host,
		    size_t host_len, const char *jail, size_t jail_len,
		    struct buf *ret, bool *ret_is_held, void *arg);

/*
 * By the tables of launcher/guard/agentconf.h; arg is the home.  A file of no
 * table is carried in no part.
 */
shadow_sift_fn	 shadow_sift_agent;

enum shadow_deed {
	SHADOW_CHANGED,		/* in this run; kept in the store */
	SHADOW_WAS_CARRIED,	/* to the host; for the record alone */
	SHADOW_SET_ASIDE,	/* the jail's version gave way: it is at `to` */
	SHADOW_HOST_ASIDE,	/* the host's did: a newer credential, or it
				 * was removed inside */
	SHADOW_HELD,		/* executing keys stay the host's */
	SHADOW_REFUSED,		/* not carried, see sys; it is at `to` */
	SHADOW_LEFT_OUT,		/* at the start, missing inside: sys */
	SHADOW_FAILED,		/* could not be carried: sys; tried again */
};

/* Strings are valid during the call.  path may hold any byte: escape it. */
struct shadow_told {
	enum shadow_deed deed;
	const char	*path;		/* on the host */
	const char	*to;		/* in the store, or NULL */
	/*
	 * SHADOW_REFUSED: ELOOP a symlink, EMLINK a file of several names,
	 * EFBIG too big, too many, too deep, ENXIO neither file nor folder,
	 * EPERM the host's belongs to another user, ENOBUFS with it one end
	 * would carry too much.  SHADOW_SET_ASIDE: EBADMSG if it does not
	 * parse, ENODATA a credential that is empty.
	 */
	int		 sys;
};

typedef void	 shadow_told_fn(const struct shadow_told *, void *arg);

/*
 * The line for it, without a newline: "~/.claude/settings.json changed ...".
 * home: what "~" stands for, or NULL.
 */
void	 shadow_text(struct buf *, const struct shadow_told *,
	    const char *home);

/* ---- for the planner; pure but for shadow_may() ---- */

/* "STATE/shadow": to be hidden from every jail.  state: "…/fence". */
const char	*shadow_store(struct arena *, const char *state);
/* What is mounted at the folder: "STATE/shadow/KEY/jail". */
const char	*shadow_source(struct arena *, const char *state,
		    const char *folder);
/*
 * May this folder be shadowed: does it and the place of the store belong to
 * the user that runs fence?  No for root with a user's HOME: files of root's
 * would be left there.  Then guarded names stay as they are elsewhere.
 */
bool	 shadow_may(const char *state, const char *folder);

/* ---- a run ---- */

struct shadow;

struct shadow_config {
	const char	*state;		/* "…/fence", made where missing */
	const char	*run_id;	/* a name of its own for each run */
	const struct shadow_folder *folders;
	size_t		 nfolders;
	shadow_sift_fn	*sift;		/* NULL: SIFTED names are kept */
	void		*sift_arg;
	/* What the start has to say; or NULL. */
	shadow_told_fn	*told;
	void		*told_arg;
};

/*
 * Makes the store and fills the folders: from then on each `source` exists and
 * holds a mount point for each SHADOW_BOUND.  Beside another live run nothing
 * is replaced but what neither run nor jail changed.  The run's lock is in a
 * descriptor, which forked processes share: the run lives as long as one of
 * them.  Runs of which none is left are ended first, as by shadow_sweep().
 * NULL: nothing may be started.  ERR_JAIL: the store is of a newer version,
 * busy for half a minute, or could not be written.
 */
struct shadow	*shadow_begin(const struct shadow_config *, struct err *);

/*
 * The descriptors that a process which carries has to keep open: the run's
 * lock.  How many; no more than max are written.
 */
size_t	 shadow_fds(const struct shadow *, int *ret, size_t max);
/*
 * In the process that carries (the guard's): watches the jail's folders.  To
 * be polled for reading; -1: cannot be watched, then all is carried at the
 * end.
 */
int	 shadow_watch(struct shadow *);
/*
 * The descriptor is readable, or has just been made: carries credentials that
 * changed.
 */
void	 shadow_ready(struct shadow *, shadow_told_fn *, void *arg);
/*
 * No process of the jail lives any more: carries, tells what changed, lets the
 * run's lock go.  To be called once, by one of the processes, before git
 * directories below the folders are looked at.
 */
void	 shadow_end(struct shadow *, shadow_told_fn *, void *arg);
/* Frees memory and descriptors alone; what was not ended, is swept. */
void	 shadow_free(struct shadow *);		/* NULL is fine */

/*
 * Ends runs of which no process is left.  Cheap where there is no store.
 * sift: as of shadow_config.
 */
void	 shadow_sweep(const char *state, shadow_sift_fn *, void *sift_arg,
	    shadow_told_fn *, void *arg);

#endif
