/*
 * name_filter: what is missing in a folder, known from one listing instead of a look
 * at each of many names.
 */
#ifndef FENCE_PLATFORM_NAME_FILTER_H
#define FENCE_PLATFORM_NAME_FILTER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct name_filter {
	uint64_t	bits[16];	/* of the hash of each name */
	bool		is_whole;	/* false: nothing is known */
};

/* The caller lists the folder, and sets is_whole at the end. */
void	 name_filter_add(struct name_filter *, const char *name);
/* Of a folder that cannot be listed, or holds very much, nothing is known. */
void	 name_filter_read(struct name_filter *, const char *folder);
/* Is nothing there, for sure, that is called as the path begins? */
bool	 name_filter_lacks(const struct name_filter *, const char *path);

#endif
