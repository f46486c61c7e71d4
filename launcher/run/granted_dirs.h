/*
 * granted_dirs: directories, and files of an empty object, that a run had to
 * make on the host because its policy grants them, or because something is
 * mounted there.  A journal in
 * fence's state directory names them; runs that may use them hold a shared lock
 * on it, and the last one to end removes those that are still empty.
 *
 * A process forked before the first one is made does that, also when the
 * launcher is killed.  What both left (the machine went down) the next run
 * removes.
 */
#ifndef FENCE_LAUNCHER_GRANTED_DIRS_H
#define FENCE_LAUNCHER_GRANTED_DIRS_H

#include "platform/base/err.h"

struct granted_dirs;

/*
 * state: "…/fence".  To be called before any granted path is looked at.
 * NULL: no journal can be kept, hence nothing be made.
 */
struct granted_dirs	*granted_dirs_open(const char *state);
/*
 * Makes it and all above it, 0700.  The path is the real one: a symlink on
 * the way is an error, whoever put it there meanwhile.
 */
int		 granted_dirs_make(struct granted_dirs *, const char *path,
		    struct err *);
/*
 * Makes a file of "{}", 0600, in a folder that is there; one that is there
 * already is no error.  It is removed if it still holds that.
 */
int		 granted_dirs_make_file(struct granted_dirs *, const char *path,
		    struct err *);
/* The same without a journal: what stays.  -1 with errno. */
int		 granted_dirs_make_lasting(const char *path);
/*
 * A descriptor for processes that put something into these directories even
 * when the launcher was killed: as long as one of them holds it nothing is
 * removed.  It ends with granted_dirs_close().  -1: nothing was made.
 */
int		 granted_dirs_fd(const struct granted_dirs *);
/* Removes what is empty, if no other run may use it; NULL is fine. */
void		 granted_dirs_close(struct granted_dirs *);

#endif
