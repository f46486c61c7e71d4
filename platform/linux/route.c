#include "platform/linux/route.h"

#include <errno.h>
#include <limits.h>
#include <linux/fib_rules.h>
#include <linux/if.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
	LO = 1,			/* the index of lo, in every namespace */
	DNS_TABLE = 53,
	DNS_PRIORITY = 100,	/* after table local (0), before main (32766) */
	CREATE = NLM_F_ACK | NLM_F_CREATE | NLM_F_EXCL,
};

static const uint8_t own_address[4] = { 198, 18, 0, 1 };
static const uint8_t fake_range[4] = { 198, 18, 0, 0 };

static void
build_link(struct nl_buf *b, int step)
{
	struct ifinfomsg m = {
		.ifi_index = LO, .ifi_flags = IFF_UP, .ifi_change = IFF_UP,
	};

	nl_end(b, nl_begin(b, RTM_NEWLINK, NLM_F_ACK, step, &m, sizeof m));
}

static void
build_address(struct nl_buf *b, int step)
{
	struct ifaddrmsg m = {
		.ifa_family = AF_INET, .ifa_prefixlen = 32, .ifa_index = LO,
	};
	size_t msg = nl_begin(b, RTM_NEWADDR, CREATE, step, &m, sizeof m);

	nl_attr(b, IFA_LOCAL, own_address, sizeof own_address);
	nl_attr(b, IFA_ADDRESS, own_address, sizeof own_address);
	nl_end(b, msg);
}

/* addr holds no bit behind the prefix: the kernel refuses such a route. */
static void
build_local(struct nl_buf *b, int step, int family, unsigned table,
    const uint8_t *addr, unsigned bits)
{
	struct rtmsg m = {
		.rtm_family = family, .rtm_dst_len = bits, .rtm_table = table,
		.rtm_protocol = RTPROT_STATIC, .rtm_type = RTN_LOCAL,
		.rtm_scope = family == AF_INET ? RT_SCOPE_HOST
		    : RT_SCOPE_UNIVERSE,
	};
	size_t msg = nl_begin(b, RTM_NEWROUTE, CREATE, step, &m, sizeof m);

	if (bits > 0)
		nl_attr(b, RTA_DST, addr, family == AF_INET ? 4 : 16);
	/*
	 * Without it the source of a connection would be its destination,
	 * and the answer would find no way back.  IPv6 picks ::1 by itself.
	 */
	if (family == AF_INET)
		nl_attr(b, RTA_PREFSRC, own_address, sizeof own_address);
	nl_attr_u32(b, RTA_OIF, LO);
	nl_end(b, msg);
}

static void
build_prohibit(struct nl_buf *b, int step, int family)
{
	struct rtmsg m = {
		.rtm_family = family, .rtm_table = RT_TABLE_MAIN,
		.rtm_protocol = RTPROT_STATIC, .rtm_type = RTN_PROHIBIT,
		.rtm_scope = RT_SCOPE_UNIVERSE,
	};

	nl_end(b, nl_begin(b, RTM_NEWROUTE, CREATE, step, &m, sizeof m));
}

static void
build_dns_rule(struct nl_buf *b, int step, int family, uint8_t protocol)
{
	struct fib_rule_hdr m = {
		.family = family, .table = DNS_TABLE,
		.action = FR_ACT_TO_TBL,
	};
	struct fib_rule_port_range port = { 53, 53 };
	size_t msg = nl_begin(b, RTM_NEWRULE, CREATE, step, &m, sizeof m);

	nl_attr_u32(b, FRA_PRIORITY, DNS_PRIORITY);
	nl_attr(b, FRA_IP_PROTO, &protocol, sizeof protocol);
	nl_attr(b, FRA_DPORT_RANGE, &port, sizeof port);
	nl_end(b, msg);
}

static void
build_range(struct nl_buf *b, int step, const struct jail_range *r)
{
	uint8_t addr[16];
	unsigned size = r->family == AF_INET ? 4 : 16;

	if ((r->family != AF_INET && r->family != AF_INET6) ||
	    r->bits > size * 8) {
		b->failed = true;
		return;
	}
	memcpy(addr, r->addr, sizeof addr);
	for (unsigned i = r->bits; i < size * 8; i++)
		addr[i / 8] &= ~(0x80 >> i % 8);
	build_local(b, step, r->family, RT_TABLE_LOCAL, addr, r->bits);
}

