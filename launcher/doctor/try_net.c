/*
 * What doctor tries on the network: see try.h.  Each first tries a listener
 * that doctor itself has on this machine; an address outside is tried only
 * when that one is out of reach, and then only the route's own EACCES will do.
 */
#include "launcher/doctor/try.h"

#include <arpa/inet.h>
#include <errno.h>
#include <linux/netlink.h>
#include <linux/rtnetlink.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#ifndef IPPROTO_MPTCP
#define IPPROTO_MPTCP	262
#endif
#ifndef AF_VSOCK
#define AF_VSOCK	40
#endif

enum { ANSWER_MS = 2000, NO_TYPE = 15, GATE_PORT = 3128 };

#define WORLD4	"192.0.2.1"
#define WORLD6	"2001:db8::1"
#define UDP4	"198.51.100.1"
#define DNS4	"203.0.113.53"

union address {
	struct sockaddr		sa;
	struct sockaddr_in	in;
	struct sockaddr_in6	in6;
};

static socklen_t
address(union address *u, const char *text, int port)
{
	memset(u, 0, sizeof *u);
	if (inet_pton(AF_INET, text, &u->in.sin_addr) == 1) {
		u->in.sin_family = AF_INET;
		u->in.sin_port = htons((uint16_t)port);
		return sizeof u->in;
	}
	inet_pton(AF_INET6, text, &u->in6.sin6_addr);
	u->in6.sin6_family = AF_INET6;
	u->in6.sin6_port = htons((uint16_t)port);
	return sizeof u->in6;
}

/* 0 connected, or under way; -1 with errno. */
static int
dial(const char *text, int port, int protocol, int is_fast)
{
	union address u;
	socklen_t len = address(&u, text, port);
	int fd = socket(u.sa.sa_family, SOCK_STREAM | SOCK_NONBLOCK |
	    SOCK_CLOEXEC, protocol), rc, error = 0;
	struct pollfd p = { .fd = fd, .events = POLLOUT };
	socklen_t n = sizeof error;

	if (fd < 0)
		return -1;
	rc = is_fast ? (int)sendto(fd, "x", 1, MSG_FASTOPEN | MSG_NOSIGNAL,
	    &u.sa, len) : connect(fd, &u.sa, len);
	if (rc < 0 && errno == EINPROGRESS && poll(&p, 1, ANSWER_MS) == 1 &&
	    getsockopt(fd, SOL_SOCKET, SO_ERROR, &error, &n) == 0) {
		errno = error;
		rc = error == 0 ? 0 : -1;
	} else if (rc < 0 && errno == EINPROGRESS)
		rc = 0;		/* on its way, to wherever */
	error = errno;
	close(fd);
	errno = error;
	return rc < 0 ? -1 : 0;
}

/* Only the jail's own routes say EACCES. */
static void
judge_world(struct try_answer *a, int rc)
{
	int error = errno;

	if (rc == 0)
		try_hole(a, "it was let out");
	else if (error == EACCES || error == EPERM)
		try_held(a, error);
	else if (error == EAFNOSUPPORT || error == EPROTONOSUPPORT ||
	    error == ENOPROTOOPT || error == EOPNOTSUPP)
		try_say(a, TRY_UNTRIED, error, "this kernel has none");
	else
		try_say(a, TRY_HOLE, error, "nothing of fence's refused it");
}

static void
both_ways(struct try_answer *a, const char *near, const char *port,
    const char *far, int protocol, int is_fast)
{
	if (port[0] != '\0' && dial(near, atoi(port), protocol,
	    is_fast) == 0) {
		try_hole(a, "it reached a service of this machine");
		return;
	}
	judge_world(a, dial(far, 443, protocol, is_fast));
}

void
try_tcp_local(const struct scene *s, struct try_answer *a)
{
	if (s->port4[0] == '\0')
		try_say(a, TRY_UNTRIED, 0, "no such service could be made");
	else
		try_refused(a, dial("127.0.0.1", atoi(s->port4), 0, 0));
}

