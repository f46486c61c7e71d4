/*
 * The process of the guard.  It is the launcher's child and not the jail's
 * neighbour: of the launcher it keeps the folders, its end of the socket and
 * stderr.  When the socket ends, the launcher was killed; then
 * the jail is dying, and one sweep is left to do.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "launcher/guard/guard_parts.h"
#include "launcher/guard/guard_text.h"
#include "platform/base/buf.h"
#include "platform/base/clock.h"
#include "platform/base/str.h"
#include "platform/confine.h"
#include "platform/fd.h"

enum {
	SWEEPS = 5,		/* at the end; the host goes on making names */
	JAIL_MS = 2000,		/* until a jail without a launcher is gone */
	FLUSH_MS = 1000,
	SEND_MS = 2000,
	TICK_MS = 50, SOON_MS = 5,
	BLIND_MS = 200,		/* between sweeps where watching fails */
	READS = 64,		/* of events, at the end */
	EXIT_GUARD = 125,
	SIDE_FDS = 128,
};

int64_t
guard_now(void)
{
	return clock_ms(CLOCK_MONOTONIC) + 1;
}

/* ---- telling ---- */

static int
tell(struct guard *g, struct leaf *l, enum guard_deed deed,
    const struct due *d, const struct kept *kept)
{
	struct guard_told t = { .deed = deed, .kind = l->kind,
	    .path = l->path, .sys = d->sys, .count = d->count };
	char to[PATH_MAX];

	if ((deed == GUARD_MOVED || (deed == GUARD_REMOVED &&
	    kept != NULL && kept->is_aside)) && kept != NULL &&
	    guard_kept_path(g, kept, to) == 0)
		t.to = to;
	return g->tell == NULL ? 0 : g->tell(g, &t, l, kept != NULL ?
	    l->name->depth - kept->name->depth : 0);
}

void
guard_say(struct guard *g, struct leaf *l, enum guard_deed deed, int sys,
    const struct kept *kept)
{
	struct due d = { 1, sys };

	if ((l->ntold < GUARD_SINGLE || deed == GUARD_FLOODED) && tell(g, l, deed, &d, kept) == 0) {
		l->ntold++;
		return;
	}
	g->ndue += l->due[deed].count == 0;
	l->due[deed].count++;
	l->due[deed].sys = sys;
}

static void
flush_leaf(struct guard *g, struct leaf *l, int64_t now)
{
	for (int i = 0; i < GUARD_NDEEDS; i++) {
		struct due *d = &l->due[i];

		if (d->count == 0 || tell(g, l, (enum guard_deed)i, d,
		    l->nkept > 0 ? &l->kept[0] : NULL) != 0)
			continue;
		*d = (struct due){ 0 };
		g->ndue--;
		l->told_ms = now;
	}
}

static void
guard_flush(struct guard *g, bool is_last)
{
	int64_t now = guard_now();

	for (size_t i = 0; i < g->nleaves && g->ndue > 0; i++)
		if (is_last || now - g->leaves[i].told_ms >= FLUSH_MS)
			flush_leaf(g, &g->leaves[i], now);
}

static int
send_msg(struct guard *g, const struct guard_msg *m, size_t len)
{
	struct pollfd p = { .fd = g->sock, .events = POLLOUT };
	int64_t end = guard_now() + SEND_MS;

	while (fd_send(g->sock, m, len, NULL, 0, MSG_DONTWAIT) < 0) {
		if (errno != EAGAIN || !g->is_final || guard_now() >= end)
			return -1;
		(void)poll(&p, 1, TICK_MS);
	}
	return 0;
}

static int
tell_launcher_git(struct guard *g, const struct guard_told *t)
{
	struct guard_msg m = { .magic = GUARD_MAGIC, .what = GUARD_SAYS_GIT,
	    .index = t->kind, .deed = t->deed, .count = t->count,
	    .sys = t->sys };
	size_t n = 0;

	if (t->deed == GUARD_SAID) {
		m.what = GUARD_SAYS_LINE;
		snprintf(m.to, sizeof m.to, "%s", t->what);
		n = strlen(m.to) + 1;
	} else
		n = guard_git_pack(t, m.to, sizeof m.to);

	return n == 0 ? 0 : send_msg(g, &m, offsetof(struct guard_msg, to) +
	    n);
}

static int
tell_launcher(struct guard *g, const struct guard_told *t,
    const struct leaf *l, unsigned up)
{
	if (l == NULL)
		return tell_launcher_git(g, t);
	struct guard_msg m = { .magic = GUARD_MAGIC, .what = GUARD_SAYS_TOLD,
	    .up = (uint16_t)up, .deed = t->deed,
	    .index = (uint32_t)(l - g->leaves), .count = t->count,
	    .sys = t->sys };

	if (t->to != NULL)
		snprintf(m.to, sizeof m.to, "%s", t->to);
	return send_msg(g, &m, offsetof(struct guard_msg, to) +
	    strlen(m.to) + 1);
}

