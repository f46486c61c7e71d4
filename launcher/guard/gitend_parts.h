/*
 * gitend_parts: what gitend.c finds and gitend_keep.c takes away.
 */
#ifndef FENCE_LAUNCHER_GITEND_PARTS_H
#define FENCE_LAUNCHER_GITEND_PARTS_H

#include <dirent.h>

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

#endif
