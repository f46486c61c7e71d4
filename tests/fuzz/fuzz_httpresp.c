/* One head of an answer, whole and in pieces: the answers must agree. */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "proxy/httpresp.h"

int	LLVMFuzzerTestOneInput(const uint8_t *, size_t);

enum { MAX_HEAD = 2048 };

static enum httpresp_status
feed(struct httpresp *h, const char *data, size_t len, size_t step)
{
	enum httpresp_status st = HTTPRESP_MORE;

	httpresp_init(h, MAX_HEAD);
	for (size_t n = 0; n < len && st == HTTPRESP_MORE;) {
		n = len - n < step ? len : n + step;
		st = httpresp_feed(h, data, n);
	}
	return st;
}

/* What the client gets is one head, and reads as the one that came. */
static void
check_rewrite(const struct httpresp *h, const char *data)
{
	struct httpresp again;
	struct buf out;

	buf_init(&out, 0);
	httpresp_rewrite(h, data, !h->is_certain, &out);
	httpresp_init(&again, 2 * MAX_HEAD + 1024);
	if (memmem(out.data, out.len, "\r\n\r\n", 4) !=
	    out.data + out.len - 4 ||
	    httpresp_feed(&again, out.data, out.len) != HTTPRESP_DONE ||
	    again.code != h->code || again.body != h->body ||
	    (h->body == HTTPBODY_LENGTH && again.body_bytes != h->body_bytes))
		abort();
	buf_release(&out);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct httpresp whole, bytes, odd;
	const char *p = (const char *)data;
	enum httpresp_status st = feed(&whole, p, len, len);

	if (feed(&bytes, p, len, 1) != st || feed(&odd, p, len, 7) != st ||
	    bytes.code != whole.code || bytes.head_len != whole.head_len ||
	    bytes.body != whole.body || bytes.is_kept != whole.is_kept)
		abort();
	if (st == HTTPRESP_DONE)
		check_rewrite(&whole, p);
	return 0;
}
