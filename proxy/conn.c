#include "proxy/conn.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "platform/base/buf.h"
#include "platform/fd.h"
#include "proxy/serve.h"

struct conn *
conn_new(size_t size, struct budget *b, int fd, const struct conn_home *home)
{
	struct conn *c = calloc(1, size);

	if (c == NULL)
		return NULL;
	c->home = home;
	c->fd = fd;
	c->since_ms = loop_now_ms(home->loop);
	budget_add(b, c);
	return c;
}

void
conn_free(struct conn *c)
{
	struct budget *b = c->budget;
	const struct conn_home *home = c->home;

	if (c->end != NULL)
		c->end(c);
	question_drop(c->question);
	watch_free(c->watch);
	watch_free(c->deadline);
	relay_free(c->relay);
	free(c->tunnel);
	fd_close(&c->fd);
	budget_remove(c);
	free(c);
	if (b->is_full)
		home->has_room(b, home->proxy);
}

void
conn_reset(struct conn *c)
{
	watch_free(c->watch);
	c->watch = NULL;
	net_reset(&c->fd);
	conn_free(c);
}

static void
conn_late(struct watch *w, int what, void *arg)
{
	(void)w;
	(void)what;
	conn_free(arg);
}

int
conn_expire(struct conn *c, int64_t ms)
{
	c->since_ms = loop_now_ms(c->home->loop);
	if (c->deadline != NULL) {
		watch_after(c->deadline, ms);
		return 0;
	}
	c->deadline = loop_after(c->home->loop, ms, conn_late, c);
	return c->deadline != NULL ? 0 : -1;
}

static void
conn_hangup(struct watch *w, int what, void *arg)
{
	(void)w;
	(void)what;
	conn_reset(arg);
}

/* The client sent more, or ended its side: read after the answer. */
static void
conn_waiting(struct watch *w, int what, void *arg)
{
	if ((what & LOOP_HUP) != 0 || watch_events(w, LOOP_HUP) != 0)
		conn_reset(arg);
}

/*
 * Most clients send nothing before the answer, so the events of an existing
 * watch stay as they are until something comes: one system call less.
 */
int
conn_wait(struct conn *c)
{
	if (c->watch != NULL) {
		watch_become(c->watch, conn_waiting, c);
		return 0;
	}
	c->watch = loop_fd(c->home->loop, c->fd, LOOP_HUP, conn_hangup, c);
	return c->watch != NULL ? 0 : -1;
}

static void
conn_relayed(struct relay *r, void *arg)
{
	(void)r;
	conn_free(arg);
}

int
conn_relay(struct conn *c, int *server_fd, struct relay_spec *spec)
{
	spec->client_watch = c->watch;
	c->watch = NULL;
	spec->client_fd = c->fd;
	spec->server_fd = *server_fd;
	spec->idle_ms = c->home->limits.idle_ms;
	spec->done = conn_relayed;
	spec->arg = c;
	c->relay = relay_start(c->home->loop, spec);
	if (c->relay == NULL)
		return -1;
	fd_take(&c->fd);
	fd_take(server_fd);
	watch_free(c->deadline);
	c->deadline = NULL;
	return 0;
}

void
conn_self(struct conn *c, const void *words, size_t nwords, const void *early,
    size_t len)
{
	const struct conn_home *home = c->home;
	struct budget *b = c->budget;
	struct net_addr peer = c->peer;
	struct buf copy;
	int fd;

	if (nwords > 0 && send(c->fd, words, nwords, MSG_NOSIGNAL |
	    MSG_DONTWAIT) != (ssize_t)nwords) {
		conn_reset(c);
		return;
	}
	buf_init(&copy, 0);
	buf_add(&copy, early, len);
	fd = fd_take(&c->fd);
	conn_free(c);
	/* The new connection counts in the same budget, or clients could get
	 * around both ceilings. */
	c = conn_new(serve_http_size, b, fd, home);
	if (c == NULL) {
		fd_close(&fd);
	} else {
		c->peer = peer;
		if (copy.failed || serve_self(c, copy.data, copy.len) != 0)
			conn_reset(c);
	}
	buf_release(&copy);
}
