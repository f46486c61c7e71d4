#include "platform/linux/control.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/wait.h>

#include "platform/fd.h"
#include "platform/jail.h"
#include "platform/linux/cure.h"

enum { SIGNAL_LAST = 64 };

/* ---- to fence-init ---- */

int
control_send(int control_fd, enum init_msg_kind kind, int fd, struct err *e)
{
	struct init_msg m = { .kind = kind };

	if (fd_send(control_fd, &m, sizeof m, &fd, fd >= 0, 0) >= 0)
		return 0;
	return err_sys(e, errno, "the jail ended before it was ready");
}

int
jail_go(struct jail *j, struct err *e)
{
	return control_send(j->control_fd, INIT_GO, -1, e);
}

int
jail_ask(struct jail *j, int signo, bool wants_answer)
{
	struct init_msg m = { .kind = INIT_ASK, .step = wants_answer,
	    .value = signo };

	return fd_send(j->control_fd, &m, sizeof m, NULL, 0,
	    MSG_DONTWAIT) < 0 ? -1 : 0;
}

/* ---- what fence-init says ---- */

static const char *const step_text[] = {
	[INIT_STEP_PLAN] = "read its plan",
	[INIT_STEP_CHDIR] = "enter the working directory",
	[INIT_STEP_FDS] = "close descriptors",
	[INIT_STEP_CAPS] = "give up capabilities",
	[INIT_STEP_LANDLOCK] = "apply Landlock",
	[INIT_STEP_SECCOMP] = "load the system call filter",
	[INIT_STEP_FORK] = "fork",
	[INIT_STEP_KEYRING] = "join a new keyring",
	[INIT_STEP_PROC] = "mount its own /proc",
	[INIT_STEP_SESSION] = "begin a session of its own",
	[INIT_STEP_LIMITS] = "set the limits of the policy",
	[INIT_STEP_USER] = "make a user namespace for the command",
	[INIT_STEP_LISTEN] = "hold executions (seccomp listener), which "
	    "command rules or env.loader need",
	[INIT_STEP_PRELOAD] = "lay the list of the loader over its own",
};

/* How far the conversation is: jail.heard. */
enum heard { HEARD_NONE, HEARD_READY, HEARD_CALLS, HEARD_STARTED, HEARD_END };

/* Does a message of the kind carry a descriptor? */
enum carries { CARRIES_NONE, CARRIES_ONE, CARRIES_PERHAPS };

/* The messages, each with the span of the conversation it may come in. */
static const struct word {
	enum jail_event_kind	kind;	/* 0: fence-init says no such thing */
	enum carries		carries;
	enum heard		first, last;
	enum heard		next;	/* ... unless it is further already */
} words[] = {
	[INIT_READY] = { JAIL_READY, CARRIES_ONE, HEARD_NONE,
	    HEARD_NONE, HEARD_READY },
	[INIT_LISTENER] = { JAIL_CALLS, CARRIES_PERHAPS, HEARD_READY,
	    HEARD_READY, HEARD_CALLS },
	[INIT_STARTED] = { JAIL_STARTED, CARRIES_ONE, HEARD_READY,
	    HEARD_CALLS, HEARD_STARTED },
	[INIT_STOPPED] = { JAIL_STOPPED, CARRIES_NONE, HEARD_READY,
	    HEARD_STARTED, HEARD_NONE },
	[INIT_CONTINUED] = { JAIL_CONTINUED, CARRIES_NONE,
	    HEARD_STARTED, HEARD_STARTED, HEARD_NONE },
	[INIT_ALONE] = { JAIL_ALONE, CARRIES_NONE, HEARD_STARTED,
	    HEARD_STARTED, HEARD_NONE },
	[INIT_EXITED] = { JAIL_EXITED, CARRIES_NONE, HEARD_STARTED,
	    HEARD_STARTED, HEARD_END },
	[INIT_FAILED] = { JAIL_FAILED, CARRIES_NONE, HEARD_NONE,
	    HEARD_CALLS, HEARD_END },
	[INIT_NOEXEC] = { JAIL_NOEXEC, CARRIES_NONE, HEARD_READY,
	    HEARD_CALLS, HEARD_END },
};

/* A pid as this process counts; 0 if /proc does not say. */
static pid_t
pid_of(int pid_fd)
{
	char path[64], text[1024];
	const char *p;
	ssize_t n;
	int pid = 0;

	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", pid_fd);
	n = fd_read_file(AT_FDCWD, path, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	p = strstr(text, "Pid:");
	if (p == NULL || sscanf(p, "Pid: %d", &pid) != 1)
		return 0;
	return pid;
}

/* The row of a message that may come now, or NULL. */
static const struct word *
find_word(const struct init_msg *m, size_t nfds, enum heard heard)
{
	const struct word *w = m->kind < sizeof words / sizeof words[0] ?
	    &words[m->kind] : NULL;

	if (w == NULL || w->kind == 0 || heard < w->first || heard > w->last ||
	    (w->carries == CARRIES_NONE && nfds != 0) ||
	    (w->carries == CARRIES_ONE && nfds != 1))
		return NULL;
	return w;
}

static bool
is_signal(int n)
{
	return n >= 1 && n <= SIGNAL_LAST;
}

/* false: the value is none that this kind of message has. */
static bool
take_value(const struct init_msg *m, struct jail_event *ev)
{
	switch (ev->kind) {
	case JAIL_STOPPED:
	case JAIL_ALONE:
		ev->signo = m->value;
		return is_signal(m->value);
	case JAIL_EXITED:
		ev->wstatus = m->value;
		return WIFEXITED(m->value) || WIFSIGNALED(m->value);
	case JAIL_FAILED:
		ev->what = m->step < sizeof step_text / sizeof step_text[0] &&
		    step_text[m->step] != NULL ? step_text[m->step] : "start";
		if (m->step == INIT_STEP_PROC && m->value == EPERM)
			ev->cure = CURE_PROC;
		ev->sys = m->value;
		return true;
	case JAIL_CALLS:
	case JAIL_NOEXEC:
		ev->sys = m->value;
		return true;
	default:
		return true;
	}
}

/* A descriptor that is only there to be counted by stays here. */
static void
take_fd(int *fd, struct jail_event *ev)
{
	if (ev->kind == JAIL_READY || ev->kind == JAIL_STARTED)
		ev->pid = pid_of(*fd);
	if (ev->kind != JAIL_READY)
		ev->fd = fd_take(fd);
}

int
jail_next(struct jail *j, struct jail_event *ret)
{
	struct jail_event ev = { .fd = -1 };
	const struct word *w;
	struct init_msg m;
	auto_fd fd = -1;
	size_t nfds = 0;
	ssize_t n;

	if (j->heard == HEARD_END)
		return -1;
	/* ECONNRESET comes once, for what fence-init left unread, and before
	 * what it said. */
	do {
		n = fd_recv(j->control_fd, &m, sizeof m, &fd, 1, &nfds,
		    MSG_DONTWAIT);
	} while (n < 0 && errno == ECONNRESET);
	if (n < 0 && errno == EAGAIN)
		return 0;
	w = n == (ssize_t)sizeof m ? find_word(&m, nfds, j->heard) : NULL;
	if (w != NULL)
		ev.kind = w->kind;
	if (w == NULL || !take_value(&m, &ev)) {
		j->heard = HEARD_END;
		return -1;
	}
	take_fd(&fd, &ev);
	if (w->next > j->heard)
		j->heard = w->next;
	*ret = ev;
	return 1;
}
