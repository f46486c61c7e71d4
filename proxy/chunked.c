#include "proxy/chunked.h"

#include <string.h>

enum {
	SIZE,			/* hexadecimal digits */
	EXTENSION,		/* the rest of that line */
	SIZE_LF,
	DATA,
	DATA_CR, DATA_LF,
	TRAILER_FIRST,		/* a line begins, after the last chunk */
	TRAILER, TRAILER_LF,
	END_LF,
	DONE, BAD
};

/* 2^60 bytes: no sum of sizes comes near an overflow. */
enum { MAX_DIGITS = 15 };

void
chunked_init(struct chunked *c)
{
	memset(c, 0, sizeof *c);
	c->state = SIZE;
}

static int
hex_digit(unsigned char ch)
{
	if (ch >= '0' && ch <= '9')
		return ch - '0';
	if (ch >= 'a' && ch <= 'f')
		return ch - 'a' + 10;
	if (ch >= 'A' && ch <= 'F')
		return ch - 'A' + 10;
	return -1;
}

static bool
is_text(unsigned char ch)
{
	return ch == '\t' || (ch >= ' ' && ch != 0x7f);
}

static bool
is_token(unsigned char ch)
{
	return (ch >= '0' && ch <= '9') || (ch >= 'a' && ch <= 'z') ||
	    (ch >= 'A' && ch <= 'Z') ||
	    (ch != '\0' && strchr("!#$%&'*+-.^_`|~", ch) != NULL);
}

static unsigned
eat_size(struct chunked *c, unsigned char ch)
{
	int digit = hex_digit(ch);

	if (digit >= 0 && c->ndigits < MAX_DIGITS) {
		c->left = c->left << 4 | (unsigned)digit;
		c->ndigits++;
		return SIZE;
	}
	if (c->ndigits == 0 || digit >= 0)
		return BAD;
	if (ch == '\r')
		return SIZE_LF;
	return ch == ';' ? EXTENSION : BAD;
}

static unsigned
eat_extension(struct chunked *c, unsigned char ch)
{
	if (ch == '\r')
		return SIZE_LF;
	return is_text(ch) && ++c->seen < CHUNKED_MAX_LINE ? EXTENSION : BAD;
}

static unsigned
eat_size_end(struct chunked *c, unsigned char ch)
{
	c->seen = 0;
	c->ndigits = 0;
	if (ch != '\n')
		return BAD;
	return c->left > 0 ? DATA : TRAILER_FIRST;
}

/* A name, a colon, and anything that is text. */
static unsigned
eat_trailer(struct chunked *c, unsigned char ch, bool is_first)
{
	if (++c->seen > CHUNKED_MAX_TRAILERS)
		return BAD;
	if (is_first) {
		c->is_field = false;
		if (ch == '\r')
			return END_LF;
		return is_token(ch) ? TRAILER : BAD;
	}
	if (c->is_field) {
		if (ch == '\r')
			return TRAILER_LF;
		return is_text(ch) ? TRAILER : BAD;
	}
	c->is_field = ch == ':';
	return c->is_field || is_token(ch) ? TRAILER : BAD;
}

/* One byte that is no chunk's content. */
static unsigned
eat(struct chunked *c, unsigned char ch)
{
	switch (c->state) {
	case SIZE:
		return eat_size(c, ch);
	case EXTENSION:
		return eat_extension(c, ch);
	case SIZE_LF:
		return eat_size_end(c, ch);
	case DATA_CR:
		return ch == '\r' ? DATA_LF : BAD;
	case DATA_LF:
		return ch == '\n' ? SIZE : BAD;
	case TRAILER_FIRST:
		return eat_trailer(c, ch, true);
	case TRAILER:
		return eat_trailer(c, ch, false);
	case TRAILER_LF:
		return ch == '\n' ? TRAILER_FIRST : BAD;
	case END_LF:
		return ch == '\n' ? DONE : BAD;
	}
	return BAD;
}

enum chunked_status
chunked_feed(struct chunked *c, const char *data, size_t len, size_t *used)
{
	size_t at = 0;

	while (at < len && c->state != DONE && c->state != BAD) {
		if (c->state != DATA) {
			c->state = eat(c, (unsigned char)data[at++]);
		} else if (c->left > len - at) {
			c->left -= len - at;
			at = len;
		} else {
			at += (size_t)c->left;
			c->left = 0;
			c->state = DATA_CR;
		}
	}
	*used = c->state == BAD ? 0 : at;
	return c->state == DONE ? CHUNKED_DONE :
	    c->state == BAD ? CHUNKED_BAD : CHUNKED_MORE;
}
