#include "proxy/relay.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "platform/base/buf.h"
#include "platform/fd.h"
#include "platform/net.h"
#include "proxy/outbox.h"

/* Reads in a row from one side before the others get their turn. */
enum { RELAY_ROUNDS = 4 };

struct relay_side {
	struct relay	*relay;
	struct relay_side *peer;
	struct watch	*watch;
	int		 fd;
	bool		 is_eof;	/* nothing more to read from it */
	bool		 is_shut;	/* nothing more to write to it */
	struct outbox	 out;
};

struct relay {
	struct loop		*loop;
	struct relay_side	 client, server;
	struct watch		*deadline;
	int64_t			 idle_ms;
	int64_t			 limit_ms;	/* of silence, at present */
	int64_t			 last_ms;
	relay_look_fn		*look;		/* NULL: no longer */
	relay_hear_fn		*hear;
	struct buf		 held;		/* for look, of the client's */
	relay_done_fn		*done;
	void			*arg;
};

static void
relay_close(struct relay *r, void (*close_fd)(int *))
{
	watch_free(r->client.watch);
	watch_free(r->server.watch);
	watch_free(r->deadline);
	r->client.watch = r->server.watch = r->deadline = NULL;
	close_fd(&r->client.fd);
	close_fd(&r->server.fd);
}

void
relay_free(struct relay *r)
{
	if (r == NULL)
		return;
	relay_close(r, fd_close);
	outbox_release(&r->client.out);
	outbox_release(&r->server.out);
	buf_release(&r->held);
	free(r);
}

/* An error on one side is an error for both. */
static void
relay_fail(struct relay *r)
{
	relay_close(r, net_reset);
	r->done(r, r->arg);
}

int64_t
relay_last_ms(const struct relay *r)
{
	return r->last_ms;
}

void
relay_abort(struct relay *r)
{
	relay_fail(r);
}

static void
side_shut(struct relay_side *s)
{
	if (s->is_shut)
		return;
	s->is_shut = true;
	(void)shutdown(s->fd, SHUT_WR);
}

static int
side_write(struct relay_side *s, const char *p, size_t len)
{
	return outbox_write(&s->out, s->fd, p, len);
}

static int
side_flush(struct relay_side *s)
{
	long n = outbox_flush(&s->out, s->fd);

	if (n > 0)
		s->relay->last_ms = loop_now_ms(s->relay->loop);
	return n < 0 ? -1 : 0;
}

/* Passes on what may pass of what is held. */
static int
relay_release(struct relay *r)
{
	bool is_over = false;
	ssize_t n = r->look(r->arg, r->held.data, r->held.len, &is_over);

	if (n < 0 || side_write(&r->server, r->held.data, (size_t)n) != 0)
		return -1;
	buf_consume(&r->held, (size_t)n);
	if (is_over) {
		r->look = NULL;
		r->hear = NULL;
		buf_release(&r->held);
	}
	return 0;
}

/* One read's worth for the other side. */
static int
side_pass(struct relay_side *s, const char *p, size_t n)
{
	struct relay *r = s->relay;

	r->last_ms = loop_now_ms(r->loop);
	if (s == &r->client && r->look != NULL) {
		buf_add(&r->held, p, n);
		return r->held.failed ? -1 : relay_release(r);
	}
	if (s == &r->server && r->hear != NULL)
		r->hear(r->arg, p, n);
	if (side_write(s->peer, p, n) != 0)
		return -1;
	return s == &r->server && r->look != NULL ? relay_release(r) : 0;
}

/* How much of it may be read at once. */
static size_t
side_room(const struct relay_side *s)
{
	const struct relay *r = s->relay;

	if (s == &r->client && r->look != NULL)
		return RELAY_HELD_MAX - r->held.len;
	return LOOP_BUF_BYTES;
}

static int
side_read(struct relay_side *s)
{
	char *buf = loop_buf(s->relay->loop);
	size_t room;
	ssize_t n;
	int round;

	if (buf == NULL)
		return -1;
	for (round = 0; round < RELAY_ROUNDS && s->peer->out.len == 0 &&
	    (room = side_room(s)) > 0; round++) {
		n = recv(s->fd, buf, room, MSG_DONTWAIT);
		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return errno == EAGAIN ? 0 : -1;
		if (n == 0) {
			s->is_eof = true;
			s->relay->last_ms = loop_now_ms(s->relay->loop);
			return 0;
		}
		if (side_pass(s, buf, (size_t)n) != 0)
			return -1;
		if ((size_t)n < room)
			break;		/* most likely all there was */
	}
	return 0;
}

/*
 * A side that has sent its end still tells of a reset; one that waits for a
 * slow peer keeps quiet, for what it sent is still to be read.
 */
static int
side_events(const struct relay_side *s)
{
	int events = 0;

	if (!s->is_eof && s->peer->out.len == 0 && side_room(s) > 0)
		events |= LOOP_READ;
	if (s->out.len > 0)
		events |= LOOP_WRITE;
	if (s->is_eof && !s->is_shut)
		events |= LOOP_HUP;
	return events;
}

