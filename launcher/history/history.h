/*
 * history: what `fence trace` says of records, those that were kept of runs
 * (launcher/record/kept.h) and those of any --trace-file.  Called by
 * launcher/cli/; prints nothing itself.  All that comes of a record is hostile:
 * bounded, and escaped before it is put into a text.
 */
#ifndef FENCE_LAUNCHER_HISTORY_H
#define FENCE_LAUNCHER_HISTORY_H

#include <stdio.h>

#include "launcher/history/record.h"
#include "platform/base/buf.h"

enum { HISTORY_RECORDS = 200000 };	/* that are looked at, of one trace */

struct history {
	struct arena	*arena;		/* of all strings */
	const char	*shown;		/* file name for messages */
	struct record	*v;		/* in the order of the lines */
	size_t		 n, cap;
	uint64_t	 refusals;	/* with repeats */
	uint64_t	 dropped;
	uint64_t	 bad, first_bad;	/* lines that are no records */
	uint64_t	 left_out;	/* beyond HISTORY_RECORDS */
	bool		 is_cut;	/* the last line has no end */
	const struct record *start, *end;	/* of the run, or NULL */
};

/* Reads to the end; fd is borrowed.  -1: it cannot be read. */
int	 history_read(struct history *, int fd, const char *shown,
	    struct err *);
void	 history_release(struct history *);

/* ---- runs that were kept ---- */

struct history_run {
	const char	*id, *path, *command;
	int64_t		 time_ms;	/* of its first refusal */
	uint64_t	 refusals;
	enum { HISTORY_ENDED, HISTORY_LASTS, HISTORY_KILLED } state;
	int		 exit_status;	/* of one that ended */
};

struct history_runs {
	struct history_run *v;		/* the newest first */
	size_t		 n, cap;	/* vec_release() */
};

/* In the state directory; none is no error. */
int	 history_runs(struct arena *, const char *state,
	    struct history_runs *, struct err *);
/* The newest run that lasts, by its file; *ret NULL: none does. */
int	 history_lasting(struct arena *, const char *state, const char **ret,
	    struct err *);
/*
 * A trace to read: "last", the beginning of a run's name (4 characters or
 * more), or a file; "-" is standard input.
 */
int	 history_open(struct arena *, const char *state, const char *word,
	    int *ret_fd, const char **ret_shown, struct err *);

/*
 * The run that lasts; where none does, the first that is refused something
 * from now on: waits for it.  As history_open().
 */
int	 history_wait(struct arena *, const char *state, int *ret_fd,
	    const char **ret_shown, struct err *);
/*
 * Each line of a trace as it is written, to the end of its run.  Reading does
 * not hold up the run, and a slow reader loses nothing: the file is between
 * them.
 */
int	 history_follow(int fd, const char *shown,
	    void (*line)(const char *, size_t, enum record_kind *ret, void *),
	    void *arg, struct err *);

/* ---- texts, appended ---- */

enum history_by { HISTORY_BY_TIME, HISTORY_BY_RULE, HISTORY_BY_PROCESS,
	HISTORY_BY_OBJECT };

void	 history_put_runs(struct buf *, const struct history_runs *);
void	 history_put_runs_json(struct buf *, const struct history_runs *);
/* One line: which run, what it was, how it ended. */
void	 history_put_head(struct buf *, const struct history *);
/* is_wide: two lines a record, as -m on a terminal. */
void	 history_put_times(struct buf *, const struct history *, bool is_wide);
void	 history_put_groups(struct buf *, const struct history *,
	    enum history_by);
void	 history_put_groups_json(struct buf *, const struct history *,
	    enum history_by);
/* The lines that would allow it, as one JSONC block; "" where none would. */
void	 history_put_policy(struct buf *, const struct history *);
/* One line, as history_put_times(); or again, valid and safe to print.
 * Nothing for what is no record; which kind it was. */
enum record_kind history_put_line(struct buf *, const char *line, size_t len,
	    bool is_wide);
enum record_kind history_put_json(struct buf *, const char *line,
	    size_t len);
/* The records again, each valid JSON that is safe to print; others not. */
int	 history_write_json(int fd, FILE *, struct err *);
/*
 * Follows the chain of hashes (launcher/record/chain.h).  Appends what was
 * found; 0: it holds, 1: it is broken, -1: it cannot be read.
 */
int	 history_verify(struct buf *, int fd, const char *shown,
	    struct err *);
/* Escaped text for people: what is escaped already stays as it is. */
void	 history_put_plain(struct buf *, const char *);

#endif
