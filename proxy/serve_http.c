#include "proxy/serve_http.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "platform/fd.h"

enum {
	READ_BYTES = EXCHANGE_AHEAD,
	MAX_PAGE = 64 * 1024,
	KEEP_MS = 5 * 60 * 1000,	/* a client that says nothing more */
};

const size_t serve_http_size = sizeof(struct http_conn);

static void
http_end(struct conn *c)
{
	struct http_conn *h = (struct http_conn *)c;

	watch_free(h->turn);
	exchange_free(h->exchange);
	http_forget(h);
	fd_close(&h->server_fd);
	buf_release(&h->in);
	buf_release(&h->request);
	buf_release(&h->page);
}

/* Tunnels */

static const char tunnel_hello[] =
    "HTTP/1.1 200 Connection established\r\n\r\n";

static int
http_tunnel(struct http_conn *h, const struct ask_answer *a, int *fd)
{
	struct relay_spec spec = {
		.to_client = tunnel_hello,
		.to_client_len = sizeof tunnel_hello - 1,
		.to_server = h->in.data + h->head.head_len,
		.to_server_len = h->in.len - h->head.head_len,
	};

	return conn_tunnel(&h->conn, fd, &spec, ASK_VIA_HTTP, h->head.port,
	    a);
}

static bool
is_self(const struct http_conn *h)
{
	return !h->head.is_connect && h->head.port == ASK_SELF_PORT &&
	    strcasecmp(h->head.host, ASK_SELF_NAME) == 0;
}

/* A tunnel to ourselves. */
static void
http_self_tunnel(struct http_conn *h)
{
	conn_self(&h->conn, tunnel_hello, sizeof tunnel_hello - 1,
	    h->in.data + h->head.head_len, h->in.len - h->head.head_len);
}

/* Questions */

static void
http_answered(void *arg, const struct ask_answer *a, int *fd)
{
	struct ask_answer full = { .status = ASK_FULL };
	struct http_conn *h = arg;

	h->conn.question = NULL;
	h->wants_done = a->wants_done;
	if (a->status == ASK_SELF) {
		if (h->head.is_connect)
			http_self_tunnel(h);
		else
			http_self(h);
		return;
	}
	/* The connection at hand may have ended meanwhile. */
	if (a->status == ASK_OK && *fd < 0 && h->is_reused) {
		if (h->kept != NULL)
			http_forward(h, fd);
		else
			http_ask(h);
		return;
	}
	if (a->status == ASK_DENIED && a->is_loop) {
		conn_hold(&h->conn);
		return;
	}
	if (a->status != ASK_OK || *fd < 0) {
		http_denied(h, a->status != ASK_OK ? a : &full);
		return;
	}
	if (!h->head.is_connect) {
		http_forward(h, fd);
		return;
	}
	if (http_tunnel(h, a, fd) != 0)
		conn_reset(&h->conn);
	else
		buf_release(&h->in);
}

/* What a question and a report have in common. */
static void
fill_request(const struct http_conn *h, struct ask_msg *m)
{
	*m = (struct ask_msg){ .via = ASK_VIA_HTTP, .port = h->head.port };
	ask_fill_name(m, h->head.host, strlen(h->head.host));
	ask_fill_source(m, &h->conn.peer, false);
	memcpy(m->method, h->head.method, sizeof m->method);
	memcpy(m->url_path, h->head.short_path, sizeof h->head.short_path);
}

void
http_done(struct http_conn *h, int code)
{
	int64_t ms = loop_now_ms(h->conn.home->loop) - h->start_ms;
	struct ask_msg m;

	fill_request(h, &m);
	m.kind = ASK_DONE;
	m.code = (uint16_t)code;
	m.ms = ms < UINT32_MAX ? (uint32_t)ms : UINT32_MAX;
	(void)questions_tell(h->conn.home->questions, &m);
}

void
http_ask(struct http_conn *h)
{
	struct ask_msg m;
	struct ask_answer full = { .status = ASK_FULL };
	struct conn *c = &h->conn;

	h->is_reused = http_may_reuse(h);
	if (!h->is_reused)
		http_forget(h);
	h->start_ms = loop_now_ms(c->home->loop);
	fill_request(h, &m);
	m.kind = ASK_DIAL;
	m.is_open = h->is_reused;
	if (conn_wait(c) != 0 ||
	    conn_expire(c, c->home->limits.idle_ms) != 0) {
		conn_reset(c);
		return;
	}
	c->question = questions_ask(c->home->questions, &m, http_answered, h);
	if (c->question == NULL)
		http_denied(h, &full);
}

