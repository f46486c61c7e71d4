/*
 * leak [COUNT]: tries to get one packet out, in every family, protocol and by
 * every trick we know.  A line for each: "NAME ANSWER"; with COUNT, the
 * counter of a world, also how many packets and queries it took, "NAME ANSWER
 * N".  What it answers is for people; the counter is the judge.
 */
#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <linux/vm_sockets.h>
#include <net/if.h>
#include <netdb.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <sched.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/probes/leak.h"

#define V4	"198.51.100.10"
#define V6	"2001:db8::10"
#define DNS	"8.8.8.8"

enum { ROW_S = 2, WAIT_MS = 100, NO_PORT = 0,
	MPTCP = 262, SCTP = 132, DCCP = 33, UDPLITE = 136, L2TP = 115,
	DCCP_TYPE = 6, SMC_FAMILY = 43, FASTOPEN_CONNECT = 30 };

enum how { CONNECT, SENDTO, SENDMSG, SENDMMSG, CONNECT_SEND };

/* One socket and one address; `prepare` comes in between. */
struct way {
	const char	*name;
	int		 family, type, proto;
	const char	*addr;
	uint16_t	 port;
	enum how	 how;
	int		 flags;			/* of sending */
	int		 (*prepare)(int fd);
	const char	*data;
};

#define QUERY "\x12\x34\1\0\0\1\0\0\0\0\0\0\7allowed\4test\0\0\1\0\1"
enum { QUERY_LEN = sizeof QUERY - 1 };
/* ICMP echo with its checksum, then a TCP SYN from port 9 to port 80. */
#define ECHO4 "\x08\x00\xf7\xff\0\0\0\0"
#define SYN "\0\x09\0\x50\0\0\0\1\0\0\0\0\x50\x02\x20\0\0\0\0\0"

static int
set_int(int fd, int level, int name, int value)
{
	return setsockopt(fd, level, name, &value, sizeof value);
}

static int
fast_connect(int fd)
{
	return set_int(fd, IPPROTO_TCP, FASTOPEN_CONNECT, 1);
}

static int
allow_broadcast(int fd)
{
	return set_int(fd, SOL_SOCKET, SO_BROADCAST, 1);
}

static int
from_elsewhere(int fd)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };

	(void)set_int(fd, IPPROTO_IP, IP_FREEBIND, 1);
	(void)set_int(fd, IPPROTO_IP, IP_TRANSPARENT, 1);
	inet_pton(AF_INET, "203.0.113.2", &sin.sin_addr);
	return bind(fd, (struct sockaddr *)&sin, sizeof sin);
}

static int
from_loopback(int fd)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
	    .sin_addr.s_addr = htonl(INADDR_LOOPBACK) };

	return bind(fd, (struct sockaddr *)&sin, sizeof sin);
}

static int
any_device(int fd)
{
	static const char *const names[] = { "near0", "eth0", "lo" };
	int rv = -1;

	for (size_t i = 0; rv != 0 && i < 3; i++)
		rv = setsockopt(fd, SOL_SOCKET, SO_BINDTODEVICE, names[i],
		    (socklen_t)strlen(names[i]) + 1);
	return 0;
}

static int
some_options(int fd)
{
	return setsockopt(fd, IPPROTO_IP, IP_OPTIONS, "\1\1\1\1", 4);
}

static int
past_the_table(int fd)
{
	(void)set_int(fd, SOL_SOCKET, SO_DONTROUTE, 0);
	(void)set_int(fd, SOL_SOCKET, SO_MARK, 1);
	return 0;
}

#define T(name, f, a, p, ...) \
	{ name, f, SOCK_STREAM, 0, a, p, CONNECT_SEND, __VA_ARGS__ }
#define U(name, f, a, p, ...) \
	{ name, f, SOCK_DGRAM, 0, a, p, SENDTO, __VA_ARGS__ }
