/*
 * gitend_parts: what gitend.c finds and gitend_keep.c takes away.
 */
#ifndef FENCE_LAUNCHER_GITEND_PARTS_H
#define FENCE_LAUNCHER_GITEND_PARTS_H

#include <dirent.h>
#include <limits.h>
#include <stdbool.h>

#include "launcher/guard/gitend.h"
#include "launcher/guard/gitwalk.h"

/* Quarantine, as the guard has it. */
struct gitkeep;

struct gitkeep	*gitkeep_new(const struct gitend *);
void		 gitkeep_free(struct gitkeep *);

/* fd, path: of a git directory.  Both tell what they did. */
void	 gitkeep_config(struct gitkeep *, int fd, const char *path,
	    const char *name, bool (*is_outside)(const char *, void *),
	    void *arg);
/* What a replacement of a file left that did not come to its end. */
void	 gitkeep_rest(struct gitkeep *, int fd, const char *path);
void	 gitkeep_hooks(struct gitkeep *, int fd, const char *path);
/*
 * The text in place of the file; the file as it was goes to quarantine and is
 * told, with `what`, as GUARD_CLEANED.  -1: no room, and nothing was done.
 */
int	 gitkeep_replace(struct gitkeep *, int fd, const char *path,
	    const char *name, const char *text, size_t len, const char *what,
	    mode_t mode);
/* The same, but nothing is kept or told. */
int	 gitkeep_overwrite(int fd, const char *name, const char *text,
	    size_t len, mode_t mode);
/* Something in the folder dir; told: as what it is told. */
void	 gitkeep_take(struct gitkeep *, int dir, const char *dir_path,
	    const char *name, const char *told);

/* gitend_back.c: a path in such a file, lexically clean. */
bool		 gitback_path(const char *text, const char *base,
		    char ret[PATH_MAX]);
/* Is there a file, changed since, that names this path behind begin? */
bool		 gitback_names(const char *file, const struct timespec *since,
		    const char *begin, const char *want);

/* What else git obeys there: gitend_state.c. */
struct gitstate {
	struct gitkeep	*keep;		/* NULL: only looks */
	struct timespec	 since;
	size_t		*left;		/* entries; both bound it */
	int64_t		 end_ms;
	bool		 counts_links;
	unsigned	 pass;
	size_t		 nothers;	/* entries of folders not git's own */
	bool		 has_found;
	bool		 is_cut;	/* not all of it was looked at */
};

/*
 * fd, path: of a git directory, also of one that the guard held.  is_new:
 * whatever its times, all of it counts as made by the run.  Is there
 * anything that is taken, or would be?
 */
bool	 gitstate_look(struct gitstate *, int fd, const char *path,
	    bool is_new);

#endif
