#include "launcher/history/lines.h"

#include <errno.h>
#include <string.h>
#include <unistd.h>

#include "launcher/history/record.h"

enum { READ_BYTES = 64 * 1024 };

void
lines_init(struct lines *l, int fd)
{
	*l = (struct lines){ .fd = fd };
	buf_init(&l->buf, RECORD_LINE_BYTES + 2 * READ_BYTES);
}

void
lines_release(struct lines *l)
{
	buf_release(&l->buf);
}

/* What stands before the newline, if there is one. */
static bool
take(struct lines *l)
{
	const char *from = l->buf.data + l->used;
	const char *end = memchr(from, '\n', l->buf.len - l->used);

	if (end == NULL)
		return false;
	l->line = from;
	l->len = (size_t)(end - from);
	l->used += l->len + 1;
	l->number++;
	return true;
}

/* 1: there is more; 0: not now; -1. */
static int
fill(struct lines *l)
{
	char chunk[READ_BYTES];
	ssize_t n;

	buf_consume(&l->buf, l->used);
	l->used = 0;
	if (l->buf.len > RECORD_LINE_BYTES) {
		l->is_long = true;
		buf_clear(&l->buf);
	}
	do
		n = read(l->fd, chunk, sizeof chunk);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return (int)n;
	buf_add(&l->buf, chunk, (size_t)n);
	return l->buf.failed ? -1 : 1;
}

enum line_kind
lines_next(struct lines *l)
{
	int rc = 1;

	while (!take(l)) {
		rc = fill(l);
		if (rc < 0)
			return LINE_ERROR;
		if (rc == 0)
			break;
	}
	if (rc == 0) {
		l->line = l->buf.data;
		l->len = l->buf.len;
		return l->len > 0 || l->is_long ? LINE_CUT : LINE_NONE;
	}
	if (l->is_long || l->len > RECORD_LINE_BYTES) {
		l->is_long = false;
		return LINE_LONG;
	}
	return LINE_WHOLE;
}
