#include "proxy/serve_http.h"

#include <stdlib.h>
#include <string.h>
#include <strings.h>

#include "platform/fd.h"
#include "platform/net.h"

/* The connection at hand */

void
http_forget(struct http_conn *h)
{
	struct http_kept *k = h->kept;

	if (k == NULL)
		return;
	h->kept = NULL;
	watch_free(k->watch);
	fd_close(&k->fd);
	free(k);
}

/* An origin that says something now, or ends, is none to ask again. */
static void
kept_ready(struct watch *w, int what, void *arg)
{
	(void)w;
	(void)what;
	http_forget(arg);
}

static void
http_keep(struct http_conn *h)
{
	struct http_kept *k = calloc(1, sizeof *k);

	if (k == NULL)
		return;
	k->watch = loop_fd(h->conn.home->loop, h->server_fd, LOOP_READ,
	    kept_ready, h);
	if (k->watch == NULL) {
		free(k);
		return;
	}
	k->fd = fd_take(&h->server_fd);
	k->port = h->head.port;
	memcpy(k->host, h->head.host, sizeof k->host);
	h->kept = k;
}

/*
 * The origin may end the connection while the request is under way, and then
 * nobody knows whether it was heard: only what may be asked twice goes there.
 */
static bool
is_repeatable(const struct http1 *h)
{
	static const char *const safe[] = { "GET", "HEAD", "OPTIONS" };

	if (h->is_chunked || h->body_bytes > 0 || h->is_websocket)
		return false;
	for (size_t i = 0; i < sizeof safe / sizeof safe[0]; i++)
		if (strcmp(h->method, safe[i]) == 0)
			return true;
	return false;
}

bool
http_may_reuse(const struct http_conn *h)
{
	return h->kept != NULL && !h->head.is_connect &&
	    is_repeatable(&h->head) && h->kept->port == h->head.port &&
	    strcasecmp(h->kept->host, h->head.host) == 0;
}

/* Exchanges */

static void
http_switched(struct http_conn *h, const struct exchange_result *r)
{
	struct relay_spec spec = {
		.to_client = r->rest, .to_client_len = r->rest_len,
		.to_server = h->in.data, .to_server_len = h->in.len,
	};

	if (h->wants_done)
		http_done(h, r->code);
	if (conn_relay(&h->conn, &h->server_fd, &spec) != 0) {
		conn_reset(&h->conn);
		return;
	}
	exchange_free(h->exchange);
	h->exchange = NULL;
	buf_release(&h->in);
}

static void
http_over(struct http_conn *h, const struct exchange_result *r)
{
	if (h->wants_done)
		http_done(h, r->code);
	if (r->is_client_kept && r->is_server_kept)
		http_keep(h);
	fd_close(&h->server_fd);
	if (r->is_client_kept)
		http_next(h);
	else
		conn_finish(&h->conn, "", 0);
}

static void
http_exchanged(void *arg, const struct exchange_result *result)
{
	const struct exchange_result r = *result;
	struct http_conn *h = arg;

	if (r.end == EXCHANGE_SWITCHED) {
		http_switched(h, &r);
		return;
	}
	exchange_free(h->exchange);
	h->exchange = NULL;
	if (r.end == EXCHANGE_OVER) {
		http_over(h, &r);
		return;
	}
	if (r.end == EXCHANGE_BROKEN) {
		net_reset(&h->server_fd);
		conn_reset(&h->conn);
		return;
	}
	fd_close(&h->server_fd);
	if (r.end == EXCHANGE_UNHEARD && h->is_reused)
		http_ask(h);
	else
		http_fault(h, r.why);
}

static int
http_exchange(struct http_conn *h)
{
	struct conn *c = &h->conn;
	struct exchange_spec spec = { .loop = c->home->loop,
	    .client_fd = c->fd, .server_fd = h->server_fd,
	    .idle_ms = c->home->limits.idle_ms,
	    .max_header_bytes = c->home->limits.max_header_bytes,
	    .head = &h->head, .request = &h->request, .in = &h->in,
	    .done = http_exchanged, .arg = h };

	watch_free(c->watch);
	watch_free(c->deadline);
	c->watch = c->deadline = NULL;
	h->exchange = exchange_start(&spec);
	return h->exchange != NULL ? 0 : -1;
}

/* The head becomes the origin's, once; it may be needed again. */
static void
http_rewrite(struct http_conn *h)
{
	if (h->request.len > 0)
		return;
	http1_rewrite(&h->head, h->in.data, &h->request);
	http_eat(h);
}

void
http_forward(struct http_conn *h, int *fd)
{
	if (*fd < 0) {
		watch_free(h->kept->watch);
		h->kept->watch = NULL;
		h->server_fd = fd_take(&h->kept->fd);
	} else
		h->server_fd = fd_take(fd);
	http_forget(h);
	http_rewrite(h);
	if (h->request.failed)
		conn_reset(&h->conn);
	else if (http_exchange(h) != 0) {
		fd_close(&h->server_fd);
		http_bad(h, 400, "the body makes no sense");
	}
}
