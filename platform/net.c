#include "platform/net.h"

#include <arpa/inet.h>
#include <netinet/in.h>
#include <string.h>

#include "platform/base/ip.h"
#include "platform/fd.h"

int
net_from_sockaddr(const struct sockaddr *sa, socklen_t len,
    struct net_addr *ret)
{
	struct sockaddr_in in;
	struct sockaddr_in6 in6;

	memset(ret, 0, sizeof *ret);
	if (len >= sizeof in && sa->sa_family == AF_INET) {
		memcpy(&in, sa, sizeof in);
		ret->family = AF_INET;
		ret->port = ntohs(in.sin_port);
		memcpy(ret->addr, &in.sin_addr, 4);
		return 0;
	}
	if (len < sizeof in6 || sa->sa_family != AF_INET6)
		return -1;
	memcpy(&in6, sa, sizeof in6);
	ret->port = ntohs(in6.sin6_port);
	memcpy(ret->addr, &in6.sin6_addr, 16);
	ret->family = ip_unmap(ret->addr) ? AF_INET : AF_INET6;
	return 0;
}

socklen_t
net_to_sockaddr(const struct net_addr *a, struct sockaddr_storage *ss)
{
	struct sockaddr_in in = { .sin_family = AF_INET };
	struct sockaddr_in6 in6 = { .sin6_family = AF_INET6 };

	memset(ss, 0, sizeof *ss);
	if (a->family == AF_INET) {
		in.sin_port = htons(a->port);
		memcpy(&in.sin_addr, a->addr, 4);
		memcpy(ss, &in, sizeof in);
		return sizeof in;
	}
	if (a->family != AF_INET6)
		return 0;
	in6.sin6_port = htons(a->port);
	memcpy(&in6.sin6_addr, a->addr, 16);
	memcpy(ss, &in6, sizeof in6);
	return sizeof in6;
}

int
net_local(int fd, struct net_addr *ret)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof ss;

	memset(ret, 0, sizeof *ret);
	if (getsockname(fd, (struct sockaddr *)&ss, &len) != 0)
		return -1;
	return net_from_sockaddr((struct sockaddr *)&ss, len, ret);
}

int
net_accept(int fd, struct net_addr *ret)
{
	struct sockaddr_storage ss;
	socklen_t len = sizeof ss;
	int got = accept4(fd, (struct sockaddr *)&ss, &len, SOCK_CLOEXEC |
	    SOCK_NONBLOCK);

	memset(ret, 0, sizeof *ret);
	if (got >= 0)
		(void)net_from_sockaddr((struct sockaddr *)&ss, len, ret);
	return got;
}

bool
net_is_loopback(const struct net_addr *a)
{
	static const uint8_t one[16] = { [15] = 1 };

	if (a->family == AF_INET)
		return a->addr[0] == 127;
	return a->family == AF_INET6 && memcmp(a->addr, one, 16) == 0;
}

void
net_text(const struct net_addr *a, char text[NET_TEXT_MAX])
{
	text[0] = '\0';
	if (a->family != 0)
		inet_ntop(a->family, a->addr, text, NET_TEXT_MAX);
}

void
net_reset(int *fd)
{
	struct linger now = { .l_onoff = 1, .l_linger = 0 };

	if (*fd >= 0)
		(void)setsockopt(*fd, SOL_SOCKET, SO_LINGER, &now, sizeof now);
	fd_close(fd);
}
