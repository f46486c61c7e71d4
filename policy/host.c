#include "policy/host.h"

#include <arpa/inet.h>
#include <stdbool.h>
#include <string.h>

#include <idn2.h>

#include "platform/base/ip.h"

enum { NAME_MAX_BYTES = 253, LABEL_MAX_BYTES = 63 };

static char
lower(char c)
{
	return c >= 'A' && c <= 'Z' ? (char)(c - 'A' + 'a') : c;
}

static bool
is_digit(char c)
{
	return c >= '0' && c <= '9';
}

static int
hex_digit(char c)
{
	return is_digit(c) ? c - '0' : c >= 'a' && c <= 'f' ? c - 'a' + 10 : -1;
}

void
host_from_addr(const uint8_t *addr, size_t len, struct host *ret)
{
	memset(ret, 0, sizeof *ret);
	if (len == 16 && ip_is_mapped(addr)) {
		addr += 12;
		len = 4;
	}
	ret->kind = len == 4 ? HOST_IPV4 : HOST_IPV6;
	memcpy(ret->addr, addr, len == 4 ? 4 : 16);
	inet_ntop(len == 4 ? AF_INET : AF_INET6, ret->addr, ret->text,
	    sizeof ret->text);
}

static int
canon_ipv6(const char *p, size_t len, struct host *ret)
{
	char text[INET6_ADDRSTRLEN];
	uint8_t addr[16];

	/* inet_pton() would stop at a NUL and like what it saw. */
	if (len >= sizeof text || memchr(p, '\0', len) != NULL)
		return -1;
	memcpy(text, p, len);
	text[len] = '\0';
	if (inet_pton(AF_INET6, text, addr) != 1)
		return -1;
	host_from_addr(addr, sizeof addr, ret);
	return 0;
}

/* Lower case into text, one trailing dot dropped, every label checked. */
static int
canon_name(const char *p, size_t len, char *text)
{
	size_t label = 0;

	if (len > 0 && p[len - 1] == '.')
		len--;
	if (len == 0 || len > NAME_MAX_BYTES)
		return -1;
	for (size_t i = 0; i < len; i++) {
		char c = lower(p[i]);

		if (c == '.') {
			if (label == 0)
				return -1;
			label = 0;
		} else if (is_digit(c) || (c >= 'a' && c <= 'z') ||
		    c == '-' || c == '_') {
			if (++label > LABEL_MAX_BYTES)
				return -1;
		} else {
			return -1;
		}
		text[i] = c;
	}
	text[len] = '\0';
	return label > 0 ? 0 : -1;
}

/*
 * Is the last label a number?  Resolvers and URL libraries then take the
 * whole for an IPv4 address, so it is one, or it is refused.
 */
static bool
ends_in_number(const char *text)
{
	const char *dot = strrchr(text, '.');
	const char *p = dot != NULL ? dot + 1 : text;

	if (p[0] == '0' && p[1] == 'x') {
		for (p += 2; hex_digit(*p) >= 0; p++)
			;
		return *p == '\0';
	}
	while (is_digit(*p))
		p++;
	return *p == '\0';
}

/* One part as inet_aton reads it: 0x hexadecimal, 0 octal, else decimal. */
static int
parse_part(const char **p, uint32_t *ret)
{
	unsigned base = 10;
	uint64_t v = 0;
	int digit;

	if (!is_digit(**p))
		return -1;
	if ((*p)[0] == '0' && (*p)[1] == 'x') {
		base = 16;
		*p += 2;
		if (hex_digit(**p) < 0)
			return -1;
	} else if ((*p)[0] == '0') {
		base = 8;
	}
	for (; (digit = hex_digit(**p)) >= 0; (*p)++) {
		if ((unsigned)digit >= base)
			return -1;
		v = v * base + (unsigned)digit;
		if (v > UINT32_MAX)
			return -1;
	}
	*ret = (uint32_t)v;
	return 0;
}

