/*
 * kept: the records of the last runs, a file each in the folder "records" of
 * fence's state directory; `fence trace` (launcher/history/) reads them.
 * Lines are those of --trace-file.  A run without refusals leaves no file.
 *
 * The monitor may open nothing for writing once the command runs, so the file
 * is open before: an empty "spareN" that stays there from run to run, locked
 * by the run that has it.  The first record worth keeping gives it its name.
 * So a run without refusals pays for one open() and one lock, beside the
 * start of its jail; a process that keeps files for the monitor would cost a
 * fork, and a file without a name (O_TMPFILE) up to 0.4 ms on ext4.
 *
 * What is there can be read at any moment, also after kill -9: each record is
 * written at once, whole or not at all.  The lock says that the run lasts.
 */
#ifndef FENCE_LAUNCHER_KEPT_H
#define FENCE_LAUNCHER_KEPT_H

#include <stdbool.h>
#include <stdint.h>

#include "launcher/record/event.h"

enum {
	KEPT_RUNS = 20,			/* unless record.keep says otherwise */
	KEPT_BYTES = 16 << 20,		/* of all runs */
	KEPT_RUN_BYTES = 4 << 20,	/* of one */
};

/* In the state directory. */
#define KEPT_FOLDER	"records"
/* 20261120T004106.123Z-ID.jsonl: names are in the order of time. */
enum { KEPT_ID = 32, KEPT_TIME = 20, KEPT_NAME = 59 };
bool	 kept_is_name(const char *name);

/*
 * The folder, 0700; make: it is made where it is missing and there is a state
 * or home directory for it.  -1: none, or not the user's alone.
 */
int	 kept_folder(const char *state, const char *home, bool make);

struct kept;

/*
 * folder_fd (or -1) and run are borrowed.  keep: how many runs; 0, or no
 * folder: NULL, with which every call does nothing.
 */
struct kept	*kept_new(int folder_fd, const struct event_run *,
		    unsigned keep);
/* Before the process gives up opening for writing. */
void	 kept_open(struct kept *);
/* As sink_event(), sink_lost(); what refuses nothing is passed over. */
void	 kept_event(struct kept *, struct event *);
void	 kept_lost(struct kept *, uint64_t n);
/* Is there a file of this run? */
bool	 kept_has_file(const struct kept *);
/* Closes the file; then the oldest files beyond the bounds are removed. */
void	 kept_free(struct kept *);

#endif
