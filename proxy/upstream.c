#include "proxy/upstream.h"

#include <arpa/inet.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum {
	SOCKS_VERSION = 5, SOCKS_CONNECT = 1, SOCKS_LOGIN_VERSION = 1,
	METHOD_NONE = 0, METHOD_LOGIN = 2, METHOD_REFUSED = 0xff,
	ADDR_V4 = 1, ADDR_NAME = 3, ADDR_V6 = 4,
	HTTP_LOGIN_WANTED = 407,
	HTTP_LOGIN_WRONG = 401,		/* as tinyproxy says it */
	STATUS_AT = 9, STATUS_LEN = 12,		/* in "HTTP/1.1 200" */
};

/* What is to be sent */

static void
put(struct upstream *u, const void *p, size_t len)
{
	memcpy(u->out + u->out_len, p, len);
	u->out_len += len;
}

static void __attribute__((format(printf, 2, 3)))
put_text(struct upstream *u, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	u->out_len += (size_t)vsnprintf((char *)u->out + u->out_len,
	    sizeof u->out - u->out_len, fmt, ap);
	va_end(ap);
}

static void
put_base64(struct upstream *u, const uint8_t *p, size_t len)
{
	static const char digits[] = "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	    "abcdefghijklmnopqrstuvwxyz0123456789+/";

	for (size_t i = 0; i < len; i += 3) {
		uint32_t v = (uint32_t)p[i] << 16;
		char four[4] = { '=', '=', '=', '=' };

		if (i + 1 < len)
			v |= (uint32_t)p[i + 1] << 8;
		if (i + 2 < len)
			v |= p[i + 2];
		for (size_t k = 0; k < 4 && k <= len - i; k++)
			four[k] = digits[v >> (18 - 6 * k) & 63];
		put(u, four, 4);
	}
}

static void
http_begin(struct upstream *u, const struct upstream_target *t)
{
	const char *fmt = strchr(t->host, ':') != NULL ?
	    "CONNECT [%s]:%u HTTP/1.1\r\nHost: [%s]:%u\r\n" :
	    "CONNECT %s:%u HTTP/1.1\r\nHost: %s:%u\r\n";
	uint8_t login[2 * UPSTREAM_LOGIN_MAX + 2];
	int n;

	u->state = UPSTREAM_HEAD;
	put_text(u, fmt, t->host, t->port, t->host, t->port);
	if (t->user != NULL) {
		n = snprintf((char *)login, sizeof login, "%s:%s", t->user,
		    t->password);
		put_text(u, "Proxy-Authorization: Basic ");
		put_base64(u, login, (size_t)n);
		put_text(u, "\r\n");
	}
	put_text(u, "\r\n");
}

static void
socks_login(struct upstream *u, const struct upstream_target *t)
{
	size_t user = strlen(t->user), password = strlen(t->password);
	uint8_t *p = u->login;

	*p++ = SOCKS_LOGIN_VERSION;
	*p++ = (uint8_t)user;
	memcpy(p, t->user, user);
	p += user;
	*p++ = (uint8_t)password;
	memcpy(p, t->password, password);
	u->login_len = 3 + user + password;
}

/* An address is sent as one: what is written is what is meant. */
static void
socks_request(struct upstream *u, const struct upstream_target *t)
{
	uint8_t addr[16];
	uint8_t *p = u->request;
	size_t len = strlen(t->host);

	*p++ = SOCKS_VERSION;
	*p++ = SOCKS_CONNECT;
	*p++ = 0;
	if (inet_pton(AF_INET, t->host, addr) == 1) {
		*p++ = ADDR_V4;
		len = 4;
		memcpy(p, addr, len);
	} else if (inet_pton(AF_INET6, t->host, addr) == 1) {
		*p++ = ADDR_V6;
		len = 16;
		memcpy(p, addr, len);
	} else {
		*p++ = ADDR_NAME;
		*p++ = (uint8_t)len;
		memcpy(p, t->host, len);
	}
	p += len;
	*p++ = (uint8_t)(t->port >> 8);
	*p++ = (uint8_t)t->port;
	u->request_len = (size_t)(p - u->request);
}

static void
socks_begin(struct upstream *u, const struct upstream_target *t)
{
	const uint8_t hello[] = { SOCKS_VERSION, 1, METHOD_NONE };
	const uint8_t hello_login[] = { SOCKS_VERSION, 2, METHOD_NONE,
	    METHOD_LOGIN };

	u->state = UPSTREAM_METHOD;
	socks_request(u, t);
	if (t->user == NULL) {
		put(u, hello, sizeof hello);
		return;
	}
	socks_login(u, t);
	put(u, hello_login, sizeof hello_login);
}

int
upstream_init(struct upstream *u, enum upstream_kind kind,
    const struct upstream_target *t)
{
	memset(u, 0, sizeof *u);
	if (strlen(t->host) == 0 || strlen(t->host) > 255 ||
	    (t->user != NULL && (strlen(t->user) > UPSTREAM_LOGIN_MAX ||
	    strlen(t->password) > UPSTREAM_LOGIN_MAX)))
		return -1;
	(kind == UPSTREAM_HTTP ? http_begin : socks_begin)(u, t);
	return 0;
}

/* What is answered */

static enum upstream_status
fail(struct upstream *u, enum upstream_why why, int code)
{
	u->why = why;
	u->code = code;
	u->out_len = 0;
	return UPSTREAM_FAILED;
}

