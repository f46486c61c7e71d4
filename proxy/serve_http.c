#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>
#include <sys/socket.h>

#include "platform/base/buf.h"
#include "platform/fd.h"
#include "proxy/chunked.h"
#include "proxy/http1.h"
#include "proxy/page.h"
#include "proxy/serve.h"

enum {
	READ_BYTES = 16 * 1024,
	MAX_RESPONSE = 8 * 1024,
	MAX_RECENT = 32,		/* entries on a page */
	MAX_PAGE = 64 * 1024,
};

struct http_conn {
	struct conn	conn;
	struct http1	head;
	struct buf	in;		/* the head and what came with it */
	uint64_t	body_left;	/* of a body that tells its length */
	struct chunked	chunked;	/* of one that does not */
	size_t		nheard;		/* of the answer's beginning */
	struct buf	page;		/* our own, as it grows */
	unsigned	nrecent;	/* entries on it */
};

const size_t serve_http_size = sizeof(struct http_conn);

static void
http_end(struct conn *c)
{
	struct http_conn *h = (struct http_conn *)c;

	buf_release(&h->in);
	buf_release(&h->page);
}

/* Refusals */

/* The end of the conversation; h is not to be used afterwards. */
static void
http_finish(struct http_conn *h, int code, const char *phrase,
    const char *error, const struct buf *body)
{
	struct buf out;

	buf_init(&out, body->len + 1024);
	buf_printf(&out, "HTTP/1.1 %d %s\r\n", code, phrase);
	if (error != NULL)
		buf_printf(&out, "X-Fence-Error: %s\r\n", error);
	buf_printf(&out, "Content-Type: %s\r\nContent-Length: %zu\r\n"
	    "Cache-Control: no-store\r\nConnection: close\r\n\r\n",
	    h->head.wants_json ? "application/json" :
	    "text/plain; charset=utf-8", body->len);
	if (strcmp(h->head.method, "HEAD") != 0)
		buf_add(&out, body->data, body->len);
	conn_finish(&h->conn, out.data, out.len);
	buf_release(&out);
}

static void
http_refuse(struct http_conn *h, const struct page_refusal *r)
{
	struct buf body;

	buf_init(&body, MAX_RESPONSE);
	page_refusal(&body, r, h->head.wants_json);
	http_finish(h, r->code, r->phrase, r->error, &body);
	buf_release(&body);
}

static void
http_bad(struct http_conn *h)
{
	struct page_refusal r = { .code = h->head.code, .phrase = "Bad Request",
	    .error = "bad-request", .detail = h->head.why, .rule = "",
	    .remedy = "" };

	if (r.code == 431)
		r.phrase = "Request Header Fields Too Large";
	else if (r.code == 501)
		r.phrase = "Not Implemented";
	else if (r.code == 505)
		r.phrase = "HTTP Version Not Supported";
	(void)proxy_note(h->conn.proxy, ASK_NOTE_BAD_REQUEST, &h->conn.peer);
	http_refuse(h, &r);
}

static void
http_denied(struct http_conn *h, const struct ask_answer *a)
{
	struct page_refusal r = { .rule = "", .remedy = "" };
	struct buf detail;
	const char *why;

	switch (a->status) {
	case ASK_DENIED:
		r.code = 403;
		r.phrase = "Forbidden";
		r.error = "blocked";
		r.rule = a->rule;
		r.remedy = a->remedy;
		why = "not allowed by the policy";
		break;
	case ASK_NOHOST:
		r.code = 502;
		r.phrase = "Bad Gateway";
		r.error = "unresolved";
		why = "the name does not resolve";
		break;
	case ASK_REFUSED:
		r.code = 502;
		r.phrase = "Bad Gateway";
		r.error = "unreachable";
		why = a->sys != 0 ? strerror(a->sys) : "cannot connect";
		break;
	default:
		r.code = 503;
		r.phrase = "Service Unavailable";
		r.error = "busy";
		why = "too many connections";
		break;
	}
	buf_init(&detail, 1024);
	buf_printf(&detail, "%s:%u: %s", h->head.host, h->head.port, why);
	r.detail = detail.data;
	http_refuse(h, &r);
	buf_release(&detail);
}

/* Connections that were granted */

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

/* The body is the client's part; whatever follows is for nobody. */
static ssize_t
http_take(void *arg, const char *data, size_t len, bool *is_over)
{
	struct http_conn *h = arg;
	enum chunked_status st;

	if (h->head.is_chunked) {
		st = chunked_feed(&h->chunked, data, len, &len);
		*is_over = st == CHUNKED_DONE;
		return st == CHUNKED_BAD ? -1 : (ssize_t)len;
	}
	if (len > h->body_left)
		len = (size_t)h->body_left;
	h->body_left -= len;
	*is_over = h->body_left == 0;
	return (ssize_t)len;
}

/* After this answer the bytes are no longer HTTP. */
static void
http_hear(void *arg, const char *data, size_t len)
{
	static const char switching[] = "HTTP/1.1 101 ";
	enum { N = sizeof switching - 1 };
	struct http_conn *h = arg;

	for (; len > 0 && h->nheard < N; data++, len--) {
		if (*data != switching[h->nheard]) {
			h->nheard = N;		/* some other answer */
			return;
		}
		if (++h->nheard == N)
			relay_tunnel(h->conn.relay);
	}
}

