#include "tests/probes/leak.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/if_addr.h>
#include <linux/netfilter/nfnetlink.h>
#include <linux/netfilter/nf_tables.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <net/if.h>
#include <net/route.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#define V4	"198.51.100.10"
#define V6	"2001:db8::10"

enum { MAX_IFINDEX = 8, MAX_PROTOCOL = 262, MAX_FAMILY = 46, REPAIR = 19 };

static const int types[] = { SOCK_STREAM, SOCK_DGRAM, SOCK_RAW, SOCK_RDM,
    SOCK_SEQPACKET, 6 /* DCCP */ };
enum { NTYPES = sizeof types / sizeof types[0] };

static struct sockaddr_in
v4(const char *addr, uint16_t port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
	    .sin_port = htons(port) };

	inet_pton(AF_INET, addr, &sin.sin_addr);
	return sin;
}

static struct sockaddr_in6
v6(const char *addr, uint16_t port, unsigned ifindex)
{
	struct sockaddr_in6 sin6 = { .sin6_family = AF_INET6,
	    .sin6_port = htons(port), .sin6_scope_id = ifindex };

	inet_pton(AF_INET6, addr, &sin6.sin6_addr);
	return sin6;
}

/* Near's own network is to stay as it is. */
static int
is_bare(void)
{
	return getenv("FENCE_LEAK_BARE") != NULL;
}

/* Whatever came before: does a packet get out now? */
static long
then_send(long before)
{
	struct sockaddr_in to = v4(V4, 7);
	struct sockaddr_in6 to6 = v6(V6, 7, 0);
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int fd6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	(void)sendto(fd, "leak", 4, 0, (struct sockaddr *)&to, sizeof to);
	(void)sendto(fd6, "leak", 4, 0, (struct sockaddr *)&to6, sizeof to6);
	return before;
}

/* ---- sweeps ---- */

/* Connects and sends, without waiting for either; 0 if the kernel took it. */
static int
poke(int family, int type, int protocol, const void *to, socklen_t len)
{
	int fd = socket(family, type | SOCK_CLOEXEC | SOCK_NONBLOCK, protocol);
	int rv;

	if (fd < 0)
		return -1;
	rv = sendto(fd, "leak", 4, MSG_NOSIGNAL, to, len) < 0 ? -1 : 0;
	if (connect(fd, to, len) == 0 || errno == EINPROGRESS)
		rv = 0;
	close(fd);
	return rv;
}

/* Every protocol of both families. */
static long
protocols(void)
{
	struct sockaddr_in to = v4(V4, 7);
	struct sockaddr_in6 to6 = v6(V6, 7, 0);
	long rv = -EPROTONOSUPPORT;

	for (int p = 0; p <= MAX_PROTOCOL; p++)
		for (int t = 0; t < NTYPES; t++) {
			if (poke(AF_INET, types[t], p, &to, sizeof to) == 0 ||
			    poke(AF_INET6, types[t], p, &to6,
			    sizeof to6) == 0)
				rv = 0;
		}
	return rv;
}

/* Every other family; their addresses are of this machine, if of any. */
static long
families(void)
{
	long rv = -EAFNOSUPPORT;

	if (is_bare())		/* no modules for the host */
		return rv;
	for (int f = 1; f < MAX_FAMILY; f++)
		for (int t = 0; t < NTYPES; t++) {
			struct sockaddr_storage to = {
			    .ss_family = (sa_family_t)f };

			if (f == AF_UNIX || f == AF_INET || f == AF_INET6 ||
			    f == AF_NETLINK)
				continue;
			if (poke(f, types[t], 0, &to, sizeof to) == 0)
				rv = 0;
		}
	return rv;
}

/* ---- by an interface of one's choice ---- */

static long
by_pktinfo(void)
{
	struct sockaddr_in to = v4(V4, 7);
	struct iovec iov = { "leak", 4 };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	long rv = -1;

	for (int i = 1; i < MAX_IFINDEX; i++) {
		union {
			struct cmsghdr	head;
			char		room[CMSG_SPACE(
			    sizeof(struct in_pktinfo))];
		} u = { .head = { CMSG_LEN(sizeof(struct in_pktinfo)),
		    IPPROTO_IP, IP_PKTINFO } };
		struct msghdr m = { .msg_name = &to, .msg_namelen = sizeof to,
		    .msg_iov = &iov, .msg_iovlen = 1, .msg_control = &u,
		    .msg_controllen = sizeof u };
		uint32_t index = htonl((uint32_t)i);

		((struct in_pktinfo *)CMSG_DATA(&u.head))->ipi_ifindex = i;
		(void)setsockopt(fd, IPPROTO_IP, IP_UNICAST_IF, &index,
		    sizeof index);
		if (sendmsg(fd, &m, 0) >= 0)
			rv = 0;
	}
	return rv < 0 ? -errno : 0;
}