/* "HTTP/1.1 200": each byte as it comes, so that a stranger is known soon. */
static bool
is_status_byte(size_t at, uint8_t c)
{
	static const char shape[] = "HTTP/1.d ddd";

	if (at >= STATUS_LEN)
		return c == ' ' || c == '\r' || at > STATUS_LEN;
	return shape[at] == 'd' ? c >= '0' && c <= '9' :
	    c == (uint8_t)shape[at];
}

/* A line is over.  The first is the status; an empty one is the end. */
static enum upstream_status
http_line(struct upstream *u)
{
	if (u->code == 0) {
		if (u->word_len < STATUS_LEN)
			return fail(u, UPSTREAM_BAD, 0);
		for (size_t i = STATUS_AT; i < STATUS_LEN; i++)
			u->code = u->code * 10 + u->word[i] - '0';
		if (u->code == HTTP_LOGIN_WANTED || u->code == HTTP_LOGIN_WRONG)
			return fail(u, UPSTREAM_LOGIN, u->code);
		if (u->code < 100 || u->code == 101 || u->code >= 300)
			return fail(u, UPSTREAM_REFUSED, u->code);
	} else if (u->word_len == 0) {
		if (u->code >= 200)
			return UPSTREAM_DONE;
		u->code = 0;		/* "100 Continue" and its like */
	}
	u->word_len = 0;
	return UPSTREAM_MORE;
}

/* A line may end in a bare line feed; only its beginning is kept. */
static enum upstream_status
http_byte(struct upstream *u, uint8_t c)
{
	if (u->total > UPSTREAM_HEAD_MAX)
		return fail(u, UPSTREAM_BAD, 0);
	if (c == '\n') {
		if (u->word_len > 0 && u->word_len < sizeof u->word &&
		    u->word[u->word_len - 1] == '\r')
			u->word_len--;
		return http_line(u);
	}
	if (u->code == 0 && !is_status_byte(u->word_len, c))
		return fail(u, UPSTREAM_BAD, 0);
	if (u->word_len < sizeof u->word)
		u->word[u->word_len++] = c;
	return UPSTREAM_MORE;
}

static enum upstream_status
socks_ask(struct upstream *u)
{
	u->state = UPSTREAM_REPLY;
	u->word_len = 0;
	put(u, u->request, u->request_len);
	return UPSTREAM_MORE;
}

static enum upstream_status
socks_method(struct upstream *u)
{
	if (u->word[0] != SOCKS_VERSION)
		return fail(u, UPSTREAM_BAD, 0);
	if (u->word_len < 2)
		return UPSTREAM_MORE;
	switch (u->word[1]) {
	case METHOD_NONE:
		return socks_ask(u);
	case METHOD_LOGIN:
		if (u->login_len == 0)
			break;
		u->state = UPSTREAM_LOGGED;
		u->word_len = 0;
		put(u, u->login, u->login_len);
		return UPSTREAM_MORE;
	case METHOD_REFUSED:
		return fail(u, UPSTREAM_LOGIN, METHOD_REFUSED);
	}
	return fail(u, UPSTREAM_BAD, 0);
}

static enum upstream_status
socks_logged(struct upstream *u)
{
	if (u->word_len < 2)
		return UPSTREAM_MORE;
	/* Some write their own version there: the second byte counts. */
	if (u->word[1] != 0)
		return fail(u, UPSTREAM_LOGIN, u->word[1]);
	return socks_ask(u);
}

/* Version, code, 0, kind of address, address, port. */
static enum upstream_status
socks_reply(struct upstream *u)
{
	size_t addr;

	if (u->word[0] != SOCKS_VERSION)
		return fail(u, UPSTREAM_BAD, 0);
	if (u->word_len >= 2 && u->word[1] != 0)
		return fail(u, UPSTREAM_REFUSED, u->word[1]);
	if (u->word_len < 5)
		return UPSTREAM_MORE;
	switch (u->word[3]) {
	case ADDR_V4:
		addr = 4;
		break;
	case ADDR_V6:
		addr = 16;
		break;
	case ADDR_NAME:
		addr = 1 + (size_t)u->word[4];
		break;
	default:
		return fail(u, UPSTREAM_BAD, 0);
	}
	return u->word_len < 4 + addr + 2 ? UPSTREAM_MORE : UPSTREAM_DONE;
}

/* Of a long name only the length matters: what does not fit is counted. */
static enum upstream_status
socks_byte(struct upstream *u, uint8_t c)
{
	if (u->word_len < sizeof u->word)
		u->word[u->word_len] = c;
	u->word_len++;
	switch (u->state) {
	case UPSTREAM_METHOD:
		return socks_method(u);
	case UPSTREAM_LOGGED:
		return socks_logged(u);
	default:
		return socks_reply(u);
	}
}

enum upstream_status
upstream_feed(struct upstream *u, const void *data, size_t len, size_t *used)
{
	const uint8_t *p = data;
	enum upstream_status st = UPSTREAM_MORE;
	size_t i;

	for (i = 0; i < len && st == UPSTREAM_MORE && u->out_len == 0; i++) {
		u->total++;
		st = (u->state == UPSTREAM_HEAD ? http_byte : socks_byte)(u,
		    p[i]);
	}
	*used = i;
	return st;
}
