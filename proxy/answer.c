#include "proxy/answer.h"

#include <string.h>

static void
answer_next(struct answer *a)
{
	httpresp_init(&a->resp, a->max_header_bytes);
	a->resp.is_head = a->is_head;
}

void
answer_init(struct answer *a, const struct http1 *request,
    size_t max_header_bytes)
{
	memset(a, 0, sizeof *a);
	a->is_head = request->is_head;
	a->is_http10 = request->is_http10;
	a->is_websocket = request->is_websocket;
	a->max_header_bytes = max_header_bytes;
	buf_init(&a->head, 0);
	answer_next(a);
}

void
answer_release(struct answer *a)
{
	buf_release(&a->head);
}

size_t
answer_body(struct answer *a, const char *data, size_t len)
{
	ssize_t n = httpbody_take(&a->body, data, len);

	if (n < 0) {
		/* The client may be able to make sense of it. */
		httpbody_init(&a->body, HTTPBODY_UNTIL_END, 0);
		a->is_certain = false;
		a->is_doubtful = true;
		n = (ssize_t)len;
	}
	a->is_over = a->body.is_over;
	a->has_surplus |= (size_t)n < len;
	return (size_t)n;
}

/* The head of the answer itself, and what came with it. */
static void
answer_final(struct answer *a, const char *rest, size_t len, bool is_last,
    struct buf *out)
{
	a->code = a->resp.code;
	a->is_certain = a->resp.is_certain;
	a->is_doubtful = a->resp.is_odd;
	a->is_server_kept = a->resp.is_kept;
	a->is_client_told = is_last || !a->is_certain;
	httpresp_rewrite(&a->resp, a->head.data, a->is_client_told, out);
	httpbody_init(&a->body, a->resp.body, a->resp.body_bytes);
	buf_add(out, rest, answer_body(a, rest, len));
	buf_release(&a->head);
}

static enum answer_step
answer_switched(struct answer *a, const char *rest, size_t len,
    struct buf *out)
{
	if (!a->is_websocket) {
		a->why = "it switches to what nobody asked for";
		return ANSWER_BAD;
	}
	a->code = a->resp.code;
	httpresp_rewrite(&a->resp, a->head.data, false, out);
	buf_add(out, rest, len);
	return out->failed ? ANSWER_FAILED : ANSWER_SWITCHED;
}

/* An HTTP/1.0 client knows no interim answers. */
static void
answer_interim(struct answer *a, struct buf *out)
{
	if (!a->is_http10)
		httpresp_rewrite(&a->resp, a->head.data, false, out);
	buf_consume(&a->head, a->resp.head_len);
	answer_next(a);
}

enum answer_step
answer_heads(struct answer *a, const char *data, size_t len, bool is_last,
    struct buf *out)
{
	enum httpresp_status st;

	buf_add(&a->head, data, len);
	while (a->code == 0 && !a->head.failed) {
		const char *rest;

		st = httpresp_feed(&a->resp, a->head.data, a->head.len);
		if (st == HTTPRESP_MORE)
			break;
		a->why = a->resp.why;
		if (st == HTTPRESP_BAD)
			return ANSWER_BAD;
		rest = a->head.data + a->resp.head_len;
		len = a->head.len - a->resp.head_len;
		if (a->resp.is_switch)
			return answer_switched(a, rest, len, out);
		if (a->resp.is_interim)
			answer_interim(a, out);
		else
			answer_final(a, rest, len, is_last, out);
	}
	return a->head.failed || out->failed ? ANSWER_FAILED : ANSWER_MORE;
}
