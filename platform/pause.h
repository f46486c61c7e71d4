/*
 * pause: named points where a test may stop the program and kill it.  Exists
 * only in builds with --enable-test-hooks: FENCE_PAUSE_AT=NAME makes
 * pause_at(NAME) say "fence: paused at NAME" on stderr and wait for ever.
 */
#ifndef FENCE_PLATFORM_PAUSE_H
#define FENCE_PLATFORM_PAUSE_H

#include <stdbool.h>

#ifdef FENCE_TEST_HOOKS
void	 pause_at(const char *point);	/* safe between clone and exec */
/* Is `feature` in FENCE_PRETEND=a,b=3,c: as if the kernel lacked it? */
bool	 pretend_lacks(const char *feature);
#else
#define	 pause_at(point)		((void)0)
#define	 pretend_lacks(feature)		(false)
#endif

#endif
