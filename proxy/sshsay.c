#include "proxy/sshsay.h"

#include <string.h>

enum {
	BLOCK = 8,			/* what a packet's size is a multiple of */
	HEAD = 4 + 1,			/* its length, and that of the padding */
	FIELDS = 1 + 4 + 4 + 4,		/* type, reason, two lengths of text */
	MIN_PADDING = 4,
	DISCONNECT = 1,
	NOT_ALLOWED_TO_CONNECT = 1,
};

static const char version[] = "SSH-2.0-fence\r\n";

static uint8_t *
put_u32(uint8_t *p, uint32_t n)
{
	for (int shift = 24; shift >= 0; shift -= 8)
		*p++ = (uint8_t)(n >> shift);
	return p;
}

size_t
sshsay_refusal(uint8_t buf[SSHSAY_MAX], const char *text)
{
	size_t room = SSHSAY_MAX - (sizeof version - 1) - HEAD - FIELDS -
	    MIN_PADDING - BLOCK;
	size_t len = strnlen(text, room), body = HEAD + FIELDS + len;
	size_t padding = BLOCK - body % BLOCK;
	uint8_t *p = buf;

	if (padding < MIN_PADDING)
		padding += BLOCK;
	memcpy(p, version, sizeof version - 1);
	p = put_u32(p + sizeof version - 1, (uint32_t)(body - 4 + padding));
	*p++ = (uint8_t)padding;
	*p++ = DISCONNECT;
	p = put_u32(p, NOT_ALLOWED_TO_CONNECT);
	p = put_u32(p, (uint32_t)len);
	memcpy(p, text, len);
	p = put_u32(p + len, 0);	/* in no language */
	memset(p, 0, padding);
	return (size_t)(p + padding - buf);
}
