/*
 * guard_parts: what the files of the guard share and nobody else sees.
 *
 *	guard.c		the face, and the launcher's end of the socket
 *	guard_loop.c	the process: events, deadlines, the last sweep
 *	guard_names.c	the paths as a tree of names
 *	guard_folder.c	the folders of that tree that exist, and their watches
 *	guard_look.c	what lies under the names
 *	guard_held.c	what lay there at first: saved, or planted?
 *	guard_keep.c	quarantine
 *	guard_chore.c	what takes long, in a child
 *	guard_move.c	things carried to another file system, or removed
 *	guard_same.c	things compared
 *	guard_wide.c	rights that the jail took away
 *	guard_mask.c	mounts put back into the jail
 *	guard_side.c	other work of the process
 *	guard_git.c	git directories of the run, at its end
 *	guard_agents.c	agents' files, at its beginning and end
 */
#ifndef FENCE_LAUNCHER_GUARD_PARTS_H
#define FENCE_LAUNCHER_GUARD_PARTS_H

#include <limits.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/inotify.h>
#include <sys/stat.h>
#include <sys/types.h>

#include "launcher/guard/agentend.h"
#include "launcher/guard/gitend.h"
#include "launcher/guard/guard.h"
#include "launcher/guard/guard_move.h"
#include "platform/base/arena.h"

#define GUARD_MAX_BYTES	((uint64_t)4 << 30)	/* of all quarantine */

enum {
	GUARD_NDEEDS = GUARD_FLOODED + 1,
	GUARD_SINGLE = 8,	/* deeds about a path told one by one */
	GUARD_SPARES = 1024,
	GUARD_WDS = 64,
};

struct name;
struct folder;

/* A thing in quarantine, or beside its place. */
struct kept {
	const struct name	*name;
	uint32_t		 number;
	bool			 is_aside;
};

/* One path of the list. */
enum { GUARD_QUIET_MS = 25 };	/* before the process looks at anything */

struct leaf {
	enum guard_kind	 kind;
	const char	*path;
	const char	*text;		/* GUARD_LINK */
	struct name	*name;
	dev_t		 dev;		/* of what was seen there last */
	ino_t		 ino;
	mode_t		 mode;
	bool		 is_dirty;	/* wants its mount */
	/* What lay there when the run began, or was saved since. */
	int		 held_fd;	/* O_PATH; -1 */
	dev_t		 held_dev;
	ino_t		 held_ino;
	bool		 is_held_dir;
	bool		 was_there;	/* and is held, or was */
	bool		 is_beyond;	/* the jail could not make it */
	bool		 is_gone;	/* nothing lies there, or did once */
	bool		 is_replaced;
	unsigned	 nstale;	/* it was replaced while we mounted */
	struct kept	 kept[GUARD_SINGLE];	/* the first ones */
	unsigned	 nkept;
	/* Told one by one at first, then as a number now and then. */
	unsigned	 ntold;
	int64_t		 told_ms;
	struct due {
		unsigned	count;
		int		sys;
	}		 due[GUARD_NDEEDS];
};

/* One component of a path of the list. */
struct name {
	const char	*text;
	unsigned	 depth;		/* "/" is 0 */
	struct name	*up;
	struct name	**child;	/* sorted by text */
	size_t		 nchild, cap;
	struct leaf	*leaf;		/* the path that ends here, or NULL */
	/* A writable tree of its own: the jail stands on the folder that was
	 * there, and cannot put another one in its place. */
	bool		 is_root;
	/* One here or below that may not come to lie elsewhere. */
	struct leaf	*held;
};

/* A folder that exists, under a name that others are expected below. */
struct folder {
	struct name	*name;
	struct folder	*up;
	int		 fd;		/* O_PATH; -1: found through up */
	int		 wd;		/* -1: not watched */
	dev_t		 dev;
	ino_t		 ino;
	bool		 is_first;	/* was there before the run */
	bool		 is_near;	/* the list speaks of it or above it */
	bool		 is_full;	/* watched for what appears in it */
	bool		 is_dead;
	unsigned	 seen;		/* in this sweep */
	struct folder	*next;		/* all */
	struct folder	*next_wd;	/* same bucket */
};

struct keep {
	char		*dir;		/* NULL: nothing is kept */
	const char	*rest;		/* of it, below base_fd */
	int		 base_fd;	/* the part that existed */
	int		 fd;		/* -1: not made yet */
	uint32_t	 number;	/* of the last thing */
	uint32_t	 nthings;	/* that are kept */
	/* Repeats, until it is known whether they are worth keeping. */
	struct spare {
		struct leaf	*leaf;
		struct kept	 kept;
		int64_t		 at_ms;
	}		 spare[GUARD_SPARES];
	size_t		 first_spare, nspares;
	uint64_t	 nbytes;	/* of this run */
	uint64_t	 max_bytes;	/* of all */
	struct weight	 others;	/* of earlier runs */
	struct move	 move;
};

