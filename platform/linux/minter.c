#include "platform/mint.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/nsfs.h>
#include <linux/sockios.h>
#include <sched.h>
#include <signal.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/confine.h"
#include "platform/fd.h"
#include "platform/pause.h"

enum { EXIT_MINTER = 125 };

/* ---- the process ---- */

static void
serve(int sock)
{
	static const int families[MINTER_SOCKETS] = { AF_INET, AF_INET6 };
	int fds[MINTER_SOCKETS];
	size_t n;
	char c;

	while (fd_recv(sock, &c, 1, NULL, 0, NULL, 0) == 1) {
		for (n = 0; n < MINTER_SOCKETS; n++) {
			fds[n] = socket(families[n], SOCK_STREAM |
			    SOCK_NONBLOCK | SOCK_CLOEXEC, 0);
			if (fds[n] < 0)
				break;
		}
		if (fd_send(sock, &c, 1, fds, n, 0) < 0)
			return;
		while (n > 0)
			fd_close(&fds[--n]);
	}
}

static _Noreturn void
minter_main(int sock, int user_ns, int net_ns, pid_t parent)
{
	struct err e;

	(void)prctl(PR_SET_NAME, "fence-mint", 0, 0, 0);
	(void)setpgid(0, 0);		/* terminal signals are not for it */
	/* The user namespace first: it is what gives the right to the other.
	 * The death signal is set afterwards, since entering clears it. */
	if (setns(user_ns, CLONE_NEWUSER) != 0 ||
	    setns(net_ns, CLONE_NEWNET) != 0 || fd_close_others(sock) != 0 ||
	    confine_child(SIGKILL, &e) != 0 || getppid() != parent ||
	    confine_mint(&e) != 0)
		_exit(EXIT_MINTER);
	serve(sock);
	_exit(0);
}

/* ---- in the launcher ---- */

int
minter_start(int inside_fd, int *ret_fd, pid_t *ret_pid, struct err *e)
{
	auto_fd net_ns = ioctl(inside_fd, SIOCGSKNS), user_ns = -1;
	auto_fd ours = -1, theirs = -1;
	pid_t parent = getpid(), pid;
	int pair[2];

	if (net_ns >= 0)
		user_ns = ioctl(net_ns, NS_GET_USERNS);
	if (user_ns < 0)
		return err_sys(e, errno, "cannot find the jail's network");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return err_sys(e, errno, "cannot make a socket pair");
	ours = pair[0];
	theirs = pair[1];
	pid = fork();
	if (pid < 0)
		return err_sys(e, errno, "cannot fork");
	if (pid == 0)
		minter_main(theirs, user_ns, net_ns, parent);
	*ret_fd = fd_take(&ours);
	*ret_pid = pid;
	pause_at("after-minter");
	return 0;
}