#define X(name, f, t, pr, a, p, h, ...) \
	{ name, f, t, pr, a, p, h, __VA_ARGS__ }

static const struct way ways[] = {
	T("tcp", AF_INET, V4, 80, 0, NULL, NULL),
	T("tcp6", AF_INET6, V6, 80, 0, NULL, NULL),
	T("tcp-mapped", AF_INET6, "::ffff:" V4, 80, 0, NULL, NULL),
	T("tcp-nat64", AF_INET6, "64:ff9b::198.51.100.10", 80, 0, NULL, NULL),
	T("tcp-6to4", AF_INET6, "2002:c633:640a::1", 80, 0, NULL, NULL),
	T("tcp-dns", AF_INET, DNS, 53, 0, NULL, NULL),
	T("tcp-dot", AF_INET, DNS, 853, 0, NULL, NULL),
	T("tcp-doh", AF_INET, DNS, 443, 0, NULL, NULL),
	T("tcp-metadata", AF_INET, "169.254.169.254", 80, 0, NULL, NULL),
	T("tcp-private", AF_INET, "10.1.2.3", 80, 0, NULL, NULL),
	T("tcp-gateway", AF_INET, "203.0.113.1", 80, 0, NULL, NULL),
	T("tcp-source", AF_INET, V4, 80, 0, from_elsewhere, NULL),
	T("tcp-from-loopback", AF_INET, V4, 80, 0, from_loopback, NULL),
	T("tcp-device", AF_INET, V4, 80, 0, any_device, NULL),
	T("tcp-options", AF_INET, V4, 80, 0, some_options, NULL),
	T("tcp-fake", AF_INET, "198.18.77.77", 80, 0, NULL, NULL),
	T("tcp-any", AF_INET, "0.0.0.0", 80, 0, NULL, NULL),
	T("tcp-mark", AF_INET, V4, 80, 0, past_the_table, NULL),
	T("tfo-connect", AF_INET, V4, 80, 0, fast_connect, NULL),
	X("tfo-sendto", AF_INET, SOCK_STREAM, 0, V4, 80, SENDTO,
	    MSG_FASTOPEN, NULL, NULL),
	X("tfo-sendmsg", AF_INET, SOCK_STREAM, 0, V4, 80, SENDMSG,
	    MSG_FASTOPEN, NULL, NULL),
	X("tfo-sendmmsg", AF_INET, SOCK_STREAM, 0, V4, 80, SENDMMSG,
	    MSG_FASTOPEN, NULL, NULL),
	X("tfo6", AF_INET6, SOCK_STREAM, 0, V6, 80, SENDTO, MSG_FASTOPEN,
	    NULL, NULL),
	X("mptcp", AF_INET, SOCK_STREAM, MPTCP, V4, 80, CONNECT, 0, NULL,
	    NULL),
	X("mptcp6", AF_INET6, SOCK_STREAM, MPTCP, V6, 80, CONNECT, 0, NULL,
	    NULL),
	X("mptcp-tfo", AF_INET, SOCK_STREAM, MPTCP, V4, 80, SENDTO,
	    MSG_FASTOPEN, NULL, NULL),
	X("smc", SMC_FAMILY, SOCK_STREAM, 0, V4, 80, CONNECT, 0, NULL, NULL),
	X("sctp", AF_INET, SOCK_STREAM, SCTP, V4, 80, CONNECT, 0, NULL, NULL),
	X("sctp-send", AF_INET, SOCK_SEQPACKET, SCTP, V4, 80, SENDTO, 0, NULL,
	    NULL),
	X("dccp", AF_INET, DCCP_TYPE, DCCP, V4, 80, CONNECT, 0, NULL, NULL),
	X("udplite", AF_INET, SOCK_DGRAM, UDPLITE, V4, 7, SENDTO, 0, NULL,
	    NULL),
	X("l2tp", AF_INET, SOCK_DGRAM, L2TP, V4, 7, SENDTO, 0, NULL, NULL),
	U("udp", AF_INET, V4, 7, 0, NULL, NULL),
	U("udp6", AF_INET6, V6, 7, 0, NULL, NULL),
	U("udp-mapped", AF_INET6, "::ffff:" V4, 7, 0, NULL, NULL),
	U("udp-quic", AF_INET, V4, 443, 0, NULL, NULL),
	U("udp-fake", AF_INET, "198.18.77.77", 7, 0, NULL, NULL),
	U("udp-source", AF_INET, V4, 7, 0, from_elsewhere, NULL),
	U("udp-device", AF_INET, V4, 7, 0, any_device, NULL),
	U("udp-multicast", AF_INET, "224.0.0.251", 5353, 0, any_device, NULL),
	U("udp-broadcast", AF_INET, "255.255.255.255", 7, 0, allow_broadcast,
	    NULL),
	U("udp-subnet", AF_INET, "203.0.113.255", 7, 0, allow_broadcast,
	    NULL),
	U("dns", AF_INET, DNS, 53, 0, NULL, QUERY),
	U("dns-gateway", AF_INET, "203.0.113.1", 53, 0, NULL, QUERY),
	U("dns6", AF_INET6, "2001:db8:1::1", 53, 0, NULL, QUERY),
	X("udp-connected", AF_INET, SOCK_DGRAM, 0, V4, 7, CONNECT_SEND, 0,
	    NULL, NULL),
	X("udp-sendmmsg", AF_INET, SOCK_DGRAM, 0, V4, 7, SENDMMSG, 0, NULL,
	    NULL),
	X("ping", AF_INET, SOCK_DGRAM, IPPROTO_ICMP, V4, NO_PORT, SENDTO, 0,
	    NULL, ECHO4),
	X("ping6", AF_INET6, SOCK_DGRAM, IPPROTO_ICMPV6, V6, NO_PORT, SENDTO,
	    0, NULL, "\x80\0\0\0\0\0\0\0"),
	X("raw-icmp", AF_INET, SOCK_RAW, IPPROTO_ICMP, V4, NO_PORT, SENDTO, 0,
	    NULL, ECHO4),
	X("raw-tcp", AF_INET, SOCK_RAW, IPPROTO_TCP, V4, NO_PORT, SENDTO, 0,
	    NULL, SYN),
	X("raw6", AF_INET6, SOCK_RAW, IPPROTO_UDP, V6, NO_PORT, SENDTO, 0,
	    NULL, NULL),
};

