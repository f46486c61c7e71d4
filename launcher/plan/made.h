/*
 * made: directories that a run had to make because its policy grants them.
 * A journal in fence's state directory names them; runs that may use them
 * hold a shared lock on it, and the last one to end removes those that are
 * still empty.  What a killed run left, the next one removes.
 */
#ifndef FENCE_LAUNCHER_MADE_H
#define FENCE_LAUNCHER_MADE_H

#include <stdbool.h>

#include "platform/base/err.h"

struct made;

/*
 * state: "…/fence".  To be called before any granted path is looked at.
 * NULL: no journal can be kept, hence nothing be made.
 */
struct made	*made_open(const char *state);
/*
 * Makes it and all above it, 0700.  The path is the real one: a symlink on
 * the way is an error, whoever put it there meanwhile.
 */
int		 made_directory(struct made *, const char *path,
		    struct err *);
/* The same without a journal: what stays.  -1 with errno. */
int		 made_folders(const char *path);
/* Removes what is empty, if no other run may use it; NULL is fine. */
void		 made_close(struct made *);

/*
 * Does a granted name that does not exist look like that of a directory, of
 * this system's?  "~/.cache/x" does; "~/.x.json" and "~/Library/x" do not.
 */
bool		 made_is_directory(const char *path);

#endif
