/*
 * stage: a single granted file survives being saved by rename.  Such a file
 * is bound writable into a folder that is not, so neither can a sibling be
 * made (name.tmp.123, .name.swp, name.lock) nor can it be renamed over the
 * file, which is a mount point.
 *
 * The siblings are therefore kept in a private folder below /tmp, and one that
 * is renamed over the granted file has its bytes written into that, in place:
 * the host sees a new file and nothing else.  Nothing is carried back that
 * does not end up under the granted name.
 *
 * The kernel is always asked first.  What it does counts, and so does every
 * sibling that really lies in the folder; only of a name that is not there is
 * it said that it is somewhere else.
 */
#ifndef FENCE_SHIM_STAGE_H
#define FENCE_SHIM_STAGE_H

#include "shim/report.h"
#include "shim/table.h"

/* "/tmp/.fence-saves/DEV-INO/NAME" */
enum { STAGE_PATH_MAX = 18 + 20 + 1 + 20 + 1 + TABLE_LEAF_MAX + 1 };

static inline bool
stage_on(void)
{
	return __builtin_expect(table_get()->first_file != 0, 0);
}

/*
 * After a call that failed: true if the path is that of a sibling, and what
 * to name instead.  makes: the folder is prepared for it.  Keeps errno.
 */
SHIM_HIDDEN bool stage_find(int dir_fd, const char *path, bool makes,
	    char ret_path[STAGE_PATH_MAX]);

/*
 * Runs the expression again, with the path "staged", if the result says that
 * the call failed and the path is that of a sibling.
 */
#define STAGED(result, failure, dir_fd, path, makes, expr)		\
	do {								\
		char staged[STAGE_PATH_MAX];				\
									\
		if ((result) == (failure) && stage_on() &&		\
		    stage_find(dir_fd, path, makes, staged))		\
			(result) = (expr);				\
	} while (0)

/*
 * After a rename or link that failed: false if this is not ours.  Else the
 * result is what it is to be, errno with it, and a save that failed is told.
 */
SHIM_HIDDEN bool stage_rename(int from_fd, const char *from, int to_fd,
	    const char *to, unsigned int flags, int *result);
SHIM_HIDDEN bool stage_link(int from_fd, const char *from, int to_fd,
	    const char *to, int flags, int *result);

/*
 * Tells of a refused call as report_path() does, or names the granted file's
 * folder where that is what a save wants.
 */
SHIM_HIDDEN void stage_report(struct told, int dir_fd, const char *path);
/* The same where the granted file itself was to go away or be replaced. */
SHIM_HIDDEN void stage_report_change(struct told, int dir_fd,
	    const char *path);

/* Is this one of the names that a save of a file would use? */
SHIM_HIDDEN bool stage_is_sibling(const char *file, const struct leaf *);

#endif
