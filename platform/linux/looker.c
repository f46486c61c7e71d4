/*
 * Two processes: the looker, and its keeper, which starts another when the
 * looker is killed by its own clock, and answers the call at which that
 * stopped.  What was received is noted in memory that they share.
 */
#include "platform/looker.h"

#include <errno.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/confine.h"
#include "platform/fd.h"
#include "platform/linux/held_file.h"

#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS		_IOW('!', 4, uint64_t)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP	(1UL << 0)
#endif

enum {
	EXIT_LOOKER = 125,
	LOOK_S = 1,		/* for one call */
	STUCK_MAX = 5,		/* then nobody looks at paths any more */
};

struct looker {
	struct looker_config	 config;
	int			 sock, calls_fd, root_fd;
	/* The call that is being looked at, in shared memory; id 0: none. */
	struct held_call	*present;
	bool			 is_blind;
	struct held_refusal	 refusal;
};

/* ---- the looker ---- */

/* The monitor never waits for us, so we may wait for it. */
static void
tell(const struct looker *l, const struct looker_word *w, size_t len)
{
	while (send(l->sock, w, len, MSG_NOSIGNAL) < 0 && errno == EINTR)
		continue;
}

static void
hand_over(const struct looker *l, const struct held_call *call)
{
	struct looker_word w = { .kind = LOOKER_CALL, .call = *call };

	tell(l, &w, offsetof(struct looker_word, path));
}

/* Longer ones cannot be told. */
static bool
keep_paths(const struct held_refusal *r, struct looker_word *w)
{
	for (unsigned i = 0; i < 2; i++) {
		w->is_told[i] = r->is_told[i] &&
		    strlen(r->path[i]) < sizeof w->path[i];
		if (w->is_told[i])
			strcpy(w->path[i], r->path[i]);
	}
	return w->is_told[0] || w->is_told[1];
}

/* True: it will be refused, and the launcher was told. */
static bool
is_refused(struct looker *l, const struct held_call *call)
{
	static struct looker_word w;
	struct held_refusal *r = &l->refusal;
	uint64_t id = call->id;

	if (l->root_fd < 0)
		l->root_fd = exec_root(call->tid);
	if (l->root_fd < 0)
		return false;
	held_file_look(l->root_fd, call, r);
	memset(&w, 0, sizeof w);
	/* What was read may be another's, if the caller died meanwhile. */
	if (r->sys == 0 || !keep_paths(r, &w) ||
	    ioctl(l->calls_fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) != 0)
		return false;
	w.kind = LOOKER_REFUSAL;
	w.call = *call;
	w.sys = r->sys;
	w.open_flags = r->open_flags;
	tell(l, &w, sizeof w);
	return true;
}

static bool
is_others(const struct looker *l, const struct held_call *call)
{
	if (call->kind == HELD_REFUSED || call->kind == HELD_LISTENER)
		return true;
	return call->kind == HELD_ADDRESS && call->family != 0 &&
	    l->config.wants_calls;
}

static void
serve_call(struct looker *l, const struct held_call *call)
{
	if (is_others(l, call)) {
		hand_over(l, call);
		return;
	}
	if (!call->has_file || l->is_blind || !is_refused(l, call))
		held_call_go(l->calls_fd, call);
}

static void
set_clock(int s)
{
	const struct itimerval t = { .it_value.tv_sec = s };

	(void)setitimer(ITIMER_REAL, &t, NULL);
}

/* False: no more will come. */
static bool
receive(struct looker *l)
{
	struct held_call call;
	int rc = 1;

	if (!l->config.is_asked) {
		rc = held_call_next(l->calls_fd, l->config.wall, l->present);
	} else if (recv(l->sock, &call, sizeof call, 0) ==
	    (ssize_t)sizeof call) {
		*l->present = call;
	} else {
		return errno == EINTR;
	}
	if (rc > 0)
		serve_call(l, l->present);
	l->present->id = 0;
	return rc >= 0;
}

