/*
 * host: one canonical spelling of a host, or a refusal.  Names are ASCII,
 * lower case, without the trailing dot; every spelling of an IPv4 address
 * that inet_aton knows (decimal, octal, hex, short forms) and of an IPv6
 * address is one address; v4-mapped v6 is v4.  A name whose last label is a
 * number is an IPv4 address or nothing.  Every byte but letters, digits, '-',
 * '_' and '.' (so NUL, blank, '%', non-ASCII), empty labels, labels over 63
 * and names over 253 bytes are refused.
 */
#ifndef FENCE_POLICY_HOST_H
#define FENCE_POLICY_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum host_kind { HOST_NAME, HOST_IPV4, HOST_IPV6 };

struct host {
	enum host_kind	kind;
	char		text[256];	/* canonical: name, 1.2.3.4, or 2001:db8::1 */
	uint8_t		addr[16];	/* network order; v4 in the first four */
};

/* Brackets around an IPv6 literal are accepted.  -1: not a host. */
int	 host_canon(const char *bytes, size_t len, struct host *ret);
/*
 * The same for text that a person wrote: names in other scripts are taken,
 * too, and become ASCII (IDNA 2008).  Never for what a stranger sends.
 */
int	 host_canon_text(const char *bytes, size_t len, struct host *ret);
/* Is the address (of that kind) among those that share `bits` with net? */
bool	 host_in_net(const struct host *, const struct host *net,
	    unsigned bits);
/* From raw network-order bytes (4 or 16); v4-mapped becomes v4. */
void	 host_from_addr(const uint8_t *addr, size_t len, struct host *ret);

/* The v4 address inside a v6 address, where it is of a form named below. */
bool	 host_embedded(const struct host *, struct host *ret);

/* What kind of place an address is; everything but PUBLIC needs a reason. */
enum addr_class {
	ADDR_PUBLIC, ADDR_LOOPBACK, ADDR_LINKLOCAL, ADDR_METADATA,
	ADDR_PRIVATE, ADDR_MULTICAST, ADDR_UNSPECIFIED, ADDR_RESERVED,
};
/*
 * v4-in-v6 forms (mapped, compatible, 6to4, NAT64 64:ff9b::/96) are judged
 * by the v4 address inside.  198.18.0.0/15 is PUBLIC: it is never special.
 */
enum addr_class	 host_addr_class(const uint8_t *addr, size_t len);
const char	*host_addr_class_name(enum addr_class);	/* "loopback" ... */

#endif
