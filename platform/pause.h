/*
 * pause: named points where a test may stop the program and kill it.  Exists
 * only in builds with --enable-test-hooks: FENCE_PAUSE_AT=NAME makes
 * pause_at(NAME) say "fence: paused at NAME" on stderr and wait for ever, or
 * until the file FENCE_PAUSE_UNTIL exists.
 */
#ifndef FENCE_PLATFORM_PAUSE_H
#define FENCE_PLATFORM_PAUSE_H

#include <stdbool.h>

#ifdef FENCE_TEST_HOOKS
void	 pause_at(const char *point);	/* safe between clone and exec */
/* Is `feature` in FENCE_PRETEND=a,b=3,c: as if the kernel lacked it? */
bool	 pretend_lacks(const char *feature);
/* The 3 of `b=3` in it; `real` where it does not speak of `feature`. */
int	 pretend_number(const char *feature, int real);
/* The value of a variable that only tests set, or `real`. */
const char *pretend_text(const char *variable, const char *real);
#else
#define	 pause_at(point)		((void)0)
#define	 pretend_lacks(feature)		(false)
#define	 pretend_number(feature, real)	(real)
#define	 pretend_text(variable, real)	(real)
#endif

#endif
