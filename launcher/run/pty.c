#include "launcher/run/pty.h"

#include <errno.h>
#include <fcntl.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/stat.h>
#include <termios.h>
#include <unistd.h>

#include "platform/fd.h"

enum {
	IN_BYTES = 4096, OUT_BYTES = 16 * 1024,
	TURN_MAX = 16,		/* reads before others get a turn */
	LOOK_MS = 200,		/* in the background: are we still? */
};

struct pty {
	struct loop	*loop;
	int		 master_fd;	/* non-blocking, and so is this: */
	int		 term_fd;	/* ours, opened anew */
	int		 lines_fd;	/* what we print ourselves, or -1 */
	int		 stderr_fd;	/* the real one meanwhile, or -1 */
	struct watch	*master, *term, *lines, *look;
	struct termios	 saved;		/* valid while is_raw */
	bool		 is_started;
	bool		 is_raw;	/* or as good as, before the start */
	bool		 is_ended;	/* the command's side: nothing comes */
	bool		 is_deaf;	/* ours takes nothing any more */
	void		(*done)(void *);	/* set: finishing */
	void		*arg;
	size_t		 nin, nout;
	char		 in[IN_BYTES], out[OUT_BYTES];
};

/* ---- our terminal ---- */

static bool
is_foreground(const struct pty *p)
{
	pid_t group = tcgetpgrp(p->term_fd);

	/* Not our session's: nobody takes it away from us. */
	return group < 0 || group == getpgrp();
}

static void
interest(struct pty *p)
{
	if (p->term != NULL)
		watch_events(p->term,
		    (p->is_raw && p->is_started && p->nin == 0 ?
		    LOOP_READ : 0) |
		    (p->nout > 0 ? LOOP_WRITE : 0));
	if (p->master != NULL)
		watch_events(p->master, p->is_ended ? 0 :
		    (p->nout == 0 ? LOOP_READ : 0) |
		    (p->nin > 0 ? LOOP_WRITE : 0));
	if (p->lines != NULL)
		watch_events(p->lines, p->nout == 0 ? LOOP_READ : 0);
}

static void
copy_size(const struct pty *p)
{
	struct winsize ws;

	/* The kernel tells the command's foreground group if it changed. */
	if (ioctl(p->term_fd, TIOCGWINSZ, &ws) == 0)
		(void)ioctl(p->master_fd, TIOCSWINSZ, &ws);
}

static void
leave_raw(struct pty *p)
{
	/*
	 * Not draining: that could wait for ever.  In the background its
	 * modes are somebody else's by now.
	 */
	if (p->is_raw && is_foreground(p))
		(void)tcsetattr(p->term_fd, TCSANOW, &p->saved);
	p->is_raw = false;
}

/*
 * Before the command runs, the keys it will get are kept as they are typed,
 * for its own terminal to make of them what they mean; but those that are
 * signals are ours, and lines that we print end as ever.
 */
static int
set_raw(struct pty *p)
{
	struct termios raw = p->saved;

	cfmakeraw(&raw);
	if (!p->is_started) {
		raw.c_lflag |= p->saved.c_lflag & ISIG;
		raw.c_oflag = p->saved.c_oflag;
	}
	return tcsetattr(p->term_fd, TCSANOW, &raw);
}

/*
 * What was typed while lines were taken.  An end of file among it is a NUL by
 * now; the command's own terminal wants the key.
 */
static void
take_typed(struct pty *p)
{
	ssize_t n = read(p->term_fd, p->in, sizeof p->in);

	p->nin = n > 0 ? (size_t)n : 0;
	for (size_t i = 0; i < p->nin; i++)
		if (p->in[i] == '\0')
			p->in[i] = (char)p->saved.c_cc[VEOF];
}

/* A shell's `fg` of a job that runs comes without any signal. */
static void
enter_raw(struct pty *p)
{
	if (!is_foreground(p)) {
		if (p->is_started)
			watch_after(p->look, LOOK_MS);
		return;
	}
	copy_size(p);
	if (p->is_raw || tcgetattr(p->term_fd, &p->saved) != 0)
		return;
	p->is_raw = set_raw(p) == 0;
	if (p->is_raw && !p->is_started && (p->saved.c_lflag & ICANON) != 0)
		take_typed(p);
}

static void
look(struct watch *w, int what, void *arg)
{
	struct pty *p = arg;

	(void)w;
	(void)what;
	enter_raw(p);
	interest(p);
}

/* ---- bytes ---- */

