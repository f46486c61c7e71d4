/*
 * shadow_diff: how two trees differ, as text for people.  Private to this
 * room.  The second is hostile: what is printed is escaped and bounded.
 */
#ifndef FENCE_LAUNCHER_SHADOW_DIFF_H
#define FENCE_LAUNCHER_SHADOW_DIFF_H

#include "platform/base/buf.h"

/* The lines of two texts; "" for the same. */
void	 diff_lines(struct buf *, const char *a, size_t a_len,
	    const char *b, size_t b_len);
/* shown: the path that both are printed with. */
void	 diff_trees(struct buf *, int a_dir, const char *a_name, int b_dir,
	    const char *b_name, const char *shown);

#endif
