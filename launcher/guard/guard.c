#include "launcher/guard/guard.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/guard/guard_parts.h"
#include "platform/base/path.h"
#include "platform/base/xalloc.h"
#include "platform/fd.h"
#include "platform/name_filter.h"

enum {
	FINISH_MS = 10000,	/* beyond the bound of gitend.c */
	MAX_PLANTED = 20000,
};

struct guard *
guard_new(const struct guard_config *c, struct err *e)
{
	struct guard *g = xcalloc(1, sizeof *g);

	g->arena = arena_new();
	g->inotify_fd = g->sock = g->jail_fd = g->journal_fd = -1;
	g->agents_fd = -1;
	g->side_fd = -1;
	if (c->side != NULL) {
		g->side = *c->side;
		g->is_side_due = true;
	}
	guard_keep_init(&g->keep, c->quarantine);
	g->made_fd = c->made_fd;
	g->keep.max_bytes = c->max_bytes != 0 ? c->max_bytes :
	    GUARD_MAX_BYTES;
	g->max_planted = c->max_planted != 0 ? c->max_planted : MAX_PLANTED;
	guard_git_init(g, c);
	guard_agents_init(g, c);
	if (c->npaths == 0)
		return g;
	if (guard_names(g, c, e) == 0 && guard_folders(g, e) == 0) {
		guard_held_open(g);
		return g;
	}
	guard_free(g);
	return NULL;
}

/* ---- the process ---- */

static size_t
shared_size(const struct guard *g)
{
	return sizeof *g->shared + g->nleaves * sizeof *g->shared->results;
}

static int
share_memory(struct guard *g, struct err *e)
{
	void *p = mmap(NULL, shared_size(g), PROT_READ |
	    PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);

	if (p == MAP_FAILED)
		return err_sys(e, errno, "cannot map memory for the guard");
	g->shared = p;
	return 0;
}

int
guard_start(struct guard *g, pid_t jail_pid, struct err *e)
{
	int pair[2];

	if (g->nleaves == 0 && g->git.nroots == 0 && g->agents.nfiles == 0 &&
	    !g->is_side_due)
		return 0;
	if (share_memory(g, e) != 0 || guard_agents_start(g, e) != 0)
		return -1;
	g->jail_pid = jail_pid;
	g->jail_fd = (int)syscall(SYS_pidfd_open, jail_pid, 0);
	/* A short command may be done before we hear of its beginning. */
	if (g->jail_fd < 0 && errno != ESRCH)
		return err_sys(e, errno, "cannot watch the jail");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return err_sys(e, errno, "cannot make a socket pair");
	guard_git_start(g);
	g->start_ms = guard_now();
	g->pid = fork();
	if (g->pid == 0) {
		close(pair[0]);
		g->sock = pair[1];
		guard_main(g);
	}
	close(pair[1]);
	g->sock = pair[0];
	if (g->pid < 0) {
		g->pid = 0;
		fd_close(&g->sock);
		return err_sys(e, errno, "cannot fork the guard");
	}
	return 0;
}

void
guard_ending(struct guard *g)
{
	/* Before it has looked at anything there is nothing to let go of. */
	if (g->pid > 0 && !g->is_lost &&
	    guard_now() - g->start_ms >= GUARD_QUIET_MS)
		(void)fd_send(g->sock, GUARD_ENDING, 1, NULL, 0,
		    MSG_DONTWAIT);
}

int
guard_fd(const struct guard *g)
{
	return g->is_lost ? -1 : g->sock;
}

/* ---- what it says ---- */

/* The path without its last `up` components. */
static bool
cut_path(const char *path, unsigned up, char ret[PATH_MAX])
{
	size_t n = strlen(path);

	if (n >= PATH_MAX)
		return false;
	memcpy(ret, path, n + 1);
	while (up > 0 && path_cut(ret))
		up--;
	return up == 0;
}

/* It read names that the jail chose: believe nothing but the form. */
static bool
is_sound(const struct guard *g, const struct guard_msg *m, size_t len)
{
	if (len <= offsetof(struct guard_msg, to) || len > sizeof *m ||
	    ((const char *)m)[len - 1] != '\0' || m->magic != GUARD_MAGIC)
		return false;
	if (m->what == GUARD_SAYS_DONE)
		return true;
	if (m->what == GUARD_SAYS_LINE)
		return guard_side_is_line(m->to);
	if (m->what == GUARD_SAYS_GIT)
		return m->deed <= GUARD_PUT_BACK && m->count > 0 &&
		    (m->index == GUARD_GIT || m->index == GUARD_STATE);
	return m->what == GUARD_SAYS_TOLD && m->deed < GUARD_NDEEDS &&
	    m->index < g->nleaves && m->count > 0 &&
	    (m->to[0] == '/' || m->to[0] == '\0');
}

