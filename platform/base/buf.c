#include "platform/base/buf.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/io.h"

static char buf_empty[1];

void
buf_init(struct buf *b, size_t max_bytes)
{
	*b = (struct buf){ .data = buf_empty, .max_bytes = max_bytes };
}

void
buf_release(struct buf *b)
{
	if (b->cap != 0)
		free(b->data);
	buf_init(b, b->max_bytes);
}

void
buf_clear(struct buf *b)
{
	b->len = 0;
	b->failed = false;
	if (b->cap != 0)
		b->data[0] = '\0';
}

int
buf_reserve(struct buf *b, size_t more)
{
	size_t need, cap;
	char *p;

	if (b->failed)
		return -1;
	if (more >= (size_t)-1 / 2 - b->len ||
	    (b->max_bytes != 0 && b->len + more > b->max_bytes)) {
		b->failed = true;
		return -1;
	}
	need = b->len + more + 1;
	if (need <= b->cap)
		return 0;
	cap = b->cap != 0 ? b->cap : 64;
	while (cap < need)
		cap *= 2;
	p = realloc(b->cap != 0 ? b->data : NULL, cap);
	if (p == NULL) {
		b->failed = true;
		return -1;
	}
	b->data = p;
	b->cap = cap;
	return 0;
}

void
buf_add(struct buf *b, const void *p, size_t n)
{
	if (n == 0 || buf_reserve(b, n) != 0)
		return;
	memcpy(b->data + b->len, p, n);
	b->len += n;
	b->data[b->len] = '\0';
}

void
buf_puts(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s));
}

void
buf_putc(struct buf *b, char c)
{
	/* Texts are built byte by byte: most often there is room. */
	if (b->failed || b->len + 1 >= b->cap ||
	    (b->max_bytes != 0 && b->len >= b->max_bytes)) {
		buf_add(b, &c, 1);
		return;
	}
	b->data[b->len++] = c;
	b->data[b->len] = '\0';
}

void
buf_printf(struct buf *b, const char *fmt, ...)
{
	va_list ap, again;
	int n;

	va_start(ap, fmt);
	va_copy(again, ap);
	n = vsnprintf(NULL, 0, fmt, ap);
	va_end(ap);
	if (n < 0)
		b->failed = true;
	else if (buf_reserve(b, (size_t)n) == 0) {
		vsnprintf(b->data + b->len, (size_t)n + 1, fmt, again);
		b->len += (size_t)n;
	}
	va_end(again);
}

int
buf_read(struct buf *b, int fd)
{
	char chunk[16 * 1024];
	ssize_t n;

	while ((n = io_read_all(fd, chunk, sizeof chunk)) > 0) {
		buf_add(b, chunk, (size_t)n);
		if (b->failed) {
			errno = b->max_bytes != 0 && (size_t)n >
			    b->max_bytes - b->len ? EFBIG : ENOMEM;
			return -1;
		}
	}
	return n < 0 ? -1 : 0;
}

void
buf_consume(struct buf *b, size_t n)
{
	if (n > b->len)
		n = b->len;
	if (n == 0)
		return;
	memmove(b->data, b->data + n, b->len - n);
	b->len -= n;
	b->data[b->len] = '\0';
}
