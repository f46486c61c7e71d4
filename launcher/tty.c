#include "launcher/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/fd.h"

static const int passed_on[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1,
    SIGUSR2, SIGALRM, SIGCONT, SIGTSTP, SIGWINCH };

enum { NSIGNALS = sizeof passed_on / sizeof passed_on[0] };

struct tty {
	struct watch	*watch[NSIGNALS];
	tty_early_fn	*early;
	void		*arg;
	int		 pid_fd;	/* of the command, -1 before it runs */
	int		 term_fd;	/* a terminal among 0..2, or -1 */
	bool		 was_foreground;
	bool		 has_terminal;
};

static bool
ends_us(int signo)
{
	return signo == SIGHUP || signo == SIGINT || signo == SIGQUIT ||
	    signo == SIGTERM;
}

static void
on_signal(struct watch *w, int signo, void *arg)
{
	struct tty *t = arg;

	if (t->pid_fd < 0) {
		if (ends_us(signo))
			t->early(signo, t->arg);
		return;
	}
	/* SI_KERNEL: the terminal sent it, to the command as well. */
	if (loop_signal_code(w) != SI_KERNEL)
		syscall(SYS_pidfd_send_signal, t->pid_fd, signo, NULL, 0);
}

struct tty *
tty_start(struct loop *loop, tty_early_fn *early, void *arg)
{
	struct tty *t = calloc(1, sizeof *t);

	if (t == NULL)
		return NULL;
	t->early = early;
	t->arg = arg;
	t->pid_fd = -1;
	t->term_fd = -1;
	for (int fd = 0; fd <= 2 && t->term_fd < 0; fd++)
		if (isatty(fd))
			t->term_fd = fd;
	t->was_foreground = t->term_fd >= 0 &&
	    tcgetpgrp(t->term_fd) == getpgrp();
	auto_fd ctty = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	t->has_terminal = ctty >= 0;
	for (size_t i = 0; i < NSIGNALS; i++) {
		t->watch[i] = loop_signal(loop, passed_on[i], on_signal, t);
		if (t->watch[i] == NULL) {
			tty_free(t);
			return NULL;
		}
	}
	return t;
}

void
tty_command(struct tty *t, int pid_fd)
{
	t->pid_fd = pid_fd;
}

/*
 * The shell that started us waits for *us* to stop.  SIGCONT sent to the
 * group wakes the command by itself; one sent to fence-run alone comes back
 * here as a signal event and is passed on.
 */
void
tty_stopped(struct tty *t)
{
	/* Without a terminal nobody would ever wake us: whoever continues the
	 * command knows nothing of us. */
	if (t->has_terminal)
		kill(getpid(), SIGSTOP);
}

/* The group that has the terminal is gone; a shell's `bg` leaves one. */
static bool
is_orphaned(int term_fd)
{
	pid_t group = tcgetpgrp(term_fd);

	return group > 0 && group != getpgrp() && kill(-group, 0) != 0 &&
	    errno == ESRCH;
}

void
tty_free(struct tty *t)
{
	if (t == NULL)
		return;
	/* An inner shell may have left the terminal to a group that is gone.
	 * SIGTTOU is blocked, so this cannot stop us. */
	if (t->was_foreground && is_orphaned(t->term_fd))
		tcsetpgrp(t->term_fd, getpgrp());
	for (size_t i = 0; i < NSIGNALS; i++)
		watch_free(t->watch[i]);
	free(t);
}