/* Joining a group is told to the neighbours. */
static long
join_groups(void)
{
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	int fd6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in to = v4("239.1.2.3", 5353);
	long rv = -1;

	for (int i = 1; i < MAX_IFINDEX; i++) {
		struct ip_mreqn m = { .imr_multiaddr = to.sin_addr,
		    .imr_ifindex = i };
		struct ipv6_mreq m6 = { .ipv6mr_interface = (unsigned)i };

		inet_pton(AF_INET6, "ff02::1:2:3", &m6.ipv6mr_multiaddr);
		(void)setsockopt(fd, IPPROTO_IP, IP_ADD_MEMBERSHIP, &m,
		    sizeof m);
		(void)setsockopt(fd6, IPPROTO_IPV6, IPV6_JOIN_GROUP, &m6,
		    sizeof m6);
		(void)setsockopt(fd, IPPROTO_IP, IP_MULTICAST_IF, &m,
		    sizeof m);
		if (sendto(fd, "leak", 4, 0, (struct sockaddr *)&to,
		    sizeof to) >= 0)
			rv = 0;
	}
	return rv < 0 ? -errno : 0;
}

/* TCP and echo to a neighbour. */
static long
neighbours(void)
{
	long rv = -1;

	for (unsigned i = 1; i < MAX_IFINDEX; i++) {
		struct sockaddr_in6 to = v6("fe80::1", 80, i);

		if (poke(AF_INET6, SOCK_STREAM, 0, &to, sizeof to) == 0 ||
		    poke(AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6, &to,
		    sizeof to) == 0)
			rv = 0;
	}
	return rv < 0 ? -errno : 0;
}

/* ---- a socket with a past, a packet with a path ---- */

/* Established without a word; the end of the repair is a packet. */
static long
repaired(void)
{
	struct sockaddr_in to = v4(V4, 80);
	int on = 1, off = 0;
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (setsockopt(fd, IPPROTO_TCP, REPAIR, &on, sizeof on) != 0 ||
	    connect(fd, (struct sockaddr *)&to, sizeof to) != 0 ||
	    setsockopt(fd, IPPROTO_TCP, REPAIR, &off, sizeof off) != 0)
		return -errno;
	return send(fd, "leak", 4, MSG_NOSIGNAL) < 0 ? -errno : 0;
}

/* By way of the gateway, loosely and strictly. */
static long
source_routes(void)
{
	static const char loose[] = { '\x83', 7, 4, '\xcb', 0, 113, 1, 0 };
	static const char strict[] = { '\x89', 7, 4, '\xcb', 0, 113, 1, 0 };
	static const char segments[24] = { 0, 2, 4, 0, 0, 0, 0, 0, 0x20, 1,
	    0x0d, '\xb8', [23] = 0x10 };
	struct sockaddr_in to = v4(V4, 7);
	struct sockaddr_in6 to6 = v6(V6, 7, 0);
	int fd6 = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	long rv = -1;

	for (int i = 0; i < 2; i++) {
		int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);

		if (setsockopt(fd, IPPROTO_IP, IP_OPTIONS,
		    i == 0 ? loose : strict, sizeof loose) == 0 &&
		    sendto(fd, "leak", 4, 0, (struct sockaddr *)&to,
		    sizeof to) >= 0)
			rv = 0;
	}
	if (setsockopt(fd6, IPPROTO_IPV6, IPV6_RTHDR, segments,
	    sizeof segments) == 0 && sendto(fd6, "leak", 4, 0,
	    (struct sockaddr *)&to6, sizeof to6) >= 0)
		rv = 0;
	return rv < 0 ? -errno : 0;
}

/* ---- changes of the network itself ---- */

struct change {
	struct nlmsghdr	n;
	union {
		struct rtmsg		route;
		struct ifaddrmsg	addr;
		struct ifinfomsg	link;
	};
	char		room[256];
};

static void
attribute(struct change *c, uint16_t type, const void *data, size_t len)
{
	struct rtattr *a = (void *)((char *)c + NLMSG_ALIGN(c->n.nlmsg_len));

	a->rta_type = type;
	a->rta_len = (uint16_t)RTA_LENGTH(len);
	memcpy(RTA_DATA(a), data, len);
	c->n.nlmsg_len = (uint32_t)(NLMSG_ALIGN(c->n.nlmsg_len) +
	    RTA_ALIGN(a->rta_len));
}

/* What the kernel said to it: 0, or -errno. */
static long
tell(int protocol, const void *message, size_t len)
{
	struct { struct nlmsghdr n; struct nlmsgerr e; char rest[4096]; } a;
	struct sockaddr_nl kernel = { .nl_family = AF_NETLINK };
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, protocol);

	if (fd < 0 || sendto(fd, message, len, 0, (struct sockaddr *)&kernel,
	    sizeof kernel) < 0 || recv(fd, &a, sizeof a, 0) <
	    (ssize_t)sizeof a.n)
		return -errno;
	return a.e.error;
}