void
try_tcp4(const struct scene *s, struct try_answer *a)
{
	both_ways(a, "127.0.0.1", s->port4, WORLD4, 0, 0);
}

void
try_tcp6(const struct scene *s, struct try_answer *a)
{
	both_ways(a, "::1", s->port6, WORLD6, 0, 0);
}

void
try_mptcp(const struct scene *s, struct try_answer *a)
{
	both_ways(a, "127.0.0.1", s->port4, WORLD4, IPPROTO_MPTCP, 0);
}

void
try_fastopen(const struct scene *s, struct try_answer *a)
{
	both_ways(a, "127.0.0.1", s->port4, WORLD4, 0, 1);
}

/* connect() of a datagram socket looks for a way and sends nothing. */
static int
aim(const char *text, int port)
{
	union address u;
	socklen_t len = address(&u, text, port);
	int fd = socket(u.sa.sa_family, SOCK_DGRAM | SOCK_CLOEXEC, 0), error;

	if (fd >= 0 && connect(fd, &u.sa, len) != 0) {
		error = errno;
		close(fd);
		errno = error;
		return -1;
	}
	return fd;
}

void
try_udp(const struct scene *s, struct try_answer *a)
{
	int fd;

	(void)s;
	fd = aim(UDP4, 9);
	judge_world(a, fd < 0 ? -1 : 0);
	if (fd >= 0)
		try_hole(a, "there is a way for it");
}

/* ---- the resolver and the gate answer in the world's place ---- */

/* A query for "doctor.invalid", type A. */
static const unsigned char query[] = { 0xfe, 0xce, 1, 0, 0, 1, 0, 0, 0, 0, 0,
    0, 6, 'd', 'o', 'c', 't', 'o', 'r', 7, 'i', 'n', 'v', 'a', 'l', 'i', 'd',
    0, 0, 1, 0, 1 };

void
try_dns(const struct scene *s, struct try_answer *a)
{
	unsigned char answer[512];
	struct pollfd p = { .events = POLLIN };
	ssize_t n;

	if (try_shares(s, TRY_NS_NET)) {
		try_hole(a, "the network is the host's");
		return;
	}
	p.fd = aim(DNS4, 53);
	if (p.fd < 0) {
		try_held(a, errno);
		return;
	}
	n = send(p.fd, query, sizeof query, MSG_NOSIGNAL);
	if (n < 0 || poll(&p, 1, ANSWER_MS) != 1)
		try_say(a, TRY_BROKEN, n < 0 ? errno : 0,
		    "fence's resolver does not answer");
	else if ((n = recv(p.fd, answer, sizeof answer, 0)) >= 4 &&
	    (answer[3] & 15) == 3)
		try_say(a, TRY_HELD, 0, "fence's resolver answers: no such "
		    "name");
	else
		try_hole(a, "somebody answered");
}

/* The answer's first line, without its end. */
static ssize_t
ask_gate(char *line, size_t max)
{
	static const char ask[] = "CONNECT " WORLD4 ":443 HTTP/1.1\r\n"
	    "Host: " WORLD4 ":443\r\n\r\n";
	struct pollfd p = { .events = POLLIN };
	union address u;
	socklen_t len = address(&u, "127.0.0.1", GATE_PORT);
	ssize_t n;

	p.fd = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
	if (p.fd < 0 || connect(p.fd, &u.sa, len) != 0 ||
	    send(p.fd, ask, sizeof ask - 1, MSG_NOSIGNAL) < 0)
		return -1;
	errno = ETIMEDOUT;
	if (poll(&p, 1, ANSWER_MS) != 1 ||
	    (n = recv(p.fd, line, max - 1, 0)) < 0)
		return -1;
	line[n] = '\0';
	line[strcspn(line, "\r\n")] = '\0';
	return n;
}

