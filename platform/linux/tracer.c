#include "platform/tracer.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/seccomp.h>
#include <limits.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/prctl.h>
#include <sys/ptrace.h>
#include <sys/signalfd.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/base/arena.h"
#include "platform/base/vec.h"
#include "platform/confine.h"
#include "platform/fd.h"
#include "platform/linux/notify.h"
#include "platform/linux/stderr_line.h"
#include "platform/pause.h"

#ifndef SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV
#define SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV	(1UL << 5)
#endif
#ifndef SECCOMP_IOCTL_NOTIF_SET_FLAGS
#define SECCOMP_IOCTL_NOTIF_SET_FLAGS		_IOW('!', 4, uint64_t)
#define SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP	(1UL << 0)
#endif

enum { EXIT_TRACER = 125, PROC_PATH = 64, STAT_BYTES = 128,
	SOCKET_BYTES = 1 << 20 };

enum order { ORDER_LISTEN = 1, ORDER_PERMIT, ORDER_REFUSE, ORDER_ANSWER };

/* To the tracer: this, and then exe, cmdline and line, as long as it says. */
struct head {
	uint64_t	id;
	uint32_t	order;
	int32_t		pid;
	int32_t		sys;		/* REFUSE */
	uint32_t	may_run;	/* ANSWER */
	uint32_t	exe_len;	/* 0: nothing was foreseen */
	uint32_t	cmdline_len;
	uint32_t	line_len;
};

enum { MESSAGE_MAX = sizeof(struct head) + PATH_MAX + TRACER_FORESEEN_MAX +
	TRACER_LINE_MAX };

/* ---- the process ---- */

/* One caller whose execution goes on. */
struct caller {
	pid_t	 tid;		/* after the call, of an asked one: its pid */
	uint64_t id;
	char	*text;		/* exe, then cmdline */
	size_t	 exe_len, cmdline_len;
	bool	 is_asked;	/* its image stands still for an answer */
};

struct tracer {
	int		sock, calls_fd, signal_fd;
	int		monitor_fd;	/* its /proc/PID/stat */
	bool		is_over;	/* nobody is left who could call */
	struct tracer_screen screen;
	/* A signal does not end the wait of a call that was received. */
	bool		is_killable;
	struct { struct caller *v; size_t n, cap; } callers;
	char		message[MESSAGE_MAX];
	char		text[PATH_MAX + TRACER_FORESEEN_MAX + 2];
};

/* Of Linux 5.19.  Flags are looked at before the filter, which is none. */
static bool
has_killable_wait(void)
{
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
	    SECCOMP_FILTER_FLAG_NEW_LISTENER |
	    SECCOMP_FILTER_FLAG_WAIT_KILLABLE_RECV, NULL) != 0 &&
	    errno == EFAULT;
}

/* The monitor never waits for us, so we may wait for it. */
static void
tell(const struct tracer *t, const struct tracer_word *w)
{
	while (send(t->sock, w, sizeof *w, MSG_NOSIGNAL) < 0 && errno == EINTR)
		continue;
}

static struct caller *
find_caller(struct tracer *t, pid_t tid)
{
	for (size_t i = 0; i < t->callers.n; i++)
		if (t->callers.v[i].tid == tid)
			return &t->callers.v[i];
	return NULL;
}

static void
drop_caller(struct tracer *t, struct caller *c)
{
	if (c == NULL)
		return;
	free(c->text);
	*c = t->callers.v[--t->callers.n];
}

static void
keep_caller(struct tracer *t, const struct head *h, const char *exe,
    const char *cmdline)
{
	struct caller *c = find_caller(t, h->pid);
	size_t len = (size_t)h->exe_len + h->cmdline_len;

	if (c == NULL)
		c = vec_push(&t->callers);
	else
		free(c->text);
	*c = (struct caller){ .tid = h->pid, .id = h->id,
	    .exe_len = h->exe_len, .cmdline_len = h->cmdline_len };
	if (h->exe_len == 0 || (c->text = malloc(len + 1)) == NULL)
		return;
	memcpy(c->text, exe, h->exe_len);
	memcpy(c->text + h->exe_len, cmdline, h->cmdline_len);
}

