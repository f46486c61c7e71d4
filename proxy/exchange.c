#include "proxy/exchange.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "platform/net.h"
#include "proxy/answer.h"
#include "proxy/httpbody.h"
#include "proxy/outbox.h"

enum {
	ROUNDS = 4,	/* reads in a row before the others get their turn */
	HEAD_ROOM = 16 * 1024,	/* in one read: what is kept is copied */
};

struct side {
	struct watch	*watch;
	int		 fd;
	struct outbox	 out;
	bool		 is_eof;	/* nothing more to read from it */
	bool		 is_deaf;	/* nothing more to write to it */
};

struct exchange {
	struct exchange_spec	 spec;
	struct side		 client, server;
	struct watch		*deadline;
	int64_t			 limit_ms;	/* of silence, at present */
	int64_t			 last_ms;
	bool			 wants_close;
	bool			 has_heard;	/* any byte of the server */
	struct httpbody		 sent;		/* the client's part */
	struct answer		 answer;
	struct buf		 rest;		/* SWITCHED: for the client */
	struct exchange_result	 result;
};

static void
exchange_unwatch(struct exchange *x)
{
	watch_free(x->client.watch);
	watch_free(x->server.watch);
	watch_free(x->deadline);
	x->client.watch = x->server.watch = x->deadline = NULL;
}

int64_t
exchange_last_ms(const struct exchange *x)
{
	return x->last_ms;
}

void
exchange_free(struct exchange *x)
{
	if (x == NULL)
		return;
	exchange_unwatch(x);
	outbox_release(&x->client.out);
	outbox_release(&x->server.out);
	answer_release(&x->answer);
	buf_release(&x->rest);
	free(x);
}

/* x is not to be used afterwards. */
static void
exchange_end(struct exchange *x, enum exchange_end end)
{
	exchange_unwatch(x);
	/* Our own words cannot overtake what it is still to take, and one
	 * that has ended most likely waits for none. */
	if ((end == EXCHANGE_BAD || end == EXCHANGE_UNHEARD) &&
	    (x->client.out.len > 0 || x->client.is_eof))
		end = EXCHANGE_BROKEN;
	x->result.end = end;
	x->spec.done(x->spec.arg, &x->result);
}

static int
side_write(struct side *s, const void *data, size_t len)
{
	if (s->is_deaf)
		return 0;
	return outbox_write(&s->out, s->fd, data, len);
}

/* What a server does not take it may have answered before. */
static void
server_write(struct exchange *x, const void *data, size_t len)
{
	if (side_write(&x->server, data, len) == 0)
		return;
	x->server.is_deaf = true;
	outbox_release(&x->server.out);
}

static void
alive(struct exchange *x)
{
	x->last_ms = loop_now_ms(x->spec.loop);
}

/* ---- the client's part ---- */

/* -1: nonsense, or no memory for what is behind the request. */
static int
client_say(struct exchange *x, const char *data, size_t len)
{
	ssize_t n = httpbody_take(&x->sent, data, len);

	if (n < 0)
		return -1;
	if (n > 0) {
		alive(x);
		server_write(x, data, (size_t)n);
	}
	buf_add(x->spec.in, data + n, len - (size_t)n);
	return x->spec.in->failed ? -1 : 0;
}

/* How much may be read at once: what is behind a request must fit. */
static size_t
client_room(const struct exchange *x)
{
	size_t ahead = x->spec.in->len;

	if (x->sent.is_over)
		return ahead < EXCHANGE_AHEAD ? EXCHANGE_AHEAD - ahead : 0;
	if (x->sent.kind != HTTPBODY_LENGTH)
		return EXCHANGE_AHEAD;
	return x->sent.left < LOOP_BUF_BYTES ? (size_t)x->sent.left :
	    LOOP_BUF_BYTES;
}

static void
client_ended(struct exchange *x)
{
	x->client.is_eof = true;
	alive(x);
	if (!x->server.is_deaf && x->server.out.len == 0) {
		x->server.is_deaf = true;
		(void)shutdown(x->server.fd, SHUT_WR);
	}
}

/* -1: there is no sense in going on. */
static int
client_read(struct exchange *x)
{
	char *buf = loop_buf(x->spec.loop);
	size_t room;
	ssize_t n;

	for (int i = 0; buf != NULL && i < ROUNDS && x->server.out.len == 0 &&
	    (room = client_room(x)) > 0; i++) {
		n = recv(x->client.fd, buf, room, MSG_DONTWAIT);
		if (n < 0)
			return errno == EAGAIN || errno == EINTR ? 0 : -1;
		if (n == 0) {
			client_ended(x);
			return x->sent.is_over || x->answer.is_over ? 0 : -1;
		}
		if (client_say(x, buf, (size_t)n) != 0)
			return -1;
		if ((size_t)n < room)
			break;		/* most likely all there was */
	}
	return buf != NULL ? 0 : -1;
}

