/*
 * lines: a descriptor as lines, in bounded memory.  Private to this room.
 */
#ifndef FENCE_LAUNCHER_HISTORY_LINES_H
#define FENCE_LAUNCHER_HISTORY_LINES_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/base/buf.h"

enum line_kind {
	LINE_NONE,		/* the end */
	LINE_WHOLE,
	LINE_CUT,		/* the last one, without its newline */
	LINE_LONG,		/* more than RECORD_LINE_BYTES; not given */
	LINE_ERROR,		/* errno says why */
};

struct lines {
	int		 fd;		/* borrowed */
	uint64_t	 number;	/* of the line given last, from 1 */
	const char	*line;		/* until the next call */
	size_t		 len;
	struct buf	 buf;
	size_t		 used;		/* bytes of buf that were given */
	bool		 is_end, is_long;
};

void		 lines_init(struct lines *, int fd);
void		 lines_release(struct lines *);
/* At the end it may be asked again: more may have been written. */
enum line_kind	 lines_next(struct lines *);

#endif
