/*
 * name_filter: which names a folder lacks, known from one listing of it instead
 * of one look-up for each of many names.  The planner and the guard ask it about
 * guarded names.  A name that is there is never called missing, also where the
 * file system ignores case; that a name is missing may go unnoticed.
 */
#ifndef FENCE_PLATFORM_NAME_FILTER_H
#define FENCE_PLATFORM_NAME_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct name_filter {
	uint64_t	bits[16];	/* of the hash of each name */
	bool		is_whole;	/* false: nothing is known */
	/* A name that is not ASCII, which a file system that ignores case may
	 * hold equal to an ASCII name (U+212A is a k): nothing is known. */
	bool		 has_other;
};

/* The caller lists the folder, and sets is_whole at the end. */
void	 name_filter_add(struct name_filter *, const char *name);
/* Of a folder that cannot be listed, or holds very much, nothing is known. */
void	 name_filter_read(struct name_filter *, const char *folder);
/* Is nothing there, for sure, that is called as the path begins? */
bool	 name_filter_lacks(const struct name_filter *, const char *path);

#endif