static socklen_t
fill(struct sockaddr_storage *ss, const struct way *w)
{
	memset(ss, 0, sizeof *ss);
	if (w->family == AF_INET6) {
		struct sockaddr_in6 *sin6 = (struct sockaddr_in6 *)ss;

		sin6->sin6_family = AF_INET6;
		sin6->sin6_port = htons(w->port);
		inet_pton(AF_INET6, w->addr, &sin6->sin6_addr);
		return sizeof *sin6;
	}
	struct sockaddr_in *sin = (struct sockaddr_in *)ss;

	sin->sin_family = AF_INET;
	sin->sin_port = htons(w->port);
	inet_pton(AF_INET, w->addr, &sin->sin_addr);
	return sizeof *sin;
}

/* Literals may hold NULs. */
static size_t
data_len(const struct way *w)
{
	if (w->data == NULL)
		return 0;
	if (w->port == 53)
		return QUERY_LEN;
	return w->proto == IPPROTO_TCP ? sizeof SYN - 1 : 8;
}

static ssize_t
leak_send(int fd, const struct way *w, struct sockaddr_storage *ss,
    socklen_t len)
{
	struct iovec iov = { "leak", 4 };
	struct mmsghdr mm = { .msg_hdr = { .msg_name = ss,
	    .msg_namelen = len, .msg_iov = &iov, .msg_iovlen = 1 } };
	int flags = w->flags | MSG_NOSIGNAL;

	if (data_len(w) > 0)
		iov = (struct iovec){ (void *)w->data, data_len(w) };
	if (w->how == SENDTO)
		return sendto(fd, iov.iov_base, iov.iov_len, flags,
		    (struct sockaddr *)ss, len);
	if (w->how == SENDMSG)
		return sendmsg(fd, &mm.msg_hdr, flags);
	if (w->how == SENDMMSG)
		return sendmmsg(fd, &mm, 1, flags);
	return send(fd, iov.iov_base, iov.iov_len, flags);
}

