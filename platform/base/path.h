/*
 * path: the parts of a path, and what a path leads to.  Everything but
 * path_dir() and path_real() is async-signal-safe.
 */
#ifndef FENCE_BASE_PATH_H
#define FENCE_BASE_PATH_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "platform/base/arena.h"

/* The last name: "b" of "/a/b"; the whole text where it has no slash. */
const char	*path_name(const char *path);
/* The length of what stands before the last slash: 2 of "/a/b", 0 of "/a". */
size_t		 path_dir_len(const char *path);
/* The folder of an absolute path: "/a" of "/a/b", "/" of "/a". */
const char	*path_dir(struct arena *, const char *path);
/* Cuts the last name off.  False, and nothing is cut: no folder but "/". */
bool		 path_cut(char *path);

/* Makes the missing folders above path, as mkdir -p does.  0, or -1. */
int		 path_make_above(const char *path, mode_t);

/*
 * The text of a symlink, NUL-terminated; returns its length.  -1: errno says
 * why, ENAMETOOLONG if it has size bytes or more, and ret is "".
 */
ssize_t		 path_read_link(int dir_fd, const char *path, char *ret,
		    size_t size);
/* Where path leads, with no symlink in it; NULL: errno says why. */
const char	*path_real(struct arena *, const char *path);
/* The same, or a copy of path itself where that cannot be told. */
const char	*path_real_or_same(struct arena *, const char *path);

#endif
