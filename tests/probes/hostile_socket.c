/* What a stranger may try with a connected TCP socket it was handed. */
#include "tests/probes/hostile.h"

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/sockios.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <net/if.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/sendfile.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#define ELSEWHERE	"198.51.100.20"		/* denied.test */

enum { PORT = 7, FASTOPEN_CONNECT = 30, ULP = 31, REPAIR = 19 };

static long
done(long rv)
{
	return rv < 0 ? -errno : rv;
}

static struct sockaddr_in
elsewhere(void)
{
	struct sockaddr_in sin = { .sin_family = AF_INET,
	    .sin_port = htons(PORT) };

	inet_pton(AF_INET, ELSEWHERE, &sin.sin_addr);
	return sin;
}

static long
set(int fd, int level, int name, const void *value, socklen_t len)
{
	return done(setsockopt(fd, level, name, value, len));
}

static long
set_int(int fd, int level, int name, int value)
{
	return set(fd, level, name, &value, sizeof value);
}

#define TRICK(name, expr) static long name(int fd) { return expr; }

TRICK(keep_alive, set_int(fd, SOL_SOCKET, SO_KEEPALIVE, 1))
TRICK(reuse, set_int(fd, SOL_SOCKET, SO_REUSEADDR, 1))
TRICK(mark, set_int(fd, SOL_SOCKET, SO_MARK, 1))
TRICK(priority, set_int(fd, SOL_SOCKET, SO_PRIORITY, 1))
TRICK(to_device, set(fd, SOL_SOCKET, SO_BINDTODEVICE, "lo", 3))
TRICK(broadcast, set_int(fd, SOL_SOCKET, SO_BROADCAST, 1))
TRICK(zero_copy, set_int(fd, SOL_SOCKET, SO_ZEROCOPY, 1))
TRICK(fast_connect, set_int(fd, IPPROTO_TCP, FASTOPEN_CONNECT, 1))
TRICK(fast_open, set_int(fd, IPPROTO_TCP, TCP_FASTOPEN, 5))
TRICK(repair, set_int(fd, IPPROTO_TCP, REPAIR, 1))
TRICK(upper_layer, set(fd, IPPROTO_TCP, ULP, "tls", 4))
TRICK(ip_options, set(fd, IPPROTO_IP, IP_OPTIONS, "\1\1\1\1", 4))
TRICK(transparent, set_int(fd, IPPROTO_IP, IP_TRANSPARENT, 1))
TRICK(free_bind, set_int(fd, IPPROTO_IP, IP_FREEBIND, 1))
TRICK(ttl, set_int(fd, IPPROTO_IP, IP_TTL, 1))
TRICK(rcv_buffer, set_int(fd, SOL_SOCKET, SO_RCVBUF, 1 << 20))
TRICK(own_pid, done(fcntl(fd, F_SETOWN, 1)))
TRICK(raise_signal, done(fcntl(fd, F_SETSIG, 9)))
TRICK(listen_here, done(listen(fd, 5)))
TRICK(unread, done(ioctl(fd, FIONREAD, &(int){ 0 })))
TRICK(interfaces, done(ioctl(fd, SIOCGIFFLAGS,
    &(struct ifreq){ .ifr_name = "lo" })))
TRICK(namespace_of, done(ioctl(fd, SIOCGSKNS)))
TRICK(send_file, done(sendfile(fd, fd, NULL, 1)))
TRICK(splice_it, done(splice(fd, NULL, fd, NULL, 1, 0)))

static long
attach_filter(int fd)
{
	struct sock_filter ins = { BPF_RET | BPF_K, 0, 0, UINT32_MAX };
	struct sock_fprog prog = { 1, &ins };

	return set(fd, SOL_SOCKET, SO_ATTACH_FILTER, &prog, sizeof prog);
}

static long
get_option(int fd)
{
	int value;
	socklen_t len = sizeof value;

	return done(getsockopt(fd, SOL_SOCKET, SO_TYPE, &value, &len));
}

static long
bind_again(int fd)
{
	struct sockaddr_in sin = { .sin_family = AF_INET };

	return done(bind(fd, (struct sockaddr *)&sin, sizeof sin));
}

static long
connect_again(int fd)
{
	struct sockaddr_in sin = elsewhere();

	return done(connect(fd, (struct sockaddr *)&sin, sizeof sin));
}

/* Undoes a connection; the next connect() goes wherever one likes. */
static long
disconnect(int fd)
{
	struct sockaddr sa = { .sa_family = AF_UNSPEC };

	return done(connect(fd, &sa, sizeof sa));
}

static long
send_with(int fd, int flags)
{
	struct sockaddr_in sin = elsewhere();

	return done(sendto(fd, "x", 1, flags | MSG_NOSIGNAL,
	    (struct sockaddr *)&sin, sizeof sin));
}

static long
sendmsg_with(int fd, int flags)
{
	struct sockaddr_in sin = elsewhere();
	struct iovec iov = { "x", 1 };
	struct msghdr mh = { .msg_name = &sin, .msg_namelen = sizeof sin,
	    .msg_iov = &iov, .msg_iovlen = 1 };

	return done(sendmsg(fd, &mh, flags | MSG_NOSIGNAL));
}

static long
send_many(int fd)
{
	struct sockaddr_in sin = elsewhere();
	struct iovec iov = { "x", 1 };
	struct mmsghdr mh = { .msg_hdr = { .msg_name = &sin,
	    .msg_namelen = sizeof sin, .msg_iov = &iov, .msg_iovlen = 1 } };

	return done(sendmmsg(fd, &mh, 1, MSG_FASTOPEN | MSG_NOSIGNAL));
}

TRICK(sendto_fast, send_with(fd, MSG_FASTOPEN))
TRICK(sendmsg_fast, sendmsg_with(fd, MSG_FASTOPEN))
TRICK(sendto_urgent, send_with(fd, MSG_OOB))
TRICK(sendto_zero_copy, send_with(fd, MSG_ZEROCOPY))

#define NAMED(fn)	{ #fn, fn }

const struct hostile_trick hostile_tricks[] = {
	NAMED(connect_again), NAMED(disconnect), NAMED(connect_again),
	NAMED(disconnect), NAMED(sendto_fast), NAMED(sendmsg_fast),
	NAMED(send_many), NAMED(sendto_urgent), NAMED(sendto_zero_copy),
	NAMED(keep_alive), NAMED(reuse), NAMED(mark), NAMED(priority),
	NAMED(to_device), NAMED(broadcast), NAMED(zero_copy),
	NAMED(fast_connect), NAMED(fast_open), NAMED(repair),
	NAMED(upper_layer), NAMED(ip_options), NAMED(transparent),
	NAMED(free_bind), NAMED(ttl), NAMED(rcv_buffer), NAMED(own_pid),
	NAMED(raise_signal), NAMED(listen_here), NAMED(unread),
	NAMED(interfaces), NAMED(namespace_of), NAMED(send_file),
	NAMED(splice_it), NAMED(attach_filter), NAMED(get_option),
	NAMED(bind_again),
};
const size_t hostile_ntricks = sizeof hostile_tricks /
    sizeof hostile_tricks[0];

size_t
hostile_play(const struct hostile_trick *t, int fd, char *text, size_t size)
{
	return (size_t)snprintf(text, size, "%s %s\n", t->name,
	    hostile_errno(t->fn(fd)));
}
