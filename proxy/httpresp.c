#include "proxy/httpresp.h"

#include <string.h>

#include "platform/base/str.h"

/* Rewriting looks at each field against each: the square must stay small. */
enum { MAX_FIELDS = 256 };

struct fields {
	bool		has_length, has_coding, is_chunked, is_odd, wants_close;
	unsigned	n;
};

void
httpresp_init(struct httpresp *h, size_t max_bytes)
{
	memset(h, 0, sizeof *h);
	h->head.max_bytes = max_bytes;
	h->head.is_lenient = true;
}

static enum httpresp_status
bad(struct httpresp *h, const char *why)
{
	h->why = why;
	return HTTPRESP_BAD;
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

/* HTTP/1.1 200 OK; the phrase may be missing, with its blank. */
static enum httpresp_status
parse_status_line(struct httpresp *h, struct str line, bool *is_http10)
{
	struct str version, code = line;
	uint64_t n;

	if (!http_cut(&code, ' ', &version))
		return bad(h, "no status line");
	*is_http10 = str_eq(version, "HTTP/1.0");
	if (!*is_http10 && !str_eq(version, "HTTP/1.1"))
		return bad(h, "not HTTP/1.0 or HTTP/1.1");
	line = code;
	if (!http_cut(&line, ' ', &code))
		code = line;
	if (code.len != 3 || !http_is_all(code, is_digit) ||
	    str_to_u64(code, 599, &n) != 0 || n < 100)
		return bad(h, "no valid status");
	h->code = (int)n;
	return HTTPRESP_DONE;
}

/* A list of one and the same length is that length. */
static enum httpresp_status
parse_length(struct httpresp *h, struct fields *f, struct str list)
{
	struct str member;
	uint64_t n;

	while (http_next_member(&list, &member)) {
		if (str_to_u64(member, INT64_MAX, &n) != 0 ||
		    (f->has_length && n != h->body_bytes))
			return bad(h, "bad Content-Length");
		f->is_odd |= f->has_length;
		f->has_length = true;
		h->body_bytes = n;
	}
	return HTTPRESP_DONE;
}

/* Chunked counts where it stands last and once; else the end is the end. */
static void
parse_coding(struct fields *f, struct str list)
{
	struct str member;

	while (http_next_member(&list, &member)) {
		f->is_odd |= f->has_coding || member.len == 0;
		f->is_chunked = !f->is_chunked &&
		    str_caseeq(member, "chunked");
		f->has_coding = true;
	}
}

static void
parse_connection(struct fields *f, struct str list)
{
	struct str member;

	while (http_next_member(&list, &member))
		f->wants_close |= str_caseeq(member, "close");
}

/* Blanks before the colon are not for anybody to see. */
static bool
split_field(struct str line, struct str *name, struct str *value)
{
	*value = line;
	if (!http_cut(value, ':', name))
		return false;
	*name = http_trim(*name);
	return http_is_all(*name, http_is_token);
}

static enum httpresp_status
parse_field(struct httpresp *h, struct fields *f, struct str line)
{
	struct str name, value;

	if (++f->n > MAX_FIELDS)
		return bad(h, "too many header fields");
	if (!split_field(line, &name, &value)) {
		f->is_odd = true;	/* it is left out */
		return HTTPRESP_DONE;
	}
	value = http_trim(value);
	if (str_caseeq(name, "content-length"))
		return parse_length(h, f, value);
	if (str_caseeq(name, "transfer-encoding"))
		parse_coding(f, value);
	else if (str_caseeq(name, "connection"))
		parse_connection(f, value);
	return HTTPRESP_DONE;
}

/* RFC 9112, 6.3. */
static enum httpbody_kind
body_kind(const struct httpresp *h, const struct fields *f)
{
	if (h->is_head || h->code < 200 || h->code == 204 || h->code == 304)
		return HTTPBODY_NONE;
	if (f->has_coding)
		return f->is_chunked ? HTTPBODY_CHUNKED : HTTPBODY_UNTIL_END;
	return f->has_length ? HTTPBODY_LENGTH : HTTPBODY_UNTIL_END;
}

static enum httpresp_status
parse_head(struct httpresp *h, const char *data)
{
	struct fields f = { .is_odd = h->head.is_odd };
	enum httpresp_status st;
	bool is_http10 = false;
	size_t at = 0;

	st = parse_status_line(h, httphead_line(data, &at), &is_http10);
	while (st == HTTPRESP_DONE && at < h->head.line_at)
		st = parse_field(h, &f, httphead_line(data, &at));
	if (st != HTTPRESP_DONE)
		return st;
	h->is_switch = h->code == 101;
	h->is_interim = h->code < 200 && !h->is_switch;
	h->body = body_kind(h, &f);
	h->is_odd = f.is_odd ||
	    (f.has_coding && (f.has_length || is_http10));
	h->is_certain = h->body != HTTPBODY_UNTIL_END && !h->is_odd;
	h->is_kept = h->is_certain && !is_http10 && !f.wants_close;
	return HTTPRESP_DONE;
}

enum httpresp_status
httpresp_feed(struct httpresp *h, const char *data, size_t len)
{
	if (h->why != NULL)
		return HTTPRESP_BAD;
	if (h->head_len != 0)
		return HTTPRESP_DONE;
	switch (httphead_scan(&h->head, data, len)) {
	case HTTPHEAD_MORE:
		return HTTPRESP_MORE;
	case HTTPHEAD_BAD:
		return bad(h, h->head.why);
	case HTTPHEAD_LONG:
		return bad(h, "the head is too long");
	case HTTPHEAD_DONE:
		break;
	}
	h->head_len = h->head.seen;
	return parse_head(h, data);
}

/* Rewriting */

/* What says where the body ends. */
static bool
is_framing(struct str name)
{
	return str_caseeq(name, "content-length") ||
	    str_caseeq(name, "transfer-encoding");
}

static bool
is_dropped(const struct httpresp *h, struct str name)
{
	static const char *const hop[] = { "connection", "keep-alive", "te",
	    "upgrade", "x-fence-error" };
	static const char proxy[] = "proxy-";
	size_t n = sizeof proxy - 1;

	if (h->body == HTTPBODY_CHUNKED &&
	    str_caseeq(name, "content-length"))
		return true;
	/* They have no body and may not say so much as that: a client that
	 * believed it would take the next answer, of another host, for it. */
	if ((h->code < 200 || h->code == 204) && is_framing(name))
		return true;
	for (size_t i = 0; i < sizeof hop / sizeof hop[0]; i++)
		if (str_caseeq(name, hop[i]))
			return true;
	return name.len >= n && str_caseeq((struct str){ name.p, n }, proxy);
}

void
httpresp_rewrite(const struct httpresp *h, const char *data, bool is_last,
    struct buf *out)
{
	struct str line, name, value;
	size_t at = 0, fields_at;

	line = httphead_line(data, &at);
	fields_at = at;
	buf_puts(out, "HTTP/1.1");
	buf_add(out, line.p + 8, line.len - 8);
	buf_puts(out, "\r\n");
	while (at < h->head.line_at) {
		line = httphead_line(data, &at);
		/* Framing is not the origin's to name away. */
		if (!split_field(line, &name, &value) || is_dropped(h, name) ||
		    (!is_framing(name) && http_is_named_hop(data, fields_at,
		    h->head.line_at, name)))
			continue;
		buf_add(out, name.p, name.len);
		buf_putc(out, ':');
		buf_add(out, value.p, value.len);
		buf_puts(out, "\r\n");
	}
	if (h->is_switch)
		buf_puts(out, "Upgrade: websocket\r\n"
		    "Connection: Upgrade\r\n");
	else if (is_last)
		buf_puts(out, "Connection: close\r\n");
	buf_puts(out, "\r\n");
}
