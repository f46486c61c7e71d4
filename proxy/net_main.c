/*
 * fence-net: the net worker.  Everything the jail sends is parsed in a
 * process that can do nothing but use the descriptors it is given.  If that
 * one dies it is forked again, by its keeper, who holds the listeners and
 * reads nothing but the monitor's answers to a dead one's questions.
 *
 *	fence-net ASK_FD
 */
#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/base/clock.h"
#include "platform/base/str.h"
#include "platform/confine.h"
#include "platform/fd.h"
#include "proxy/ask.h"
#include "proxy/proxy.h"

enum {
	QUICK_MS = 1000,	/* a life this short is a bad sign */
	MAX_QUICK = 16,		/* in a row; then it is given up */
	EXIT_GIVEN_UP = 1, EXIT_NO_START = 125,
	RESTART_ID = -1,	/* the server's ids are none such */
};

struct keeper {
	int			 ask_fd;
	struct proxy_limits	 limits;
	unsigned		 which;		/* listeners */
	int			 fds[PROXY_NLISTENERS];
	size_t			 nfds;
	struct proxy_port	 ports[PROXY_MAX_PORTS];
	size_t			 nports;
};

/* Two descriptors a connection, some for everything else. */
static void
fit_limits(struct proxy_limits *limits, size_t nports)
{
	struct rlimit r;
	rlim_t spare = 64 + nports;

	if (getrlimit(RLIMIT_NOFILE, &r) != 0)
		return;
	r.rlim_cur = r.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &r);
	if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur == RLIM_INFINITY)
		return;
	r.rlim_cur = r.rlim_cur > 2 * spare ? r.rlim_cur - spare : spare;
	if (r.rlim_cur / 2 < limits->max_total)
		limits->max_total = (unsigned)(r.rlim_cur / 2);
}

/* The server */

static _Noreturn void
serve(const struct keeper *k, pid_t keeper)
{
	struct err e = { 0 };
	struct loop *loop = loop_new();
	struct proxy *p = loop != NULL ?
	    proxy_new(loop, k->ask_fd, &k->limits) : NULL;

	if (p == NULL || proxy_listen(p, k->which, k->fds, k->nfds) != 0 ||
	    proxy_listen_ports(p, k->ports, k->nports) != 0 ||
	    confine_child(SIGKILL, &e) != 0 || getppid() != keeper ||
	    confine_net(&e) != 0)
		_exit(EXIT_NO_START);
	/* Nothing to undo, and no right left to run exit handlers with. */
	_exit(loop_run(loop));
}

/* The keeper */

static int
receive(const struct keeper *k, enum ask_kind kind, struct ask_msg *ret,
    int *fds, size_t max_fds, size_t *ret_nfds)
{
	struct ask_msg raw;
	ssize_t n = fd_recv(k->ask_fd, &raw, sizeof raw, fds, max_fds,
	    ret_nfds, 0);

	return n > 0 && ask_check_msg(&raw, (size_t)n, ret) == 0 &&
	    ret->kind == kind ? 0 : -1;
}

static int
receive_listeners(struct keeper *k)
{
	struct ask_msg m;
	unsigned more;
	size_t nfds;

	if (receive(k, ASK_LISTEN, &m, k->fds, PROXY_NLISTENERS,
	    &k->nfds) != 0 || m.nports > PROXY_MAX_PORTS)
		return -1;
	k->which = m.listeners;
	for (more = m.nports; more > 0; more--) {
		struct proxy_port *p = &k->ports[k->nports];

		if (receive(k, ASK_PORT, &m, &p->fd, 1, &nfds) != 0 ||
		    nfds != 1)
			return -1;
		p->via = m.via;
		p->port = m.port;
		k->nports++;
	}
	return 0;
}

/* Reads one answer away.  1: it was that to ASK_RESTART; -1: none will come. */
static int
discard_one(int ask_fd)
{
	struct ask_answer raw, a;
	auto_fd fd = -1;
	size_t nfds;
	ssize_t n = fd_recv(ask_fd, &raw, sizeof raw, &fd, 1, &nfds,
	    MSG_DONTWAIT);

	if (n <= 0)
		return n < 0 && errno == EAGAIN ? 0 : -1;
	return ask_check_answer(&raw, (size_t)n, &a) == 0 &&
	    a.id == (uint32_t)RESTART_ID;
}

