#include "policy/proxyurl.h"

#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/str.h"

static const struct scheme {
	const char		*name;
	enum proxyurl_kind	 kind;
	uint16_t		 port;
} schemes[] = {
	{ "http", PROXYURL_HTTP, 80 },
	{ "socks5", PROXYURL_SOCKS5, 1080 },
	{ "socks5h", PROXYURL_SOCKS5, 1080 },
};

/* Behind the scheme's "://", or NULL. */
static const char *
behind_scheme(const char *text)
{
	const char *p = strstr(text, "://");

	return p != NULL ? p + 3 : NULL;
}

static const struct scheme *
find_scheme(const char *text, size_t len)
{
	for (size_t i = 0; i < sizeof schemes / sizeof schemes[0]; i++)
		if (str_caseeq((struct str){ text, len }, schemes[i].name))
			return &schemes[i];
	return NULL;
}

static int
hex(char c)
{
	if (c >= '0' && c <= '9')
		return c - '0';
	c |= 0x20;
	return c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

/* No control bytes: a line feed would begin another header. */
static int
decode(const char *p, size_t len, char ret[PROXYURL_LOGIN_MAX + 1])
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++) {
		int c = (unsigned char)p[i];

		if (c == '%') {
			if (len - i < 3 || hex(p[i + 1]) < 0 ||
			    hex(p[i + 2]) < 0)
				return -1;
			c = hex(p[i + 1]) * 16 + hex(p[i + 2]);
			i += 2;
		}
		if (c < ' ' || c == 0x7f || n == PROXYURL_LOGIN_MAX)
			return -1;
		ret[n++] = (char)c;
	}
	ret[n] = '\0';
	return 0;
}

/* USER[:PASSWORD] */
static int
parse_login(const char *p, size_t len, struct proxyurl *ret)
{
	const char *colon = memchr(p, ':', len);
	size_t n = colon != NULL ? (size_t)(colon - p) : len;

	ret->has_login = true;
	if (n == 0 || decode(p, n, ret->user) != 0 ||
	    strchr(ret->user, ':') != NULL)
		return -1;
	return colon == NULL ? 0 : decode(colon + 1, len - n - 1,
	    ret->password);
}

/* HOST or HOST:PORT; brackets around IPv6. */
static int
parse_authority(const char *s, struct proxyurl *ret)
{
	size_t len = strlen(s);
	const char *colon = memchr(s, ':', len), *end;
	uint64_t port;

	if (len > 0 && s[len - 1] == '/')
		len--;
	end = s + len;
	if (s[0] == '[') {
		colon = memchr(s, ']', len);
		if (colon == NULL)
			return -1;
		colon++;
	} else if (colon == NULL || colon >= end)
		colon = end;
	if (host_canon_text(s, (size_t)(colon - s), &ret->host) != 0)
		return -1;
	if (colon == end)
		return 0;
	if (*colon != ':' || str_to_u64((struct str){ colon + 1,
	    (size_t)(end - colon - 1) }, 65535, &port) != 0 || port == 0)
		return -1;
	ret->port = (uint16_t)port;
	return 0;
}

const char *
proxyurl_parse(const char *text, bool needs_scheme, struct proxyurl *ret)
{
	const char *rest = behind_scheme(text), *at;
	const struct scheme *scheme = &schemes[0];

	if (rest == NULL && needs_scheme)
		return "has no scheme";
	if (rest != NULL)
		scheme = find_scheme(text, (size_t)(rest - text) - 3);
	else
		rest = text;
	if (scheme == NULL)
		return "has a scheme that is not known";
	memset(ret, 0, sizeof *ret);
	ret->kind = scheme->kind;
	ret->port = scheme->port;
	at = strrchr(rest, '@');
	if (at != NULL && parse_login(rest, (size_t)(at - rest), ret) != 0)
		return "has a user or password that cannot be";
	if (parse_authority(at != NULL ? at + 1 : rest, ret) != 0)
		return "is not a proxy's URL";
	return NULL;
}

const char *
proxyurl_shown(struct arena *a, const char *text)
{
	const char *rest = behind_scheme(text), *at = strrchr(text, '@');

	if (at == NULL)
		return text;
	if (rest == NULL || rest > at)
		rest = text;
	return arena_printf(a, "%.*s***%s", (int)(rest - text), text, at);
}