static pid_t
tracer_of(pid_t tid)
{
	char path[PROC_PATH], text[2048];
	const char *p;
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/status", (int)tid);
	n = fd_read_file(AT_FDCWD, path, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	p = strstr(text, "\nTracerPid:");
	return p != NULL ? (pid_t)strtol(p + strlen("\nTracerPid:"), NULL,
	    10) : 0;
}

static bool
is_held(const struct tracer *t, uint64_t id)
{
	return ioctl(t->calls_fd, SECCOMP_IOCTL_NOTIF_ID_VALID, &id) == 0;
}

/* False: there will be no second look, and everybody concerned was told. */
static bool
attach(struct tracer *t, const struct head *h)
{
	struct tracer_word w = { .kind = TRACER_UNSEEN, .pid = h->pid };

	if (ptrace(PTRACE_SEIZE, h->pid, 0, PTRACE_O_TRACEEXEC |
	    PTRACE_O_EXITKILL) != 0) {
		w.sys = errno;
		if (tracer_of(h->pid) == getpid())
			return true;	/* since its last call */
		w.is_traced = tracer_of(h->pid) != 0;
		if (w.sys != ESRCH)
			tell(t, &w);
		notify_answer(t->calls_fd, h->id, 0);
		return false;
	}
	/* Another task may have got the number of one that died. */
	if (!is_held(t, h->id)) {
		(void)ptrace(PTRACE_INTERRUPT, h->pid, 0, 0);
		return false;
	}
	return true;
}

/*
 * The interrupt makes a call that fails end in a stop, where we let go of the
 * caller: the call itself is not interrupted by it, since nothing in it waits
 * for what a stop would interrupt.  Before Linux 5.19 the wait for our answer
 * would be.
 */
static void
permit(struct tracer *t, const struct head *h, const char *exe,
    const char *cmdline)
{
	if (!attach(t, h))
		return;
	keep_caller(t, h, exe, cmdline);
	if (t->is_killable)
		(void)ptrace(PTRACE_INTERRUPT, h->pid, 0, 0);
	notify_answer(t->calls_fd, h->id, 0);
	if (!t->is_killable)
		(void)ptrace(PTRACE_INTERRUPT, h->pid, 0, 0);
}

static void
let_go(pid_t pid, int signo)
{
	(void)ptrace(PTRACE_DETACH, pid, 0, (long)signo);
}

/* ---- the second look ---- */

/* Is what stands in these two files what was foreseen? */
static bool
is_foreseen(struct tracer *t, pid_t pid, const struct caller *c)
{
	char path[PROC_PATH];
	ssize_t n;
	auto_fd fd = -1;

	if (c->text == NULL)
		return false;
	snprintf(path, sizeof path, "/proc/%d/exe", (int)pid);
	n = readlink(path, t->text, PATH_MAX);
	if (n != (ssize_t)c->exe_len || memcmp(t->text, c->text, n) != 0)
		return false;
	snprintf(path, sizeof path, "/proc/%d/cmdline", (int)pid);
	fd = open(path, O_RDONLY | O_CLOEXEC);
	/* One byte more than there should be; what comes in pieces is asked
	 * about. */
	n = fd >= 0 ? read(fd, t->text, c->cmdline_len + 1) : -1;
	return n == (ssize_t)c->cmdline_len &&
	    memcmp(t->text, c->text + c->exe_len, c->cmdline_len) == 0;
}

/*
 * Whichever thread executes gets the number of its process; the others are
 * gone by now, and the former leader's end is told to nobody.
 */
static void
image_ready(struct tracer *t, pid_t pid)
{
	struct tracer_word w = { .kind = TRACER_ASKS, .pid = pid };
	unsigned long tid = 0;
	struct caller *c;

	(void)ptrace(PTRACE_GETEVENTMSG, pid, 0, &tid);
	if (tid != (unsigned long)pid)
		drop_caller(t, find_caller(t, pid));
	c = find_caller(t, (pid_t)tid);
	if (c != NULL && is_foreseen(t, pid, c)) {
		let_go(pid, 0);
		drop_caller(t, c);
		return;
	}
	drop_caller(t, c);
	*vec_push(&t->callers) = (struct caller){ .tid = pid,
	    .is_asked = true };
	tell(t, &w);
}

static void
reap(struct tracer *t)
{
	int status;
	pid_t pid;

	while ((pid = waitpid(-1, &status, __WALL | WNOHANG)) > 0) {
		if (!WIFSTOPPED(status)) {
			drop_caller(t, find_caller(t, pid));
		} else if (status >> 8 ==
		    (SIGTRAP | PTRACE_EVENT_EXEC << 8)) {
			image_ready(t, pid);
		} else {
			/* The call failed, or never came to its end. */
			let_go(pid, status >> 16 == 0 ? WSTOPSIG(status) : 0);
			drop_caller(t, find_caller(t, pid));
		}
	}
}

/*
 * A stop that was answered is over.  Of a process that died meanwhile the
 * number may be another's by now, which is none of ours.
 */
static void
answered(struct tracer *t, const struct head *h, const char *line)
{
	struct caller *c = find_caller(t, h->pid);

	if (c == NULL || !c->is_asked)
		return;
	drop_caller(t, c);
	if (h->may_run != 0) {
		let_go(h->pid, 0);
		return;
	}
	if (h->line_len > 0)
		stderr_line(h->pid, line, h->line_len);
	(void)kill(h->pid, SIGKILL);
}

/* ---- orders ---- */

static bool
is_sound(const struct head *h, size_t len)
{
	return h->exe_len <= PATH_MAX &&
	    h->cmdline_len <= TRACER_FORESEEN_MAX &&
	    h->line_len <= TRACER_LINE_MAX &&
	    len == sizeof *h + h->exe_len + h->cmdline_len + h->line_len;
}

/* False: the socket, or what comes by it, is over. */
static bool
obey(struct tracer *t)
{
	const char *text = t->message + sizeof(struct head);
	struct head h;
	size_t nfds = 0;
	int fd = -1;
	ssize_t n = fd_recv(t->sock, t->message, sizeof t->message, &fd, 1,
	    &nfds, MSG_DONTWAIT);

	if (n < 0)
		return errno == EAGAIN || errno == EINTR;
	if (n < (ssize_t)sizeof h)
		return false;
	memcpy(&h, t->message, sizeof h);
	if (!is_sound(&h, (size_t)n) || (h.order == ORDER_LISTEN) !=
	    (nfds == 1) || (h.order != ORDER_LISTEN && t->calls_fd < 0))
		return false;
	if (h.order == ORDER_LISTEN) {
		t->calls_fd = fd;
	} else if (h.order == ORDER_PERMIT) {
		permit(t, &h, text, text + h.exe_len);
	} else if (h.order == ORDER_REFUSE) {
		/* The number of a caller that died may be another's. */
		if (h.line_len > 0 && is_held(t, h.id))
			stderr_line(h.pid, text, h.line_len);
		notify_answer(t->calls_fd, h.id, h.sys);
	} else {
		answered(t, &h, text);
	}
	return true;
}

/* ---- held calls ---- */

/* Whoever stops the monitor stops what depends on it.  "7 (a b) T 1 ..." */
static bool
is_monitor_stopped(const struct tracer *t)
{
	char text[STAT_BYTES];
	ssize_t n = pread(t->monitor_fd, text, sizeof text - 1, 0);
	const char *p;

	text[n > 0 ? n : 0] = '\0';
	p = strrchr(text, ')');
	return p == NULL || p[1] != ' ' || p[2] == 'T' || p[2] == 't';
}

/* How what runs in the end has to look; exe_len 0: it is not known. */
static void
foresee(struct head *h, const char *exe, size_t cmdline_len)
{
	if (exe == NULL || strlen(exe) >= PATH_MAX ||
	    cmdline_len > TRACER_FORESEEN_MAX)
		return;
	h->exe_len = (uint32_t)strlen(exe);
	h->cmdline_len = (uint32_t)cmdline_len;
}

/* False: the monitor is to decide. */
static bool
screen(struct tracer *t, const struct held_call *call)
{
	struct head h = { .id = call->id, .pid = call->tid };
	struct arena *a;
	struct held_exec x;
	bool may_run;

	if (t->screen.permits == NULL || is_monitor_stopped(t) ||
	    (a = arena_new()) == NULL)
		return false;
	may_run = t->screen.permits(call, a, &x, t->screen.arg);
	if (may_run) {
		foresee(&h, x.exe, x.cmdline_len);
		permit(t, &h, x.exe, x.cmdline);
	}
	arena_free(a);
	return may_run;
}

static void
call_waits(struct tracer *t)
{
	struct tracer_word w = { .kind = TRACER_CALL };
	int rc = held_call_next(t->calls_fd, t->screen.wall, &w.call);

	if (rc < 0)
		t->is_over = true;
	if (rc > 0 && (w.call.kind != HELD_EXEC || !screen(t, &w.call)))
		tell(t, &w);
}

/* ---- the loop ---- */

static void
serve(struct tracer *t)
{
	struct pollfd p[3] = {
		{ .fd = t->sock, .events = POLLIN },
		{ .fd = t->signal_fd, .events = POLLIN },
		{ .fd = -1, .events = POLLIN },
	};
	struct signalfd_siginfo si[8];

	for (;;) {
		p[0].revents = p[1].revents = p[2].revents = 0;
		p[2].fd = t->is_over ? -1 : t->calls_fd;
		if (poll(p, 3, -1) < 0 && errno != EINTR)
			return;
		if (p[1].revents != 0) {
			(void)!read(t->signal_fd, si, sizeof si);
			reap(t);
		}
		if ((p[2].revents & POLLIN) != 0)
			call_waits(t);
		else if (p[2].revents != 0)
			t->is_over = true;
		if (p[0].revents != 0 && !obey(t))
			return;
	}
}

static int
open_stat(pid_t pid)
{
	char path[PROC_PATH];

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	return open(path, O_RDONLY | O_CLOEXEC);
}

static _Noreturn void
tracer_main(const struct tracer_screen *screen, int sock, pid_t parent)
{
	struct tracer *t;
	sigset_t set;
	struct err e;

	(void)prctl(PR_SET_NAME, "fence-trace", 0, 0, 0);
	(void)setpgid(0, 0);		/* terminal signals are not for it */
	sigfillset(&set);
	(void)sigprocmask(SIG_SETMASK, &set, NULL);
	sigemptyset(&set);
	sigaddset(&set, SIGCHLD);
	t = calloc(1, sizeof *t);
	if (t == NULL || fd_close_others(sock) != 0)
		_exit(EXIT_TRACER);
	t->sock = sock;
	t->calls_fd = -1;
	t->monitor_fd = open_stat(parent);
	if (screen != NULL)
		t->screen = *screen;
	t->is_killable = has_killable_wait();
	t->signal_fd = signalfd(-1, &set, SFD_NONBLOCK | SFD_CLOEXEC);
	if (t->signal_fd < 0 || confine_child(SIGKILL, &e) != 0 ||
	    getppid() != parent || confine_tracer(&e) != 0)
		_exit(EXIT_TRACER);
	serve(t);
	_exit(0);
}

/* ---- in the launcher ---- */

int
tracer_start(const struct tracer_screen *screen, int *ret_fd, pid_t *ret_pid,
    struct err *e)
{
	static const int room = SOCKET_BYTES;
	auto_fd ours = -1, theirs = -1;
	pid_t parent = getpid(), pid;
	int pair[2];

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return err_sys(e, errno, "cannot make a socket pair");
	ours = pair[0];
	theirs = pair[1];
	(void)setsockopt(ours, SOL_SOCKET, SO_SNDBUF, &room, sizeof room);
	pid = fork();
	if (pid < 0)
		return err_sys(e, errno, "cannot fork");
	if (pid == 0)
		tracer_main(screen, theirs, parent);
	if (fd_nonblock(ours, 1) != 0)
		return err_sys(e, errno, "cannot talk to fence-trace");
	*ret_fd = fd_take(&ours);
	*ret_pid = pid;
	pause_at("after-tracer");
	return 0;
}

struct order_text {
	const char	*exe, *cmdline, *line;
};

static int
send_order(int fd, struct head *h, const struct order_text *text)
{
	struct iovec v[] = {
		{ h, sizeof *h },
		{ (void *)(uintptr_t)text->exe, h->exe_len },
		{ (void *)(uintptr_t)text->cmdline, h->cmdline_len },
		{ (void *)(uintptr_t)text->line, h->line_len },
	};
	struct msghdr m = { .msg_iov = v, .msg_iovlen = 4 };
	ssize_t n;

	do {
		n = sendmsg(fd, &m, MSG_NOSIGNAL | MSG_DONTWAIT);
	} while (n < 0 && errno == EINTR);
	return n < 0 ? -1 : 0;
}

static uint32_t
line_len(const char *line)
{
	size_t n = line != NULL ? strlen(line) : 0;

	return n <= TRACER_LINE_MAX ? (uint32_t)n : 0;
}

/*
 * The tracer and its caller take turns, so each wakes the other on the
 * processor that it is on itself (Linux 6.6; where the flag is not known,
 * calls only take longer).
 */
int
tracer_listen(int fd, int calls_fd)
{
	struct head h = { .order = ORDER_LISTEN };

	(void)ioctl(calls_fd, SECCOMP_IOCTL_NOTIF_SET_FLAGS,
	    SECCOMP_USER_NOTIF_FD_SYNC_WAKE_UP);
	return fd_send(fd, &h, sizeof h, &calls_fd, 1, MSG_DONTWAIT) < 0 ?
	    -1 : 0;
}

int
tracer_permit(int fd, const struct held_call *c, const char *exe,
    const char *cmdline, size_t cmdline_len)
{
	struct head h = { .order = ORDER_PERMIT, .id = c->id,
	    .pid = c->tid };
	struct order_text text = { .exe = exe, .cmdline = cmdline };

	foresee(&h, exe, cmdline_len);
	return send_order(fd, &h, &text);
}

int
tracer_refuse(int fd, const struct held_call *c, int sys, const char *line)
{
	struct head h = { .order = ORDER_REFUSE, .id = c->id, .pid = c->tid,
	    .sys = sys, .line_len = line_len(line) };

	return send_order(fd, &h, &(struct order_text){ .line = line });
}

int
tracer_answer(int fd, pid_t pid, bool may_run, const char *line)
{
	struct head h = { .order = ORDER_ANSWER, .pid = pid,
	    .may_run = may_run, .line_len = line_len(line) };

	return send_order(fd, &h, &(struct order_text){ .line = line });
}

int
tracer_next(int fd, struct tracer_word *ret)
{
	ssize_t n = fd_recv(fd, ret, sizeof *ret, NULL, 0, NULL, MSG_DONTWAIT);

	if (n == (ssize_t)sizeof *ret)
		return 1;
	return n < 0 && (errno == EAGAIN || errno == EINTR) ? 0 : -1;
}
