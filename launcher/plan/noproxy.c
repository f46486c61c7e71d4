#include "launcher/plan/noproxy.h"

#include <string.h>

#include "platform/base/str.h"

static const char separators[] = ", \t\r\n";

/* Is the name this one, or below it? */
static bool
is_below(const char *name, const char *above)
{
	size_t n = strlen(name), m = strlen(above);

	return n >= m && strcmp(name + n - m, above) == 0 &&
	    (n == m || name[n - m - 1] == '.');
}

/*
 * Takes the port off the entry; true if it is this one, or none is written.
 * An address of IPv6 has its colons, and a port only behind brackets.
 */
static bool
take_port(struct str *s, uint16_t port)
{
	const char *colon = memchr(s->p, ':', s->len);
	const char *end = s->p + s->len;
	uint64_t written;

	if (s->len > 0 && s->p[0] == '[') {
		const char *close = memchr(s->p, ']', s->len);

		if (close == NULL)
			return false;
		colon = close + 1 < end ? close + 1 : NULL;
	} else if (colon != NULL && memchr(colon + 1, ':',
	    (size_t)(end - colon - 1)) != NULL) {
		colon = NULL;
	}
	if (colon == NULL)
		return true;
	s->len = (size_t)(colon - s->p);
	return *colon == ':' && str_to_u64((struct str){ colon + 1,
	    (size_t)(end - colon - 1) }, 65535, &written) == 0 &&
	    written == port;
}

static bool
matches_range(struct str s, const char *slash, const struct host *h)
{
	struct host net;
	uint64_t bits;

	return host_canon(s.p, (size_t)(slash - s.p), &net) == 0 &&
	    net.kind != HOST_NAME && str_to_u64((struct str){ slash + 1,
	    s.len - (size_t)(slash - s.p) - 1 },
	    net.kind == HOST_IPV4 ? 32 : 128, &bits) == 0 &&
	    h->kind == net.kind && host_in_net(h, &net, (unsigned)bits);
}

static bool
matches(struct str s, const struct host *h, uint16_t port)
{
	const char *slash;
	struct host entry;

	if (!take_port(&s, port))
		return false;
	if (str_eq(s, "*"))
		return true;
	if ((slash = memchr(s.p, '/', s.len)) != NULL)
		return matches_range(s, slash, h);
	if (s.len > 1 && s.p[0] == '*' && s.p[1] == '.')
		s = (struct str){ s.p + 1, s.len - 1 };
	if (s.len > 0 && s.p[0] == '.')
		s = (struct str){ s.p + 1, s.len - 1 };
	if (host_canon(s.p, s.len, &entry) != 0 || entry.kind != h->kind)
		return false;
	return h->kind == HOST_NAME ? is_below(h->text, entry.text) :
	    strcmp(h->text, entry.text) == 0;
}

bool
noproxy_has(const char *list, const struct host *h, uint16_t port)
{
	for (const char *p = list; *p != '\0';) {
		struct str s = { p, strcspn(p, separators) };

		if (s.len > 0 && matches(s, h, port))
			return true;
		p += s.len;
		p += strspn(p, separators);
	}
	return false;
}

bool
noproxy_is_loopback(const struct host *h)
{
	if (h->kind == HOST_NAME)
		return is_below(h->text, "localhost");
	return host_addr_class(h->addr, h->kind == HOST_IPV4 ? 4 : 16) ==
	    ADDR_LOOPBACK;
}
