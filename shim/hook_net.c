#include "shim/hook.h"

#include <sys/socket.h>
#include <sys/un.h>

#include <netinet/in.h>

#include <fcntl.h>
#include <stddef.h>
#include <string.h>

#include <pthread.h>

#include "shim/refuse.h"
#include "shim/report.h"
#include "shim/sys.h"

/* Younger than some libcs we meet. */
extern char __libc_single_threaded __attribute__((weak));
#pragma weak pthread_setcanceltype

/*
 * By number, since libc has no place for the mark, and a point of
 * cancellation all the same, in the way libc's own have been.
 */
static long
marked(long nr, long a, long b, long c, long d, long e, long f)
{
	int type;
	long rv;

	if ((&__libc_single_threaded != NULL && __libc_single_threaded) ||
	    pthread_setcanceltype == NULL)
		return sys_errno(sys_call(nr, a, b, c, d, e, f));
	(void)pthread_setcanceltype(PTHREAD_CANCEL_ASYNCHRONOUS, &type);
	rv = sys_call(nr, a, b, c, d, e, f);
	(void)pthread_setcanceltype(type, NULL);
	return sys_errno(rv);
}

static bool
is_marked(void)
{
	return sizeof(long) == 8 && table_get()->listened != NULL;
}

/* ---- calls to the gate ---- */

/* Is it one of " 53 3128"? */
static bool
has_port(const char *list, unsigned int port)
{
	unsigned int n = 0;

	for (; *list != '\0'; list++) {
		if (*list == ' ')
			n = 0;
		else
			n = n * 10 + (*list - '0');
		if (n == port && (list[1] == ' ' || list[1] == '\0'))
			return true;
	}
	return false;
}

/* The jail talks to itself at loopback, but for the gate's ports there. */
static bool
is_gate(const struct sockaddr *sa, socklen_t len)
{
	const struct sockaddr_in *in = (const void *)sa;
	const struct sockaddr_in6 *in6 = (const void *)sa;
	const struct in6_addr *a = &in6->sin6_addr;

	if (sa == NULL || len < sizeof *in)
		return false;
	if (sa->sa_family == AF_INET)
		return (ntohl(in->sin_addr.s_addr) >> 24 != 127 &&
		    in->sin_addr.s_addr != 0) ||
		    has_port(table_get()->listened, ntohs(in->sin_port));
	if (sa->sa_family != AF_INET6 || len < sizeof *in6)
		return false;
	return !(IN6_IS_ADDR_LOOPBACK(a) || IN6_IS_ADDR_UNSPECIFIED(a) ||
	    (IN6_IS_ADDR_V4MAPPED(a) && a->s6_addr[12] == 127)) ||
	    has_port(table_get()->listened, ntohs(in6->sin6_port));
}

static int
port_of(int fd)
{
	union {
		struct sockaddr_in	in;
		struct sockaddr_in6	in6;
	} u = { .in6.sin6_port = 0 };
	socklen_t len = sizeof u;

	/* Both have it in the same place. */
	return SYS(getsockname, fd, &u, &len) == 0 ? ntohs(u.in.sin_port) : 0;
}

/* Who it was, if nobody is left when the gate asks. */
static void
called(int fd, const struct sockaddr *sa, socklen_t len)
{
	if (is_marked() && is_gate(sa, len))
		SYS(connect, -1, sa, len, WIRE_CALLED, port_of(fd));
}

static void
tell(unsigned nr, int fd, const struct sockaddr *sa, socklen_t len)
{
	if (sa != NULL && told_by_kernel(errno))
		report_connect((struct told){ WIRE_CONNECT, nr, 0, errno },
		    fd, sa, len);
}

/* ---- hooks ---- */

HOOK(int, connect, (int fd, const struct sockaddr *sa, socklen_t len))
{
	int rv = is_marked() ? (int)marked(SYS_connect, fd, (long)sa, len,
	    WIRE_MARK, 0, 0) : REAL(connect)(fd, sa, len);

	if (rv == 0 || errno == EINPROGRESS)
		called(fd, sa, len);
	else
		tell(SYS_connect, fd, sa, len);
	return rv;
}

/* A datagram, or a TCP Fast Open, carries its address itself. */
HOOK(ssize_t, sendto, (int fd, const void *buf, size_t n, int flags,
    const struct sockaddr *sa, socklen_t len))
{
	ssize_t rv = sa != NULL && is_marked() ? marked(SYS_sendto, fd,
	    (long)buf, (long)n, flags, (long)sa, WIRE_MARKED(len)) :
	    REAL(sendto)(fd, buf, n, flags, sa, len);

	if (rv >= 0)
		called(fd, sa, len);
	else
		tell(SYS_sendto, fd, sa, len);
	return rv;
}

HOOK(ssize_t, sendmsg, (int fd, const struct msghdr *mh, int flags))
{
	ssize_t rv = is_marked() ? marked(SYS_sendmsg, fd, (long)mh, flags,
	    WIRE_MARK, 0, 0) : REAL(sendmsg)(fd, mh, flags);

	if (rv >= 0)
		called(fd, mh->msg_name, mh->msg_namelen);
	else if (told_by_kernel(errno))		/* so mh was read */
		tell(SYS_sendmsg, fd, mh->msg_name, mh->msg_namelen);
	return rv;
}

/* It fails only when the first of them does. */
HOOK(int, sendmmsg, (int fd, struct mmsghdr *vec, unsigned int n, int flags))
{
	int rv = is_marked() ? (int)marked(SYS_sendmmsg, fd, (long)vec, n,
	    flags, WIRE_MARK, 0) : REAL(sendmmsg)(fd, vec, n, flags);

	for (int i = 0; i < rv; i++)
		called(fd, vec[i].msg_hdr.msg_name,
		    vec[i].msg_hdr.msg_namelen);
	if (rv < 0 && n > 0 && told_by_kernel(errno))
		tell(SYS_sendmmsg, fd, vec[0].msg_hdr.msg_name,
		    vec[0].msg_hdr.msg_namelen);
	return rv;
}

/* The name that bind() would make, if it would make one. */
static bool
socket_path(const struct sockaddr *sa, socklen_t len, char *ret_path)
{
	const struct sockaddr_un *un = (const void *)sa;
	const size_t at = offsetof(struct sockaddr_un, sun_path);

	if (sa == NULL || len <= at || len > sizeof *un ||
	    sa->sa_family != AF_UNIX || un->sun_path[0] == '\0')
		return false;
	memcpy(ret_path, un->sun_path, len - at);
	ret_path[len - at] = '\0';
	return true;
}

HOOK(int, bind, (int fd, const struct sockaddr *sa, socklen_t len))
{
	char path[sizeof ((struct sockaddr_un *)0)->sun_path + 1];
	int rv;

	if (table_get()->nguards > 0 && socket_path(sa, len, path) &&
	    refuse_name(SYS_bind, AT_FDCWD, path))
		return -1;
	rv = sys_errno(SYS(bind, fd, sa, len));
	if (rv < 0 && told_by_kernel(errno) && socket_path(sa, len, path))
		report_path((struct told){ WIRE_MAKE, SYS_bind, 0, errno },
		    AT_FDCWD, path);
	return rv;
}
