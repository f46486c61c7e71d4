/* room: a directory of a test's own, with files as they are needed. */
#ifndef FENCE_TESTS_ROOM_H
#define FENCE_TESTS_ROOM_H

#include <ftw.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "policy/resolve.h"

struct room {
	char	dir[64];
};

/* Good for eight more calls. */
static inline const char *
room_path(struct room *r, const char *name)
{
	static char paths[8][512];
	static size_t turn;
	char *p = paths[turn++ % 8];

	snprintf(p, sizeof paths[0], "%s%s%s", r->dir,
	    name[0] != '\0' ? "/" : "", name);
	return p;
}

/* A file, or for a name that ends in '/' a directory. */
static inline void
room_put(struct room *r, const char *name, const char *text)
{
	char path[512];
	FILE *fp;

	snprintf(path, sizeof path, "%s", room_path(r, name));
	for (char *p = path + strlen(r->dir) + 1;
	    (p = strchr(p, '/')) != NULL; p++) {
		*p = '\0';
		mkdir(path, 0755);
		*p = '/';
	}
	if (path[strlen(path) - 1] == '/')
		return;
	fp = fopen(path, "we");
	assert_non_null(fp);
	fputs(text, fp);
	assert_int_equal(fclose(fp), 0);
}

static inline int
room_remove_one(const char *path, const struct stat *st, int flag,
    struct FTW *ftw)
{
	(void)st;
	(void)flag;
	(void)ftw;
	return remove(path);
}

static inline void
room_remove(struct room *r, const char *name)
{
	nftw(room_path(r, name), room_remove_one, 16, FTW_DEPTH | FTW_PHYS);
}

static inline int
room_enter(void **state)
{
	struct room *r = calloc(1, sizeof *r);
	char real[PATH_MAX];

	assert_non_null(r);
	strcpy(r->dir, "/var/tmp/fence-room-XXXXXX");
	if (mkdtemp(r->dir) == NULL || realpath(r->dir, real) == NULL)
		return -1;
	snprintf(r->dir, sizeof r->dir, "%.60s", real);
	room_put(r, "home/", "");
	room_put(r, "proj/sub/", "");
	*state = r;
	return 0;
}

static inline int
room_leave(void **state)
{
	struct room *r = *state;

	room_remove(r, "");
	free(r);
	return 0;
}

static inline struct resolve_request
room_request(struct room *r)
{
	static char home[128], cwd[128], ceiling[128];

	snprintf(home, sizeof home, "%s/home", r->dir);
	snprintf(cwd, sizeof cwd, "%s/proj/sub", r->dir);
	snprintf(ceiling, sizeof ceiling, "%s/ceiling.d", r->dir);
	return (struct resolve_request){ .home = home, .cwd = cwd,
	    .ceiling_dir = ceiling };
}

#endif