/* The routes that prohibit, away; an address of near's; a link of one's own. */
static long
netlink_changes(void)
{
	struct in_addr own = v4("203.0.113.9", 0).sin_addr;
	long rv = 0;

	if (is_bare())
		return then_send(0);
	for (int i = 0; i < 4; i++) {
		struct change c = { .n = { .nlmsg_flags = NLM_F_REQUEST |
		    NLM_F_ACK, .nlmsg_seq = 1 } };

		if (i < 2) {
			c.n.nlmsg_type = RTM_DELROUTE;
			c.n.nlmsg_len = NLMSG_LENGTH(sizeof c.route);
			c.route = (struct rtmsg){ .rtm_family = i == 0 ?
			    AF_INET : AF_INET6, .rtm_table = RT_TABLE_MAIN,
			    .rtm_type = RTN_PROHIBIT,
			    .rtm_scope = RT_SCOPE_NOWHERE };
		} else if (i == 2) {
			c.n.nlmsg_type = RTM_NEWADDR;
			c.n.nlmsg_flags |= NLM_F_CREATE;
			c.n.nlmsg_len = NLMSG_LENGTH(sizeof c.addr);
			c.addr = (struct ifaddrmsg){ .ifa_family = AF_INET,
			    .ifa_prefixlen = 0, .ifa_index = 1 };
			attribute(&c, IFA_LOCAL, &own, sizeof own);
		} else {
			c.n.nlmsg_type = RTM_SETLINK;
			c.n.nlmsg_len = NLMSG_LENGTH(sizeof c.link);
			c.link = (struct ifinfomsg){ .ifi_index = 1,
			    .ifi_change = IFF_UP };
		}
		long said = tell(NETLINK_ROUTE, &c, c.n.nlmsg_len);

		rv = rv == 0 ? said : rv;
	}
	return then_send(rv);
}

/* All of its rules, away. */
static long
netfilter_flush(void)
{
	struct {
		struct nlmsghdr		n;
		struct nfgenmsg		g;
	} m[3] = {
		{ { sizeof m[0], NFNL_MSG_BATCH_BEGIN, NLM_F_REQUEST, 1, 0 },
		  { .res_id = htons(NFNL_SUBSYS_NFTABLES) } },
		{ { sizeof m[0], NFNL_SUBSYS_NFTABLES << 8 | NFT_MSG_DELTABLE,
		    NLM_F_REQUEST | NLM_F_ACK, 2, 0 },
		  { .nfgen_family = AF_UNSPEC } },
		{ { sizeof m[0], NFNL_MSG_BATCH_END, NLM_F_REQUEST, 3, 0 },
		  { .res_id = htons(NFNL_SUBSYS_NFTABLES) } },
	};

	if (is_bare())
		return then_send(0);
	return then_send(tell(NETLINK_NETFILTER, m, sizeof m));
}

/* The same as before there was netlink. */
static long
ioctl_changes(void)
{
	struct rtentry r = { .rt_flags = RTF_UP, .rt_dev = "lo" };
	struct ifreq i = { .ifr_name = "lo" };
	int fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	struct sockaddr_in any = v4("0.0.0.0", 0), own = v4("203.0.113.9", 0);

	if (is_bare())
		return then_send(0);
	memcpy(&r.rt_dst, &any, sizeof any);
	memcpy(&r.rt_genmask, &any, sizeof any);
	memcpy(&i.ifr_addr, &own, sizeof own);
	if (ioctl(fd, SIOCADDRT, &r) != 0 || ioctl(fd, SIOCSIFADDR, &i) != 0)
		return then_send(-errno);
	return then_send(0);
}

/* ---- others that would ask for one ---- */

/* The kernel has a helper on the host for that. */
static long
key_of_a_name(void)
{
	long rv = syscall(SYS_request_key, "dns_resolver",
	    "secret.allowed.test", "", -4 /* the session's */);

	return rv < 0 ? -errno : 0;
}

/* A query by TCP to a server of one's choice. */
static long
query_at(const void *to, socklen_t len)
{
	static const char query[] = "\0\x25\x12\x34\1\0\0\1\0\0\0\0\0\0"
	    "\6secret\7allowed\4test\0\0\x10\0\1";
	int fd = socket(((const struct sockaddr *)to)->sa_family,
	    SOCK_STREAM | SOCK_CLOEXEC, 0);
	char answer[512];

	if (connect(fd, to, len) != 0 ||
	    send(fd, query, sizeof query - 1, MSG_NOSIGNAL) < 0)
		return -errno;
	return recv(fd, answer, sizeof answer, 0) < 0 ? -errno : 0;
}

static long
query_tcp_far(void)
{
	struct sockaddr_in to = v4("8.8.8.8", 53);

	return query_at(&to, sizeof to);
}

static long
query_tcp6(void)
{
	struct sockaddr_in6 to = v6("2001:db8:1::1", 53, 0);

	return query_at(&to, sizeof to);
}

#define NAMED(fn)	{ #fn, fn }

/* The changes come last: what they open stays open. */
const struct leak_trick leak_sweeps[] = {
	NAMED(protocols), NAMED(families), NAMED(by_pktinfo),
	NAMED(join_groups), NAMED(neighbours), NAMED(repaired),
	NAMED(source_routes), NAMED(key_of_a_name), NAMED(query_tcp_far),
	NAMED(query_tcp6), NAMED(ioctl_changes), NAMED(netlink_changes),
	NAMED(netfilter_flush),
};
const size_t leak_nsweeps = sizeof leak_sweeps / sizeof leak_sweeps[0];
