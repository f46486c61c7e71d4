#include "proxy/shake.h"

#include <errno.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "platform/fd.h"
#include "proxy/upstream.h"

struct shake {
	struct shakes	*all;
	struct shake	*next, **link;
	int		 fd;
	struct watch	*watch, *deadline;
	struct upstream	 upstream;
	uint32_t	 id;
};

static void
shake_free(struct shake *s)
{
	watch_free(s->watch);
	watch_free(s->deadline);
	fd_close(&s->fd);
	*s->link = s->next;
	if (s->next != NULL)
		s->next->link = s->link;
	s->all->n--;
	free(s);
}

/* The connection is the monitor's, too: our copy of it is no longer needed. */
static void
shake_end(struct shake *s, enum ask_status status, int sys)
{
	struct ask_answer a = { .magic = ASK_MAGIC, .id = s->id,
	    .status = (uint16_t)status, .sys = sys,
	    .why = (uint16_t)s->upstream.why,
	    .code = (uint16_t)s->upstream.code };
	struct shakes *all = s->all;

	shake_free(s);
	all->fn(&a, all->arg);
}

static void
shake_late(struct watch *w, int what, void *arg)
{
	(void)w;
	(void)what;
	shake_end(arg, ASK_PROXY_FAILED, ETIMEDOUT);
}

/* Far below any send buffer, and the first bytes in it. */
static int
shake_say(struct shake *s)
{
	struct upstream *u = &s->upstream;
	ssize_t n = u->out_len == 0 ? 0 : send(s->fd, u->out, u->out_len,
	    MSG_NOSIGNAL | MSG_DONTWAIT);

	if (n != (ssize_t)u->out_len)
		return -1;
	u->out_len = 0;
	return 0;
}

/* Looks first and takes what belongs to the answer: the rest is the
 * server's, and for somebody else. */
static void
shake_ready(struct watch *w, int what, void *arg)
{
	struct shake *s = arg;
	enum upstream_status st;
	char bytes[4096];
	size_t used;
	ssize_t n;

	(void)w;
	(void)what;
	n = recv(s->fd, bytes, sizeof bytes, MSG_PEEK | MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n <= 0) {
		shake_end(s, ASK_PROXY_FAILED, n < 0 ? errno : ECONNRESET);
		return;
	}
	st = upstream_feed(&s->upstream, bytes, (size_t)n, &used);
	if (recv(s->fd, bytes, used, MSG_DONTWAIT) != (ssize_t)used ||
	    (st == UPSTREAM_MORE && shake_say(s) != 0))
		shake_end(s, ASK_PROXY_FAILED, ECONNRESET);
	else if (st == UPSTREAM_DONE)
		shake_end(s, ASK_OK, 0);
	else if (st == UPSTREAM_FAILED)
		shake_end(s, ASK_PROXY_DENIED, 0);
}

static int
shake_open(struct shake *s, const struct ask_shake *q)
{
	const struct upstream_target t = { .host = q->host, .port = q->port,
	    .user = q->has_login ? q->user : NULL, .password = q->password };

	if (upstream_init(&s->upstream, (enum upstream_kind)q->proxy, &t) != 0
	    || fd_nonblock(s->fd, 1) != 0)
		return -1;
	/* A connection that is dead already is told by its first event. */
	(void)shake_say(s);
	s->watch = loop_fd(s->all->loop, s->fd, LOOP_READ, shake_ready, s);
	s->deadline = loop_after(s->all->loop, SHAKE_MS, shake_late, s);
	return s->watch != NULL && s->deadline != NULL ? 0 : -1;
}

int
shake_start(struct shakes *all, int *fd, const struct ask_shake *q)
{
	struct shake *s = all->n < SHAKES_MAX ? calloc(1, sizeof *s) : NULL;

	if (s == NULL)
		return -1;
	*s = (struct shake){ .all = all, .next = all->first,
	    .link = &all->first, .fd = *fd, .id = q->id };
	if (s->next != NULL)
		s->next->link = &s->next;
	all->first = s;
	all->n++;
	if (shake_open(s, q) != 0) {
		s->fd = -1;
		shake_free(s);
		return -1;
	}
	*fd = -1;
	return 0;
}

void
shakes_close(struct shakes *all)
{
	for (struct shake *s = all->first; s != NULL; s = s->next)
		fd_close(&s->fd);
}
