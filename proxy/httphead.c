#include "proxy/httphead.h"

#include <string.h>
#include <strings.h>

bool
http_is_token(char c)
{
	return (c >= '0' && c <= '9') || (c >= 'a' && c <= 'z') ||
	    (c >= 'A' && c <= 'Z') ||
	    (c != '\0' && strchr("!#$%&'*+-.^_`|~", c) != NULL);
}

bool
http_is_all(struct str s, bool (*claim)(char))
{
	for (size_t i = 0; i < s.len; i++)
		if (!claim(s.p[i]))
			return false;
	return s.len > 0;
}

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t';
}

struct str
http_trim(struct str s)
{
	while (s.len > 0 && is_blank(s.p[0])) {
		s.p++;
		s.len--;
	}
	while (s.len > 0 && is_blank(s.p[s.len - 1]))
		s.len--;
	return s;
}

bool
http_cut(struct str *rest, char c, struct str *first)
{
	const char *at = rest->len > 0 ? memchr(rest->p, c, rest->len) : NULL;

	if (at == NULL)
		return false;
	*first = (struct str){ rest->p, (size_t)(at - rest->p) };
	*rest = (struct str){ at + 1, rest->len - first->len - 1 };
	return true;
}

bool
http_next_member(struct str *list, struct str *member)
{
	if (list->p == NULL)
		return false;
	if (!http_cut(list, ',', member)) {
		*member = *list;
		list->p = NULL;
	}
	*member = http_trim(*member);
	return true;
}

struct str
httphead_line(const char *data, size_t *at)
{
	const char *end = strchr(data + *at, '\n');
	struct str line = { data + *at, (size_t)(end - data) - *at };

	*at += line.len + 1;
	if (line.len > 0 && line.p[line.len - 1] == '\r')
		line.len--;
	return line;
}

bool
http_is_named_hop(const char *data, size_t at, size_t end, struct str name)
{
	struct str line, field, member;

	while (at < end) {
		line = httphead_line(data, &at);
		if (!http_cut(&line, ':', &field) ||
		    !str_caseeq(http_trim(field), "connection"))
			continue;
		while (http_next_member(&line, &member))
			if (member.len == name.len && strncasecmp(member.p,
			    name.p, name.len) == 0)
				return true;
	}
	return false;
}

static enum httphead_status
bad(struct httphead *h, const char *why)
{
	h->why = why;
	return HTTPHEAD_BAD;
}

/* A line ends here, at its LF; end is where its own bytes ended. */
static enum httphead_status
scan_end(struct httphead *h, size_t at, size_t end)
{
	if (end == 0)
		return bad(h, "empty first line");
	if (end == h->line_at)
		return HTTPHEAD_DONE;
	h->line_at = at + 1;
	return HTTPHEAD_MORE;
}

static bool
is_control(const struct httphead *h, unsigned char c)
{
	if (h->is_lenient)
		return c == '\0';
	return (c < ' ' && c != '\t') || c == 0x7f;
}

static enum httphead_status
scan_byte(struct httphead *h, size_t at, unsigned char c)
{
	if (h->after_cr) {
		if (c != '\n')
			return bad(h, "CR without LF");
		h->after_cr = false;
		return scan_end(h, at, at - 1);
	}
	if (c == '\r')
		h->after_cr = true;
	else if (c == '\n') {
		if (!h->is_lenient)
			return bad(h, "LF without CR");
		h->is_odd = true;
		return scan_end(h, at, at);
	} else if (is_control(h, c))
		return bad(h, "control byte in the head");
	else if (at == h->line_at && is_blank((char)c))
		return bad(h, "line begins with a blank");
	return HTTPHEAD_MORE;
}

enum httphead_status
httphead_scan(struct httphead *h, const char *data, size_t len)
{
	enum httphead_status st = HTTPHEAD_MORE;

	while (st == HTTPHEAD_MORE && h->seen < len) {
		if (h->seen == h->max_bytes)
			return HTTPHEAD_LONG;
		st = scan_byte(h, h->seen, (unsigned char)data[h->seen]);
		if (st != HTTPHEAD_BAD)
			h->seen++;
	}
	return st;
}