static int
tell_stderr_git(const struct guard_told *t)
{
	struct buf b;

	buf_init(&b, 16 * PATH_MAX);
	buf_puts(&b, "fence: ");
	if (t->deed == GUARD_SAID)
		buf_puts(&b, t->what);
	else
		guard_text_git(&b, t);
	buf_putc(&b, '\n');
	(void)!write(STDERR_FILENO, b.data, b.len);
	buf_release(&b);
	return 0;
}

/* Nobody else is left to say it. */
static int
tell_stderr(struct guard *g, const struct guard_told *t,
    const struct leaf *l, unsigned up)
{
	static const char *const did[] = { [GUARD_MOVED] = "moved to ",
	    [GUARD_REMOVED] = "removed", [GUARD_REMASKED] = NULL,
	    [GUARD_FAILED] = "cannot be moved: ",
	    [GUARD_REPLACED] = NULL, [GUARD_FLOODED] = NULL };
	struct buf b;

	(void)g;
	(void)up;
	if (l == NULL)
		return tell_stderr_git(t);
	if (did[t->deed] == NULL)
		return 0;
	buf_init(&b, 4 * PATH_MAX);
	buf_puts(&b, "fence: a guarded name appeared: '");
	str_escape(&b, l->path, strlen(l->path), '\'');
	buf_printf(&b, "': %s", did[t->deed]);
	if (t->to != NULL) {
		buf_putc(&b, '\'');
		str_escape(&b, t->to, strlen(t->to), '\'');
		buf_putc(&b, '\'');
	} else if (t->deed == GUARD_FAILED)
		buf_puts(&b, strerror(t->sys));
	buf_putc(&b, '\n');
	(void)!write(STDERR_FILENO, b.data, b.len);
	buf_release(&b);
	return 0;
}

/* ---- the last look ---- */

void
guard_last(struct guard *g)
{
	g->is_final = g->is_over = true;
	for (int i = 0; i < SWEEPS; i++) {
		unsigned was = g->nfound;

		guard_look_all(g);
		if (g->nfound == was)
			break;
	}
	guard_chores_last(g);
	guard_held_tell(g);
	guard_flush(g, true);
	guard_agents_last(g);
	guard_side_last(g);
	guard_git_last(g);
	/* Last: it may have made the folder of both journals. */
	guard_agents_unjournal(g);
}

static _Noreturn void
finish(struct guard *g)
{
	struct guard_msg m = { .magic = GUARD_MAGIC,
	    .what = GUARD_SAYS_DONE };

	guard_last(g);
	(void)send_msg(g, &m, offsetof(struct guard_msg, to) + 1);
	_exit(0);
}

static _Noreturn void
orphan(struct guard *g)
{
	struct pollfd p = { .fd = g->jail_fd, .events = POLLIN };

	if (g->jail_fd >= 0)
		(void)poll(&p, 1, JAIL_MS);
	g->tell = tell_stderr;
	guard_last(g);
	_exit(0);
}

/* ---- the loop ---- */

/* Were there any? */
static bool
read_events(struct guard *g)
{
	static char data[64 << 10]
	    __attribute__((aligned(__alignof__(struct inotify_event))));
	ssize_t n = read(g->inotify_fd, data, sizeof data);

	for (ssize_t at = 0; at < n; ) {
		const struct inotify_event *ev = (void *)(data + at);

		guard_look_event(g, ev);
		at += (ssize_t)(sizeof *ev + ev->len);
	}
	guard_folder_bury(g);
	return n > 0;
}

/*
 * What happened while we watched is looked at as such: afterwards nobody can
 * say how it came there.
 */
static void
read_last_events(struct guard *g)
{
	for (int i = 0; i < READS && read_events(g); i++)
		continue;
}