/* One request, rewritten, and its body; the answer ends the connection. */
static int
http_forward(struct http_conn *h, int *fd)
{
	const char *rest = h->in.data + h->head.head_len;
	size_t len = h->in.len - h->head.head_len;
	struct relay_spec spec = { .take = http_take,
	    .hear = h->head.is_websocket ? http_hear : NULL };
	bool is_over;
	ssize_t body;
	struct buf out;
	int rv = -1;

	chunked_init(&h->chunked);
	h->body_left = h->head.body_bytes;
	body = http_take(h, rest, len, &is_over);
	if (body < 0)
		return -1;
	spec.has_surplus = (size_t)body < len;
	/* The rewritten head may be longer by its Host and Connection. */
	buf_init(&out, h->in.max_bytes + 1024);
	http1_rewrite(&h->head, h->in.data, &out);
	buf_add(&out, rest, (size_t)body);
	spec.to_server = out.data;
	spec.to_server_len = out.len;
	if (!out.failed)
		rv = conn_relay(&h->conn, fd, &spec);
	buf_release(&out);
	return rv;
}

/* http://fence.internal/ */

static void	http_recent(struct http_conn *);

static void
recent_answered(void *arg, const struct ask_answer *a, int *fd)
{
	struct http_conn *h = arg;

	(void)fd;
	h->conn.question = NULL;
	if (a->status == ASK_OK && h->nrecent < MAX_RECENT) {
		page_recent(&h->page, a, h->nrecent++, h->head.wants_json);
		http_recent(h);
		return;
	}
	page_recent_end(&h->page, h->nrecent, h->head.wants_json);
	http_finish(h, 200, "OK", NULL, &h->page);
}

/* One after the other: a question has room for the answer to one. */
static void
http_recent(struct http_conn *h)
{
	struct ask_msg m = { .kind = ASK_RECENT,
	    .port = (uint16_t)h->nrecent };
	struct conn *c = &h->conn;

	if (conn_wait(c) == 0)
		c->question = proxy_ask(c->proxy, &m, recent_answered, h);
	if (c->question == NULL)
		conn_reset(c);
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

static void
http_answered(void *arg, const struct ask_answer *a, int *fd)
{
	struct ask_answer full = { .status = ASK_FULL };
	struct http_conn *h = arg;
	int rv;

	h->conn.question = NULL;
	if (a->status == ASK_SELF) {
		if (h->head.is_connect)
			http_self_tunnel(h);
		else
			http_recent(h);
		return;
	}
	if (a->status != ASK_OK || *fd < 0) {
		http_denied(h, a->status != ASK_OK ? a : &full);
		return;
	}
	rv = h->head.is_connect ? http_tunnel(h, a, fd) : http_forward(h, fd);
	buf_release(&h->in);
	if (rv != 0)
		conn_reset(&h->conn);
}

static void
http_ask(struct http_conn *h)
{
	struct ask_msg m = { .kind = ASK_DIAL, .via = ASK_VIA_HTTP,
	    .port = h->head.port };
	struct ask_answer full = { .status = ASK_FULL };
	struct conn *c = &h->conn;

	ask_fill_name(&m, h->head.host, strlen(h->head.host));
	ask_fill_source(&m, &c->peer, false);
	memcpy(m.method, h->head.method, sizeof m.method);
	if (conn_wait(c) != 0 ||
	    conn_expire(c, conn_limits(c)->idle_ms) != 0) {
		conn_reset(c);
		return;
	}
	c->question = proxy_ask(c->proxy, &m, http_answered, h);
	if (c->question == NULL)
		http_denied(h, &full);
}

static void
http_step(struct http_conn *h)
{
	switch (http1_feed(&h->head, h->in.data, h->in.len)) {
	case HTTP1_MORE:
		break;
	case HTTP1_DONE:
		if (is_self(h))
			http_recent(h);
		else
			http_ask(h);
		break;
	case HTTP1_BAD:
		http_bad(h);
		break;
	}
}

static void
http_ready(struct watch *w, int what, void *arg)
{
	struct http_conn *h = arg;
	char bytes[READ_BYTES];
	ssize_t n;

	(void)w;
	(void)what;
	n = recv(h->conn.fd, bytes, sizeof bytes, MSG_DONTWAIT);
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return;
	if (n > 0)
		buf_add(&h->in, bytes, (size_t)n);
	if (n <= 0 || h->in.failed) {
		conn_free(&h->conn);
		return;
	}
	http_step(h);
}

int
serve_http(struct conn *c)
{
	struct http_conn *h = (struct http_conn *)c;
	const struct proxy_limits *limits = conn_limits(c);

	http1_init(&h->head, limits->max_header_bytes);
	buf_init(&h->in, limits->max_header_bytes + READ_BYTES);
	buf_init(&h->page, MAX_PAGE);
	c->end = http_end;
	c->watch = loop_fd(conn_loop(c), c->fd, LOOP_READ, http_ready, h);
	if (c->watch == NULL || conn_expire(c, limits->handshake_ms) != 0)
		return -1;
	return 0;
}

int
serve_self(struct conn *c, const void *early, size_t len)
{
	struct http_conn *h = (struct http_conn *)c;

	if (serve_http(c) != 0)
		return -1;
	h->head.takes_path = true;
	strcpy(h->head.host, ASK_SELF_NAME);
	h->head.port = ASK_SELF_PORT;
	buf_add(&h->in, early, len);
	if (len > 0)
		http_step(h);
	return 0;
}
