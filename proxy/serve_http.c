#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

#include "platform/base/buf.h"
#include "platform/fd.h"
#include "proxy/chunked.h"
#include "proxy/http1.h"
#include "proxy/serve.h"

enum {
	READ_BYTES = 16 * 1024,
	MAX_RESPONSE = 8 * 1024,
	DRAIN_MS = 2000,
};

struct http_conn {
	struct conn	conn;
	struct http1	head;
	struct buf	in;		/* the head and what came with it */
	uint64_t	body_left;	/* of a body that tells its length */
	struct chunked	chunked;	/* of one that does not */
};

const size_t serve_http_size = sizeof(struct http_conn);

static void
http_end(struct conn *c)
{
	buf_release(&((struct http_conn *)c)->in);
}

/* Refusals */

struct refusal {
	int		 code;
	const char	*phrase;
	const char	*error;		/* X-Fence-Error */
	const char	*detail;
	const char	*rule, *remedy;	/* "" for none */
};

static void
put_json_string(struct buf *b, const char *key, const char *s, char after)
{
	buf_printf(b, "\"%s\": \"", key);
	for (; *s != '\0'; s++) {
		unsigned char ch = (unsigned char)*s;

		if (ch == '"' || ch == '\\')
			buf_printf(b, "\\%c", ch);
		else if (ch < ' ' || ch == 0x7f)
			buf_printf(b, "\\u%04x", ch);
		else
			buf_putc(b, (char)ch);
	}
	buf_printf(b, "\"%c", after);
}

static void
put_json(struct buf *b, const struct refusal *r)
{
	buf_putc(b, '{');
	put_json_string(b, "error", r->error, ',');
	put_json_string(b, "detail", r->detail, ',');
	put_json_string(b, "rule", r->rule, ',');
	put_json_string(b, "remedy", r->remedy, '}');
	buf_putc(b, '\n');
}

static void
put_text(struct buf *b, const struct refusal *r)
{
	buf_printf(b, "fence: %s\n", r->detail);
	if (r->rule[0] != '\0')
		buf_printf(b, "rule: %s\n", r->rule);
	if (r->remedy[0] != '\0')
		buf_printf(b, "allow: %s\n", r->remedy);
}

static void
put_response(struct buf *out, const struct http_conn *h,
    const struct refusal *r)
{
	bool is_json = h->head.wants_json;
	struct buf body;

	buf_init(&body, MAX_RESPONSE);
	if (is_json)
		put_json(&body, r);
	else
		put_text(&body, r);
	buf_printf(out, "HTTP/1.1 %d %s\r\nX-Fence-Error: %s\r\n"
	    "Content-Type: %s\r\nContent-Length: %zu\r\n"
	    "Connection: close\r\n\r\n", r->code, r->phrase, r->error,
	    is_json ? "application/json" : "text/plain; charset=utf-8",
	    body.len);
	if (strcmp(h->head.method, "HEAD") != 0)
		buf_add(out, body.data, body.len);
	buf_release(&body);
}

/* Closing over unread bytes would reset the client before it has read us. */
static void
http_drain(struct watch *w, int what, void *arg)
{
	struct http_conn *h = arg;
	char *buf = loop_buf(conn_loop(&h->conn));
	ssize_t n;

	(void)w;
	(void)what;
	n = buf == NULL ? 0 :
	    recv(h->conn.fd, buf, LOOP_BUF_BYTES, MSG_DONTWAIT);
	if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
		conn_free(&h->conn);
}

/* The end of the conversation; h is not to be used afterwards. */
static void
http_refuse(struct http_conn *h, const struct refusal *r)
{
	struct conn *c = &h->conn;
	struct buf out;
	ssize_t n;

	buf_init(&out, MAX_RESPONSE + 1024);
	put_response(&out, h, r);
	/* Far below any send buffer, and the first bytes in it. */
	n = send(c->fd, out.data, out.len, MSG_NOSIGNAL | MSG_DONTWAIT);
	buf_release(&out);
	buf_release(&h->in);
	watch_free(c->watch);
	c->watch = NULL;
	if (n > 0 && shutdown(c->fd, SHUT_WR) == 0 &&
	    conn_expire(c, DRAIN_MS) == 0)
		c->watch = loop_fd(conn_loop(c), c->fd, LOOP_READ, http_drain,
		    h);
	if (c->watch == NULL)
		conn_free(c);
}

static void
http_bad(struct http_conn *h)
{
	struct refusal r = { .code = h->head.code, .phrase = "Bad Request",
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
	struct refusal r = { .rule = "", .remedy = "" };
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

static int
http_tunnel(struct http_conn *h, int *fd)
{
	static const char hello[] =
	    "HTTP/1.1 200 Connection established\r\n\r\n";
	struct relay_spec spec = {
		.to_client = hello, .to_client_len = sizeof hello - 1,
		.to_server = h->in.data + h->head.head_len,
		.to_server_len = h->in.len - h->head.head_len,
	};

	return conn_relay(&h->conn, fd, &spec);
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

/* One request, rewritten, and its body; the answer ends the connection. */
static int
http_forward(struct http_conn *h, int *fd)
{
	const char *rest = h->in.data + h->head.head_len;
	size_t len = h->in.len - h->head.head_len;
	struct relay_spec spec = { .take = http_take };
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

static void
http_answered(void *arg, const struct ask_answer *a, int *fd)
{
	struct ask_answer full = { .status = ASK_FULL };
	struct http_conn *h = arg;
	int rv;

	h->conn.question = NULL;
	if (a->status != ASK_OK || *fd < 0) {
		http_denied(h, a->status != ASK_OK ? a : &full);
		return;
	}
	rv = h->head.is_connect ? http_tunnel(h, fd) : http_forward(h, fd);
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
	switch (http1_feed(&h->head, h->in.data, h->in.len)) {
	case HTTP1_MORE:
		break;
	case HTTP1_DONE:
		http_ask(h);
		break;
	case HTTP1_BAD:
		http_bad(h);
		break;
	}
}

int
serve_http(struct conn *c)
{
	struct http_conn *h = (struct http_conn *)c;
	const struct proxy_limits *limits = conn_limits(c);

	http1_init(&h->head, limits->max_header_bytes);
	buf_init(&h->in, limits->max_header_bytes + READ_BYTES);
	c->end = http_end;
	c->watch = loop_fd(conn_loop(c), c->fd, LOOP_READ, http_ready, h);
	if (c->watch == NULL || conn_expire(c, limits->handshake_ms) != 0)
		return -1;
	return 0;
}