/* Requests */

void
http_eat(struct http_conn *h)
{
	buf_consume(&h->in, h->head.head_len);
	h->head.head_len = 0;
}

static void
http_step(struct http_conn *h)
{
	switch (http1_feed(&h->head, h->in.data, h->in.len)) {
	case HTTP1_MORE:
		break;
	case HTTP1_DONE:
		if (is_self(h))
			http_self(h);
		else
			http_ask(h);
		break;
	case HTTP1_BAD:
		http_bad(h, h->head.code, h->head.why);
		break;
	}
}

static void
http_ready(struct watch *w, int what, void *arg)
{
	struct http_conn *h = arg;
	bool is_first = h->in.len == 0;
	char bytes[READ_BYTES];
	ssize_t n;

	(void)w;
	(void)what;
	if (h->turn != NULL) {		/* it was reset meanwhile */
		conn_reset(&h->conn);
		return;
	}
	n = recv(h->conn.fd, bytes, sizeof bytes, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		buf_add(&h->in, bytes, (size_t)n);
	if (n <= 0 || h->in.failed || (is_first &&
	    conn_expire(&h->conn, h->conn.home->limits.handshake_ms) != 0)) {
		conn_free(&h->conn);
		return;
	}
	http_step(h);
}

/* Room for one more head, with nothing known of it. */
static int
http_begin(struct http_conn *h)
{
	struct conn *c = &h->conn;

	http1_init(&h->head, c->home->limits.max_header_bytes);
	if (h->is_self) {
		h->head.takes_path = true;
		strcpy(h->head.host, ASK_SELF_NAME);
		h->head.port = ASK_SELF_PORT;
	}
	watch_free(c->watch);
	c->watch = loop_fd(c->home->loop, c->fd, LOOP_READ, http_ready, h);
	return c->watch != NULL ? 0 : -1;
}

/*
 * A turn of the loop lies between two requests: one that pipelines them has
 * no more of it than others.
 */
static void
http_turn(struct watch *w, int what, void *arg)
{
	struct http_conn *h = arg;

	(void)what;
	watch_free(w);
	h->turn = NULL;
	if (watch_events(h->conn.watch, LOOP_READ) != 0)
		conn_reset(&h->conn);
	else
		http_step(h);
}

void
http_next(struct http_conn *h)
{
	struct conn *c = &h->conn;
	bool is_idle = h->in.len == 0;

	buf_release(&h->page);
	buf_release(&h->request);
	h->nrecent = 0;
	if (is_idle)
		buf_release(&h->in);
	if (http_begin(h) != 0 || conn_expire(c, is_idle ? KEEP_MS :
	    c->home->limits.handshake_ms) != 0) {
		conn_reset(c);
		return;
	}
	if (is_idle)
		return;
	h->turn = loop_after(c->home->loop, 0, http_turn, h);
	if (h->turn == NULL || watch_events(c->watch, LOOP_HUP) != 0)
		conn_reset(c);
}

static int64_t
http_last_ms(const struct conn *c)
{
	const struct http_conn *h = (const struct http_conn *)c;

	return h->exchange != NULL ? exchange_last_ms(h->exchange) : 0;
}

static int
http_open(struct conn *c)
{
	struct http_conn *h = (struct http_conn *)c;
	const struct proxy_limits *limits = &c->home->limits;

	h->server_fd = -1;
	buf_init(&h->in, limits->max_header_bytes + READ_BYTES);
	buf_init(&h->page, MAX_PAGE);
	/* A rewritten head may be longer by its Host and Connection. */
	buf_init(&h->request, limits->max_header_bytes + 1024);
	c->end = http_end;
	c->last_ms = http_last_ms;
	return http_begin(h) != 0 ||
	    conn_expire(c, limits->handshake_ms) != 0 ? -1 : 0;
}

int
serve_http(struct conn *c)
{
	if (http_open(c) != 0)
		return -1;
	/* A client speaks as soon as it is connected: most have by now. */
	http_ready(c->watch, LOOP_READ, c);
	return 0;
}

int
serve_self(struct conn *c, const void *early, size_t len)
{
	struct http_conn *h = (struct http_conn *)c;

	h->is_self = true;
	if (http_open(c) != 0)
		return -1;
	buf_add(&h->in, early, len);
	if (len > 0)
		http_step(h);
	return 0;
}
