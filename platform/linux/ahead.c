#include "platform/linux/ahead.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/fd.h"
#include "platform/linux/early.h"
#include "platform/linux/idmap.h"
#include "platform/linux/mint.h"
#include "platform/linux/nft.h"
#include "platform/linux/route.h"
#include "platform/pause.h"

#ifndef CLONE_PIDFD
#define CLONE_PIDFD	0x1000
#endif

struct ahead {
	pid_t			 pid;	/* 0: none, or waited for */
	int			 pid_fd;	/* of it, readable when it is gone */
	int			 parent_fd;	/* pidfd of ours, for it */
	int			 user_event_fd;	/* readable: end->user_fd is there */
	struct ahead_end	*end;	/* shared with it */
};

/*
 * A processor of its own, if there is another.  Left to the scheduler
 * (Linux 6.18), two of three times the process either waits for the launcher's
 * until that waits for it, or puts the launcher off it: nothing is gained
 * then.  So both see to it, whichever runs first.  It cannot step aside by
 * itself afterwards, either.
 */
struct aside {
	cpu_set_t	set;
	bool		is_wanted;
};

static void
aside_choose(struct aside *s)
{
	int cpu = sched_getcpu();

	s->is_wanted = false;
	if (cpu < 0 || sched_getaffinity(0, sizeof s->set, &s->set) != 0)
		return;
	CPU_CLR((size_t)cpu, &s->set);
	s->is_wanted = CPU_COUNT(&s->set) > 0;
}

static void
aside_put(const struct aside *s, pid_t pid)
{
	if (s->is_wanted)
		(void)sched_setaffinity(pid, sizeof s->set, &s->set);
}

/* ---- in the process: async-signal-safe calls only ---- */

static _Noreturn void
fail(struct ahead_end *end, enum ahead_step step)
{
	end->sys = errno;
	end->step = step;
	_exit(1);
}

/*
 * Nothing in this network is ever congested, and what the host has chosen for
 * its own paces every stream (bbr halves them).  Every kernel has reno; where
 * /proc/sys is read-only it stays as it is.
 */
static void
set_pace(void)
{
	(void)!early_write("/proc/sys/net/ipv4/tcp_congestion_control", 0, 0,
	    "reno", 4);
}

static void
make_gate(struct ahead_end *end)
{
	if (mint_gate(end->listen_fd, &end->detail) != 0)
		fail(end, AHEAD_LISTEN);
	if (nft_apply(end->listen_fd[JAIL_LISTEN_TRANSPARENT4],
	    end->listen_fd[JAIL_LISTEN_TRANSPARENT6], &end->detail) != 0)
		fail(end, AHEAD_NFT);
}

static _Noreturn void
work(const struct ahead *a, uid_t uid, gid_t gid, bool with_gate)
{
	struct pollfd pfd = { .fd = a->parent_fd, .events = POLLIN };
	struct idmap map = { .outer_uid = uid, .outer_gid = gid };
	struct ahead_end *end = a->end;
	const uint64_t one = 1;

	if (unshare(CLONE_NEWUSER) != 0)
		fail(end, AHEAD_CLONE);
	/* After the change of credentials, which may clear it. */
	prctl(PR_SET_PDEATHSIG, SIGKILL);
	if (poll(&pfd, 1, 0) != 0) {
		errno = ESRCH;
		fail(end, AHEAD_PARENT);
	}
	if (idmap_write(-1, &map) != 0)
		fail(end, AHEAD_MAPS);
	pause_at("in-child-maps");
	end->user_fd = open("/proc/self/ns/user", O_RDONLY | O_CLOEXEC);
	if (end->user_fd < 0 ||
	    write(a->user_event_fd, &one, sizeof one) != sizeof one ||
	    unshare(CLONE_NEWNET) != 0)
		fail(end, AHEAD_CLONE);
	if (route_setup(NULL, 0, &end->detail) != 0)
		fail(end, AHEAD_ROUTE);
	set_pace();
	if (with_gate)
		make_gate(end);
	end->net_fd = open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC);
	if (end->net_fd < 0)
		fail(end, AHEAD_CLONE);
	end->step = AHEAD_OK;
	_exit(0);
}

/* ---- in the launcher ---- */

static void
close_ends(struct ahead_end *end)
{
	fd_close(&end->user_fd);
	fd_close(&end->net_fd);
	for (size_t i = 0; i < JAIL_NLISTENERS; i++)
		fd_close(&end->listen_fd[i]);
}

struct ahead *
ahead_start(bool with_gate)
{
	struct ahead *a = calloc(1, sizeof *a);
	struct aside aside;
	sigset_t all, old;
	void *p;

	if (a == NULL)
		return NULL;
	p = mmap(NULL, sizeof *a->end, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (p == MAP_FAILED) {
		free(a);
		return NULL;
	}
	a->end = p;
	a->pid_fd = -1;
	*a->end = (struct ahead_end){ .step = AHEAD_CLONE, .sys = ECHILD,
	    .user_fd = -1, .net_fd = -1 };
	memset(a->end->listen_fd, 0xff, sizeof a->end->listen_fd);
	a->parent_fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	a->user_event_fd = eventfd(0, EFD_CLOEXEC);
	if (a->parent_fd < 0 || a->user_event_fd < 0) {
		a->end->sys = errno;
		return a;
	}
	aside_choose(&aside);
	/* A key of the terminal must not end or stop it while it leaves us
	 * waiting for it. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &old);
	/* fork() but for the descriptors, which are ours as well. */
	a->pid = (pid_t)syscall(SYS_clone, CLONE_FILES | CLONE_PIDFD | SIGCHLD,
	    NULL, &a->pid_fd, NULL, 0);
	if (a->pid == 0) {
		aside_put(&aside, 0);
		work(a, getuid(), getgid(), with_gate);
	}
	if (a->pid > 0)
		aside_put(&aside, a->pid);
	else {
		a->end->sys = errno;
		a->pid = 0;
	}
	sigprocmask(SIG_SETMASK, &old, NULL);
	return a;
}

/* Until one of them is readable; a pidfd is, once its process is gone. */
static void
wait_for(struct ahead *a, struct pollfd *p, nfds_t n)
{
	while (a->pid > 0 && poll(p, n, -1) < 0 && errno == EINTR)
		continue;
}

int
ahead_user(struct ahead *a)
{
	struct pollfd p[] = { { .fd = a->pid_fd, .events = POLLIN },
	    { .fd = a->user_event_fd, .events = POLLIN } };

	wait_for(a, p, 2);
	return a->end->user_fd;
}

void
ahead_reap(struct ahead *a)
{
	while (a->pid > 0 && waitpid(a->pid, NULL, 0) < 0 && errno == EINTR)
		continue;
	a->pid = 0;
	fd_close(&a->pid_fd);
	fd_close(&a->parent_fd);
	fd_close(&a->user_event_fd);
}

int
ahead_wait(struct ahead *a, struct ahead_end *ret)
{
	struct pollfd gone = { .fd = a->pid_fd, .events = POLLIN };

	wait_for(a, &gone, 1);
	*ret = *a->end;
	if (ret->step != AHEAD_OK)
		return -1;
	a->end->user_fd = a->end->net_fd = -1;
	memset(a->end->listen_fd, 0xff, sizeof a->end->listen_fd);
	return 0;
}

void
ahead_free(struct ahead *a)
{
	if (a == NULL)
		return;
	if (a->pid > 0)
		kill(a->pid, SIGKILL);
	ahead_reap(a);
	close_ends(a->end);
	munmap(a->end, sizeof *a->end);
	free(a);
}