/* Nothing more will be written to it. */
static bool
side_is_over(const struct relay_side *s)
{
	bool is_held = s == &s->relay->server && s->relay->held.len > 0;

	return s->is_shut || (s->out.len == 0 && s->peer->is_eof && !is_held);
}

static int64_t
min_ms(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t
relay_limit_ms(const struct relay *r)
{
	return r->held.len > 0 ? min_ms(r->idle_ms, RELAY_HELD_MS) :
	    r->idle_ms;
}

static void
relay_end(struct relay *r)
{
	relay_close(r, fd_close);
	r->done(r, r->arg);
}

static void
relay_rearm(struct relay *r)
{
	int64_t limit_ms = relay_limit_ms(r);

	if (limit_ms == r->limit_ms)
		return;
	r->limit_ms = limit_ms;
	watch_after(r->deadline, limit_ms);
}

static void
relay_settle(struct relay *r)
{
	bool is_client_over = side_is_over(&r->client);
	bool is_server_over = side_is_over(&r->server);

	if (is_client_over && is_server_over) {
		relay_end(r);		/* closing says the same */
		return;
	}
	if (is_client_over)
		side_shut(&r->client);
	if (is_server_over)
		side_shut(&r->server);
	if (watch_events(r->client.watch, side_events(&r->client)) != 0 ||
	    watch_events(r->server.watch, side_events(&r->server)) != 0)
		relay_fail(r);
	else
		relay_rearm(r);
}

static void
side_ready(struct watch *w, int what, void *arg)
{
	struct relay_side *s = arg;
	struct relay *r = s->relay;

	(void)w;
	if ((what & LOOP_HUP) != 0 && s->is_eof) {
		relay_fail(r);
		return;
	}
	if ((what & LOOP_WRITE) != 0 && s->out.len > 0 && side_flush(s) != 0) {
		relay_fail(r);
		return;
	}
	if ((what & LOOP_READ) != 0 && !s->is_eof && side_read(s) != 0) {
		relay_fail(r);
		return;
	}
	relay_settle(r);
}

/* Bytes do not move the deadline; it looks for itself how long it was. */
static void
relay_idle(struct watch *w, int what, void *arg)
{
	struct relay *r = arg;
	int64_t idle = loop_now_ms(r->loop) - r->last_ms;

	(void)what;
	if (idle < r->limit_ms)
		watch_after(w, r->limit_ms - idle);
	else
		relay_fail(r);
}

void
relay_look(struct relay *r)
{
	if (r->look != NULL && relay_release(r) != 0)
		relay_fail(r);
	else
		relay_settle(r);
}

void
relay_finish(struct relay *r, const void *data, size_t len)
{
	/* Those it is too slow to take would come before these. */
	if (r->client.out.len == 0)
		(void)!send(r->client.fd, data, len,
		    MSG_NOSIGNAL | MSG_DONTWAIT);
	relay_end(r);
}

/* What goes to each side first. */
static int
relay_begin(struct relay *r, const struct relay_spec *spec)
{
	if (side_write(&r->client, spec->to_client, spec->to_client_len) != 0)
		return -1;
	if (r->look == NULL)
		return side_write(&r->server, spec->to_server,
		    spec->to_server_len);
	buf_add(&r->held, spec->to_server, spec->to_server_len);
	if (r->held.failed)
		return -1;
	return r->held.len > 0 ? relay_release(r) : 0;
}

static int
relay_open(struct relay *r, const struct relay_spec *spec)
{
	r->deadline = loop_after(r->loop, r->limit_ms, relay_idle, r);
	if (r->client.watch != NULL)
		watch_become(r->client.watch, side_ready, &r->client);
	else
		r->client.watch = loop_fd(r->loop, spec->client_fd, LOOP_READ,
		    side_ready, &r->client);
	r->server.watch = loop_fd(r->loop, spec->server_fd, LOOP_READ,
	    side_ready, &r->server);
	if (r->deadline == NULL || r->client.watch == NULL ||
	    r->server.watch == NULL)
		return -1;
	r->client.fd = spec->client_fd;
	r->server.fd = spec->server_fd;
	if (relay_begin(r, spec) != 0)
		return -1;
	if (watch_events(r->client.watch, side_events(&r->client)) != 0)
		return -1;
	return watch_events(r->server.watch, side_events(&r->server));
}

struct relay *
relay_start(struct loop *l, const struct relay_spec *spec)
{
	struct relay *r = calloc(1, sizeof *r);

	if (r == NULL) {
		watch_free(spec->client_watch);
		return NULL;
	}
	r->loop = l;
	r->client = (struct relay_side){ .relay = r, .peer = &r->server,
	    .watch = spec->client_watch, .fd = -1 };
	r->server = (struct relay_side){ .relay = r, .peer = &r->client,
	    .fd = -1 };
	r->idle_ms = r->limit_ms = spec->idle_ms;
	r->last_ms = loop_now_ms(l);
	r->look = spec->look;
	r->hear = spec->hear;
	buf_init(&r->held, RELAY_HELD_MAX);
	r->done = spec->done;
	r->arg = spec->arg;
	if (relay_open(r, spec) != 0) {
		r->client.fd = r->server.fd = -1;	/* the caller's */
		relay_free(r);
		return NULL;
	}
	return r;
}
