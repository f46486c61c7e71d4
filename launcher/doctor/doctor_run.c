#include "launcher/doctor/doctor_run.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/base/clock.h"
#include "platform/fd.h"

static _Noreturn void
child(const struct doctor_run *r, pid_t parent, int out, int err)
{
	int null_fd = open("/dev/null", O_RDONLY | O_CLOEXEC);

	/* Whoever died before the first line will not be told by it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
		_exit(127);
	/* Not close-on-exec: they are the program's stdin, stdout, stderr. */
	dup2(null_fd, STDIN_FILENO);
	/* Not close-on-exec: as above. */
	dup2(out, STDOUT_FILENO);
	/* Not close-on-exec: as above. */
	dup2(err, STDERR_FILENO);
	if (r->left_fd > 0)
		fcntl(r->left_fd, F_SETFD, 0);
	if (r->cwd == NULL || chdir(r->cwd) == 0)
		execve(r->path, r->argv, r->env);
	_exit(127);
}

/* One read; the descriptor is closed at the end of file. */
static void
drain(int *fd, struct buf *b)
{
	char bytes[4096];
	ssize_t n = read(*fd, bytes, sizeof bytes);

	if (n > 0)
		buf_add(b, bytes, (size_t)n);
	else if (n == 0 || errno != EINTR)
		fd_close(fd);
}

static void
read_both(struct doctor_run *r, int *out, int *err)
{
	int64_t end = clock_ms(CLOCK_MONOTONIC) + r->limit_ms, left;

	while (*out >= 0 || *err >= 0) {
		struct pollfd p[2] = { { .fd = *out, .events = POLLIN },
		    { .fd = *err, .events = POLLIN } };

		left = end - clock_ms(CLOCK_MONOTONIC);
		if (left <= 0) {
			r->is_late = true;
			return;
		}
		if (poll(p, 2, (int)left) <= 0)
			continue;
		if (p[0].revents != 0)
			drain(out, &r->out);
		if (p[1].revents != 0)
			drain(err, &r->err);
	}
}

int
doctor_run(struct doctor_run *r)
{
	int out[2], err[2], status = 0;
	pid_t parent = getpid(), pid;

	if (pipe2(out, O_CLOEXEC) != 0)
		return -1;
	if (pipe2(err, O_CLOEXEC) != 0) {
		close(out[0]);
		close(out[1]);
		return -1;
	}
	pid = fork();
	if (pid == 0)
		child(r, parent, out[1], err[1]);
	close(out[1]);
	close(err[1]);
	if (pid > 0) {
		read_both(r, &out[0], &err[0]);
		if (r->is_late)
			kill(pid, SIGKILL);
		while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
			continue;
	}
	fd_close(&out[0]);
	fd_close(&err[0]);
	r->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) :
	    WEXITSTATUS(status);
	return pid < 0 ? -1 : 0;
}
