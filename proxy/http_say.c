#include "proxy/serve_http.h"

#include <string.h>
#include <sys/socket.h>

#include "proxy/page.h"

enum { MAX_RESPONSE = 8 * 1024, MAX_RECENT = 32 /* entries on a page */ };

/*
 * A body that nobody reads ends the conversation, and so does a tunnel that
 * was not granted.
 */
static bool
is_last(const struct http_conn *h)
{
	return h->head.code != 0 || h->head.wants_close ||
	    h->head.is_connect || h->head.is_chunked ||
	    h->head.body_bytes > 0;
}

/* Words that do not fit the client's buffer are its loss: it reads none. */
static void
http_send(struct http_conn *h, const struct buf *out)
{
	if (send(h->conn.fd, out->data, out->len, MSG_NOSIGNAL |
	    MSG_DONTWAIT) != (ssize_t)out->len) {
		conn_reset(&h->conn);
		return;
	}
	http_eat(h);
	http_next(h);
}

/*
 * Of a tunnel that was not granted programs show the header at most: "blocked
 * by network.allowedDomains".  The key alone, of a file's name no byte.
 */
static void
put_error(struct buf *b, const char *error, const char *rule)
{
	int n = (int)strspn(rule, "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789.[]-");

	buf_printf(b, "X-Fence-Error: %s%s%.*s\r\n", error,
	    n > 0 ? " by " : "", n, rule);
}

static void
http_finish(struct http_conn *h, int code, const char *phrase,
    const struct page_refusal *r, const struct buf *body)
{
	struct buf out;

	buf_init(&out, body->len + 1024);
	buf_printf(&out, "HTTP/1.1 %d %s\r\n", code, phrase);
	if (r != NULL)
		put_error(&out, r->error, r->rule);
	buf_printf(&out, "Content-Type: %s\r\nContent-Length: %zu\r\n"
	    "Cache-Control: no-store\r\n%s\r\n",
	    h->head.wants_json ? "application/json" :
	    "text/plain; charset=utf-8", body->len,
	    is_last(h) ? "Connection: close\r\n" : "");
	if (!h->head.is_head)
		buf_add(&out, body->data, body->len);
	if (is_last(h))
		conn_finish(&h->conn, out.data, out.len);
	else
		http_send(h, &out);
	buf_release(&out);
}

static void
http_refuse(struct http_conn *h, const struct page_refusal *r)
{
	struct buf body;

	buf_init(&body, MAX_RESPONSE);
	page_refusal(&body, r, h->head.wants_json);
	http_finish(h, r->code, r->phrase, r, &body);
	buf_release(&body);
}

void
http_bad(struct http_conn *h, int code, const char *why)
{
	struct page_refusal r = { .code = code, .phrase = "Bad Request",
	    .error = "bad-request", .detail = why, .reason = "",
	    .rule = "", .remedy = "" };

	if (r.code == 431)
		r.phrase = "Request Header Fields Too Large";
	else if (r.code == 501)
		r.phrase = "Not Implemented";
	else if (r.code == 505)
		r.phrase = "HTTP Version Not Supported";
	h->head.code = code;		/* nothing behind it is believed */
	(void)questions_note(h->conn.home->questions, ASK_NOTE_BAD_REQUEST,
	    &h->conn.peer);
	http_refuse(h, &r);
}

/* What it is about, and why. */
static void
http_explain(struct http_conn *h, struct page_refusal *r, const char *why)
{
	struct buf detail;

	buf_init(&detail, 1024);
	buf_printf(&detail, "%s:%u: %s", h->head.host, h->head.port, why);
	r->detail = detail.data;
	http_refuse(h, r);
	buf_release(&detail);
}

void
http_denied(struct http_conn *h, const struct ask_answer *a)
{
	struct page_refusal r = { .reason = "", .rule = "", .remedy = "" };
	const char *why;

	switch (a->status) {
	case ASK_DENIED:
		r.code = 403;
		r.phrase = "Forbidden";
		r.error = "blocked";
		r.reason = a->reason;
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
	case ASK_PROXY_DENIED:
		r.code = 403;
		r.phrase = "Forbidden";
		r.error = "upstream-denied";
		r.rule = a->rule;
		r.remedy = a->remedy;
		why = a->reason;
		break;
	case ASK_PROXY_FAILED:
		r.code = 502;
		r.phrase = "Bad Gateway";
		r.error = "upstream-failed";
		r.rule = a->rule;
		r.remedy = a->remedy;
		why = a->reason;
		break;
	default:
		r.code = 503;
		r.phrase = "Service Unavailable";
		r.error = "busy";
		why = "too many connections";
		break;
	}
	http_explain(h, &r, why);
}

void
http_fault(struct http_conn *h, const char *why)
{
	struct page_refusal r = { .code = 502, .phrase = "Bad Gateway",
	    .error = "bad-answer", .reason = "", .rule = "",
	    .remedy = "" };

	http_done(h, r.code);
	http_explain(h, &r, why);
}

/* http://fence.internal/ */

static void	 http_recent(struct http_conn *);

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
	    .nth = (uint16_t)h->nrecent };
	struct conn *c = &h->conn;

	if (conn_wait(c) == 0)
		c->question = questions_ask(c->home->questions, &m,
		    recent_answered, h);
	if (c->question == NULL)
		conn_reset(c);
}

static void
why_answered(void *arg, const struct ask_answer *a, int *fd)
{
	struct http_conn *h = arg;
	struct page_why w = { .is_denied = a->status == ASK_DENIED,
	    .host = h->self.host, .port = h->self.port, .reason = a->reason,
	    .rule = a->rule, .remedy = a->remedy };

	(void)fd;
	h->conn.question = NULL;
	if (a->status != ASK_OK && a->status != ASK_DENIED) {
		http_bad(h, 400, "the host in the query is none");
		return;
	}
	page_why(&h->page, &w, h->head.wants_json);
	http_finish(h, 200, "OK", NULL, &h->page);
}

static void
http_why(struct http_conn *h)
{
	struct ask_msg m = { .kind = ASK_WHY, .port = h->self.port };
	struct conn *c = &h->conn;

	ask_fill_name(&m, h->self.host, strlen(h->self.host));
	if (conn_wait(c) == 0)
		c->question = questions_ask(c->home->questions, &m,
		    why_answered, h);
	if (c->question == NULL)
		conn_reset(c);
}

void
http_self(struct http_conn *h)
{
	const struct http1 *head = &h->head;
	const struct str path = { h->in.data + head->path.at,
	    head->path.len };
	const struct str query = { h->in.data + head->query.at,
	    head->query.len };
	struct page_refusal none = { .code = 404, .phrase = "Not Found",
	    .error = "no-page", .reason = "", .rule = "", .remedy = "" };
	int code = selfpath_parse(path, query, &h->self, &none.detail);

	if (h->self.format != SELFPATH_AS_ASKED)
		h->head.wants_json = h->self.format == SELFPATH_JSON;
	if (code == 404)
		http_refuse(h, &none);
	else if (code != 0)
		http_bad(h, code, none.detail);
	else if (h->self.page == SELFPATH_WHY)
		http_why(h);
	else
		http_recent(h);
}
