#include "policy/pattern.h"

#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/str.h"

static int
bad_domain(const char *text, const char *why, struct err *e)
{
	return err_set(e, ERR_POLICY, "'%.100s' %s", text, why);
}

static int
refuse_name(const char *text, struct err *e)
{
	size_t len = strlen(text);

	bad_domain(text, "is not a domain pattern", e);
	if (text[0] == '.' && len > 1 && text[1] != '.')
		err_hint(e, "'*%.80s' matches every subdomain of %.40s", text,
		    text + 1);
	else if (len > 1 && text[len - 1] == '.' && text[0] != '.')
		err_hint(e, "write it without the last dot");
	else
		err_hint(e, "'example.com', '*.example.com:443', '192.0.2.1', "
		    "'10.0.0.0/8', '2001:db8::1' and '*' are");
	return -1;
}

/* A pattern cut into host, length of the prefix and port. */
struct parts {
	struct str	host;
	struct str	bits;		/* p NULL: none */
	struct str	port;		/* p NULL: none */
};

static int
cut_bracketed(const char *text, struct parts *ret, struct err *e)
{
	const char *close = strchr(text, ']'), *slash;

	if (close == NULL || (close[1] != '\0' && close[1] != ':'))
		return refuse_name(text, e);
	ret->host = (struct str){ text + 1, (size_t)(close - text - 1) };
	if (close[1] == ':')
		ret->port = str_of(close + 2);
	if ((slash = memchr(text, '/', (size_t)(close - text))) != NULL) {
		ret->host.len = (size_t)(slash - text - 1);
		ret->bits = (struct str){ slash + 1,
		    (size_t)(close - slash - 1) };
	}
	if (memchr(ret->host.p, ':', ret->host.len) == NULL)
		return refuse_name(text, e);
	return 0;
}

static int
cut(const char *text, struct parts *ret, struct err *e)
{
	const char *slash = strchr(text, '/'), *colon = strchr(text, ':');
	const char *end = text + strlen(text);
	struct host h;

	*ret = (struct parts){ { NULL, 0 }, { NULL, 0 }, { NULL, 0 } };
	if (text[0] == '[')
		return cut_bracketed(text, ret, e);
	if (colon != NULL && strchr(colon + 1, ':') != NULL) {
		colon = NULL;		/* an IPv6 address, all of it */
	} else if (colon != NULL) {
		ret->port = (struct str){ colon + 1,
		    (size_t)(end - colon - 1) };
		end = colon;
	}
	ret->host = (struct str){ text, (size_t)(end - text) };
	if (slash == NULL)
		return 0;
	if (slash < end)
		ret->host.len = (size_t)(slash - text);
	if (slash > end || host_canon(ret->host.p, ret->host.len, &h) != 0 ||
	    h.kind == HOST_NAME) {
		bad_domain(text, "has a path", e);
		err_hint(e, "write the host alone: 'example.com'");
		return -1;
	}
	ret->bits = (struct str){ slash + 1, (size_t)(end - slash - 1) };
	return 0;
}

static int
set_port(struct pattern *p, const char *text, struct str port, struct err *e)
{
	uint64_t n;

	if (port.p == NULL)
		return 0;
	if (str_to_u64(port, 65535, &n) == 0 && n > 0) {
		p->port = (uint16_t)n;
		return 0;
	}
	bad_domain(text, "has no port behind its colon", e);
	err_hint(e, "'example.com:443'; without a port it means every port");
	return -1;
}

