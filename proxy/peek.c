#include "proxy/peek.h"

#include <assert.h>
#include <string.h>

enum {
	RECORD_CCS = 20, RECORD_ALERT = 21, RECORD_HANDSHAKE = 22,
	RECORD_DATA = 23,
	RECORD_HEADER = 5, MAX_RECORD = (1 << 14) + 256,
	SERVER_HELLO = 2, RANDOM_AT = 4 + 2, RANDOM_BYTES = 32,
};

enum { HELLO, JUDGE, ALLOWED, SERVER, OVER };

/* SHA-256 of "HelloRetryRequest" (RFC 8446, 4.1.3). */
static const uint8_t retry_random[RANDOM_BYTES] = {
	0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11,
	0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
	0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e,
	0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
};

void
peek_init(struct peek *p)
{
	memset(p, 0, sizeof *p);
	tlshello_init(&p->hello);
	p->state = HELLO;
}

static enum peek_step
bad(struct peek *p, const char *why)
{
	p->hello.why = why;
	return PEEK_BAD;
}

/*
 * Between the hellos there may be a change of cipher that means nothing,
 * early data that the server throws away, and warnings.
 */
static enum peek_step
step_between(struct peek *p, const uint8_t *held, size_t len, size_t *pass)
{
	size_t record;

	if (held[0] != RECORD_CCS && held[0] != RECORD_ALERT &&
	    held[0] != RECORD_DATA)
		return bad(p, "another record where a second TLS hello "
		    "should be");
	if (len < RECORD_HEADER)
		return PEEK_HOLD;
	record = (size_t)held[3] << 8 | held[4];
	if (record > MAX_RECORD)
		return bad(p, "bad length of a TLS record");
	if (len - RECORD_HEADER < record)
		return PEEK_HOLD;
	*pass = RECORD_HEADER + record;
	return PEEK_PASS;
}

static enum peek_step
step_hello(struct peek *p, const uint8_t *held, size_t len, size_t *pass)
{
	if (len == 0)
		return PEEK_HOLD;
	if (p->is_second && held[0] != RECORD_HANDSHAKE)
		return step_between(p, held, len, pass);
	switch (tlshello_feed(&p->hello, held, len)) {
	case TLSHELLO_MORE:
		return PEEK_HOLD;
	case TLSHELLO_BAD:
		return PEEK_BAD;
	case TLSHELLO_NOT_TLS:
		if (p->is_second)
			return bad(p, "no TLS where a second hello should be");
		p->state = OVER;
		return PEEK_OVER;
	case TLSHELLO_DONE:
		break;
	}
	p->state = p->hello.has_sni ? JUDGE : ALLOWED;
	return peek_client(p, held, len, pass);
}

static enum peek_step
step_server(struct peek *p, const uint8_t *held, size_t len, size_t *pass)
{
	if (!p->is_heard)
		return PEEK_HOLD;
	if (!p->is_retry) {
		p->state = OVER;
		return PEEK_OVER;
	}
	p->is_second = true;
	p->state = HELLO;
	tlshello_init(&p->hello);
	return step_hello(p, held, len, pass);
}

enum peek_step
peek_client(struct peek *p, const void *held, size_t len, size_t *pass)
{
	switch (p->state) {
	case HELLO:
		return step_hello(p, held, len, pass);
	case JUDGE:
		return PEEK_JUDGE;
	case ALLOWED:
		*pass = p->hello.hello_len;
		p->state = p->is_second ? OVER : SERVER;
		return PEEK_PASS;
	case SERVER:
		return step_server(p, held, len, pass);
	}
	return PEEK_OVER;
}

void
peek_allow(struct peek *p)
{
	assert(p->state == JUDGE);
	p->state = ALLOWED;
}

/* The server */

static void
heard(struct peek *p, bool is_retry)
{
	p->is_heard = true;
	p->is_retry = is_retry;
}

/* One byte of its first message, wherever records cut it. */
static void
server_byte(struct peek *p, uint8_t c)
{
	p->server[p->nserver++] = c;
	if (p->server[0] != SERVER_HELLO)
		heard(p, false);
	else if (p->nserver == sizeof p->server)
		heard(p, memcmp(p->server + RANDOM_AT, retry_random,
		    RANDOM_BYTES) == 0);
}

/* Warnings come before a hello, and records of no consequence. */
static void
server_header(struct peek *p, uint8_t c)
{
	p->header[p->nheader++] = c;
	if (p->header[0] < RECORD_CCS || p->header[0] > RECORD_HANDSHAKE)
		heard(p, false);
	if (p->nheader == RECORD_HEADER)
		p->record_left = (size_t)p->header[3] << 8 | p->header[4];
}

void
peek_server(struct peek *p, const void *data, size_t len)
{
	const uint8_t *c = data;

	/* What it says before a hello has passed is no answer to one. */
	if (p->state != SERVER)
		return;
	for (; len > 0 && !p->is_heard; c++, len--) {
		if (p->nheader < RECORD_HEADER) {
			server_header(p, *c);
		} else {
			p->record_left--;
			if (p->header[0] == RECORD_HANDSHAKE)
				server_byte(p, *c);
		}
		if (p->nheader == RECORD_HEADER && p->record_left == 0)
			p->nheader = 0;
	}
}
