#include <string.h>

#include "tests/probes/dnsq.h"

enum { HEADER = 12, TYPE_A = 1, CLASS_IN = 1 };

size_t
dnsq_build(const char *name, uint8_t query[DNSQ_MAX])
{
	size_t at = HEADER, n;

	if (strlen(name) > 253)
		return 0;
	memset(query, 0, HEADER);
	query[0] = DNSQ_ID >> 8;
	query[1] = DNSQ_ID & 0xff;
	query[2] = 1;			/* recursion desired */
	query[5] = 1;			/* one question */
	while (*name != '\0') {
		n = strcspn(name, ".");
		if (n == 0 || n > 63)
			return 0;
		query[at++] = n;
		memcpy(query + at, name, n);
		at += n;
		name += n;
		if (*name == '.')
			name++;
	}
	memcpy(query + at, (uint8_t[]){ 0, 0, TYPE_A, 0, CLASS_IN }, 5);
	return at + 5;
}

/* Past a name that may end in a pointer; 0 if it runs out. */
static size_t
skip_name(const uint8_t *msg, size_t len, size_t at)
{
	while (at < len) {
		if (msg[at] >= 0xc0)
			return at + 2;
		if (msg[at] == 0)
			return at + 1;
		at += 1 + msg[at];
	}
	return 0;
}

static unsigned int
u16(const uint8_t *p)
{
	return p[0] << 8 | p[1];
}

static enum dnsq_answer
find_address(const uint8_t *msg, size_t len, size_t at, uint8_t addr[4])
{
	unsigned int i, size;

	for (i = 0; i < u16(msg + 6); i++) {
		at = skip_name(msg, len, at);
		if (at == 0 || at + 10 > len)
			return DNSQ_BAD;
		size = u16(msg + at + 8);
		if (at + 10 + size > len)
			return DNSQ_BAD;
		if (u16(msg + at) == TYPE_A && size == 4) {
			memcpy(addr, msg + at + 10, 4);
			return DNSQ_ADDRESS;
		}
		at += 10 + size;
	}
	return DNSQ_NODATA;
}

enum dnsq_answer
dnsq_parse(const uint8_t *msg, size_t len, uint8_t addr[4])
{
	size_t at;

	if (len < HEADER || u16(msg) != DNSQ_ID || (msg[2] & 0x80) == 0 ||
	    u16(msg + 4) != 1)
		return DNSQ_BAD;
	if ((msg[3] & 15) == 3)
		return DNSQ_NXDOMAIN;
	if ((msg[3] & 15) != 0)
		return DNSQ_SERVFAIL;
	at = skip_name(msg, len, HEADER);
	if (at == 0)
		return DNSQ_BAD;
	return find_address(msg, len, at + 4, addr);
}