static void
write_out(struct pty *p)
{
	size_t at = 0;

	while (at < p->nout && !p->is_deaf) {
		ssize_t n = write(p->term_fd, p->out + at, p->nout - at);

		if (n > 0)
			at += (size_t)n;
		else if (n < 0 && errno == EINTR)
			continue;
		else if (n < 0 && errno == EAGAIN)
			break;
		else
			p->is_deaf = true;
	}
	if (p->is_deaf)
		at = p->nout;
	memmove(p->out, p->out + at, p->nout - at);
	p->nout -= at;
}

static void
write_in(struct pty *p)
{
	ssize_t n = write(p->master_fd, p->in, p->nin);

	if (n < 0 && errno != EAGAIN && errno != EINTR)
		n = (ssize_t)p->nin;	/* nobody is there to read it */
	if (n <= 0)
		return;
	memmove(p->in, p->in + n, p->nin - (size_t)n);
	p->nin -= (size_t)n;
}

/* Takes over output of the command; 0 when all that it wrote is read. */
static int
pump(struct pty *p)
{
	ssize_t n = read(p->master_fd, p->out, sizeof p->out);

	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n <= 0) {		/* EIO: its last process closed it */
		p->is_ended = true;
		return 0;
	}
	p->nout = (size_t)n;
	write_out(p);
	return 1;
}

/* Our own lines: the terminal is raw, so they bring their \r. */
static int
pump_lines(struct pty *p)
{
	char text[OUT_BYTES / 2];
	ssize_t n = read(p->lines_fd, text, sizeof text);

	for (ssize_t i = 0; i < n; i++) {
		if (text[i] == '\n')
			p->out[p->nout++] = '\r';
		p->out[p->nout++] = text[i];
	}
	write_out(p);
	return n > 0;
}

/* With everything read and written a finishing relay is done. */
static void
relay(struct pty *p)
{
	void (*done)(void *) = p->done;
	bool is_dry = p->is_ended;

	for (int i = 0; i < TURN_MAX && p->nout == 0 && !is_dry; i++)
		is_dry = pump(p) == 0;
	interest(p);
	if (done == NULL || p->nout > 0 || !is_dry)
		return;
	p->done = NULL;
	done(p->arg);
}

static void
master_ready(struct watch *w, int what, void *arg)
{
	struct pty *p = arg;

	(void)w;
	if ((what & LOOP_WRITE) != 0 && p->nin > 0)
		write_in(p);
	relay(p);
}

static void
term_ready(struct watch *w, int what, void *arg)
{
	struct pty *p = arg;
	ssize_t n;

	(void)w;
	if (p->nout > 0)
		write_out(p);
	if ((what & LOOP_READ) != 0 && p->is_raw && p->nin == 0) {
		n = read(p->term_fd, p->in, sizeof p->in);
		if (n > 0) {
			p->nin = (size_t)n;
			write_in(p);
		} else if (n == 0 || (errno != EAGAIN && errno != EINTR)) {
			/* Hung up, or taken away from us. */
			leave_raw(p);
			watch_after(p->look, LOOK_MS);
		}
	}
	relay(p);
}

static void
lines_ready(struct watch *w, int what, void *arg)
{
	struct pty *p = arg;

	(void)w;
	(void)what;
	if (p->nout == 0)
		(void)pump_lines(p);
	interest(p);
}

/* ---- life ---- */

/* One terminal, for what is read and for what is written? */
static bool
has_terminal(void)
{
	struct stat in, out;

	return isatty(STDIN_FILENO) && isatty(STDOUT_FILENO) &&
	    fstat(STDIN_FILENO, &in) == 0 && fstat(STDOUT_FILENO, &out) == 0
	    && in.st_rdev == out.st_rdev;
}

/*
 * Non-blocking without making the caller's so, whose description it shares.
 * The node of a terminal need not be ours (su); /dev/tty always opens.
 */
static int
open_own(struct err *e)
{
	int fd = open(tcgetpgrp(STDIN_FILENO) >= 0 ? "/dev/tty" :
	    "/proc/self/fd/0", O_RDWR | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);

	if (fd < 0)
		err_sys(e, errno, "--force-new-session: cannot open the "
		    "terminal");
	return fd;
}