void
try_proxy(const struct scene *s, struct try_answer *a)
{
	char line[256];

	if (try_shares(s, TRY_NS_NET))
		try_hole(a, "the network is the host's");
	else if (ask_gate(line, sizeof line) < 0)
		try_say(a, TRY_BROKEN, errno, "the gate does not answer");
	else if (strstr(line, " 403") != NULL)
		try_say(a, TRY_HELD, 0, "the gate answers 403");
	else
		try_hole(a, "the gate let it out");
}

/* ---- other kinds of sockets ---- */

/* Capabilities hold these: only in a network of its own they are fence's. */
static void
by_right(const struct scene *s, struct try_answer *a, long rc)
{
	int error = errno;

	if (rc >= 0)
		try_hole(a, "it worked");
	else if (try_shares(s, TRY_NS_NET))
		try_say(a, TRY_HOLE, error, "the network is the host's");
	else
		try_held(a, error);
}

void
try_raw(const struct scene *s, struct try_answer *a)
{
	int fd = socket(AF_INET, SOCK_RAW | SOCK_CLOEXEC, IPPROTO_ICMP);

	by_right(s, a, fd);
}

/* A type that no socket has: a bare kernel says EINVAL before all else. */
static void
family(struct try_answer *a, int domain)
{
	int fd = socket(domain, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (fd >= 0) {
		try_hole(a, "it worked");
		return;
	}
	fd = socket(domain, NO_TYPE | SOCK_CLOEXEC, 0);
	try_filtered(a, fd);
}

void
try_packet(const struct scene *s, struct try_answer *a)
{
	(void)s;
	family(a, AF_PACKET);
}

void
try_vsock(const struct scene *s, struct try_answer *a)
{
	(void)s;
	family(a, AF_VSOCK);
}

/* Takes away a route that is not there. */
static int
delete_route(void)
{
	struct {
		struct nlmsghdr	h;
		struct rtmsg	r;
		struct rtattr	dst;
		unsigned char	addr[4];
	} m = {
		.h = { .nlmsg_len = sizeof m, .nlmsg_type = RTM_DELROUTE,
		    .nlmsg_flags = NLM_F_REQUEST | NLM_F_ACK },
		.r = { .rtm_family = AF_INET, .rtm_dst_len = 32,
		    .rtm_table = RT_TABLE_MAIN,
		    .rtm_scope = RT_SCOPE_NOWHERE },
		.dst = { RTA_LENGTH(4), RTA_DST }, .addr = { 192, 0, 2, 99 },
	};
	struct {
		struct nlmsghdr	h;
		struct nlmsgerr	e;
		char		more[256];
	} answer;
	int fd = socket(AF_NETLINK, SOCK_RAW | SOCK_CLOEXEC, NETLINK_ROUTE);

	if (fd < 0 || send(fd, &m, sizeof m, 0) < 0 ||
	    recv(fd, &answer, sizeof answer, 0) < (ssize_t)sizeof answer.h +
	    (ssize_t)sizeof answer.e)
		return -1;
	errno = -answer.e.error;
	return answer.e.error != 0 ? -1 : 0;
}

void
try_netlink(const struct scene *s, struct try_answer *a)
{
	int rc = delete_route();

	if (rc < 0 && errno != EPERM && errno != EACCES)
		try_say(a, TRY_HOLE, errno, "the kernel looked for the route");
	else
		by_right(s, a, rc);
}

/* name: a path, or an abstract name without its NUL. */
static void
try_unix(struct try_answer *a, const char *name, int is_abstract)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	size_t n = strlen(name);
	int fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (n == 0 || n + 1 >= sizeof sun.sun_path) {
		try_say(a, TRY_UNTRIED, 0, "no such socket could be made");
		return;
	}
	memcpy(sun.sun_path + is_abstract, name, n);
	try_refused(a, connect(fd, (struct sockaddr *)&sun,
	    (socklen_t)(offsetof(struct sockaddr_un, sun_path) + n +
	    (size_t)is_abstract)));
}

void
try_unix_socket(const struct scene *s, struct try_answer *a)
{
	try_unix(a, s->daemon, 0);
}

void
try_abstract_socket(const struct scene *s, struct try_answer *a)
{
	try_unix(a, s->abstract, 1);
}
