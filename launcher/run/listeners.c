#include "launcher/run/listeners.h"

#include <errno.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <poll.h>
#include <stdint.h>
#include <stdlib.h>
#include <sys/socket.h>

#include "platform/base/xalloc.h"
#include "platform/fd.h"
#include "proxy/ask.h"
#include "proxy/proxy.h"

/* The gate's ends travel to fence-net in this order. */
_Static_assert((int)JAIL_NLISTENERS == (int)PROXY_NLISTENERS, "listeners");
_Static_assert((int)JAIL_LISTEN_TRANSPARENT4 ==
    (int)PROXY_LISTEN_TRANSPARENT4, "listeners");
_Static_assert((int)JAIL_LISTEN_SOCKS == (int)PROXY_LISTEN_SOCKS,
    "listeners");
_Static_assert((int)JAIL_LISTEN_DNS_TCP == (int)PROXY_LISTEN_DNS_TCP,
    "listeners");
enum { BACKLOG = 4096, PROBE_S = 75 };

/* Two families out, one listener in. */
_Static_assert(3 * PORTS_MAX <= PROXY_MAX_PORTS, "ports");

/* ---- the host's ---- */

static int
cannot_listen(const struct net_addr *at, struct err *e)
{
	char text[NET_TEXT_MAX];
	int sys = errno;

	net_text(at, text);
	err_sys(e, sys, at->family == AF_INET6 ?
	    "--port: cannot listen on [%s]:%u" :
	    "--port: cannot listen on %s:%u", text, (unsigned)at->port);
	if (sys == EADDRINUSE)
		err_hint(e, "another program does; PORT:INSIDE takes another "
		    "port of the host");
	else if (sys == EACCES)
		err_hint(e, "low ports are root's; PORT:INSIDE takes another "
		    "port of the host");
	else if (sys == EADDRNOTAVAIL)
		err_hint(e, "the address is none of this machine's");
	return -1;
}

static int
listen_at(const struct net_addr *at, struct err *e)
{
	struct sockaddr_storage ss;
	socklen_t len = net_to_sockaddr(at, &ss);
	auto_fd fd = socket(at->family, SOCK_STREAM | SOCK_CLOEXEC |
	    SOCK_NONBLOCK, 0);
	const int on = 1, probe_s = PROBE_S;

	/* [::] is not 0.0.0.0 as well: each is what was said.  Who is gone is
	 * noticed (mint.c); accepted sockets inherit it. */
	if (fd < 0 || setsockopt(fd, SOL_SOCKET, SO_REUSEADDR, &on,
	    sizeof on) != 0 || (at->family == AF_INET6 && setsockopt(fd,
	    IPPROTO_IPV6, IPV6_V6ONLY, &on, sizeof on) != 0) ||
	    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &on, sizeof on) != 0 ||
	    setsockopt(fd, SOL_SOCKET, SO_KEEPALIVE, &on, sizeof on) != 0 ||
	    setsockopt(fd, IPPROTO_TCP, TCP_KEEPIDLE, &probe_s,
	    sizeof probe_s) != 0 ||
	    bind(fd, (struct sockaddr *)&ss, len) != 0 ||
	    listen(fd, BACKLOG) != 0)
		return cannot_listen(at, e);
	return fd_take(&fd);
}

int
listeners_open(const struct ports *p, int **ret_in_fds, struct err *e)
{
	int *fds;

	*ret_in_fds = NULL;
	if (p->nin == 0)
		return 0;
	fds = xcalloc(p->nin, sizeof *fds);
	for (size_t i = 0; i < p->nin; i++)
		fds[i] = -1;
	for (size_t i = 0; i < p->nin; i++) {
		fds[i] = listen_at(&p->in[i].at, e);
		if (fds[i] < 0) {
			listeners_close(p, fds);
			return -1;
		}
	}
	*ret_in_fds = fds;
	return 0;
}

void
listeners_close(const struct ports *p, int *in_fds)
{
	for (size_t i = 0; in_fds != NULL && i < p->nin; i++)
		fd_close(&in_fds[i]);
	free(in_fds);
}

/* ---- on their way ---- */

static int
send_msg(int net_fd, struct ask_msg *m, const int *fds, size_t nfds,
    struct err *e)
{
	struct pollfd p = { .fd = net_fd, .events = POLLOUT };

	m->magic = ASK_MAGIC;
	while (fd_send(net_fd, m, sizeof *m, fds, nfds, 0) < 0)
		if (errno != EAGAIN || (poll(&p, 1, -1) < 0 &&
		    errno != EINTR))
			return err_sys(e, errno, "fence-net does not answer");
	return 0;
}

static int
send_port(int net_fd, enum ask_via via, uint16_t port, int *fd,
    struct err *e)
{
	struct ask_msg m = { .kind = ASK_PORT, .via = (uint16_t)via,
	    .port = port };

	if (send_msg(net_fd, &m, fd, 1, e) != 0)
		return -1;
	fd_close(fd);
	return 0;
}

static uint16_t
count_ports(const struct ports *p, const struct jail *j)
{
	uint16_t n = (uint16_t)p->nin;

	for (size_t i = 0; i < j->nlocal_fds; i++)
		n += j->local_fd[i] >= 0;
	return n;
}

static int
hand_gate(int net_fd, uint16_t nports, struct jail *j, struct err *e)
{
	struct ask_msg m = { .kind = ASK_LISTEN, .nports = nports };
	int fds[JAIL_NLISTENERS];
	size_t n = 0;

	/* Without IPv6 one of them is missing: bits say which are there. */
	for (size_t i = 0; i < JAIL_NLISTENERS; i++)
		if (j->listen_fd[i] >= 0) {
			m.listeners |= (uint16_t)(1u << i);
			fds[n++] = j->listen_fd[i];
		}
	if (send_msg(net_fd, &m, fds, n, e) != 0)
		return -1;
	for (size_t i = 0; i < JAIL_NLISTENERS; i++)
		fd_close(&j->listen_fd[i]);
	return 0;
}

int
listeners_hand(int net_fd, const struct ports *p, int *in_fds,
    struct jail *j, struct err *e)
{
	if (hand_gate(net_fd, count_ports(p, j), j, e) != 0)
		return -1;
	for (size_t i = 0; i < p->nin; i++)
		if (send_port(net_fd, ASK_VIA_INSIDE, p->in[i].inside,
		    &in_fds[i], e) != 0)
			return -1;
	for (size_t i = 0; i < j->nlocal_fds; i++)
		if (j->local_fd[i] >= 0 && send_port(net_fd, ASK_VIA_LOCAL,
		    p->out[i / 2], &j->local_fd[i], e) != 0)
			return -1;
	return 0;
}
