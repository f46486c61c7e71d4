#include "proxy/selfpath.h"

#include <stdbool.h>
#include <string.h>

enum { DEFAULT_PORT = 443 };

enum field { FIELD_HOST, FIELD_PORT, FIELD_FORMAT, NFIELDS };

static const char *const field_names[NFIELDS] = {
	[FIELD_HOST] = "host", [FIELD_PORT] = "port",
	[FIELD_FORMAT] = "format",
};

/* What a query says; p NULL: nothing of it. */
struct said {
	struct str	 value[NFIELDS];
};

static int
hex_digit(char c)
{
	static const char digits[] = "0123456789abcdef";
	const char *at = c == '\0' ? NULL :
	    strchr(digits, c >= 'A' && c <= 'F' ? c + 32 : c);

	return at != NULL ? (int)(at - digits) : -1;
}

/* Percent signs are two digits each; no NUL, and it has to fit. */
static int
decode(struct str in, char *ret, size_t size)
{
	size_t n = 0;

	for (size_t i = 0; i < in.len; i++) {
		int c = (unsigned char)in.p[i];

		if (c == '%') {
			int high = i + 2 < in.len ?
			    hex_digit(in.p[i + 1]) : -1;
			int low = i + 2 < in.len ?
			    hex_digit(in.p[i + 2]) : -1;

			if (high < 0 || low < 0)
				return -1;
			c = high << 4 | low;
			i += 2;
		}
		if (c == '\0' || n + 1 >= size)
			return -1;
		ret[n++] = (char)c;
	}
	ret[n] = '\0';
	return 0;
}

/* One "name=value"; -1: none that is known, or said twice. */
static int
take_field(struct str pair, struct said *ret)
{
	const char *eq = memchr(pair.p, '=', pair.len);
	struct str name, value;

	if (eq == NULL)
		return -1;
	name = (struct str){ pair.p, (size_t)(eq - pair.p) };
	value = (struct str){ eq + 1, pair.len - name.len - 1 };
	for (unsigned i = 0; i < NFIELDS; i++) {
		if (!str_eq(name, field_names[i]))
			continue;
		if (ret->value[i].p != NULL)
			return -1;
		ret->value[i] = value;
		return 0;
	}
	return -1;
}

static int
split(struct str query, struct said *ret)
{
	*ret = (struct said){ .value = { { NULL, 0 } } };
	if (query.len > 0) {		/* its '?' */
		query.p++;
		query.len--;
	}
	while (query.len > 0) {
		const char *amp = memchr(query.p, '&', query.len);
		size_t n = amp != NULL ? (size_t)(amp - query.p) : query.len;

		if (take_field((struct str){ query.p, n }, ret) != 0)
			return -1;
		n += amp != NULL;
		query.p += n;
		query.len -= n;
	}
	return 0;
}

static int
bad(const char **ret_why, const char *why)
{
	*ret_why = why;
	return 400;
}

static int
parse_why(const struct said *s, struct selfpath *ret, const char **ret_why)
{
	uint64_t port = DEFAULT_PORT;

	ret->page = SELFPATH_WHY;
	if (s->value[FIELD_HOST].p == NULL)
		return bad(ret_why, "/why wants ?host=HOST or "
		    "?host=HOST&port=N");
	if (decode(s->value[FIELD_HOST], ret->host, sizeof ret->host) != 0 ||
	    ret->host[0] == '\0')
		return bad(ret_why, "the host in the query is none");
	if (s->value[FIELD_PORT].p != NULL &&
	    (str_to_u64(s->value[FIELD_PORT], 65535, &port) != 0 ||
	    port == 0))
		return bad(ret_why, "a port is a number from 1 to 65535");
	ret->port = (uint16_t)port;
	return 0;
}

int
selfpath_parse(struct str path, struct str query, struct selfpath *ret,
    const char **ret_why)
{
	struct said said;
	struct str format;

	*ret = (struct selfpath){ .page = SELFPATH_REFUSALS };
	if (path.len > 0 && !str_eq(path, "/") &&
	    !str_eq(path, "/refusals") && !str_eq(path, "/why")) {
		*ret_why = "there are /refusals and /why?host=HOST";
		return 404;
	}
	if (split(query, &said) != 0)
		return bad(ret_why, "the query has a word that is not known, "
		    "or one twice");
	format = said.value[FIELD_FORMAT];
	if (format.p != NULL && !str_eq(format, "json") &&
	    !str_eq(format, "text"))
		return bad(ret_why, "format is json or text");
	if (format.p != NULL)
		ret->format = str_eq(format, "json") ? SELFPATH_JSON :
		    SELFPATH_TEXT;
	if (str_eq(path, "/why"))
		return parse_why(&said, ret, ret_why);
	return 0;
}
