/* listed: an entry as getdents64(2) writes it. */
#ifndef FENCE_PLATFORM_LISTED_H
#define FENCE_PLATFORM_LISTED_H

#include <stdint.h>

struct listed {
	uint64_t	ino;
	int64_t		off;
	uint16_t	size;		/* of this record */
	uint8_t		type;		/* DT_DIR … */
	char		name[];
};

#endif