static void
route_message(struct nl_buf *b, int step, const struct jail_range *r)
{
	bool six = step == ROUTE_PROHIBIT6 || step == ROUTE_DNS_TABLE6 ||
	    step == ROUTE_DNS_UDP6 || step == ROUTE_DNS_TCP6;
	int family = six ? AF_INET6 : AF_INET;

	switch (step) {
	case ROUTE_LINK:
		build_link(b, step);
		break;
	case ROUTE_ADDRESS:
		build_address(b, step);
		break;
	case ROUTE_FAKE:
		build_local(b, step, AF_INET, RT_TABLE_LOCAL, fake_range, 15);
		break;
	case ROUTE_PROHIBIT4:
	case ROUTE_PROHIBIT6:
		build_prohibit(b, step, family);
		break;
	case ROUTE_DNS_TABLE4:
	case ROUTE_DNS_TABLE6:
		build_local(b, step, family, DNS_TABLE, NULL, 0);
		break;
	case ROUTE_DNS_UDP4:
	case ROUTE_DNS_UDP6:
		build_dns_rule(b, step, family, IPPROTO_UDP);
		break;
	case ROUTE_DNS_TCP4:
	case ROUTE_DNS_TCP6:
		build_dns_rule(b, step, family, IPPROTO_TCP);
		break;
	default:
		build_range(b, step, r);
	}
}

/* What a kernel says that lacks IPv6, or has it switched off on lo. */
static bool
no_ipv6(int error)
{
	return error == EAFNOSUPPORT || error == EOPNOTSUPP ||
	    error == EACCES || error == ENODEV;
}

static bool
route_pardon(uint32_t step, int error, const void *arg)
{
	const struct jail_range *ranges = arg;

	switch (step) {
	case ROUTE_LINK:
	case ROUTE_ADDRESS:
	case ROUTE_FAKE:
	case ROUTE_PROHIBIT4:
		return false;
	case ROUTE_PROHIBIT6:
		return no_ipv6(error);
	case ROUTE_DNS_UDP4:
	case ROUTE_DNS_UDP6:
	case ROUTE_DNS_TCP4:
	case ROUTE_DNS_TCP6:
		/* No policy routing in this kernel. */
		return error == EAFNOSUPPORT || error == EOPNOTSUPP;
	case ROUTE_DNS_TABLE4:
		/* Without it table 53 is table main: the default is taken. */
		return error == EEXIST;
	case ROUTE_DNS_TABLE6:
		return error == EEXIST || no_ipv6(error);
	default:
		/* A range named twice, or local already, is no mistake. */
		return error == EEXIST ||
		    (ranges[step - ROUTE_RANGE].family == AF_INET6 &&
		    no_ipv6(error));
	}
}

/* One send carries all steps, or as many as fit when ranges are many. */
static int
route_talk(int fd, size_t step, const struct jail_range *ranges, size_t n,
    int *ret_step)
{
	unsigned char data[8192];
	struct nl_buf b;
	uint32_t seq;

	while (step < ROUTE_RANGE + n) {
		nl_init(&b, data, sizeof data);
		for (; step < ROUTE_RANGE + n &&
		    b.max - b.len >= ROUTE_MESSAGE_MAX; step++) {
			*ret_step = step;
			route_message(&b, step, step < ROUTE_RANGE ? NULL
			    : &ranges[step - ROUTE_RANGE]);
			if (b.failed) {
				errno = EINVAL;
				return -1;
			}
		}
		if (nl_talk(fd, &b, route_pardon, ranges, &seq) < 0) {
			*ret_step = seq;
			return -1;
		}
	}
	return 0;
}

static int
route_from(size_t step, const struct jail_range *ranges, size_t n,
    int *ret_step)
{
	int fd, rv, saved;

	*ret_step = ROUTE_SOCKET;
	if (n > INT_MAX / 2) {
		errno = EINVAL;
		return -1;
	}
	fd = nl_open(NETLINK_ROUTE);
	if (fd < 0)
		return -1;
	rv = route_talk(fd, step, ranges, n, ret_step);
	saved = errno;
	(void)close(fd);
	errno = saved;
	return rv;
}

int
route_setup(const struct jail_range *ranges, size_t n, int *ret_step)
{
	return route_from(ROUTE_LINK, ranges, n, ret_step);
}

int
route_ranges(const struct jail_range *ranges, size_t n, int *ret_step)
{
	return n == 0 ? 0 : route_from(ROUTE_RANGE, ranges, n, ret_step);
}

const char *
route_step_text(int step)
{
	static const char *const text[] = {
		[ROUTE_SOCKET] = "talk to the kernel about routes",
		[ROUTE_LINK] = "bring lo up",
		[ROUTE_ADDRESS] = "give lo the address 198.18.0.1",
		[ROUTE_FAKE] = "make 198.18.0.0/15 local",
		[ROUTE_PROHIBIT4] = "prohibit other IPv4 addresses",
		[ROUTE_PROHIBIT6] = "prohibit other IPv6 addresses",
		[ROUTE_DNS_TABLE4] = "make the table of resolvers (IPv4)",
		[ROUTE_DNS_TABLE6] = "make the table of resolvers (IPv6)",
		[ROUTE_DNS_UDP4] = "route port 53 (UDP, IPv4)",
		[ROUTE_DNS_UDP6] = "route port 53 (UDP, IPv6)",
		[ROUTE_DNS_TCP4] = "route port 53 (TCP, IPv4)",
		[ROUTE_DNS_TCP6] = "route port 53 (TCP, IPv6)",
		[ROUTE_RANGE] = "make an allowed address range local",
	};

	if (step < 0 || step > ROUTE_RANGE)
		step = ROUTE_RANGE;
	return text[step];
}
