#include "proxy/socks5.h"

#include <arpa/inet.h>
#include <string.h>

enum {
	FIRST,			/* of whatever protocol */
	VERB,			/* an HTTP method, perhaps */
	NMETHODS, METHOD,
	AUTH_VERSION, USER_LEN, USER, PASSWORD_LEN, PASSWORD,
	REQUEST, COMMAND, RESERVED, ADDR_TYPE, NAME_LEN, NAME, ADDR,
	PORT_HIGH, PORT_LOW,
	DONE, BAD
};

enum {
	METHOD_NONE = 0, METHOD_PASSWORD = 2, METHOD_NO_MATCH = 0xff,
	TYPE_IPV4 = 1, TYPE_NAME = 3, TYPE_IPV6 = 4,
};

void
socks5_init(struct socks5 *s)
{
	memset(s, 0, sizeof *s);
	s->state = FIRST;
}

void
socks5_reply(enum socks5_outcome outcome, uint8_t out[SOCKS5_REPLY_BYTES])
{
	const uint8_t reply[SOCKS5_REPLY_BYTES] = { 5, (uint8_t)outcome, 0,
	    TYPE_IPV4 };

	memcpy(out, reply, sizeof reply);
}

/* The longest: both sides of a password, then a reply; or one text. */
static void
answer(struct socks5 *s, const void *bytes, size_t len)
{
	memcpy(s->answer + s->answer_len, bytes, len);
	s->answer_len += len;
}

static unsigned
bad(struct socks5 *s, const char *why)
{
	s->why = why;
	return BAD;
}

static unsigned
refuse(struct socks5 *s, enum socks5_outcome outcome, const char *why)
{
	uint8_t reply[SOCKS5_REPLY_BYTES];

	socks5_reply(outcome, reply);
	answer(s, reply, sizeof reply);
	return bad(s, why);
}

/* Other protocols */

static const char *const verbs[] = {
	"GET ", "HEAD ", "POST ", "PUT ", "PATCH ", "DELETE ", "CONNECT ",
	"OPTIONS ", "TRACE ", "PRI ",
};

enum { NVERBS = sizeof verbs / sizeof verbs[0] };

static unsigned
refuse_http(struct socks5 *s)
{
	static const char text[] = "HTTP/1.1 501 Not Implemented\r\n"
	    "X-Fence-Error: bad-request\r\n"
	    "Content-Type: text/plain\r\n"
	    "Connection: close\r\n\r\n"
	    "fence: this port speaks SOCKS5: "
	    "its URL begins with socks5h://, not http://\n";

	_Static_assert(sizeof text <= SOCKS5_MAX_ANSWER, "the text fits");
	answer(s, text, sizeof text - 1);
	return bad(s, "HTTP spoken to the SOCKS port");
}

static unsigned
eat_verb(struct socks5 *s, uint8_t c)
{
	for (unsigned i = 0; i < NVERBS; i++)
		if ((s->verbs & 1U << i) != 0 &&
		    (uint8_t)verbs[i][s->n] != c)
			s->verbs &= ~(1U << i);
	s->n++;
	if (s->verbs == 0)
		return bad(s, "neither SOCKS nor HTTP");
	/* No verb is the beginning of another: the blank ends the last one. */
	return c == ' ' ? refuse_http(s) : VERB;
}

/* Request rejected or failed; port and address mean nothing. */
static unsigned
refuse_socks4(struct socks5 *s)
{
	static const uint8_t reply[8] = { 0, 0x5b };

	answer(s, reply, sizeof reply);
	return bad(s, "SOCKS4 is not offered: use SOCKS5");
}

static unsigned
eat_first(struct socks5 *s, uint8_t c)
{
	if (c == 5)
		return NMETHODS;
	if (c == 4)
		return refuse_socks4(s);
	s->verbs = (1U << NVERBS) - 1;
	return eat_verb(s, c);
}

/* Greeting */

static unsigned
choose_method(struct socks5 *s)
{
	uint8_t choice[2] = { 5, METHOD_NO_MATCH };

	if (s->has_none)
		choice[1] = METHOD_NONE;
	else if (s->has_password)
		choice[1] = METHOD_PASSWORD;
	answer(s, choice, sizeof choice);
	if (choice[1] == METHOD_NO_MATCH)
		return bad(s, "the client offers no SOCKS method of ours");
	return s->has_none ? REQUEST : AUTH_VERSION;
}

static unsigned
eat_length(struct socks5 *s, uint8_t c, unsigned next)
{
	s->left = c;
	s->n = 0;
	return next;
}

static unsigned
eat_method(struct socks5 *s, uint8_t c)
{
	if (c == METHOD_NONE)
		s->has_none = true;
	else if (c == METHOD_PASSWORD)
		s->has_password = true;
	return --s->left > 0 ? METHOD : choose_method(s);
}

