#include "platform/linux/mint.h"

#include <arpa/inet.h>
#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <stdbool.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

/*
 * Nobody inside may bind a port below LOW_PORTS: there the transparent ends
 * are in nobody's way.
 */
enum { BACKLOG = 4096, LOW_PORTS = 1024 };

/*
 * A client that closed its end and one that is gone look alike: neither says
 * any more.  The kernel remembers one that is gone for a minute (FIN-WAIT-2);
 * a probe after that is answered with a reset.  Accepted sockets inherit it,
 * and TCP_NODELAY, which what is relayed wants.
 */
enum { PROBE_S = 75 };

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
	[JAIL_LISTEN_TRANSPARENT4] = { SOCK_STREAM, MINT_GATE_PORT, true, true },
	[JAIL_LISTEN_TRANSPARENT6] = { SOCK_STREAM, MINT_GATE_PORT, true, true },
	[JAIL_LISTEN_HTTP] = { SOCK_STREAM, 0, true, false },
	[JAIL_LISTEN_SOCKS] = { SOCK_STREAM, 0, true, false },
	[JAIL_LISTEN_DNS_UDP] = { SOCK_DGRAM, JAIL_DNS_PORT, false, true },
	[JAIL_LISTEN_DNS_TCP] = { SOCK_STREAM, JAIL_DNS_PORT, false, true },
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
	    (turn(fd, SOL_SOCKET, SO_REUSEADDR, 1) < 0 ||
	    turn(fd, IPPROTO_TCP, TCP_NODELAY, 1) < 0 ||
	    turn(fd, SOL_SOCKET, SO_KEEPALIVE, 1) < 0 ||
	    turn(fd, IPPROTO_TCP, TCP_KEEPIDLE, PROBE_S) < 0))
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

/* One end of the gate, on the port of its kind. */
static int
mint_end(const struct jail_spec *spec, int which, int family)
{
	struct want w = wants[which];
	int fd;

	if (which == JAIL_LISTEN_HTTP)
		w.port = spec->http_port;
	else if (which == JAIL_LISTEN_SOCKS)
		w.port = spec->socks_port;
	fd = mint_one(family, &w);
	/* A local port may be as low: the next is as good. */
	while (fd < 0 && errno == EADDRINUSE && w.is_home &&
	    w.is_transparent && ++w.port < LOW_PORTS)
		fd = mint_one(family, &w);
	return fd;
}

static bool
is_without_v6(int sys)
{
	return sys == EAFNOSUPPORT || sys == EADDRNOTAVAIL;
}

static int
mint_local(const struct jail_spec *spec, int *local_fd)
{
	for (size_t i = 0; i < spec->nlocal_ports; i++) {
		const struct want w = { SOCK_STREAM, spec->local_ports[i],
		    true, false };

		local_fd[2 * i] = mint_one(AF_INET, &w);
		if (local_fd[2 * i] < 0)
			return -1;
		local_fd[2 * i + 1] = mint_one(AF_INET6, &w);
		if (local_fd[2 * i + 1] < 0 && !is_without_v6(errno))
			return -1;
	}
	return 0;
}

/* The ends whose ports the policy does not name. */
static int
mint_ends(int *listen_fd, int *ret_step)
{
	static const int rest[] = { JAIL_LISTEN_TRANSPARENT4,
	    JAIL_LISTEN_DNS_UDP, JAIL_LISTEN_DNS_TCP };
	int family = AF_INET6;

	/* The first IPv6 socket tells whether this kernel has any. */
	*ret_step = JAIL_LISTEN_TRANSPARENT6;
	listen_fd[*ret_step] = mint_end(NULL, *ret_step, AF_INET6);
	if (listen_fd[*ret_step] < 0) {
		if (!is_without_v6(errno))
			return -1;
		family = AF_INET;
	}
	for (size_t i = 0; i < sizeof rest / sizeof rest[0]; i++) {
		*ret_step = rest[i];
		listen_fd[*ret_step] = mint_end(NULL, *ret_step,
		    wants[*ret_step].is_home ? AF_INET : family);
		if (listen_fd[*ret_step] < 0)
			return -1;
	}
	return 0;
}

static int
mint_proxies(const struct jail_spec *spec, int *listen_fd, int *ret_step)
{
	for (int i = JAIL_LISTEN_HTTP; i <= JAIL_LISTEN_SOCKS; i++) {
		*ret_step = i;
		listen_fd[i] = mint_end(spec, i, AF_INET);
		if (listen_fd[i] < 0)
			return -1;
	}
	return 0;
}

/* Local ports first: the gate makes way for them. */
static int
mint_all(const struct jail_spec *spec, bool has_gate, int *listen_fd,
    int *local_fd, int *ret_step)
{
	*ret_step = JAIL_NLISTENERS;
	if (mint_local(spec, local_fd) != 0 ||
	    (!has_gate && mint_ends(listen_fd, ret_step) != 0))
		return -1;
	return mint_proxies(spec, listen_fd, ret_step);
}

static void
close_all(int *fds, size_t n)
{
	for (size_t i = 0; i < n; i++) {
		if (fds[i] >= 0)
			(void)close(fds[i]);
		fds[i] = -1;
	}
}

int
mint_gate(int listen_fd[JAIL_NLISTENERS], int *ret_step)
{
	int saved;

	for (int i = 0; i < JAIL_NLISTENERS; i++)
		listen_fd[i] = -1;
	if (mint_ends(listen_fd, ret_step) == 0)
		return 0;
	saved = errno;
	close_all(listen_fd, JAIL_NLISTENERS);
	errno = saved;
	return -1;
}

int
mint_listeners(const struct jail_spec *spec, bool has_gate,
    int listen_fd[JAIL_NLISTENERS], int *local_fd, int *ret_step)
{
	size_t nlocal = 2 * spec->nlocal_ports;
	int saved;

	for (int i = 0; !has_gate && i < JAIL_NLISTENERS; i++)
		listen_fd[i] = -1;
	for (size_t i = 0; i < nlocal; i++)
		local_fd[i] = -1;
	if (mint_all(spec, has_gate, listen_fd, local_fd, ret_step) == 0)
		return 0;
	saved = errno;
	close_all(listen_fd, JAIL_NLISTENERS);
	close_all(local_fd, nlocal);
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
	static const char *const text[JAIL_NLISTENERS + 1] = {
		[JAIL_LISTEN_TRANSPARENT4] = "make the gate's socket (IPv4)",
		[JAIL_LISTEN_TRANSPARENT6] = "make the gate's socket (IPv6)",
		[JAIL_LISTEN_HTTP] = "listen on the HTTP proxy's port",
		[JAIL_LISTEN_SOCKS] = "listen on the SOCKS proxy's port",
		[JAIL_LISTEN_DNS_UDP] = "listen on port 53 (UDP)",
		[JAIL_LISTEN_DNS_TCP] = "listen on port 53 (TCP)",
		[JAIL_NLISTENERS] = "listen on a port that leads to the host's",
	};

	return step >= 0 && step <= JAIL_NLISTENERS ? text[step]
	    : "make a socket";
}
