#include "launcher/run/tty.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <termios.h>
#include <unistd.h>

#include "launcher/log.h"
#include "launcher/run/pty.h"
#include "platform/base/clock.h"
#include "platform/fd.h"

static const int passed_on[] = { SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGUSR1,
    SIGUSR2, SIGALRM, SIGCONT, SIGTSTP, SIGWINCH };

enum {
	NSIGNALS = sizeof passed_on / sizeof passed_on[0],
	PATIENCE_MS = 1000,	/* see tty_early_fn */
	LOOK_MS = 500,		/* is the terminal free for our lines? */
};

struct tty {
	struct watch	*watch[NSIGNALS];
	struct watch	*look;
	struct tty_config c;
	int		 pid_fd;	/* of the command, -1 before it runs */
	pid_t		 pid;		/* the same, or 0 */
	sigset_t	 waiting;	/* came before */
	sigset_t	 pending;	/* and those that we had not read */
	int64_t		 since_ms;	/* when one came that ends us, or 0 */
	int		 term_fd;	/* a terminal among 0..2, or -1 */
	struct termios	 modes;		/* with has_modes: as we found them */
	bool		 has_modes;
	bool		 was_killed;
	bool		 was_foreground;
	bool		 has_terminal;
	bool		 has_stopped;	/* since SIGTSTP was asked about */
};

static bool
ends_us(int signo)
{
	return signo == SIGHUP || signo == SIGINT || signo == SIGQUIT ||
	    signo == SIGTERM;
}

/* To the command, or to the whole of its group. */
static void
pass_on(const struct tty *t, int signo, bool is_for_all)
{
	enum { TO_GROUP = 1 << 2 };	/* PIDFD_SIGNAL_PROCESS_GROUP */

	/* Linux 6.9 has it; before, the command alone gets it. */
	if (!is_for_all || syscall(SYS_pidfd_send_signal, t->pid_fd, signo,
	    NULL, TO_GROUP) != 0)
		syscall(SYS_pidfd_send_signal, t->pid_fd, signo, NULL, 0);
}

/*
 * Of a group of its own in our session, as an interactive shell is: what the
 * terminal or a shell outside sends to our group does not reach it.  One that
 * began a session of its own (setsid) wants that.
 */
static bool
is_away(const struct tty *t)
{
	pid_t group = !t->c.is_apart && t->pid > 0 ? getpgid(t->pid) : -1;

	return group > 0 && group != getpgrp() && getsid(t->pid) == getsid(0);
}

/* `fg` gives the terminal to our group, `bg` does not. */
static void
give_on(const struct tty *t)
{
	if (t->term_fd >= 0 && tcgetpgrp(t->term_fd) == getpgrp())
		(void)tcsetpgrp(t->term_fd, getpgid(t->pid));
}

/*
 * It has everything from us, and fence-init only forgets its own.  Who is to
 * hear that the terminal is gone must not stay stopped.
 */
static void
pass_away(struct tty *t, int signo)
{
	sigdelset(&t->pending, signo);
	t->c.ask(signo, false, t->c.arg);
	if (signo == SIGCONT)
		give_on(t);
	pass_on(t, signo, signo == SIGHUP || signo == SIGCONT);
	if (signo == SIGHUP)
		pass_on(t, SIGCONT, true);
}

/*
 * The command may run already and the word of it be on its way: all wait for
 * that.  The size needs no telling: it is asked for.
 */
static void
on_early(struct tty *t, int signo)
{
	int64_t now;

	if (signo == SIGWINCH)
		return;
	if (signo == SIGCONT)
		sigdelset(&t->waiting, SIGTSTP);
	else if (signo == SIGTSTP)
		sigdelset(&t->waiting, SIGCONT);
	sigaddset(&t->waiting, signo);
	if (!ends_us(signo))
		return;
	now = clock_ms(CLOCK_MONOTONIC);
	if (t->since_ms == 0)
		t->since_ms = now;
	else if (now - t->since_ms >= PATIENCE_MS)
		t->c.early(signo, t->c.arg);
}

