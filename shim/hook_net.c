#include "shim/hook.h"

#include <sys/socket.h>

#include "shim/report.h"

HOOK(int, connect, (int fd, const struct sockaddr *sa, socklen_t len))
{
	int rv = REAL(connect)(fd, sa, len);

	if (rv < 0 && told_by_kernel(errno))
		report_connect(sa, len, errno);
	return rv;
}

/* A datagram, or a TCP Fast Open, carries its address itself. */
HOOK(ssize_t, sendto, (int fd, const void *buf, size_t n, int flags,
    const struct sockaddr *sa, socklen_t len))
{
	ssize_t rv = REAL(sendto)(fd, buf, n, flags, sa, len);

	if (rv < 0 && sa != NULL && told_by_kernel(errno))
		report_connect(sa, len, errno);
	return rv;
}

HOOK(ssize_t, sendmsg, (int fd, const struct msghdr *mh, int flags))
{
	ssize_t rv = REAL(sendmsg)(fd, mh, flags);

	if (rv < 0 && told_by_kernel(errno) && mh->msg_name != NULL)
		report_connect(mh->msg_name, mh->msg_namelen, errno);
	return rv;
}

/* It fails only when the first of them does. */
HOOK(int, sendmmsg, (int fd, struct mmsghdr *vec, unsigned int n, int flags))
{
	int rv = REAL(sendmmsg)(fd, vec, n, flags);

	if (rv < 0 && n > 0 && told_by_kernel(errno) &&
	    vec[0].msg_hdr.msg_name != NULL)
		report_connect(vec[0].msg_hdr.msg_name,
		    vec[0].msg_hdr.msg_namelen, errno);
	return rv;
}