static void
pass_on(struct guard *g, const struct guard_msg *m)
{
	struct leaf *l = &g->leaves[m->index];
	char path[PATH_MAX];
	struct guard_told t = { .deed = (enum guard_deed)m->deed,
	    .kind = l->kind, .path = path, .to = m->to[0] != '\0' ? m->to :
	    NULL, .sys = m->sys, .count = m->count };

	l->is_replaced |= t.deed == GUARD_REMASKED;
	if (g->told != NULL && cut_path(l->path, m->up, path))
		g->told(&t, g->told_arg);
}

static void
pass_on_line(struct guard *g, const struct guard_msg *m)
{
	struct guard_told t = { .deed = GUARD_SAID, .kind = GUARD_GIT,
	    .what = m->to, .count = 1 };

	if (g->told != NULL)
		g->told(&t, g->told_arg);
}

/* false: it talks nonsense. */
static bool
pass_on_git(struct guard *g, const struct guard_msg *m, size_t len)
{
	struct guard_told t = { .deed = (enum guard_deed)m->deed,
	    .kind = (enum guard_kind)m->index, .sys = m->sys,
	    .count = m->count };

	if (!guard_git_unpack(m->to, len - offsetof(struct guard_msg, to),
	    &t))
		return false;
	if (g->told != NULL)
		g->told(&t, g->told_arg);
	return true;
}