static int
canon_ipv4(const char *text, struct host *ret)
{
	uint32_t part[4], v = 0;
	unsigned n = 0;
	uint8_t addr[4];

	for (const char *p = text;; p++) {
		if (n == 4 || parse_part(&p, &part[n]) != 0)
			return -1;
		n++;
		if (*p == '\0')
			break;
		if (*p != '.')
			return -1;
	}
	for (unsigned i = 0; i + 1 < n; i++) {
		if (part[i] > 255)
			return -1;
		v |= part[i] << (24 - 8 * i);
	}
	/* The last part fills the bytes that are left: 127.1, 2130706433. */
	if (n > 1 && part[n - 1] >> (8 * (5 - n)) != 0)
		return -1;
	v |= part[n - 1];
	for (unsigned i = 0; i < 4; i++)
		addr[i] = (uint8_t)(v >> (24 - 8 * i));
	host_from_addr(addr, sizeof addr, ret);
	return 0;
}

int
host_canon(const char *bytes, size_t len, struct host *ret)
{
	struct host h = { .kind = HOST_NAME };

	if (len >= 2 && bytes[0] == '[' && bytes[len - 1] == ']') {
		if (memchr(bytes, ':', len) == NULL)
			return -1;
		return canon_ipv6(bytes + 1, len - 2, ret);
	}
	if (len > 0 && memchr(bytes, ':', len) != NULL)
		return canon_ipv6(bytes, len, ret);
	if (canon_name(bytes, len, h.text) != 0)
		return -1;
	if (ends_in_number(h.text))
		return canon_ipv4(h.text, ret);
	*ret = h;
	return 0;
}

int
host_canon_text(const char *bytes, size_t len, struct host *ret)
{
	char text[1024], *ascii = NULL;
	bool is_ascii = true;
	int rv;

	for (size_t i = 0; i < len; i++)
		is_ascii &= (unsigned char)bytes[i] < 0x80;
	if (is_ascii)
		return host_canon(bytes, len, ret);
	if (len >= sizeof text || memchr(bytes, '\0', len) != NULL)
		return -1;
	memcpy(text, bytes, len);
	text[len] = '\0';
	if (idn2_to_ascii_8z(text, &ascii, IDN2_NONTRANSITIONAL |
	    IDN2_NFC_INPUT) != IDN2_OK)
		return -1;
	/* Digits of other scripts make no address. */
	rv = host_canon(ascii, strlen(ascii), ret) == 0 &&
	    ret->kind == HOST_NAME ? 0 : -1;
	idn2_free(ascii);
	return rv;
}

struct range {
	uint8_t		addr[16];
	unsigned	bits;
	enum addr_class	class;
};

/* The first that fits speaks. */
static const struct range ranges4[] = {
	{ { 0, 0, 0, 0 }, 32, ADDR_UNSPECIFIED },
	{ { 0 }, 8, ADDR_RESERVED },
	{ { 127 }, 8, ADDR_LOOPBACK },
	{ { 169, 254, 169, 254 }, 32, ADDR_METADATA },	/* nearly everyone */
	{ { 100, 100, 100, 200 }, 32, ADDR_METADATA },	/* Alibaba */
	{ { 192, 0, 0, 192 }, 32, ADDR_METADATA },	/* Oracle */
	{ { 168, 63, 129, 16 }, 32, ADDR_METADATA },	/* Azure */
	{ { 169, 254 }, 16, ADDR_LINKLOCAL },
	{ { 10 }, 8, ADDR_PRIVATE },
	{ { 172, 16 }, 12, ADDR_PRIVATE },
	{ { 192, 168 }, 16, ADDR_PRIVATE },
	{ { 100, 64 }, 10, ADDR_PRIVATE },
	{ { 192, 0, 0 }, 24, ADDR_RESERVED },
	{ { 224 }, 4, ADDR_MULTICAST },
	{ { 240 }, 4, ADDR_RESERVED },
	{ { 0 }, 0, ADDR_PUBLIC },
};