static void
read_word(struct guard *g)
{
	char word;
	ssize_t n = recv(g->sock, &word, 1, MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return;
	if (!g->is_over && g->inotify_fd >= 0)
		read_last_events(g);
	if (n == 1 && word == GUARD_FINISH[0])
		finish(g);
	if (n <= 0)
		orphan(g);
	else
		guard_folders_unwatch(g);
}

/*
 * To let go of a watch takes the kernel some milliseconds, for which whoever
 * reaps us would wait.  A run that is over sooner than it takes to notice is
 * not watched at all: the last look finds the same.
 */
static void
begin(struct guard *g)
{
	struct pollfd p = { .fd = g->sock, .events = POLLIN };

	if (poll(&p, 1, 0) > 0)
		read_word(g);
	if (guard_folders_watch(g) != 0) {
		g->is_blind = true;
		if (g->nleaves > 0)
			guard_say(g, &g->leaves[0], GUARD_FAILED, errno,
			    NULL);
	}
	guard_look_all(g);
}

static int
patience(const struct guard *g, bool is_masked)
{
	if (!is_masked || guard_chores_wait(g))
		return SOON_MS;
	if (g->chores.pid > 0 || g->keep.nspares > 0 || g->ndue > 0)
		return TICK_MS;
	return g->is_blind ? BLIND_MS : -1;
}

static _Noreturn void
loop(struct guard *g)
{
	struct pollfd p[3] = { { .fd = g->sock, .events = POLLIN } };
	bool is_masked;

	begin(g);
	guard_side_watch(g);
	p[1] = (struct pollfd){ .fd = g->inotify_fd, .events = POLLIN };
	p[2] = (struct pollfd){ .fd = g->side_fd, .events = POLLIN };
	for (;;) {
		if (g->must_sweep || g->is_blind)
			guard_look_all(g);
		is_masked = guard_mask(g);
		guard_flush(g, false);
		guard_chores(g);
		(void)poll(p, 3, patience(g, is_masked));
		if (p[0].revents != 0)
			read_word(g);
		if (p[1].revents != 0)
			(void)read_events(g);
		if (p[2].revents != 0)
			guard_side_ready(g);
	}
}

/* ---- the beginning ---- */

static int
compare_fds(const void *a, const void *b)
{
	return *(const int *)a - *(const int *)b;
}

static void
close_between(unsigned from, unsigned to)
{
	enum { NR_CLOSE_RANGE = 436 };

	if (from > to || syscall(NR_CLOSE_RANGE, from, to, 0) == 0)
		return;
	for (unsigned fd = from; fd <= to && fd < 65536; fd++)
		close((int)fd);		/* before Linux 5.9 */
}

/* The command's pipes must close when the command does. */
static int
close_others(const struct guard *g)
{
	int keep[1024], null;
	size_t n = 0;
	unsigned next = STDERR_FILENO + 1;

	keep[n++] = g->sock;
	keep[n++] = g->jail_fd;
	keep[n++] = g->keep.base_fd;
	keep[n++] = g->made_fd;
	keep[n++] = g->agents_fd;
	if (g->is_side_due)
		n += g->side.fds(g->side.arg, keep + n, SIDE_FDS);
	for (const struct folder *f = g->folders; f != NULL; f = f->next)
		if (f->fd >= 0 && n < sizeof keep / sizeof *keep)
			keep[n++] = f->fd;
	for (size_t i = 0; i < g->nleaves; i++)
		if (g->leaves[i].held_fd >= 0 && n < sizeof keep /
		    sizeof *keep)
			keep[n++] = g->leaves[i].held_fd;
	qsort(keep, n, sizeof *keep, compare_fds);
	for (size_t i = 0; i < n; i++) {
		if (keep[i] < (int)next)
			continue;
		close_between(next, (unsigned)keep[i] - 1);
		next = (unsigned)keep[i] + 1;
	}
	close_between(next, ~0u);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	for (int fd = STDIN_FILENO; fd <= STDOUT_FILENO; fd++)
		/* Not close-on-exec: stdio, and nothing is executed here. */
		if (null < 0 || dup2(null, fd) < 0)
			return -1;
	close(null);
	return 0;
}

/* No signal but SIGKILL is for us: the launcher answers to the terminal. */
static void
hear_nothing(void)
{
	static const int signals[] = { SIGINT, SIGTERM, SIGHUP, SIGQUIT,
	    SIGTSTP, SIGTTIN, SIGTTOU, SIGPIPE, SIGIO, SIGUSR1, SIGUSR2,
	    SIGALRM, SIGXFSZ };
	sigset_t all;

	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, NULL);
	for (size_t i = 0; i < sizeof signals / sizeof *signals; i++)
		signal(signals[i], SIG_IGN);
	signal(SIGCHLD, SIG_DFL);
	(void)setpgid(0, 0);
}

_Noreturn void
guard_main(struct guard *g)
{
	static const __rlimit_resource_t raised[] = { RLIMIT_NOFILE,
	    RLIMIT_FSIZE };
	struct pollfd p = { .fd = g->sock, .events = POLLIN };
	struct err e = { 0 };
	struct rlimit lim;

	/* Out of the way while the command starts: see begin(). */
	(void)poll(&p, 1, GUARD_QUIET_MS);
	prctl(PR_SET_NAME, "fence-guard", 0, 0, 0);
	hear_nothing();
	umask(077);
	if (chdir("/") != 0 || close_others(g) != 0)
		_exit(EXIT_GUARD);
	for (size_t i = 0; i < sizeof raised / sizeof *raised; i++)
		if (getrlimit(raised[i], &lim) == 0) {
			lim.rlim_cur = lim.rlim_max;
			(void)setrlimit(raised[i], &lim);
		}
	g->is_process = true;
	g->tell = tell_launcher;
	guard_git_journal(g);
	if (confine_guard(&e) != 0)
		_exit(EXIT_GUARD);
	loop(g);
}