/* ---- the answer ---- */

/* An answer before its time: the request's end is not in sight. */
static bool
is_last(const struct exchange *x)
{
	return x->wants_close || !x->sent.is_over || x->client.is_eof;
}

/* true: that was all, and *end says what. */
static bool
server_heads(struct exchange *x, const char *data, size_t len,
    enum exchange_end *end)
{
	enum answer_step step;
	struct buf out;
	int rv = 0;

	buf_init(&out, 0);
	step = answer_heads(&x->answer, data, len, is_last(x), &out);
	x->result.code = x->answer.code;
	if (step == ANSWER_SWITCHED && x->client.out.len == 0) {
		*end = EXCHANGE_SWITCHED;
		x->rest = out;
		x->result.rest = out.data;
		x->result.rest_len = out.len;
		return true;
	}
	/* What came before is for the client even so. */
	if (step == ANSWER_BAD)
		*end = EXCHANGE_BAD;
	x->result.why = x->answer.why;
	if (step != ANSWER_FAILED)
		rv = side_write(&x->client, out.data, out.len);
	buf_release(&out);
	return rv != 0 || step != ANSWER_MORE;
}

static bool
server_say(struct exchange *x, const char *data, size_t len,
    enum exchange_end *end)
{
	alive(x);
	x->has_heard = true;
	if (x->answer.code == 0)
		return server_heads(x, data, len, end);
	len = answer_body(&x->answer, data, len);
	return side_write(&x->client, data, len) != 0;
}

/* Its end, or an error; true: that of the exchange, too. */
static bool
server_ended(struct exchange *x, bool is_error, enum exchange_end *end)
{
	x->server.is_eof = true;
	if (x->answer.is_over)
		return false;
	if (x->answer.code == 0) {
		x->result.why = "it ended before its answer did";
		*end = x->has_heard ? EXCHANGE_BAD : EXCHANGE_UNHEARD;
		return true;
	}
	x->answer.is_over = true;	/* cut short, perhaps */
	x->answer.is_certain = false;
	return is_error;
}

static bool
server_read(struct exchange *x, enum exchange_end *end)
{
	char *buf = loop_buf(x->spec.loop);
	size_t room;
	ssize_t n;

	*end = EXCHANGE_BROKEN;
	for (int i = 0; buf != NULL && i < ROUNDS && x->client.out.len == 0;
	    i++) {
		room = x->answer.code == 0 ? HEAD_ROOM : LOOP_BUF_BYTES;
		n = recv(x->server.fd, buf, room, MSG_DONTWAIT);
		if (n < 0 && (errno == EAGAIN || errno == EINTR))
			return false;
		if (n <= 0)
			return server_ended(x, n < 0, end);
		if (server_say(x, buf, (size_t)n, end))
			return true;
		if ((size_t)n < room)
			break;
	}
	return buf == NULL;
}

/* ---- both ---- */

static bool
is_over(const struct exchange *x)
{
	return x->answer.is_over && x->client.out.len == 0 &&
	    (x->sent.is_over || x->client.is_eof || x->server.is_eof ||
	    x->server.is_deaf);
}

static void
exchange_over(struct exchange *x)
{
	const struct answer *a = &x->answer;

	x->result.is_client_kept = a->is_certain && !a->is_client_told &&
	    x->sent.is_over && !x->client.is_eof;
	x->result.is_server_kept = a->is_certain && a->is_server_kept &&
	    !a->has_surplus && x->sent.is_over && !x->server.is_eof &&
	    !x->server.is_deaf && x->server.out.len == 0;
	exchange_end(x, EXCHANGE_OVER);
}

