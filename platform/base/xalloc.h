/*
 * xalloc: memory that must be had.  For use until the command starts;
 * afterwards a failed allocation costs one connection, not the run.
 */
#ifndef FENCE_BASE_XALLOC_H
#define FENCE_BASE_XALLOC_H

#include <stddef.h>

void		*xcalloc(size_t n, size_t size);
void		*xrealloc(void *, size_t n, size_t size);
char		*xstrdup(const char *);
_Noreturn void	 xalloc_die(void);	/* "fence: out of memory", exit 125 */

#endif
