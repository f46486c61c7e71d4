/*
 * arena: memory that lives and dies together.  Running out of memory before
 * the command starts ends the run, so these calls never return NULL: they
 * end the process (see xalloc.h).
 */
#ifndef FENCE_BASE_ARENA_H
#define FENCE_BASE_ARENA_H

#include <stddef.h>

struct arena;

struct arena	*arena_new(void);
void		 arena_free(struct arena *);	/* NULL is fine */
void		*arena_alloc(struct arena *, size_t);	/* zeroed, aligned */
char		*arena_strdup(struct arena *, const char *);
char		*arena_strndup(struct arena *, const char *, size_t);
/* Does it point into the arena's memory? */
int		 arena_has(const struct arena *, const void *);
/* dir/name */
char		*arena_join(struct arena *, const char *dir, const char *name);
char		*arena_printf(struct arena *, const char *fmt, ...)
		    __attribute__((format(printf, 2, 3)));

#endif
