/*
 * One stream, whole and in pieces; a hello also cut into other records: the
 * answers must agree.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/tlshello.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

enum { HEADER = 5, PIECE = 3 };

static void
feed(struct tlshello *t, const uint8_t *data, size_t len, size_t step)
{
	enum tlshello_status st = TLSHELLO_MORE;

	tlshello_init(t);
	for (size_t n = 0; n < len && st == TLSHELLO_MORE;) {
		n = len - n < step ? len : n + step;
		st = tlshello_feed(t, data, n);
	}
}

static bool
is_same(const struct tlshello *a, const struct tlshello *b)
{
	return a->status == b->status && a->why == b->why &&
	    a->has_sni == b->has_sni && a->sni_len == b->sni_len &&
	    memcmp(a->sni, b->sni, sizeof a->sni) == 0 &&
	    a->has_ech == b->has_ech && a->has_alpn == b->has_alpn &&
	    a->has_h2 == b->has_h2 && a->has_http11 == b->has_http11;
}

/* The n-th byte of the hello, found by walking over the records again. */
static uint8_t
hello_byte(const uint8_t *data, size_t n)
{
	size_t len;

	while (n >= (len = (size_t)data[3] << 8 | data[4])) {
		n -= len;
		data += HEADER + len;
	}
	return data[HEADER + n];
}

static size_t
hello_len(const uint8_t *data, size_t wire_len)
{
	size_t sum = 0, len;

	for (size_t at = 0; at < wire_len; at += HEADER + len) {
		len = (size_t)data[at + 3] << 8 | data[at + 4];
		sum += len;
	}
	return sum;
}

static void
check_other_records(const struct tlshello *t, const uint8_t *data)
{
	size_t len = hello_len(data, t->hello_len), at = 0, n;
	uint8_t *other = malloc(len * (HEADER + 1));
	struct tlshello again;

	for (size_t i = 0; i < len; i += n) {
		n = len - i < PIECE ? len - i : PIECE;
		memcpy(other + at, "\x16\3\3\0", 4);
		other[at + 4] = (uint8_t)n;
		at += HEADER;
		for (size_t k = 0; k < n; k++)
			other[at++] = hello_byte(data, i + k);
	}
	feed(&again, other, at, at);
	if (at <= TLSHELLO_MAX_BYTES && !is_same(t, &again))
		abort();
	free(other);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct tlshello whole, bytes, odd;

	feed(&whole, data, len, len);
	feed(&bytes, data, len, 1);
	feed(&odd, data, len, 7);
	if (!is_same(&whole, &bytes) || !is_same(&whole, &odd) ||
	    whole.hello_len != bytes.hello_len || whole.hello_len > len)
		abort();
	if ((whole.status == TLSHELLO_BAD) != (whole.why != NULL) ||
	    (whole.status == TLSHELLO_MORE && len >= TLSHELLO_MAX_BYTES))
		abort();
	if (whole.status != TLSHELLO_DONE)
		return 0;
	if (strlen(whole.sni) != whole.sni_len ||
	    whole.has_sni != (whole.sni_len > 0))
		abort();
	check_other_records(&whole, data);
	return 0;
}