/* What a child does: see guard_chore.c. */
enum chore_kind {
	CHORE_CARRY,		/* from beside its place to quarantine */
	CHORE_REMOVE,
	CHORE_WEIGH,
	CHORE_COUNT,		/* all that is in quarantine */
};

struct chore {
	enum chore_kind	 kind;
	int		 place;
	struct leaf	*leaf;
	struct kept	 from, to;
};

enum { MAX_CHORES = 1024, CHORE_PLACES = 32, CHORE_TRIES = 3 };

struct chores {
	struct chore	 v[MAX_CHORES], busy[MAX_CHORES];
	unsigned	 n, nbusy, nspares;
	struct chore_place {
		int	fd;
		dev_t	dev;
		ino_t	ino;
	}		 place[CHORE_PLACES];
	unsigned	 nplaces;
	pid_t		 pid;
	int64_t		 fork_ms;	/* when it was made */
	struct chore_shared {
		volatile bool	 is_last;	/* the run is over */
		volatile bool	 is_hurried;	/* wait for no writer */
		volatile bool	 is_stopped;	/* copy no more */
		volatile bool	 is_waiting;	/* all but for writers */
		volatile int64_t beat_ms;
		uint64_t	 copied;
		bool		 is_repeat[GUARD_SPARES];
		struct chore_result {
			volatile bool	is_done;
			int		sys;
			unsigned	ncopies;
			struct weight	weight;
		}		 result[MAX_CHORES];
	}		*shared;
};

/* What the launcher, the process and its children see of each other. */
struct guard_shared {
	bool		 has_journal;	/* it may lie there, if only in part */
	unsigned	 journal_made;	/* folders above, for it */
	int		 results[];	/* one a leaf: guard_mask.c */
};

struct guard {
	struct arena	*arena;
	struct leaf	*leaves;
	size_t		 nleaves;
	struct name	 root;
	struct folder	*top;		/* "/" */
	struct folder	*folders;	/* newest first */
	struct folder	*dead;
	struct folder	*by_wd[GUARD_WDS];
	unsigned	 nheld;		/* descriptors of folders */
	unsigned	 nsweeps;
	unsigned	 nfound;	/* things that were in the way */
	int		 inotify_fd;
	struct keep	 keep;
	struct chores	 chores;
	unsigned	 nplanted, max_planted;
	/* 0, or -1: cannot be told now. */
	/* Without a leaf: of GUARD_GIT. */
	int		(*tell)(struct guard *, const struct guard_told *,
			    const struct leaf *, unsigned up);
	size_t		 ndue;
	bool		 is_final;	/* the jail is gone */
	bool		 must_sweep;
	bool		 is_blind;	/* not all could be watched */
	bool		 is_over;	/* nothing more is to be watched */
	bool		 is_process;	/* this is the guard's own process */

	struct gitend	 git;
	const char	*journal;	/* NULL: none is kept */
	int		 journal_fd;	/* of the process: it is locked; -1 */
	int		 made_fd;	/* only held; borrowed; -1 */
	bool		 is_git_due;	/* nobody has looked yet */

	struct agentend	 agents;
	const char	*agents_journal;	/* NULL: none is kept */
	unsigned	 agents_made;		/* folders above, for it */
	int		 agents_fd;	/* of it: it is locked; -1 */
	bool		 is_agents_due;

	struct guard_side side;
	int		 side_fd;	/* of the process; -1 */
	bool		 is_side_due;	/* its end was not done */

	/* The process; in the process itself pid is 0. */
	pid_t		 pid;
	int		 sock;
	pid_t		 jail_pid;
	int		 jail_fd;	/* pidfd */
	int64_t		 start_ms;	/* of the process */
	pid_t		 ended_pid;	/* of one to be reaped */
	struct guard_shared *shared;	/* NULL: no process */
	bool		 is_lost;	/* it died */
	bool		 is_done;
	void		(*told)(const struct guard_told *, void *);
	void		*told_arg;
};

/* To the process: one byte. */
#define GUARD_ENDING	"e"
#define GUARD_FINISH	"f"

/* From it: up to the end of `to`. */
enum { GUARD_MAGIC = 0x66677264, GUARD_SAYS_TOLD = 1, GUARD_SAYS_DONE = 2,
	GUARD_SAYS_GIT = 3,	/* `to` holds what guard_git_pack() put there */
	GUARD_SAYS_LINE = 4 };	/* `to` is a line of guard_side */

struct guard_msg {
	uint32_t	magic;
	uint16_t	what;
	uint16_t	up;		/* components above the path */
	uint32_t	deed;
	uint32_t	index;
	uint32_t	count;
	int32_t		sys;
	char		to[3 * PATH_MAX];
};

int64_t	 guard_now(void);		/* ms, since some moment */

/* names */
int	 guard_names(struct guard *, const struct guard_config *,
	    struct err *);
struct name	*guard_name_find(const struct name *, const char *text);
/* -1 if it is longer than a path can be. */
int	 guard_name_path(const struct name *, char ret[PATH_MAX]);

bool	 guard_is_mounted(const struct leaf *);	/* held by a mount? */