/*
 * The next server must not get answers to the questions of the one that died:
 * they are read away here, up to the answer to ASK_RESTART.  The monitor may
 * take that question only after some of its answers were read.
 */
static int
begin_anew(const struct keeper *k, int wstatus)
{
	struct ask_msg m = { .magic = ASK_MAGIC, .kind = ASK_RESTART,
	    .id = (uint32_t)RESTART_ID, .wstatus = (uint16_t)wstatus };
	struct pollfd p = { .fd = k->ask_fd, .events = POLLIN | POLLOUT };
	int rv = 0;

	while (rv == 0) {
		if (poll(&p, 1, -1) < 0 && errno != EINTR)
			return -1;
		if ((p.revents & POLLOUT) != 0 && fd_send(k->ask_fd, &m,
		    sizeof m, NULL, 0, MSG_DONTWAIT) >= 0)
			p.events = POLLIN;
		if ((p.revents & (POLLIN | POLLHUP | POLLERR)) != 0)
			rv = discard_one(k->ask_fd);
	}
	return rv > 0 ? 0 : -1;
}

/*
 * Nobody is served before somebody comes: most short runs reach for nothing.
 * False: the monitor has hung up.  While it still listens, who came before
 * that is to be heard.
 */
static bool
wait_for_work(const struct keeper *k)
{
	static struct pollfd p[1 + PROXY_NLISTENERS + PROXY_MAX_PORTS];
	nfds_t n = 1;

	p[0] = (struct pollfd){ .fd = k->ask_fd, .events = POLLRDHUP };
	for (size_t i = 0; i < k->nfds; i++)
		p[n++] = (struct pollfd){ .fd = k->fds[i],
		    .events = POLLIN };
	for (size_t i = 0; i < k->nports; i++)
		p[n++] = (struct pollfd){ .fd = k->ports[i].fd,
		    .events = POLLIN };
	while (poll(p, n, -1) < 0)
		if (errno != EINTR)
			return false;
	if ((p[0].revents & ~POLLRDHUP) != 0)
		return false;
	for (nfds_t i = 1; i < n; i++)
		if (p[i].revents != 0)
			return true;
	return false;
}

/* One life of a server; its wait status, -1 if there was none. */
static int
live(const struct keeper *k)
{
	pid_t keeper = getpid(), pid;
	int wstatus = -1;

	if (!wait_for_work(k))
		return 0;
	pid = fork();
	if (pid == 0)
		serve(k, keeper);
	while (pid > 0 && waitpid(pid, &wstatus, 0) < 0)
		if (errno != EINTR)
			return -1;
	return wstatus;
}

static int
keep(const struct keeper *k)
{
	unsigned nquick = 0;

	for (;;) {
		int64_t start = clock_ms(CLOCK_MONOTONIC);
		int wstatus = live(k);

		if (wstatus == 0)
			return 0;	/* the monitor has hung up */
		if (wstatus < 0 || (WIFEXITED(wstatus) &&
		    WEXITSTATUS(wstatus) == EXIT_NO_START))
			return EXIT_NO_START;
		nquick = clock_ms(CLOCK_MONOTONIC) - start < QUICK_MS ?
		    nquick + 1 : 0;
		if (nquick > MAX_QUICK || begin_anew(k, wstatus) != 0)
			return EXIT_GIVEN_UP;
	}
}

int
main(int argc, char **argv)
{
	static struct keeper k;
	struct err e = { 0 };
	uint64_t fd;

	if (argc != 2 || str_to_u64(str_of(argv[1]), 1 << 20, &fd) != 0 ||
	    fd_cloexec((int)fd, 1) != 0) {
		fputs("usage: fence-net ASK_FD (started by fence-run)\n",
		    stderr);
		return 2;
	}
	k.limits = proxy_default_limits;
	k.ask_fd = (int)fd;
	signal(SIGPIPE, SIG_IGN);
	if (confine_child(SIGKILL, &e) != 0) {
		err_print(&e, stderr);
		return EXIT_NO_START;
	}
	if (receive_listeners(&k) != 0)
		return 0;		/* nobody wants us */
	fit_limits(&k.limits, k.nports);
	return keep(&k);
}
