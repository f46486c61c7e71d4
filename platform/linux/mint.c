#include "platform/linux/mint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

enum { BACKLOG = 4096, HTTP_PORT = 3128, SOCKS_PORT = 1080, DNS_PORT = 53 };

union address {
	struct sockaddr		sa;
	struct sockaddr_in	in;
	struct sockaddr_in6	in6;
};

struct want {
	int		type;
	unsigned	port;
	bool		is_home;	/* loopback only, not any address */
	bool		is_transparent;
};

static const struct want wants[JAIL_NLISTENERS] = {
	[JAIL_LISTEN_TRANSPARENT4] = { SOCK_STREAM, 0, true, true },
	[JAIL_LISTEN_TRANSPARENT6] = { SOCK_STREAM, 0, true, true },
	[JAIL_LISTEN_HTTP] = { SOCK_STREAM, HTTP_PORT, true, false },
	[JAIL_LISTEN_SOCKS] = { SOCK_STREAM, SOCKS_PORT, true, false },
	[JAIL_LISTEN_DNS_UDP] = { SOCK_DGRAM, DNS_PORT, false, true },
	[JAIL_LISTEN_DNS_TCP] = { SOCK_STREAM, DNS_PORT, false, true },
};

static socklen_t
address_fill(union address *a, int family, const struct want *w)
{
	memset(a, 0, sizeof *a);
	if (family == AF_INET) {
		a->in.sin_family = AF_INET;
		a->in.sin_port = htons(w->port);
		a->in.sin_addr.s_addr =
		    htonl(w->is_home ? INADDR_LOOPBACK : INADDR_ANY);
		return sizeof a->in;
	}
	a->in6.sin6_family = AF_INET6;
	a->in6.sin6_port = htons(w->port);
	if (w->is_home)
		a->in6.sin6_addr.s6_addr[15] = 1;
	return sizeof a->in6;
}

static int
turn(int fd, int level, int option, int value)
{
	return setsockopt(fd, level, option, &value, sizeof value);
}

static int
set_options(int fd, int family, const struct want *w)
{
	bool six = family == AF_INET6;

	/* Not for UDP: there it would let a second socket share the port. */
	if (w->type == SOCK_STREAM &&
	    turn(fd, SOL_SOCKET, SO_REUSEADDR, 1) < 0)
		return -1;
	if (six && turn(fd, IPPROTO_IPV6, IPV6_V6ONLY, w->is_home) < 0)
		return -1;
	if (w->is_transparent && (six
	    ? turn(fd, IPPROTO_IPV6, IPV6_TRANSPARENT, 1)
	    : turn(fd, IPPROTO_IP, IP_TRANSPARENT, 1)) < 0)
		return -1;
	if (w->type != SOCK_DGRAM)
		return 0;
	if (six && turn(fd, IPPROTO_IPV6, IPV6_RECVPKTINFO, 1) < 0)
		return -1;
	return turn(fd, IPPROTO_IP, IP_PKTINFO, 1);
}

static int
mint_one(int family, const struct want *w)
{
	union address a;
	socklen_t len = address_fill(&a, family, w);
	int fd, saved;

	fd = socket(family, w->type | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
	if (fd < 0)
		return -1;
	if (set_options(fd, family, w) < 0 || bind(fd, &a.sa, len) < 0 ||
	    (w->type == SOCK_STREAM && listen(fd, BACKLOG) < 0)) {
		saved = errno;
		(void)close(fd);
		errno = saved;
		return -1;
	}
	return fd;
}

int
mint_listeners(int listen_fd[JAIL_NLISTENERS], int *ret_step)
{
	int family = AF_INET6, saved;

	for (int i = 0; i < JAIL_NLISTENERS; i++)
		listen_fd[i] = -1;
	/* The first IPv6 socket tells whether this kernel has any. */
	*ret_step = JAIL_LISTEN_TRANSPARENT6;
	listen_fd[*ret_step] = mint_one(AF_INET6, &wants[*ret_step]);
	if (listen_fd[*ret_step] < 0) {
		if (errno != EAFNOSUPPORT && errno != EADDRNOTAVAIL)
			return -1;
		family = AF_INET;
	}
	for (int i = 0; i < JAIL_NLISTENERS; i++) {
		if (i == JAIL_LISTEN_TRANSPARENT6)
			continue;
		*ret_step = i;
		listen_fd[i] = mint_one(wants[i].is_home ? AF_INET : family,
		    &wants[i]);
		if (listen_fd[i] < 0)
			goto fail;
	}
	return 0;
fail:
	saved = errno;
	for (int i = 0; i < JAIL_NLISTENERS; i++) {
		if (listen_fd[i] >= 0)
			(void)close(listen_fd[i]);
		listen_fd[i] = -1;
	}
	errno = saved;
	return -1;
}

unsigned
mint_port(int fd)
{
	union address a;
	socklen_t len = sizeof a;

	memset(&a, 0, sizeof a);
	if (fd < 0 || getsockname(fd, &a.sa, &len) < 0)
		return 0;
	return ntohs(a.sa.sa_family == AF_INET6 ? a.in6.sin6_port
	    : a.in.sin_port);
}

const char *
mint_step_text(int step)
{
	static const char *const text[JAIL_NLISTENERS] = {
		[JAIL_LISTEN_TRANSPARENT4] = "make the gate's socket (IPv4)",
		[JAIL_LISTEN_TRANSPARENT6] = "make the gate's socket (IPv6)",
		[JAIL_LISTEN_HTTP] = "listen on 127.0.0.1:3128",
		[JAIL_LISTEN_SOCKS] = "listen on 127.0.0.1:1080",
		[JAIL_LISTEN_DNS_UDP] = "listen on port 53 (UDP)",
		[JAIL_LISTEN_DNS_TCP] = "listen on port 53 (TCP)",
	};

	return step >= 0 && step < JAIL_NLISTENERS ? text[step]
	    : "make a socket";
}
