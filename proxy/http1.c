#include "proxy/http1.h"

#include <string.h>

#include "platform/base/str.h"

void
http1_init(struct http1 *h, size_t max_bytes)
{
	memset(h, 0, sizeof *h);
	h->head.max_bytes = max_bytes;
}

static enum http1_status
bad(struct http1 *h, int code, const char *why)
{
	h->code = code;
	h->why = why;
	return HTTP1_BAD;
}

/* Authority: host and port */

static bool
is_name_char(char c)
{
	return c > ' ' && c < 0x7f && strchr("/?#@[]:\\%\"<>^`{|}", c) == NULL;
}

static bool
is_v6_char(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'f') ||
	    (c >= 'A' && c <= 'F') || c == ':' || c == '.';
}

/* port 0 on entry: the authority must carry one. */
static int
parse_authority(struct http1 *h, struct str s)
{
	struct str host = s;
	uint64_t port = h->port;
	bool is_v6 = s.len > 0 && s.p[0] == '[';

	if (is_v6) {
		s.p++;
		s.len--;
		if (!http_cut(&s, ']', &host) ||
		    !http_is_all(host, is_v6_char))
			return -1;
		if (s.len > 0 && s.p[0] != ':')
			return -1;
	} else if (http_cut(&s, ':', &host)) {
		s.p--;
		s.len++;
	} else
		s.len = 0;
	if (!is_v6 && !http_is_all(host, is_name_char))
		return -1;
	if (s.len > 0 && (str_to_u64((struct str){ s.p + 1, s.len - 1 },
	    UINT16_MAX, &port) != 0 || port == 0))
		return -1;
	if (host.len >= sizeof h->host || port == 0)
		return -1;
	memcpy(h->host, host.p, host.len);
	h->host[host.len] = '\0';
	h->port = (uint16_t)port;
	return 0;
}

/* http://host[:port][/path][?query] */
static enum http1_status
parse_url(struct http1 *h, const char *data, struct str url)
{
	static const char scheme[] = "http://";
	size_t n = sizeof scheme - 1;
	struct str authority;

	if (url.len <= n ||
	    !str_caseeq((struct str){ url.p, n }, scheme))
		return bad(h, 400, "this is a proxy: it takes CONNECT "
		    "host:port and http:// URLs");
	url.p += n;
	url.len -= n;
	if (memchr(url.p, '#', url.len) != NULL)
		return bad(h, 400, "the URL has a fragment");
	authority = url;
	for (n = 0; n < url.len && url.p[n] != '/' && url.p[n] != '?'; n++)
		;
	authority.len = n;
	h->port = 80;
	if (parse_authority(h, authority) != 0)
		return bad(h, 400, "the URL has no valid host and port");
	h->path.at = (size_t)(url.p - data) + n;
	while (n < url.len && url.p[n] != '?')
		n++;
	h->query.at = (size_t)(url.p - data) + n;
	h->path.len = h->query.at - h->path.at;
	h->query.len = url.len - n;
	n = h->path.len < sizeof h->short_path ? h->path.len :
	    sizeof h->short_path - 1;
	memcpy(h->short_path, data + h->path.at, n);
	return HTTP1_DONE;
}

/* Some send a path as they were given it: any byte that ends no line. */
static bool
is_target_char(char c)
{
	return (unsigned char)c > ' ' && c != 0x7f;
}

static enum http1_status
parse_request_line(struct http1 *h, const char *data, struct str line)
{
	struct str method, target;

	if (!http_cut(&line, ' ', &method) ||
	    !http_cut(&line, ' ', &target) ||
	    !http_is_all(method, http_is_token) ||
	    !http_is_all(target, is_target_char))
		return bad(h, 400, "not an HTTP request line");
	if (method.len >= sizeof h->method)
		return bad(h, 501, "the method is not known");
	if (str_eq(line, "HTTP/1.0"))
		h->is_http10 = true;
	else if (!str_eq(line, "HTTP/1.1"))
		return bad(h, 505, "only HTTP/1.0 and HTTP/1.1 are spoken");
	memcpy(h->method, method.p, method.len);
	h->is_connect = str_eq(method, "CONNECT");
	h->is_head = str_eq(method, "HEAD");
	if (h->takes_path && target.p[0] == '/')
		return HTTP1_DONE;
	if (!h->is_connect)
		return parse_url(h, data, target);
	if (parse_authority(h, target) != 0)
		return bad(h, 400, "CONNECT wants host:port");
	return HTTP1_DONE;
}

/* Fields */

/* Rewriting looks at each field against each: the square must stay small. */
enum { MAX_FIELDS = 256 };

struct fields {
	bool		has_host, has_length, has_coding;
	bool		has_upgrade, is_websocket;
	unsigned	n;
};

/* A sender that could hide these could move the end of its request. */
static bool
may_connection_name(struct str name)
{
	return !str_caseeq(name, "host") &&
	    !str_caseeq(name, "content-length") &&
	    !str_caseeq(name, "transfer-encoding");
}

static enum http1_status
parse_connection(struct http1 *h, struct fields *f, struct str list)
{
	struct str member;

	while (http_next_member(&list, &member)) {
		if (member.len > 0 && (!http_is_all(member, http_is_token) ||
		    !may_connection_name(member)))
			return bad(h, 400, "bad Connection field");
		if (str_caseeq(member, "upgrade"))
			f->has_upgrade = true;
		if (str_caseeq(member, "close"))
			h->wants_close = true;
	}
	return HTTP1_DONE;
}

