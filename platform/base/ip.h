/*
 * ip: IPv4 addresses written as IPv6 ones (::ffff:192.0.2.1), in network
 * order.  Pure.
 */
#ifndef FENCE_BASE_IP_H
#define FENCE_BASE_IP_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

/* ::ffff:0:0/96 */
static inline bool
ip_is_mapped(const uint8_t addr[16])
{
	static const uint8_t prefix[12] = { [10] = 0xff, [11] = 0xff };

	return memcmp(addr, prefix, sizeof prefix) == 0;
}

static inline void
ip_map(const uint8_t v4[4], uint8_t ret[16])
{
	memset(ret, 0, 10);
	memset(ret + 10, 0xff, 2);
	memcpy(ret + 12, v4, 4);
}

/*
 * Makes a mapped address the IPv4 one inside it: the first four bytes, and
 * zeros.  False, and nothing is changed: it is none.
 */
static inline bool
ip_unmap(uint8_t addr[16])
{
	if (!ip_is_mapped(addr))
		return false;
	memcpy(addr, addr + 12, 4);
	memset(addr + 4, 0, 12);
	return true;
}

#endif
