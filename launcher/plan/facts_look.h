/*
 * facts_look: what the guarded names are in one folder, name by name.  A name
 * may have slashes; folders that several names share are looked at once.
 */
#ifndef FENCE_LAUNCHER_FACTS_LOOK_H
#define FENCE_LAUNCHER_FACTS_LOOK_H

#include <sys/stat.h>

#include "launcher/plan/facts_parts.h"

enum look { LOOK_GONE, LOOK_PLAIN, LOOK_LINK, LOOK_CLOSED };

struct folder {
	int		 fd;
	/* Of the folder, and of its .config; NULL: not listed. */
	const struct name_filter *names, *config;
	unsigned	 n;
	struct { char path[64]; enum look is; } shared[64];
};

/* O_PATH, or -1; a folder that cannot be opened is noted as a lack. */
int	 look_open(struct gather *, const char *path);

/*
 * name: of the list (policy/guard.h).  GONE and PLAIN: no symlink is on the
 * way.  LINK: the name is one, or lies below one, where it may be missing.
 */
enum look look_name(struct folder *, const char *name, struct stat *ret);

#endif
