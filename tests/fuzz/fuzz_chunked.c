/* One body, whole and in pieces: the ends must agree. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/chunked.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static enum chunked_status
feed(const char *data, size_t len, size_t step, size_t *total)
{
	enum chunked_status st = CHUNKED_MORE;
	struct chunked c;
	size_t n, used;

	chunked_init(&c);
	*total = 0;
	while (*total < len && st == CHUNKED_MORE) {
		n = len - *total < step ? len - *total : step;
		st = chunked_feed(&c, data + *total, n, &used);
		if (used > n || (st == CHUNKED_MORE && used != n))
			abort();
		*total += used;
	}
	return st;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	const char *p = (const char *)data;
	size_t whole, bytes, odd;
	enum chunked_status st = feed(p, len, len, &whole);

	if (feed(p, len, 1, &bytes) != st || feed(p, len, 7, &odd) != st)
		abort();
	/* Where it goes wrong depends on the pieces; where it ends does not. */
	if (st != CHUNKED_BAD && (bytes != whole || odd != whole))
		abort();
	if (st == CHUNKED_DONE && (whole < 5 ||
	    memcmp(p + whole - 2, "\r\n", 2) != 0))
		abort();
	return 0;
}
