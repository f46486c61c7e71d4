/*
 * fence-net: the net worker.  Everything the jail sends is parsed here, in a
 * process that can do nothing but use the descriptors it is given.
 *
 *	fence-net ASK_FD
 */
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <unistd.h>

#include "platform/base/str.h"
#include "platform/confine.h"
#include "platform/fd.h"
#include "proxy/proxy.h"

/* Two descriptors a connection, some for everything else. */
static void
fit_limits(struct proxy_limits *limits)
{
	struct rlimit r;
	rlim_t spare = 64;

	if (getrlimit(RLIMIT_NOFILE, &r) != 0)
		return;
	r.rlim_cur = r.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &r);
	if (getrlimit(RLIMIT_NOFILE, &r) != 0 || r.rlim_cur == RLIM_INFINITY)
		return;
	r.rlim_cur = r.rlim_cur > 2 * spare ? r.rlim_cur - spare : spare;
	if (r.rlim_cur / 2 < limits->max_connections)
		limits->max_connections = (unsigned)(r.rlim_cur / 2);
}

int
main(int argc, char **argv)
{
	struct proxy_limits limits = proxy_default_limits;
	struct err e = { 0 };
	struct loop *loop;
	uint64_t fd;

	if (argc != 2 || str_to_u64(str_of(argv[1]), 1 << 20, &fd) != 0 ||
	    fd_cloexec((int)fd, 1) != 0) {
		fputs("usage: fence-net ASK_FD (started by fence-run)\n",
		    stderr);
		return 2;
	}
	signal(SIGPIPE, SIG_IGN);
	fit_limits(&limits);
	loop = loop_new();
	if (loop == NULL || proxy_new(loop, (int)fd, &limits) == NULL) {
		fputs("fence-net: out of memory\n", stderr);
		return 125;
	}
	if (confine_child(SIGKILL, &e) != 0 || confine_net(&e) != 0) {
		err_print(&e, stderr);
		return 125;
	}
	/* Nothing to undo, and no right left to run exit handlers with. */
	_exit(loop_run(loop));
}
