#include "proxy/httpbody.h"

void
httpbody_init(struct httpbody *b, enum httpbody_kind kind, uint64_t bytes)
{
	*b = (struct httpbody){ .kind = kind, .left = bytes };
	chunked_init(&b->chunked);
	b->is_over = kind == HTTPBODY_NONE ||
	    (kind == HTTPBODY_LENGTH && bytes == 0);
}

ssize_t
httpbody_take(struct httpbody *b, const char *data, size_t len)
{
	enum chunked_status st;

	if (b->is_over)
		return 0;
	if (b->kind == HTTPBODY_UNTIL_END)
		return (ssize_t)len;
	if (b->kind == HTTPBODY_CHUNKED) {
		st = chunked_feed(&b->chunked, data, len, &len);
		b->is_over = st == CHUNKED_DONE;
		return st == CHUNKED_BAD ? -1 : (ssize_t)len;
	}
	if (len > b->left)
		len = (size_t)b->left;
	b->left -= len;
	b->is_over = b->left == 0;
	return (ssize_t)len;
}