static long
go(const struct way *w)
{
	struct sockaddr_storage ss;
	socklen_t len = fill(&ss, w);
	int fd = socket(w->family, w->type | SOCK_NONBLOCK | SOCK_CLOEXEC,
	    w->proto);
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	int err = 0;

	if (fd < 0 || (w->prepare != NULL && w->prepare(fd) != 0))
		return -errno;
	if (w->how == CONNECT || w->how == CONNECT_SEND) {
		if (connect(fd, (struct sockaddr *)&ss, len) != 0 &&
		    errno != EINPROGRESS)
			return -errno;
		(void)poll(&p, 1, WAIT_MS);
		len = sizeof err;
		(void)getsockopt(fd, SOL_SOCKET, SO_ERROR, &err, &len);
		if (err != 0 || w->how == CONNECT)
			return -err;
	}
	return leak_send(fd, w, &ss, len) < 0 ? -errno : 0;
}

/* The number of packets and queries so far. */
static long
count(const char *path)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	char text[65536];
	size_t at = 0;
	long packets = 0, queries = 0;
	ssize_t n;
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
	const char *p;

	snprintf(sun.sun_path, sizeof sun.sun_path, "%s", path);
	if (connect(fd, (struct sockaddr *)&sun, sizeof sun) != 0)
		exit(2);
	while (at < sizeof text - 1 && (n = read(fd, text + at,
	    sizeof text - 1 - at)) > 0)
		at += (size_t)n;
	text[at] = '\0';
	close(fd);
	if ((p = strstr(text, "\"packets\": ")) != NULL)
		packets = atol(p + 11);
	if ((p = strstr(text, "\"queries\": ")) != NULL)
		queries = atol(p + 11);
	return packets + queries;
}

/* Each in a child, which a filter may kill and a clock does. */
static void
attempt(const char *name, long (*fn)(const void *), const void *arg,
    const char *counter)
{
	long before = counter != NULL ? count(counter) : 0;
	pid_t pid;
	int status;

	printf("%s ", name);
	fflush(stdout);
	pid = fork();
	if (pid == 0) {
		long rv;

		alarm(ROW_S);
		rv = fn(arg);
		printf("%s", rv < 0 ? strerrorname_np((int)-rv) : "OK");
		fflush(stdout);
		_exit(0);
	}
	waitpid(pid, &status, 0);
	if (WIFSIGNALED(status))
		printf("signal%d", WTERMSIG(status));
	if (counter != NULL)
		printf(" %ld", count(counter) - before);
	printf("\n");
}

static long
go_way(const void *arg)
{
	return go(arg);
}

static long
go_trick(const void *arg)
{
	const struct leak_trick *t = arg;

	return t->fn();
}

int
main(int argc, char **argv)
{
	const char *counter = argc > 1 ? argv[1] : NULL;

	for (size_t i = 0; i < sizeof ways / sizeof ways[0]; i++)
		attempt(ways[i].name, go_way, &ways[i], counter);
	for (size_t i = 0; i < leak_ntricks; i++)
		attempt(leak_tricks[i].name, go_trick, &leak_tricks[i],
		    counter);
	for (size_t i = 0; i < leak_nsweeps; i++)
		attempt(leak_sweeps[i].name, go_trick, &leak_sweeps[i],
		    counter);
	return 0;
}
