#include "platform/linux/init_child.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/fd.h"
#include "platform/linux/init_apply.h"
#include "platform/linux/landlock.h"
#include "platform/linux/notify.h"

static char *
plan_str(const struct init_plan *plan, uint32_t at)
{
	return (char *)(uintptr_t)plan + at;
}

/* NULL-terminated pointers, with `before` empty places in front. */
static char **
plan_strv(const struct init_plan *plan, uint32_t at, uint32_t n,
    unsigned before)
{
	const uint32_t *offs = (const void *)plan_str(plan, at);
	char **v = calloc((size_t)before + n + 1, sizeof *v);

	for (uint32_t i = 0; v != NULL && i < n; i++)
		v[before + i] = plan_str(plan, offs[i]);
	return v;
}

static int
cmp_int(const void *a, const void *b)
{
	int x = *(const int *)a, y = *(const int *)b;

	return (x > y) - (x < y);
}

static int
prepare_keep(struct init_child *c, int own_fd)
{
	const int32_t *from = (const void *)plan_str(c->plan, c->plan->keep);
	size_t n = c->plan->nkeep;

	/* Room for two more, which join them in the child (child_fds()). */
	c->keep = calloc(n + 2, sizeof *c->keep);
	if (c->keep == NULL)
		return -1;
	for (size_t i = 0; i < n; i++) {
		if (from[i] == own_fd || fcntl(from[i], F_GETFD) < 0) {
			errno = EBADF;
			return -1;
		}
		c->keep[i] = from[i];
	}
	qsort(c->keep, n, sizeof *c->keep, cmp_int);
	for (size_t i = 0; i < n; i++)
		if (i == 0 || c->keep[i] != c->keep[i - 1])
			c->keep[c->nkeep++] = c->keep[i];
	return 0;
}

int
init_child_prepare(struct init_child *c, const struct init_plan *plan,
    int own_fd, uint32_t *ret_step)
{
	static char sh[] = "/bin/sh";

	*c = (struct init_child){ .plan = plan };
	*ret_step = INIT_STEP_PLAN;
	c->argv = plan_strv(plan, plan->argv, plan->argc, 0);
	c->sh_argv = plan_strv(plan, plan->argv, plan->argc, 1);
	c->envp = plan_strv(plan, plan->envp, plan->envc, 0);
	if (c->argv == NULL || c->sh_argv == NULL || c->envp == NULL)
		return -1;
	c->sh_argv[0] = sh;
	c->sh_argv[1] = plan_str(plan, plan->program);
	*ret_step = INIT_STEP_FDS;
	return prepare_keep(c, own_fd);
}

int
init_close_from(int first, const int *keep, size_t nkeep)
{
	unsigned from = first;

	for (size_t i = 0; i < nkeep; i++) {
		unsigned fd = keep[i];

		if (fd > from &&
		    syscall(SYS_close_range, from, fd - 1, 0) < 0)
			return -1;
		if (fd >= from)
			from = fd + 1;
	}
	return syscall(SYS_close_range, from, UINT_MAX, 0);
}

static _Noreturn void
fail(int report_fd, uint32_t step)
{
	struct init_report r = { step, errno };

	(void)!write(report_fd, &r, sizeof r);	/* below PIPE_BUF: atomic */
	_exit(125);
}

int
init_tell(int control_fd, enum init_msg_kind kind, uint32_t step,
    int32_t value, int fd)
{
	struct init_msg m = { .kind = kind, .step = step, .value = value };
	struct pollfd p = { .fd = control_fd, .events = POLLOUT };

	while (fd_send(control_fd, &m, sizeof m, &fd, fd >= 0, 0) < 0) {
		if (errno != EAGAIN && errno != ENOBUFS)
			return -1;
		(void)poll(&p, 1, -1);
	}
	return 0;
}

