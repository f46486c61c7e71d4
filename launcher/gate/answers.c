#include "launcher/gate/answers.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "platform/fd.h"

enum { QUEUE_MAX = 4096 };

struct queued {
	struct queued		*next;
	struct ask_answer	 answer;
	int			 fd;
};

void
answers_init(struct answers *l, int net_fd)
{
	*l = (struct answers){ .net_fd = net_fd, .last = &l->first };
}

static void
net_interest(struct answers *l)
{
	/* While answers wait no question is read: a worker that does not
	 * listen is not listened to. */
	if (l->net != NULL)
		watch_events(l->net, l->first != NULL ? LOOP_WRITE :
		    LOOP_READ);
}

static void
enqueue(struct answers *l, const struct ask_answer *a, int fd)
{
	struct queued *q = l->n < QUEUE_MAX ? malloc(sizeof *q) : NULL;

	if (q == NULL) {
		fd_close(&fd);
		return;
	}
	*q = (struct queued){ .answer = *a, .fd = fd };
	*l->last = q;
	l->last = &q->next;
	l->n++;
	net_interest(l);
}

/* False: the socket is full.  An answer that cannot be sent at all is lost. */
static bool
is_sent(struct answers *l, const struct ask_answer *a, int fd)
{
	return fd_send(l->net_fd, a, sizeof *a, &fd, fd >= 0,
	    MSG_DONTWAIT) >= 0 || (errno != EAGAIN && errno != EWOULDBLOCK);
}

void
answers_send(struct answers *l, const struct ask_answer *a, int fd)
{
	if (l->first != NULL || !is_sent(l, a, fd))
		enqueue(l, a, fd);
	else
		fd_close(&fd);
}

void
answers_flush(struct answers *l)
{
	struct queued *q;

	while ((q = l->first) != NULL && is_sent(l, &q->answer, q->fd)) {
		l->first = q->next;
		if (l->first == NULL)
			l->last = &l->first;
		l->n--;
		fd_close(&q->fd);
		free(q);
	}
	net_interest(l);
}

void
answers_drop(struct answers *l)
{
	struct queued *q;

	while ((q = l->first) != NULL) {
		l->first = q->next;
		fd_close(&q->fd);
		free(q);
	}
	l->last = &l->first;
	l->n = 0;
	net_interest(l);
}