/*
 * In our group.  What the terminal sent (SI_KERNEL) went to all of it, but a
 * hang-up to the session's leader alone, and what it sent before the command
 * ran not to the command; fence-init is told, which has it, too, so that it
 * does not take it for the next.
 */
static void
ask(struct tty *t, int signo, bool is_terminal)
{
	bool is_sure = is_terminal && signo != SIGHUP &&
	    sigismember(&t->pending, signo) != 1;

	sigdelset(&t->pending, signo);
	if (signo == SIGTSTP)
		t->has_stopped = false;
	t->c.ask(signo, !is_sure, t->c.arg);
}

void
tty_alone(struct tty *t, int signo)
{
	/* Once continued it must not stop anew for the same key. */
	if (signo != SIGTSTP || !t->has_stopped)
		pass_on(t, signo, false);
}

static void
on_signal(struct watch *w, int signo, void *arg)
{
	struct tty *t = arg;
	bool is_terminal = loop_signal_code(w) == SI_KERNEL;

	if (t->pid_fd < 0) {
		on_early(t, signo);
		return;
	}
	if (signo == SIGWINCH)
		pty_resized(t->c.pty);
	else if (signo == SIGCONT)
		pty_continued(t->c.pty);
	else if (ends_us(signo))
		pty_abandon(t->c.pty);
	if (is_away(t))
		pass_away(t, signo);
	else if (!t->c.is_apart)
		ask(t, signo, is_terminal);
	else if (!is_terminal || (signo == SIGHUP && getsid(0) == getpid()))
		pass_on(t, signo, signo == SIGCONT);
	else if (signo != SIGWINCH)
		pass_on(t, signo, true);
}

/*
 * A program to which every key is a key paints the screen: a line of ours in
 * between would spoil it.  (A shell that edits its line keeps ISIG.)
 */
static bool
is_painted(void *arg)
{
	struct tty *t = arg;
	struct termios m;
	int rc;

	if (t->pid_fd < 0)
		return false;
	rc = t->c.pty != NULL ? pty_modes(t->c.pty, &m) :
	    tcgetattr(STDERR_FILENO, &m);
	if (rc != 0 || (m.c_lflag & (ICANON | ISIG)) != 0)
		return false;
	watch_after(t->look, LOOK_MS);
	return true;
}

static void
look(struct watch *w, int what, void *arg)
{
	(void)w;
	(void)what;
	if (!is_painted(arg))
		log_show();
}

struct tty *
tty_start(const struct tty_config *c)
{
	struct tty *t = calloc(1, sizeof *t);

	if (t == NULL)
		return NULL;
	t->c = *c;
	t->pid_fd = -1;
	t->term_fd = -1;
	sigemptyset(&t->waiting);
	sigemptyset(&t->pending);
	for (int fd = 0; fd <= 2 && t->term_fd < 0; fd++)
		if (isatty(fd))
			t->term_fd = fd;
	t->was_foreground = t->term_fd >= 0 &&
	    tcgetpgrp(t->term_fd) == getpgrp();
	/* With a relay they are its to keep. */
	t->has_modes = c->pty == NULL && t->was_foreground &&
	    tcgetattr(t->term_fd, &t->modes) == 0;
	auto_fd ctty = open("/dev/tty", O_RDONLY | O_NOCTTY | O_CLOEXEC);
	t->has_terminal = ctty >= 0;
	for (size_t i = 0; i < NSIGNALS; i++) {
		t->watch[i] = loop_signal(c->loop, passed_on[i], on_signal, t);
		if (t->watch[i] == NULL) {
			tty_free(t);
			return NULL;
		}
	}
	t->look = loop_after(c->loop, -1, look, t);
	if (t->look != NULL && log_fd() == STDERR_FILENO &&
	    isatty(STDERR_FILENO))
		log_hold(is_painted, t);
	return t;
}