/* Nobody lets this go on who has not got it: it bears the mark. */
static int
send_listener(int control_fd, int fd)
{
	struct init_msg m = { .kind = INIT_LISTENER };
	struct pollfd p = { .fd = control_fd, .events = POLLOUT };
	struct fd_message packed;

	fd_message(&packed, &m, sizeof m, &fd, 1);
	while (syscall(SYS_sendmsg, control_fd, &packed.msg, MSG_NOSIGNAL,
	    HELD_CALL_MARK) < 0) {
		if (errno != EAGAIN && errno != ENOBUFS && errno != EINTR)
			return -1;
		(void)poll(&p, 1, -1);
	}
	return 0;
}

/*
 * A witness that cannot be had is no reason not to start: the walls stand
 * without.  Where executions are supervised it is one.  1: there is one.
 */
static int
child_listen(const struct init_plan *plan, int control_fd)
{
	auto_fd fd = -1;

	if (plan->nnotify == 0) {
		errno = ENOSYS;
		return plan->must_notify ? -1 : 0;
	}
	fd = init_listen(plan);
	if (fd < 0 && plan->must_notify)
		return -1;
	if (fd < 0)
		return init_tell(control_fd, INIT_LISTENER, 0, errno, -1);
	return send_listener(control_fd, fd) < 0 ? -1 : 1;
}

/* The filter, as a part of the listener's or by itself. */
static int
child_filter(const struct init_plan *plan, int control_fd)
{
	int rc = plan->is_joined ? child_listen(plan, control_fd) : 0;

	if (plan->is_joined)
		close(control_fd);
	return rc != 0 ? rc : init_filter(plan);
}

/* Only 0 to 2, what the user keeps, the pipe and the way to the launcher,
 * while it is needed, stay. */
static int
child_fds(const struct init_child *c, int report_fd, int control_fd)
{
	size_t n = c->nkeep;

	for (size_t i = 0; i < n; i++)
		if (fcntl(c->keep[i], F_SETFD, 0) < 0)
			return -1;
	c->keep[n++] = report_fd;
	if (c->plan->is_joined)
		c->keep[n++] = control_fd;
	qsort(c->keep, n, sizeof *c->keep, cmp_int);
	return init_close_from(3, c->keep, n);
}

/* A group of its own, which has the terminal.  SIGTTOU is blocked. */
static int
child_group(const struct init_plan *plan)
{
	if (plan->session == INIT_SESSION_SAME)
		return 0;
	if (setpgid(0, 0) < 0)
		return -1;
	return plan->session == INIT_SESSION_TTY ?
	    tcsetpgrp(STDIN_FILENO, getpid()) : 0;
}

_Noreturn void
init_child_run(const struct init_child *c, int report_fd, int control_fd)
{
	const struct init_plan *plan = c->plan;
	const char *program = plan_str(plan, plan->program);

	/* First of all, where the jail's filter might be in its way. */
	if (!plan->is_joined && child_listen(plan, control_fd) < 0)
		fail(report_fd, INIT_STEP_LISTEN);
	if (chdir(plan_str(plan, plan->cwd)) < 0)
		fail(report_fd, INIT_STEP_CHDIR);
	if (child_group(plan) < 0)
		fail(report_fd, INIT_STEP_SESSION);
	if (child_fds(c, report_fd, control_fd) < 0)
		fail(report_fd, INIT_STEP_FDS);
	if (init_limits(plan) < 0)
		fail(report_fd, INIT_STEP_LIMITS);
	if (landlock_apply(plan, (const char *)plan) < 0)
		fail(report_fd, INIT_STEP_LANDLOCK);
	if (child_filter(plan, control_fd) < 0)
		fail(report_fd, INIT_STEP_SECCOMP);
	/*
	 * Dispositions are the user's: nohup's ignored SIGHUP stays so.  The
	 * mask is restored last, by the bare call, since libc's keeps the
	 * signals it uses itself out of any mask.
	 */
	(void)sigaction(SIGCHLD, &c->sigchld, NULL);
	(void)syscall(SYS_rt_sigprocmask, SIG_SETMASK, &plan->sigmask, NULL,
	    sizeof plan->sigmask);
	(void)execve(program, c->argv, c->envp);
	if (errno == ENOEXEC) {
		/* A script without #! goes to the shell, as with execvp(). */
		(void)execve(c->sh_argv[0], c->sh_argv, c->envp);
		errno = ENOEXEC;
	}
	fail(report_fd, 0);
}