static _Noreturn void
looker_main(struct looker *l)
{
	struct pollfd p[2] = {
		{ .fd = l->sock, .events = l->config.is_asked ? POLLIN : 0 },
		{ .fd = l->config.is_asked ? -1 : l->calls_fd,
		    .events = POLLIN },
	};
	sigset_t alarm_only;
	struct err e;

	sigemptyset(&alarm_only);
	sigaddset(&alarm_only, SIGALRM);
	(void)signal(SIGALRM, SIG_DFL);
	(void)sigprocmask(SIG_UNBLOCK, &alarm_only, NULL);
	if (confine_child(SIGKILL, &e) != 0 || confine_looker(&e) != 0)
		_exit(EXIT_LOOKER);
	for (;;) {
		if (poll(p, 2, -1) < 0 && errno != EINTR)
			_exit(EXIT_LOOKER);
		if ((p[0].revents & (POLLHUP | POLLERR)) != 0)
			_exit(0);
		if (((p[0].revents | p[1].revents) & POLLIN) == 0) {
			if (p[1].revents != 0)
				p[1].fd = -1;	/* nobody is left */
			continue;
		}
		set_clock(LOOK_S);
		if (!receive(l)) {
			if (l->config.is_asked)
				_exit(0);
			p[1].fd = -1;
		}
		set_clock(0);
	}
}

/* ---- its keeper ---- */

/* The call at which a looker stopped goes on, or stays refused. */
static void
answer_left(struct looker *l)
{
	if (l->present->id != 0)
		held_call_go(l->calls_fd, l->present);
	l->present->id = 0;
}

static _Noreturn void
keep(struct looker *l)
{
	const struct looker_word blind = { .kind = LOOKER_BLIND };
	unsigned nstuck = 0;

	for (;;) {
		int status = 0;
		pid_t pid = fork();

		if (pid == 0)
			looker_main(l);
		if (pid < 0)
			_exit(EXIT_LOOKER);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			continue;
		answer_left(l);
		if (!WIFSIGNALED(status) || WTERMSIG(status) != SIGALRM)
			_exit(EXIT_LOOKER);
		if (++nstuck == STUCK_MAX)
			l->is_blind = true;
		if (nstuck == 1)
			tell(l, &blind, offsetof(struct looker_word, path));
	}
}

static _Noreturn void
keeper_main(const struct looker_config *c, int sock, pid_t parent)
{
	struct looker *l = calloc(1, sizeof *l);
	sigset_t all;
	size_t nfds = 0;
	struct err e;
	char byte;

	(void)prctl(PR_SET_NAME, "fence-look", 0, 0, 0);
	(void)setpgid(0, 0);		/* terminal signals are not for it */
	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	if (l == NULL || fd_close_others(sock) != 0)
		_exit(EXIT_LOOKER);
	*l = (struct looker){ .config = *c, .sock = sock, .calls_fd = -1,
	    .root_fd = -1 };
	l->present = mmap(NULL, sizeof *l->present, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	if (l->present == MAP_FAILED || confine_child(SIGKILL, &e) != 0 ||
	    getppid() != parent)
		_exit(EXIT_LOOKER);
	if (fd_recv(sock, &byte, 1, &l->calls_fd, 1, &nfds, 0) != 1 ||
	    nfds != 1)
		_exit(0);
	keep(l);
}

/* ---- in the launcher ---- */

int
looker_start(const struct looker_config *c, int *ret_fd, pid_t *ret_pid,
    struct err *e)
{
	pid_t parent = getpid(), pid = -1;
	int ends[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends) == 0 &&
	    fd_nonblock(ends[0], 1) == 0)
		pid = fork();
	if (pid == 0)
		keeper_main(c, ends[1], parent);
	if (pid < 0)
		return err_sys(e, errno, "cannot start fence-look");
	fd_close(&ends[1]);
	*ret_fd = ends[0];
	*ret_pid = pid;
	return 0;
}

/* Caller and looker take turns: see tracer_listen(). */
int
looker_listen(int fd, int calls_fd)
{
	(void)ioctl(calls_fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS,
	    SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
	return fd_send(fd, "", 1, &calls_fd, 1, MSG_DONTWAIT) < 0 ? -1 : 0;
}

int
looker_ask(int fd, const struct held_call *call)
{
	return fd_send(fd, call, sizeof *call, NULL, 0, MSG_DONTWAIT) < 0 ?
	    -1 : 0;
}

int
looker_next(int fd, struct looker_word *ret)
{
	ssize_t n = fd_recv(fd, ret, sizeof *ret, NULL, 0, NULL, MSG_DONTWAIT);
	const size_t least = offsetof(struct looker_word, path);

	if (n >= (ssize_t)least && (ret->kind != LOOKER_REFUSAL ||
	    n == (ssize_t)sizeof *ret)) {
		ret->path[0][PATH_MAX - 1] = ret->path[1][PATH_MAX - 1] = '\0';
		return 1;
	}
	return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}