/* Password */

static unsigned
eat_auth_version(struct socks5 *s, uint8_t c)
{
	static const uint8_t failure[2] = { 1, 1 };

	if (c == 1)
		return USER_LEN;
	answer(s, failure, sizeof failure);
	return bad(s, "bad version of the SOCKS password exchange");
}

static unsigned
accept_password(struct socks5 *s)
{
	static const uint8_t success[2] = { 1, 0 };

	answer(s, success, sizeof success);
	return REQUEST;
}

/* Request */

static unsigned
eat_addr_type(struct socks5 *s, uint8_t c)
{
	s->is_name = c == TYPE_NAME;
	s->n = 0;
	if (c == TYPE_NAME)
		return NAME_LEN;
	if (c != TYPE_IPV4 && c != TYPE_IPV6)
		return refuse(s, SOCKS5_ADDRESS_TYPE,
		    "unknown SOCKS address type");
	s->left = c == TYPE_IPV4 ? 4 : 16;
	return ADDR;
}

static unsigned
eat_name(struct socks5 *s, uint8_t c)
{
	if (c < ' ' || c == 0x7f)
		return refuse(s, SOCKS5_FAILURE,
		    "control byte in a SOCKS name");
	s->host[s->n++] = (char)c;
	if (s->n < s->left)
		return NAME;
	s->host[s->n] = '\0';
	return PORT_HIGH;
}

static unsigned
eat_addr(struct socks5 *s, uint8_t c)
{
	uint8_t addr[16];

	s->host[s->n++] = (char)c;
	if (s->n < s->left)
		return ADDR;
	memcpy(addr, s->host, sizeof addr);
	inet_ntop(s->left == 4 ? AF_INET : AF_INET6, addr, s->host,
	    sizeof s->host);
	return PORT_HIGH;
}

static unsigned
finish_request(struct socks5 *s)
{
	s->command = s->asked;
	switch (s->command) {
	case SOCKS5_CONNECT:
		if (s->port != 0)
			return DONE;
		return refuse(s, SOCKS5_FAILURE, "SOCKS CONNECT to port 0");
	case SOCKS5_BIND:
		return refuse(s, SOCKS5_COMMAND, "SOCKS BIND is not offered");
	case SOCKS5_UDP_ASSOCIATE:
		return refuse(s, SOCKS5_COMMAND,
		    "SOCKS UDP ASSOCIATE is not offered");
	}
	return refuse(s, SOCKS5_COMMAND, "unknown SOCKS command");
}

static unsigned
eat_request(struct socks5 *s, uint8_t c)
{
	switch (s->state) {
	case REQUEST:
		return c == 5 ? COMMAND : refuse(s, SOCKS5_FAILURE,
		    "bad version in a SOCKS request");
	case COMMAND:
		s->asked = c;
		return RESERVED;
	case RESERVED:
		return c == 0 ? ADDR_TYPE : refuse(s, SOCKS5_FAILURE,
		    "bad reserved byte in a SOCKS request");
	case ADDR_TYPE:
		return eat_addr_type(s, c);
	case NAME_LEN:
		return c > 0 ? eat_length(s, c, NAME) :
		    refuse(s, SOCKS5_FAILURE, "empty SOCKS name");
	case NAME:
		return eat_name(s, c);
	case ADDR:
		return eat_addr(s, c);
	case PORT_HIGH:
		s->port = (uint16_t)(c << 8);
		return PORT_LOW;
	}
	s->port |= c;
	return finish_request(s);
}

static unsigned
eat(struct socks5 *s, uint8_t c)
{
	switch (s->state) {
	case FIRST:
		return eat_first(s, c);
	case VERB:
		return eat_verb(s, c);
	case NMETHODS:
		return c > 0 ? eat_length(s, c, METHOD) : choose_method(s);
	case METHOD:
		return eat_method(s, c);
	case AUTH_VERSION:
		return eat_auth_version(s, c);
	case USER_LEN:
		return eat_length(s, c, c > 0 ? USER : PASSWORD_LEN);
	case USER:
		return --s->left > 0 ? USER : PASSWORD_LEN;
	case PASSWORD_LEN:
		return c > 0 ? eat_length(s, c, PASSWORD) : accept_password(s);
	case PASSWORD:
		return --s->left > 0 ? PASSWORD : accept_password(s);
	}
	return eat_request(s, c);
}

enum socks5_status
socks5_feed(struct socks5 *s, const void *data, size_t len, size_t *used)
{
	const uint8_t *p = data;
	size_t at = 0;

	s->answer_len = 0;
	while (at < len && s->state != DONE && s->state != BAD)
		s->state = eat(s, p[at++]);
	*used = at;
	return s->state == DONE ? SOCKS5_DONE :
	    s->state == BAD ? SOCKS5_BAD : SOCKS5_MORE;
}
