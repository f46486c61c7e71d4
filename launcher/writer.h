/*
 * writer: text to a descriptor whose reader may be slow, stopped or gone.  All
 * lines and records of fence-run go out by it (log.c, record/sink.c, and the
 * error of main.c), so that one rule holds for all of them:
 *
 * - WRITER_WAITS, before a command is watched over and in programs that run
 *   none: the reader is waited for, as by any program.
 * - WRITER_WATCHES, while a command runs: a reader that has stopped reading
 *   costs one short wait, and none more until it takes something again.
 * - WRITER_ENDS, after the command: all that is left to be said waits for
 *   WRITER_END_MS altogether, whatever the number of lines and of readers.
 *
 * What was not taken is the caller's to keep or to count.  SIGPIPE is to be
 * ignored or blocked.
 */
#ifndef FENCE_LAUNCHER_WRITER_H
#define FENCE_LAUNCHER_WRITER_H

#include <stdbool.h>
#include <stddef.h>

enum { WRITER_WATCH_MS = 200, WRITER_END_MS = 1000 };

enum writer_mode { WRITER_WAITS, WRITER_WATCHES, WRITER_ENDS };

struct writer {
	int	 fd;		/* the caller's; -1: nobody reads */
	int	 own_fd;	/* the same terminal, see fd_own_tty() */
	bool	 is_stuck;	/* the last wait was in vain */
	bool	 is_gone;	/* nobody will read */
};

/* Of this process, and of all its writers. */
void	 writer_set_mode(enum writer_mode);
/* To be done as long as files may be opened for writing. */
void	 writer_init(struct writer *, int fd);
void	 writer_release(struct writer *);
/*
 * How many bytes were taken.  If fewer than len, is_gone says whether there
 * is nobody (any more), or whether more may be taken later.
 */
size_t	 writer_put(struct writer *, const char *, size_t len);

#endif
