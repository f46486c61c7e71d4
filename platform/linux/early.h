/*
 * early: small file operations for the child between clone and exec.  It
 * shares our memory: no malloc, no stdio, nothing but system calls.
 */
#ifndef FENCE_LINUX_EARLY_H
#define FENCE_LINUX_EARLY_H

#include <limits.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* All of it or -1.  flags: besides O_WRONLY and O_CLOEXEC. */
int	 early_write(const char *path, int flags, mode_t, const void *,
	    size_t);
int	 early_join(char out[PATH_MAX], const char *, const char *);
void	 early_number(char *out, uint64_t);	/* decimal; room for 21 */

#endif