/* The first address of the range; others are a slip of the hand. */
static int
set_bits(struct pattern *p, const char *text, struct str bits, struct err *e)
{
	unsigned most = p->host.kind == HOST_IPV4 ? 32 : 128;
	struct host first = p->host, shown;
	uint64_t n;

	if (str_to_u64(bits, most, &n) != 0) {
		bad_domain(text, "is not an address range", e);
		err_hint(e, "what follows '/' is 0 to %u", most);
		return -1;
	}
	p->bits = (unsigned)n;
	for (unsigned i = p->bits; i < most; i++)
		first.addr[i / 8] &= (uint8_t)~(0x80 >> i % 8);
	if (memcmp(first.addr, p->host.addr, sizeof first.addr) != 0) {
		host_from_addr(first.addr, most / 8, &shown);
		bad_domain(text, "does not begin at the range's first "
		    "address", e);
		err_hint(e, "'%s/%u'", shown.text, p->bits);
		return -1;
	}
	p->kind = PATTERN_CIDR;
	return 0;
}

static int
set_wildcard(struct arena *a, struct pattern *p, const char *text,
    struct str host, struct err *e)
{
	struct host h;

	if (str_eq(host, "*")) {
		p->kind = PATTERN_ANY;
		p->text = "*";
		return 0;
	}
	if (host.len < 3 || host.p[0] != '*' || host.p[1] != '.' ||
	    memchr(host.p + 2, '*', host.len - 2) != NULL ||
	    host.p[host.len - 1] == '.' ||
	    host_canon_text(host.p + 2, host.len - 2, &h) != 0 ||
	    h.kind != HOST_NAME) {
		bad_domain(text, "is not a domain pattern", e);
		err_hint(e, "'*.example.com' matches every subdomain of "
		    "example.com");
		return -1;
	}
	if (strchr(h.text, '.') == NULL) {
		bad_domain(text, "is too broad a wildcard", e);
		err_hint(e, "what follows '*.' needs a dot; "
		    "'*' alone matches every host");
		return -1;
	}
	p->kind = PATTERN_SUFFIX;
	p->text = arena_strdup(a, h.text);
	return 0;
}

static int
set_host(struct arena *a, struct pattern *p, const char *text,
    struct str host, struct err *e)
{
	if (host.len > 0 && memchr(host.p, '*', host.len) != NULL)
		return set_wildcard(a, p, text, host, e);
	if (host.len == 0 || host.p[host.len - 1] == '.' ||
	    host_canon_text(host.p, host.len, &p->host) != 0)
		return refuse_name(text, e);
	p->text = arena_strdup(a, p->host.text);
	return 0;
}

int
pattern_domain(struct arena *a, const char *text, const struct pattern **ret,
    struct err *e)
{
	struct pattern *p = pattern_new(a, PATTERN_DOMAIN, NULL);
	struct parts parts;

	if (text[0] == '\0')
		return bad_domain(text, "is not a domain pattern", e);
	if (strstr(text, "://") != NULL) {
		bad_domain(text, "has a protocol", e);
		err_hint(e, "write the host alone: 'example.com'");
		return -1;
	}
	if (cut(text, &parts, e) != 0 ||
	    set_host(a, p, text, parts.host, e) != 0 ||
	    set_port(p, text, parts.port, e) != 0 ||
	    (parts.bits.p != NULL && set_bits(p, text, parts.bits, e) != 0))
		return -1;
	*ret = p;
	return 0;
}

bool
pattern_match_host(const struct pattern *p, const struct host *h)
{
	size_t n, len;

	switch (p->kind) {
	case PATTERN_ANY:
		return true;
	case PATTERN_DOMAIN:
		if (p->host.kind != h->kind)
			return false;
		if (h->kind == HOST_NAME)
			return strcmp(p->host.text, h->text) == 0;
		return memcmp(p->host.addr, h->addr,
		    h->kind == HOST_IPV4 ? 4 : 16) == 0;
	case PATTERN_SUFFIX:
		if (h->kind != HOST_NAME)
			return false;
		n = strlen(p->text);
		len = strlen(h->text);
		return len > n + 1 && h->text[len - n - 1] == '.' &&
		    strcmp(h->text + len - n, p->text) == 0;
	case PATTERN_CIDR:
		return host_in_net(h, &p->host, p->bits);
	case PATTERN_PATH:
	case PATTERN_GLOB:
		break;
	}
	return false;
}
