/*
 * buf: growable bytes with a ceiling.  A write past the ceiling, or out of
 * memory, adds nothing and marks the buffer failed; look at `failed` once at
 * the end instead of after each call.  data is always NUL-terminated once
 * anything was added, and "" before.
 */
#ifndef FENCE_BASE_BUF_H
#define FENCE_BASE_BUF_H

#include <stdbool.h>
#include <stddef.h>

struct buf {
	char	*data;		/* never NULL after buf_init() */
	size_t	 len;
	size_t	 cap;		/* 0: data is the static "" */
	size_t	 max_bytes;	/* ceiling, 0 for none */
	bool	 failed;
};

void	 buf_init(struct buf *, size_t max_bytes);
void	 buf_release(struct buf *);		/* back to the state of init */
void	 buf_clear(struct buf *);		/* len 0, memory kept */
int	 buf_reserve(struct buf *, size_t more);	/* 0 or -1 (failed) */
void	 buf_add(struct buf *, const void *, size_t);
void	 buf_puts(struct buf *, const char *);
void	 buf_putc(struct buf *, char);
void	 buf_printf(struct buf *, const char *fmt, ...)
	    __attribute__((format(printf, 2, 3)));
void	 buf_consume(struct buf *, size_t);	/* drop bytes at the front */
/*
 * Adds all that a descriptor has until its end.  -1: errno says why; EFBIG:
 * there is more than the ceiling permits.
 */
int	 buf_read(struct buf *, int fd);

#endif
