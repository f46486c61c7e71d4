/*
 * log: fence's own lines: notices, records as text, the closing line.  They
 * go to stderr or, for --fence-log-file and FENCE_LOG_FILE, to a file.  An
 * error that ends the run is no such line: it is for stderr always.
 *
 * How long a reader is waited for says writer.h.  What it does not take is
 * kept, up to 64 KiB, for when it does.
 */
#ifndef FENCE_LAUNCHER_LOG_H
#define FENCE_LAUNCHER_LOG_H

#include <stdbool.h>

#include "platform/base/err.h"

/*
 * option: the file of --fence-log-file, or NULL; inherited: that of
 * FENCE_LOG_FILE, which is appended to, or NULL.  One that is inherited and
 * cannot be opened costs a warning.
 */
int	 log_open(const char *option, const char *inherited, struct err *);
/*
 * A file of the user's for lines or records, made if it is missing; flags
 * besides.  No symlink, and no FIFO that nobody reads.  option names it in
 * the error.  ret_real is where it lies, for the planner to compare with where
 * the name leads then; "" if it is none that could be emptied.
 */
int	 log_create(const char *option, const char *name, int flags,
	    char ret_real[], bool *ret_is_new, struct err *);
/* Such a file that is new and still empty, as if it had not been made. */
void	 log_remove(int fd, const char *real);
/* Empties that of the option, once it is known where it lies. */
void	 log_begin(void);
/* Instead of that: there will be no run.  A file that was made for it goes. */
void	 log_undo(void);
/* Its absolute path; NULL: the lines go to stderr. */
const char	*log_path(void);
const char	*log_real(void);	/* where it was opened, or "" */
int	 log_fd(void);
void	 log_line(const char *);	/* and a newline */
/* The error that ends fence: on stderr, wherever the lines go. */
void	 log_error(const struct err *);
/* "fence: ..." and a newline. */
void	 log_say(const char *fmt, ...) __attribute__((format(printf, 1, 2)));
/*
 * While is_busy says so, lines are kept; NULL shows them and ends that.
 */
void	 log_hold(bool (*is_busy)(void *), void *arg);
void	 log_show(void);	/* those that were kept, now */
/* "[fence] ..." and a newline: the facts of -d. */
void	 log_fact(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

#endif