static int
open_pair(struct pty *p, int *ret_fd, struct err *e)
{
	struct termios modes;
	auto_fd fd = -1;

	p->master_fd = posix_openpt(O_RDWR | O_NOCTTY | O_CLOEXEC);
	if (p->master_fd < 0 || unlockpt(p->master_fd) != 0 ||
	    (fd = ioctl(p->master_fd, TIOCGPTPEER, O_RDWR | O_NOCTTY |
	    O_CLOEXEC)) < 0 || fd_nonblock(p->master_fd, 1) != 0)
		return err_sys(e, errno, "--force-new-session: cannot make a "
		    "terminal");
	/* In the background its modes are those of a shell that edits. */
	if (is_foreground(p) && tcgetattr(p->term_fd, &modes) == 0)
		(void)tcsetattr(fd, TCSANOW, &modes);
	copy_size(p);
	*ret_fd = fd_take(&fd);
	return 0;
}

/* Asleep until the command runs. */
static int
watch_both(struct pty *p, struct err *e)
{
	p->look = loop_after(p->loop, -1, look, p);
	p->term = loop_fd(p->loop, p->term_fd, 0, term_ready, p);
	p->master = loop_fd(p->loop, p->master_fd, 0, master_ready, p);
	if (p->look == NULL || p->term == NULL || p->master == NULL)
		return err_sys(e, errno, "--force-new-session: cannot watch "
		    "the terminal");
	return 0;
}

int
pty_open(struct loop *loop, struct pty **ret, int *ret_fd, struct err *e)
{
	struct pty *p;

	*ret = NULL;
	if (!has_terminal())
		return 0;
	p = calloc(1, sizeof *p);
	if (p == NULL)
		return err_set(e, ERR_JAIL, "out of memory");
	p->loop = loop;
	p->master_fd = p->lines_fd = p->stderr_fd = -1;
	p->term_fd = open_own(e);
	if (p->term_fd < 0 || open_pair(p, ret_fd, e) != 0 ||
	    watch_both(p, e) != 0) {
		pty_free(p);
		return -1;
	}
	enter_raw(p);
	*ret = p;
	return 0;
}

/* What we print goes through a pipe of ours while the terminal is raw. */
static void
take_stderr(struct pty *p)
{
	int pair[2];

	if (!isatty(STDERR_FILENO) || pipe2(pair, O_CLOEXEC | O_NONBLOCK) !=
	    0)
		return;
	p->lines_fd = pair[0];
	p->stderr_fd = fcntl(STDERR_FILENO, F_DUPFD_CLOEXEC, 3);
	if (p->stderr_fd >= 0)
		(void)dup3(pair[1], STDERR_FILENO, O_CLOEXEC);
	close(pair[1]);
	p->lines = loop_fd(p->loop, p->lines_fd, LOOP_READ, lines_ready, p);
}

static void
give_stderr_back(struct pty *p)
{
	if (p->stderr_fd < 0)
		return;
	/* Not close-on-exec: it is stderr again. */
	(void)dup2(p->stderr_fd, STDERR_FILENO);
	fd_close(&p->stderr_fd);
	while (p->nout == 0 && pump_lines(p) > 0)
		continue;
}

void
pty_started(struct pty *p)
{
	if (p == NULL)
		return;
	p->is_started = true;
	take_stderr(p);
	if (p->is_raw && is_foreground(p)) {
		copy_size(p);
		(void)set_raw(p);
	} else {
		p->is_raw = false;
		enter_raw(p);
	}
	interest(p);
}

void
pty_resized(struct pty *p)
{
	if (p != NULL)
		copy_size(p);
}

void
pty_stopped(struct pty *p)
{
	if (p == NULL)
		return;
	relay(p);
	while (p->nout == 0 && pump_lines(p) > 0)
		continue;
	leave_raw(p);
	interest(p);
}

int
pty_modes(struct pty *p, struct termios *ret)
{
	return tcgetattr(p->master_fd, ret);
}

void
pty_continued(struct pty *p)
{
	if (p == NULL || !p->is_started)
		return;
	enter_raw(p);
	interest(p);
}

void
pty_finish(struct pty *p, void (*done)(void *), void *arg)
{
	if (p == NULL) {
		done(arg);
		return;
	}
	p->done = done;
	p->arg = arg;
	relay(p);
}

void
pty_abandon(struct pty *p)
{
	if (p == NULL || p->done == NULL)
		return;
	p->is_deaf = true;
	write_out(p);
	relay(p);
}

void
pty_free(struct pty *p)
{
	if (p == NULL)
		return;
	give_stderr_back(p);
	leave_raw(p);
	watch_free(p->master);
	watch_free(p->term);
	watch_free(p->lines);
	watch_free(p->look);
	fd_close(&p->master_fd);
	fd_close(&p->term_fd);
	fd_close(&p->lines_fd);
	free(p);
}
