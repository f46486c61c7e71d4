/* One head, whole and in pieces: the answers must agree. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/http1.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

enum { MAX_HEAD = 2048 };

static enum http1_status
feed(struct http1 *h, const char *data, size_t len, size_t step)
{
	enum http1_status st = HTTP1_MORE;

	http1_init(h, MAX_HEAD);
	for (size_t n = 0; n < len && st == HTTP1_MORE;) {
		n = len - n < step ? len : n + step;
		st = http1_feed(h, data, n);
	}
	return st;
}

/* What is sent on must be one head, and must not name another host. */
static void
check_rewrite(const struct http1 *h, const char *data)
{
	struct buf out;
	char *host;

	buf_init(&out, 0);
	http1_rewrite(h, data, &out);
	host = strstr(out.data, "\r\nHost: ");
	if (host == NULL || strcasestr(host + 8, "\r\nHost:") != NULL ||
	    strstr(out.data, "\r\n\r\n") != out.data + out.len - 4)
		abort();
	buf_release(&out);
}

static bool
is_same(const struct http1 *a, const struct http1 *b)
{
	return a->code == b->code && a->why == b->why &&
	    a->head_len == b->head_len && strcmp(a->method, b->method) == 0 &&
	    strcmp(a->host, b->host) == 0 && a->port == b->port &&
	    a->is_connect == b->is_connect && a->is_http10 == b->is_http10 &&
	    a->is_chunked == b->is_chunked && a->has_length == b->has_length &&
	    a->wants_json == b->wants_json &&
	    a->is_websocket == b->is_websocket &&
	    a->body_bytes == b->body_bytes &&
	    memcmp(&a->path, &b->path, sizeof a->path) == 0 &&
	    memcmp(&a->query, &b->query, sizeof a->query) == 0;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct http1 whole, bytes, odd;
	const char *p = (const char *)data;
	enum http1_status st = feed(&whole, p, len, len);

	if (feed(&bytes, p, len, 1) != st || feed(&odd, p, len, 7) != st ||
	    !is_same(&whole, &bytes) || !is_same(&whole, &odd))
		abort();
	if (st == HTTP1_DONE && !whole.is_connect)
		check_rewrite(&whole, p);
	return 0;
}