/* folder */
int	 guard_folders(struct guard *, struct err *);	/* opens them */
int	 guard_folders_watch(struct guard *);	/* -1: not all; errno */
void	 guard_folders_unwatch(struct guard *);
/* Where it is now, whatever its name became.  tmp: -1, or to be closed. */
int	 guard_folder_fd(const struct folder *, int *tmp);
int	 guard_open_below(int fd, const char *name);	/* O_PATH */
/* Takes the descriptor.  NULL if there is no memory. */
struct folder	*guard_folder_add(struct guard *, struct folder *up,
	    struct name *, int fd);
/* Once all that needed the descriptor is done. */
void	 guard_folder_settle(struct guard *, struct folder *);
int	 guard_folder_watch(struct guard *, struct folder *, int fd,
	    bool is_full);
void	 guard_folder_unwatch(struct guard *, struct folder *);
struct folder	**guard_bucket(struct guard *, int wd);
/* With all below it.  Their memory lives until guard_folder_bury(). */
void	 guard_folder_drop(struct guard *, struct folder *);
void	 guard_folder_bury(struct guard *);
void	 guard_folders_free(struct guard *);

/* look */
void	 guard_look_event(struct guard *, const struct inotify_event *);
void	 guard_look_all(struct guard *);

/* held */
void	 guard_held_open(struct guard *);
void	 guard_held_close(struct guard *);
bool	 guard_held_is(const struct leaf *, const struct stat *);
/*
 * May the jail have made what lies there now?  event: the mask of inotify's
 * that led here, or 0.
 */
bool	 guard_held_is_planted(const struct guard *, const struct folder *,
	    const struct leaf *, const struct stat *, uint32_t event);
/* Something else lies there, and stays. */
void	 guard_held_replaced(struct leaf *, int dir, const struct stat *);
void	 guard_held_tell(struct guard *);

/* keep */
void	 guard_keep_init(struct keep *, const char *dir);
/*
 * Whatever lies under that name in the folder goes.  0 also if nothing does;
 * -1 if it is still there and will be tried again.
 */
int	 guard_keep_take(struct guard *, int dir_fd, const struct name *);
int	 guard_kept_path(const struct guard *, const struct kept *,
	    char ret[PATH_MAX]);
void	 guard_kept_name(const struct kept *, char ret[NAME_MAX + 1]);
/* It lies there now: told. */
void	 guard_keep_note(struct guard *, struct leaf *, const struct kept *);
void	 guard_keep_release(struct keep *);
/* Of the spares, oldest first: how many may be judged by now; is that one a
 * repeat (then it is removed); and the oldest one was judged. */
unsigned guard_spares_due(const struct guard *);
bool	 guard_spare_judge(struct keep *, unsigned);
void	 guard_spare_done(struct keep *, bool is_repeat);

/* chore: false if the list is full. */
bool	 guard_chore(struct guard *, enum chore_kind, int dir, struct leaf *,
	    const struct kept *from, const struct kept *to);
void	 guard_chores(struct guard *);		/* begins and ends them */
bool	 guard_chores_wait(const struct guard *);	/* for that */
void	 guard_chores_last(struct guard *);
void	 guard_chores_free(struct guard *);

/* git: see launcher/guard/gitend.h */
void	 guard_git_init(struct guard *, const struct guard_config *);
void	 guard_git_start(struct guard *);
/* In the process, once the run has lasted for a while. */
void	 guard_git_journal(struct guard *);
/* It goes, if the process began one.  May be called again. */
void	 guard_git_unjournal(struct guard *);
/* Of a short run: is there nothing to do?  Then it is done. */
bool	 guard_git_is_over(struct guard *);
void	 guard_git_last(struct guard *);
/* Of the last things; arg: the guard. */
void	 guard_tell_end(const struct guard_told *, void *arg);
size_t	 guard_git_pack(const struct guard_told *, char *text, size_t size);
bool	 guard_git_unpack(const char *text, size_t len,
	    struct guard_told *ret);

/* agents: see launcher/guard/agentend.h */
void	 guard_agents_init(struct guard *, const struct guard_config *);
/* Before the command starts. */
int	 guard_agents_start(struct guard *, struct err *);
bool	 guard_agents_is_over(const struct guard *);	/* nothing to do? */
void	 guard_agents_last(struct guard *);
/* May be called again. */
void	 guard_agents_unjournal(struct guard *);

/* side: in the process; without one nothing is done. */
void	 guard_side_watch(struct guard *);
void	 guard_side_ready(struct guard *);
void	 guard_side_last(struct guard *);
bool	 guard_side_is_line(const char *text);

/* mask: false if the jail is not there yet and it is to be tried again. */
bool	 guard_mask(struct guard *);

/* Telling, with repeats folded. */
void	 guard_say(struct guard *, struct leaf *, enum guard_deed, int sys,
	    const struct kept *);

/* The last look, in whatever process this is. */
void	 guard_last(struct guard *);

_Noreturn void	 guard_main(struct guard *);

#endif
