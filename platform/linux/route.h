/*
 * route: the roads of the jail's network namespace.  lo is up and carries
 * 198.18.0.1; the fake range 198.18.0.0/15 and the given ranges are local,
 * so connections to them end at our listeners; every other address is
 * prohibited, so that connect() says EACCES at once.
 *
 * Port 53 is the exception: a rule sends UDP and TCP for it, whatever the
 * address, to a table in which everything is local, so that a program with
 * a resolver of its own in mind ("dig @8.8.8.8") is answered by ours.  The
 * answer leaves with the address that was asked as its source; for that the
 * listening sockets must be transparent (mint.c makes them so).
 *
 * A kernel without IPv6 loses the IPv6 half, one without policy routing the
 * exception: both then refuse more, never less.
 */
#ifndef FENCE_LINUX_ROUTE_H
#define FENCE_LINUX_ROUTE_H

#include <stddef.h>

#include "platform/jail.h"
#include "platform/linux/netlink.h"

enum route_step {
	ROUTE_SOCKET,		/* the conversation itself */
	ROUTE_LINK,
	ROUTE_ADDRESS,
	ROUTE_FAKE,
	ROUTE_PROHIBIT4,
	ROUTE_PROHIBIT6,
	ROUTE_DNS_TABLE4,
	ROUTE_DNS_TABLE6,
	ROUTE_DNS_UDP4,
	ROUTE_DNS_UDP6,
	ROUTE_DNS_TCP4,
	ROUTE_DNS_TCP6,
	ROUTE_RANGE,		/* and above: range number step - ROUTE_RANGE */
};

enum { ROUTE_MESSAGE_MAX = 128 };	/* bytes that one step needs at most */


/*
 * Does it all in the caller's network namespace; needs CAP_NET_ADMIN there.
 * No malloc, no stdio, under 16 KiB of stack.  -1 with errno and the step.
 */
int	 route_setup(const struct jail_range *, size_t n, int *ret_step);
/* The ranges alone, where route_setup() has been before. */
int	 route_ranges(const struct jail_range *, size_t n, int *ret_step);
const char *route_step_text(int step);

#endif