static const struct range ranges6[] = {
	{ { 0 }, 128, ADDR_UNSPECIFIED },
	{ { [15] = 1 }, 128, ADDR_LOOPBACK },
	{ { 0xfd, 0, 0x0e, 0xc2, [14] = 2, [15] = 0x54 }, 128, ADDR_METADATA },
	{ { 0xfd, 0x20, 0, 0xce, [14] = 2, [15] = 0x54 }, 128, ADDR_METADATA },
	{ { 0xfe, 0x80 }, 10, ADDR_LINKLOCAL },
	{ { 0xfe, 0xc0 }, 10, ADDR_PRIVATE },
	{ { 0xfc }, 7, ADDR_PRIVATE },
	{ { 0xff }, 8, ADDR_MULTICAST },
	{ { 0x20, 0x01, 0, 0 }, 32, ADDR_RESERVED },	/* Teredo */
	{ { 0x20 }, 3, ADDR_PUBLIC },
	{ { 0 }, 0, ADDR_RESERVED },
};

/* Prefixes with an IPv4 address inside, and the byte where it begins. */
static const struct {
	uint8_t		addr[16];
	unsigned	bits, at;
} embedded[] = {
	{ { [10] = 0xff, [11] = 0xff }, 96, 12 },	/* mapped */
	{ { [8] = 0xff, [9] = 0xff }, 96, 12 },		/* translated */
	{ { 0 }, 96, 12 },				/* compatible */
	{ { 0, 0x64, 0xff, 0x9b }, 96, 12 },		/* NAT64 */
	{ { 0x20, 0x02 }, 16, 2 },			/* 6to4 */
};

static bool
in_range(const uint8_t *addr, const uint8_t *net, unsigned bits)
{
	unsigned bytes = bits / 8, rest = bits % 8;

	if (memcmp(addr, net, bytes) != 0)
		return false;
	return rest == 0 ||
	    (addr[bytes] ^ net[bytes]) >> (8 - rest) == 0;
}

bool
host_in_net(const struct host *h, const struct host *net, unsigned bits)
{
	return h->kind == net->kind && h->kind != HOST_NAME &&
	    in_range(h->addr, net->addr, bits);
}

static enum addr_class
classify(const struct range *r, const uint8_t *addr)
{
	while (!in_range(addr, r->addr, r->bits))
		r++;
	return r->class;
}

/* The IPv4 address inside an IPv6 address, or NULL. */
static const uint8_t *
find_embedded(const uint8_t *addr)
{
	/* "::" and "::1" look like compatible addresses and are not. */
	if (in_range(addr, ranges6[0].addr, 128) ||
	    in_range(addr, ranges6[1].addr, 128))
		return NULL;
	for (size_t i = 0; i < sizeof embedded / sizeof *embedded; i++)
		if (in_range(addr, embedded[i].addr, embedded[i].bits))
			return addr + embedded[i].at;
	return NULL;
}

bool
host_embedded(const struct host *h, struct host *ret)
{
	const uint8_t *v4 = h->kind == HOST_IPV6 ? find_embedded(h->addr) :
	    NULL;

	if (v4 != NULL)
		host_from_addr(v4, 4, ret);
	return v4 != NULL;
}

enum addr_class
host_addr_class(const uint8_t *addr, size_t len)
{
	const uint8_t *v4 = len == 4 ? addr : find_embedded(addr);

	return v4 != NULL ? classify(ranges4, v4) : classify(ranges6, addr);
}

const char *
host_addr_class_name(enum addr_class class)
{
	static const char *const name[] = {
		[ADDR_PUBLIC] = "public", [ADDR_LOOPBACK] = "loopback",
		[ADDR_LINKLOCAL] = "link-local",
		[ADDR_METADATA] = "cloud metadata",
		[ADDR_PRIVATE] = "private", [ADDR_MULTICAST] = "multicast",
		[ADDR_UNSPECIFIED] = "unspecified",
		[ADDR_RESERVED] = "reserved",
	};

	return name[class];
}
