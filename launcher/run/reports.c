#include "launcher/run/reports.h"

#include <string.h>
#include <sys/socket.h>

#include "shim/wire.h"

/*
 * Reports that the socket holds (net.unix.max_dgram_qlen of a new network, and
 * one); whoever finds it full does not wait.
 */
enum { QUEUE = 11 };

static pid_t
sender(struct msghdr *mh)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(mh); c != NULL;
	    c = CMSG_NXTHDR(mh, c)) {
		struct ucred cred;

		if (c->cmsg_level != SOL_SOCKET ||
		    c->cmsg_type != SCM_CREDENTIALS)
			continue;
		memcpy(&cred, CMSG_DATA(c), sizeof cred);
		return cred.pid;
	}
	return 0;
}

void
reports_drain(int fd, struct witness *w, int most)
{
	struct wire_report report;
	union {
		char		 bytes[CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr	 align;
	} control;
	int i;

	for (i = 0; fd >= 0 && i < most; i++) {
		struct iovec iov = { &report, sizeof report };
		struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1,
		    .msg_control = control.bytes,
		    .msg_controllen = sizeof control.bytes };
		ssize_t n = recvmsg(fd, &mh, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);

		if (n < 0)
			break;
		witness_shim(w, &report, (size_t)n, sender(&mh));
	}
	if (i >= QUEUE)
		witness_lost(w, 0);
}
