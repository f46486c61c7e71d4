/* hello: TLS records for tests: a ClientHello, a ServerHello. */
#ifndef FENCE_TESTS_HELLO_H
#define FENCE_TESTS_HELLO_H

#include <stdint.h>
#include <string.h>

enum { HELLO_MAX = 512 };

static const uint8_t hello_retry[32] = {
	0xcf, 0x21, 0xad, 0x74, 0xe5, 0x9a, 0x61, 0x11,
	0xbe, 0x1d, 0x8c, 0x02, 0x1e, 0x65, 0xb8, 0x91,
	0xc2, 0xa2, 0x11, 0x16, 0x7a, 0xbb, 0x8c, 0x5e,
	0x07, 0x9e, 0x09, 0xe2, 0xc8, 0xa8, 0x33, 0x9c,
};

/* A record around n bytes that stand at out + 5. */
static inline size_t
hello_record(uint8_t *out, uint8_t type, size_t n)
{
	uint8_t head[5] = { type, 3, 3, (uint8_t)(n >> 8), (uint8_t)n };

	memcpy(out, head, sizeof head);
	return sizeof head + n;
}

/* sni NULL: without the extension. */
static inline size_t
hello_client(uint8_t *out, const char *sni)
{
	uint8_t *p = out + 5;
	size_t len = sni != NULL ? strlen(sni) : 0, n = 0;

	memset(out, 0, HELLO_MAX);
	p[n++] = 1;
	n += 3;				/* length, below */
	p[n++] = 3;
	p[n++] = 3;
	n += 32 + 1;			/* random, no session */
	memcpy(p + n, "\0\2\x13\1\1\0", 6);
	n += 6;
	p[n++] = 0;
	p[n++] = (uint8_t)(sni != NULL ? len + 9 : 0);
	if (sni != NULL) {
		const uint8_t ext[9] = { 0, 0, 0, (uint8_t)(len + 5), 0,
		    (uint8_t)(len + 3), 0, 0, (uint8_t)len };

		memcpy(p + n, ext, sizeof ext);
		memcpy(p + n + sizeof ext, sni, len);
		n += sizeof ext + len;
	}
	p[3] = (uint8_t)(n - 4);
	return hello_record(out, 22, n);
}

static inline size_t
hello_server(uint8_t *out, int is_retry)
{
	uint8_t *p = out + 5;

	memset(out, 0, HELLO_MAX);
	memcpy(p, "\2\0\0\x28\3\3", 6);
	if (is_retry)
		memcpy(p + 6, hello_retry, sizeof hello_retry);
	return hello_record(out, 22, 44);
}

#endif