void
tty_command(struct tty *t, int pid_fd, pid_t pid)
{
	t->pid_fd = pid_fd;
	t->pid = pid;
	pty_started(t->c.pty);
	(void)sigpending(&t->pending);
	for (size_t i = 0; i < NSIGNALS; i++) {
		if (sigismember(&t->waiting, passed_on[i]) != 1)
			continue;
		if (t->c.is_apart)
			pass_on(t, passed_on[i], false);
		else
			ask(t, passed_on[i], false);
	}
}

/* The parent, from the end of /proc/PID/stat: "... (name) S 123 ...". */
static pid_t
parent_of(pid_t pid)
{
	char path[64], text[1024];
	const char *p;
	int parent = 0;

	snprintf(path, sizeof path, "/proc/%d/stat", (int)pid);
	if (fd_read_file(AT_FDCWD, path, text, sizeof text) <= 0 ||
	    (p = strrchr(text, ')')) == NULL ||
	    sscanf(p, ") %*c %d", &parent) != 1)
		return 0;
	return parent;
}

/*
 * Is there a shell, of our session and not of our group, that could bring us
 * back?  The kernel does not stop a group without one at Ctrl-Z.
 */
static bool
has_keeper(void)
{
	enum { MOST = 64 };
	pid_t pid = getppid();

	for (int i = 0; i < MOST && pid > 0; i++) {
		if (getpgid(pid) != getpgrp())
			return getsid(pid) == getsid(0);
		pid = parent_of(pid);
	}
	return false;
}

/* The group that has the terminal is gone; a shell's `bg` leaves one. */
static bool
is_orphaned(int term_fd)
{
	pid_t group = tcgetpgrp(term_fd);

	return group > 0 && group != getpgrp() && kill(-group, 0) != 0 &&
	    errno == ESRCH;
}

/*
 * An inner shell cannot give the terminal back to our group, which has no
 * number inside.  SIGTTOU is blocked, so this cannot stop us.
 */
static bool
take_back(const struct tty *t)
{
	return !t->c.is_apart && t->was_foreground &&
	    is_orphaned(t->term_fd) &&
	    tcsetpgrp(t->term_fd, getpgrp()) == 0;
}

/*
 * The shell that started us waits for *us* to stop.  SIGCONT sent to the
 * group wakes the command by itself; one sent to fence-run alone comes back
 * here as a signal event and is passed on.
 */
void
tty_stopped(struct tty *t, int signo)
{
	/* Its own session has fence-init for a keeper, so it stopped where
	 * in ours it would not have. */
	if (t->c.is_apart && t->has_terminal && !has_keeper()) {
		if (signo == SIGTSTP)
			pass_on(t, SIGCONT, true);
		return;
	}
	/* Without a terminal nobody would ever wake us: whoever continues the
	 * command knows nothing of us. */
	if (!t->has_terminal)
		return;
	/* All of the group stopped, because one of it wanted it. */
	if ((signo == SIGTTIN || signo == SIGTTOU) && take_back(t)) {
		kill(0, SIGCONT);
		return;
	}
	sigdelset(&t->waiting, SIGTSTP);
	t->has_stopped = true;
	log_show();
	pty_stopped(t->c.pty);
	kill(getpid(), SIGSTOP);
}

/* ^Q would not help: only who asks for it by this call starts it again. */
void
tty_ended(struct tty *t)
{
	if (t != NULL && t->was_foreground)
		(void)tcflow(t->term_fd, TCOON);
}

void
tty_killed(struct tty *t)
{
	t->was_killed = true;
}

void
tty_free(struct tty *t)
{
	if (t == NULL)
		return;
	log_hold(NULL, NULL);
	(void)take_back(t);
	if (t->was_killed && t->has_modes && tcgetpgrp(t->term_fd) ==
	    getpgrp())
		(void)tcsetattr(t->term_fd, TCSANOW, &t->modes);
	for (size_t i = 0; i < NSIGNALS; i++)
		watch_free(t->watch[i]);
	watch_free(t->look);
	free(t);
}