/* 1: a message, 0: none now, -1: it is gone or talks nonsense. */
static int
read_one(struct guard *g)
{
	struct guard_msg m;
	ssize_t n = fd_recv(g->sock, &m, sizeof m, NULL, 0, NULL,
	    MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return 0;
	if (n <= 0 || !is_sound(g, &m, (size_t)n)) {
		g->is_lost = true;
		return -1;
	}
	if (m.what == GUARD_SAYS_DONE)
		g->is_done = true;
	else if (m.what == GUARD_SAYS_TOLD)
		pass_on(g, &m);
	else if (m.what == GUARD_SAYS_LINE)
		pass_on_line(g, &m);
	else if (!pass_on_git(g, &m, (size_t)n)) {
		g->is_lost = true;
		return -1;
	}
	return 1;
}

int
guard_ready(struct guard *g, void (*told)(const struct guard_told *,
    void *arg), void *arg)
{
	int rc = 0;

	if (g->is_lost)
		return -1;
	g->told = told;
	g->told_arg = arg;
	while (g->sock >= 0 && (rc = read_one(g)) > 0)
		continue;
	return rc;
}

/* ---- the end ---- */

static int
tell_here(struct guard *g, const struct guard_told *t, const struct leaf *l,
    unsigned up)
{
	struct guard_told here = *t;
	char path[PATH_MAX];

	if (l == NULL) {
		if (g->told != NULL)
			g->told(t, g->told_arg);
		return 0;
	}
	here.path = path;
	if (g->told != NULL && cut_path(l->path, up, path))
		g->told(&here, g->told_arg);
	return 0;
}

/* Until it says that it is done, ends, or is too slow. */
static void
ask_for_last(struct guard *g)
{
	struct pollfd p = { .fd = g->sock, .events = POLLIN };
	int64_t end = guard_now() + FINISH_MS, left;

	if (g->is_lost || fd_send(g->sock, GUARD_FINISH, 1, NULL, 0,
	    0) != 1)
		return;
	while (!g->is_done && (left = end - guard_now()) > 0) {
		if (poll(&p, 1, (int)left) > 0 && read_one(g) < 0)
			return;
	}
}

/* It has nothing left to do; guard_free() waits for its end. */
static void
dismiss(struct guard *g)
{
	if (!g->is_done)
		kill(g->pid, SIGKILL);
	g->ended_pid = g->pid;
	g->pid = 0;
	fd_close(&g->sock);
}

/* Folders of names; most names are in the same as the one before. */
struct way {
	char	 path[PATH_MAX];
	size_t	 len;
};

/* How much of the way to path, n bytes, is the one that was looked at last. */
static size_t
way_known(const struct way *w, const char *path, size_t n)
{
	size_t i = 0;

	while (i < w->len && i < n && w->path[i] == path[i])
		i++;
	if ((i == w->len || w->path[i] == '/') && (i == n || path[i] == '/'))
		return i;
	while (i > 0 && path[i] != '/')
		i--;
	return i;
}

/* Is there no symlink in the way to this path? */
static bool
is_straight(struct way *w, const char *path)
{
	size_t n = path_dir_len(path), known;
	struct stat st;

	if (n >= sizeof w->path)
		return false;
	known = way_known(w, path, n);
	memcpy(w->path, path, n);
	w->len = n;
	for (; n > known; n--) {
		if (n < w->len && path[n] != '/')
			continue;
		w->path[n] = '\0';
		if (lstat(w->path, &st) == 0 && S_ISLNK(st.st_mode))
			return false;
	}
	memcpy(w->path, path, w->len);
	return true;
}

/* Writable trees whose names are listed once for a last look. */
enum { LISTED = 2 };

struct last_look {
	struct way		 way;
	struct name_filter	 names[LISTED];
};

static void
last_look_begin(struct last_look *look, const struct guard *g)
{
	look->way.len = 0;
	for (size_t i = 0; i < LISTED && i < g->git.nroots; i++)
		name_filter_read(&look->names[i], g->git.roots[i]);
}

static bool
is_lacking(const struct last_look *look, const struct guard *g,
    const char *path)
{
	for (size_t i = 0; i < LISTED && i < g->git.nroots; i++) {
		size_t n = strlen(g->git.roots[i]);

		if (strncmp(path, g->git.roots[i], n) == 0 &&
		    path[n] == '/')
			return name_filter_lacks(&look->names[i],
			    path + n + 1);
	}
	return false;
}

/* Does anything lie where nothing may, or is a link not what it was? */
static bool
is_as_planned(struct last_look *look, const struct guard *g,
    const struct leaf *l)
{
	char text[PATH_MAX];
	struct stat st;
	ssize_t n;

	if (l->kind == GUARD_LINK) {
		n = readlink(l->path, text, sizeof text);
		return n >= 0 && strlen(l->text) == (size_t)n &&
		    memcmp(text, l->text, (size_t)n) == 0;
	}
	if (l->was_there && !l->is_beyond)
		return lstat(l->path, &st) != 0 || guard_held_is(l, &st);
	if (l->kind != GUARD_ABSENT || is_lacking(look, g, l->path))
		return true;
	return is_straight(&look->way, l->path) && lstat(l->path, &st) != 0 &&
	    (errno == ENOENT || errno == ENOTDIR);
}

/*
 * A short run: the process has not looked at anything yet.  Where all is as
 * it was there is nothing to wait for.
 */
static bool
is_over_early(struct guard *g)
{
	struct last_look look;

	if (g->pid <= 0 || g->is_side_due ||
	    guard_now() - g->start_ms >= GUARD_QUIET_MS)
		return false;
	last_look_begin(&look, g);
	for (size_t i = 0; i < g->nleaves; i++)
		if (!is_as_planned(&look, g, &g->leaves[i]))
			return false;
	return guard_agents_is_over(g) && guard_git_is_over(g);
}

int
guard_finish(struct guard *g, void (*told)(const struct guard_told *,
    void *arg), void *arg)
{
	g->told = told;
	g->told_arg = arg;
	if (is_over_early(g)) {
		kill(g->pid, SIGKILL);
		g->is_done = true;
	}
	if (g->pid > 0) {
		if (!g->is_done)
			ask_for_last(g);
		dismiss(g);
	}
	if (!g->is_done) {
		g->tell = tell_here;
		guard_last(g);
		g->is_done = true;
	}
	return g->is_lost ? -1 : 0;
}

void
guard_free(struct guard *g)
{
	if (g == NULL)
		return;
	if (g->pid > 0)
		(void)guard_finish(g, NULL, NULL);
	while (g->ended_pid > 0 && waitpid(g->ended_pid, NULL, 0) < 0 &&
	    errno == EINTR)
		continue;
	if (g->shared != NULL) {
		guard_git_unjournal(g);
		guard_agents_unjournal(g);
		munmap(g->shared, shared_size(g));
	}
	fd_close(&g->jail_fd);
	fd_close(&g->journal_fd);
	fd_close(&g->sock);
	guard_folders_free(g);
	guard_held_close(g);
	guard_chores_free(g);
	guard_keep_release(&g->keep);
	arena_free(g->arena);
	free(g);
}