static void
parse_accept(struct http1 *h, struct str list)
{
	struct str member, type;

	while (http_next_member(&list, &member)) {
		if (!http_cut(&member, ';', &type))
			type = member;
		if (str_caseeq(http_trim(type), "application/json"))
			h->wants_json = true;
	}
}

static enum http1_status
parse_field(struct http1 *h, struct fields *f, struct str line)
{
	struct str name;

	if (++f->n > MAX_FIELDS)
		return bad(h, 431, "too many header fields");
	if (!http_cut(&line, ':', &name) || !http_is_all(name, http_is_token))
		return bad(h, 400, "bad header field");
	line = http_trim(line);
	if (str_caseeq(name, "host")) {
		if (f->has_host)
			return bad(h, 400, "two Host fields");
		f->has_host = true;
	} else if (str_caseeq(name, "content-length")) {
		if (f->has_length ||
		    str_to_u64(line, INT64_MAX, &h->body_bytes) != 0)
			return bad(h, 400, "bad Content-Length");
		f->has_length = h->has_length = true;
	} else if (str_caseeq(name, "transfer-encoding")) {
		if (f->has_coding || !str_caseeq(line, "chunked"))
			return bad(h, 501, "only Transfer-Encoding: chunked");
		f->has_coding = h->is_chunked = true;
	} else if (str_caseeq(name, "connection"))
		return parse_connection(h, f, line);
	else if (str_caseeq(name, "upgrade"))
		f->is_websocket = str_caseeq(line, "websocket");
	else if (str_caseeq(name, "proxy-connection"))
		h->wants_close |= str_caseeq(line, "close");
	else if (str_caseeq(name, "accept"))
		parse_accept(h, line);
	return HTTP1_DONE;
}

static enum http1_status
parse_head(struct http1 *h, const char *data)
{
	struct fields f = { 0 };
	size_t at = 0;
	enum http1_status st;

	st = parse_request_line(h, data, httphead_line(data, &at));
	while (st == HTTP1_DONE && at < h->head.line_at)
		st = parse_field(h, &f, httphead_line(data, &at));
	if (st != HTTP1_DONE)
		return st;
	if (f.has_coding && (f.has_length || h->is_http10))
		return bad(h, 400, "Transfer-Encoding beside Content-Length "
		    "or in HTTP/1.0");
	/* A proxy must not keep the connection of an HTTP/1.0 client. */
	h->wants_close |= h->is_http10;
	if (h->is_connect && (f.has_coding || h->body_bytes != 0))
		return bad(h, 400, "CONNECT has no body");
	h->is_websocket = f.has_upgrade && f.is_websocket && !h->is_http10 &&
	    !f.has_coding && h->body_bytes == 0;
	return HTTP1_DONE;
}

enum http1_status
http1_feed(struct http1 *h, const char *data, size_t len)
{
	if (h->code != 0)
		return HTTP1_BAD;
	if (h->head_len != 0)
		return HTTP1_DONE;
	switch (httphead_scan(&h->head, data, len)) {
	case HTTPHEAD_MORE:
		return HTTP1_MORE;
	case HTTPHEAD_BAD:
		return bad(h, 400, h->head.why);
	case HTTPHEAD_LONG:
		return bad(h, 431, "the request head is too long");
	case HTTPHEAD_DONE:
		break;
	}
	h->head_len = h->head.seen;
	return parse_head(h, data);
}

/* Rewriting */

static bool
is_hop_field(struct str name)
{
	static const char *const hop[] = { "connection", "keep-alive", "te",
	    "trailer", "upgrade", "host" };

	for (size_t i = 0; i < sizeof hop / sizeof hop[0]; i++)
		if (str_caseeq(name, hop[i]))
			return true;
	return name.len >= 6 &&
	    str_caseeq((struct str){ name.p, 6 }, "proxy-");
}

static void
put_target(const struct http1 *h, const char *data, struct buf *out)
{
	if (h->path.len > 0)
		buf_add(out, data + h->path.at, h->path.len);
	else if (h->query.len == 0 && strcmp(h->method, "OPTIONS") == 0)
		buf_putc(out, '*');
	else
		buf_putc(out, '/');
	buf_add(out, data + h->query.at, h->query.len);
}

static void
put_host(const struct http1 *h, struct buf *out)
{
	bool is_v6 = strchr(h->host, ':') != NULL;

	buf_printf(out, "Host: %s%s%s", is_v6 ? "[" : "", h->host,
	    is_v6 ? "]" : "");
	if (h->port != 80)
		buf_printf(out, ":%u", h->port);
	buf_puts(out, "\r\n");
}

void
http1_rewrite(const struct http1 *h, const char *data, struct buf *out)
{
	struct str line, rest, name;
	size_t at = 0, fields_at;

	httphead_line(data, &at);
	fields_at = at;
	buf_printf(out, "%s ", h->method);
	put_target(h, data, out);
	buf_puts(out, h->is_http10 ? " HTTP/1.0\r\n" : " HTTP/1.1\r\n");
	put_host(h, out);
	while (at < h->head.line_at) {
		rest = line = httphead_line(data, &at);
		if (!http_cut(&rest, ':', &name) || is_hop_field(name) ||
		    http_is_named_hop(data, fields_at, h->head.line_at,
		    name))
			continue;
		buf_add(out, line.p, line.len);
		buf_puts(out, "\r\n");
	}
	if (h->is_websocket)
		buf_puts(out, "Upgrade: websocket\r\n"
		    "Connection: Upgrade\r\n");
	else if (h->wants_close)
		buf_puts(out, "Connection: close\r\n");
	buf_puts(out, "\r\n");
}