static int64_t
min_ms(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

static int64_t
exchange_limit_ms(const struct exchange *x)
{
	const struct answer *a = &x->answer;
	bool is_late = a->code != 0 && (a->is_over || (a->is_doubtful &&
	    x->spec.in->len > 0));

	if (x->client.out.len > 0)
		return x->spec.idle_ms;
	if (is_late)
		return min_ms(x->spec.idle_ms, EXCHANGE_LATE_MS);
	return x->client.is_eof ? min_ms(x->spec.idle_ms, EXCHANGE_GONE_MS) :
	    x->spec.idle_ms;
}

static void
exchange_rearm(struct exchange *x)
{
	int64_t limit_ms = exchange_limit_ms(x);

	if (limit_ms == x->limit_ms)
		return;
	x->limit_ms = limit_ms;
	watch_after(x->deadline, limit_ms);
}

/* One that has sent its end, or more than enough, still tells of a reset. */
static int
client_events(const struct exchange *x)
{
	int events = LOOP_HUP;

	if (!x->client.is_eof && x->server.out.len == 0 && client_room(x) > 0)
		events |= LOOP_READ;
	if (x->client.out.len > 0)
		events |= LOOP_WRITE;
	return events;
}

static int
server_events(const struct exchange *x)
{
	int events = 0;

	if (!x->server.is_eof && x->client.out.len == 0)
		events |= LOOP_READ;
	if (x->server.out.len > 0)
		events |= LOOP_WRITE;
	return events;
}

static void
exchange_settle(struct exchange *x)
{
	if (is_over(x))
		exchange_over(x);
	else if (watch_events(x->client.watch, client_events(x)) != 0 ||
	    watch_events(x->server.watch, server_events(x)) != 0)
		exchange_end(x, EXCHANGE_BROKEN);
	else
		exchange_rearm(x);
}

static void
client_ready(struct watch *w, int what, void *arg)
{
	struct exchange *x = arg;
	bool is_reading = (what & LOOP_READ) != 0 && !x->client.is_eof;

	(void)w;
	if ((what & LOOP_HUP) != 0 && !is_reading) {
		exchange_end(x, EXCHANGE_BROKEN);
		return;
	}
	if ((what & LOOP_WRITE) != 0 && x->client.out.len > 0) {
		if (outbox_flush(&x->client.out, x->client.fd) < 0) {
			exchange_end(x, EXCHANGE_BROKEN);
			return;
		}
		alive(x);
	}
	if (is_reading && client_read(x) != 0) {
		exchange_end(x, EXCHANGE_BROKEN);
		return;
	}
	exchange_settle(x);
}

static void
server_ready(struct watch *w, int what, void *arg)
{
	struct exchange *x = arg;
	enum exchange_end end;

	(void)w;
	if ((what & LOOP_WRITE) != 0 && x->server.out.len > 0) {
		if (outbox_flush(&x->server.out, x->server.fd) < 0) {
			x->server.is_deaf = true;
			outbox_release(&x->server.out);
		} else if (x->server.out.len == 0 && x->client.is_eof)
			client_ended(x);
		alive(x);
	}
	if ((what & LOOP_READ) != 0 && !x->server.is_eof &&
	    server_read(x, &end)) {
		exchange_end(x, end);
		return;
	}
	exchange_settle(x);
}

/* Bytes do not move the deadline; it looks for itself how long it was. */
static void
exchange_idle(struct watch *w, int what, void *arg)
{
	struct exchange *x = arg;
	int64_t idle = loop_now_ms(x->spec.loop) - x->last_ms;

	(void)what;
	if (idle < x->limit_ms) {
		watch_after(w, x->limit_ms - idle);
		return;
	}
	if (!x->answer.is_over || x->limit_ms != EXCHANGE_LATE_MS) {
		exchange_end(x, EXCHANGE_BROKEN);
		return;
	}
	x->answer.is_certain = false;
	exchange_over(x);		/* it has had its answer */
}

/* ---- life ---- */

static int
exchange_open(struct exchange *x)
{
	struct loop *l = x->spec.loop;

	x->deadline = loop_after(l, x->limit_ms, exchange_idle, x);
	x->client.watch = loop_fd(l, x->client.fd, LOOP_READ, client_ready,
	    x);
	x->server.watch = loop_fd(l, x->server.fd, LOOP_READ, server_ready,
	    x);
	if (x->deadline == NULL || x->client.watch == NULL ||
	    x->server.watch == NULL)
		return -1;
	if (watch_events(x->client.watch, client_events(x)) != 0)
		return -1;
	return watch_events(x->server.watch, server_events(x));
}

/* The head and what is here of the body, in one piece. */
static int
exchange_begin(struct exchange *x)
{
	struct buf *in = x->spec.in;
	ssize_t n = httpbody_take(&x->sent, in->data, in->len);
	struct buf out;
	int rv;

	if (n < 0)
		return -1;
	buf_init(&out, 0);
	buf_add(&out, x->spec.request->data, x->spec.request->len);
	buf_add(&out, in->data, (size_t)n);
	buf_consume(in, (size_t)n);
	rv = out.failed ? -1 : 0;
	if (rv == 0)
		server_write(x, out.data, out.len);
	buf_release(&out);
	return rv;
}

struct exchange *
exchange_start(const struct exchange_spec *spec)
{
	const struct http1 *h = spec->head;
	struct exchange *x = calloc(1, sizeof *x);

	if (x == NULL)
		return NULL;
	x->spec = *spec;
	x->client.fd = spec->client_fd;
	x->server.fd = spec->server_fd;
	x->limit_ms = spec->idle_ms;
	x->wants_close = h->wants_close;
	alive(x);
	httpbody_init(&x->sent, h->is_chunked ? HTTPBODY_CHUNKED :
	    HTTPBODY_LENGTH, h->body_bytes);
	answer_init(&x->answer, h, spec->max_header_bytes);
	buf_init(&x->rest, 0);
	if (exchange_begin(x) != 0 || exchange_open(x) != 0) {
		exchange_free(x);
		return NULL;
	}
	return x;
}
