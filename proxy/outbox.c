#include "proxy/outbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static ssize_t
send_some(int fd, const char *p, size_t len)
{
	ssize_t n;

	do {
		n = send(fd, p, len, MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	return n < 0 && errno == EAGAIN ? 0 : n;
}

/* Behind what is still to be taken. */
static int
append(struct outbox *o, const char *p, size_t len)
{
	char *data = realloc(o->data, o->len + len);

	if (data == NULL)
		return -1;
	memcpy(data + o->len, p, len);
	o->data = data;
	o->len += len;
	return 0;
}

int
outbox_write(struct outbox *o, int fd, const void *data, size_t len)
{
	const char *p = data;
	ssize_t n = 0;

	if (len == 0)
		return 0;
	if (o->len == 0)
		n = send_some(fd, p, len);
	if (n < 0)
		return -1;
	return (size_t)n == len ? 0 : append(o, p + n, len - (size_t)n);
}

long
outbox_flush(struct outbox *o, int fd)
{
	ssize_t n = send_some(fd, o->data + o->at, o->len - o->at);

	if (n < 0)
		return -1;
	o->at += (size_t)n;
	if (o->at == o->len)
		outbox_release(o);
	return n;
}

void
outbox_release(struct outbox *o)
{
	free(o->data);
	*o = (struct outbox){ 0 };
}
