#include "launcher/exec/exec_watch.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "launcher/exec/exec_facts.h"
#include "launcher/exec/exec_judge.h"
#include "launcher/exec/exec_part.h"
#include "launcher/exec/exec_repeats.h"
#include "launcher/exec/exec_screen.h"
#include "launcher/record/who.h"
#include "platform/base/arena.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/fd.h"
#include "platform/tracer.h"
#include "policy/decide.h"

/* One question: of a caller that is held, or of an image that stands still. */
struct question {
	struct held_call	call;
	pid_t			image;		/* 0: it is a call */
};

struct exec_watch {
	struct exec_watch_config config;
	struct exec_judge	 judge;
	struct exec_repeats	 repeats;
	struct watch		*watch;
	int			 calls_fd;	/* borrowed; -1: none yet */
	int			 root_fd;	/* of the jail */
	bool			 is_lost;
	/* What the tracer could not take; in their order. */
	struct { struct question *v; size_t n, cap; } waiting;
	size_t			 nanswered;	/* of them, from the first */
};

/* ---- refusals ---- */

/* Are these two one place?  Then the record has said it there. */
static bool
is_told_there(const struct exec_watch *w, pid_t pid)
{
	char path[64], here[256], there[256];
	ssize_t n, m;

	if (w->config.told_fd < 0)
		return false;
	snprintf(path, sizeof path, "/proc/self/fd/%d", w->config.told_fd);
	n = readlink(path, here, sizeof here);
	snprintf(path, sizeof path, "/proc/%d/fd/2", (int)pid);
	m = readlink(path, there, sizeof there);
	return n > 0 && n == m && n < (ssize_t)sizeof here &&
	    memcmp(here, there, (size_t)n) == 0;
}

static uint32_t
hash_words(const char *const *argv, size_t argc)
{
	uint32_t hash = str_hash("", 0);

	for (size_t i = 0; i < argc; i++)
		for (const char *p = argv[i]; hash = str_hash_add(hash,
		    (unsigned char)*p), *p != '\0';)
			p++;
	return hash;
}

/* How often by now; 0: it is the same attempt still. */
static unsigned
count(struct exec_watch *w, pid_t pid, const struct exec_judged *x)
{
	const struct exec_step *s = x->step;
	struct exec_refusal refusal = { .pid = who_thread(pid),
	    .what = hash_words(s->argv, s->argc) ^
	    (uint32_t)x->verdict.v.rule.index,
	    .path = hash_words(&s->program, 1) };
	struct event e = { .kind = EVENT_EXEC };

	if (who_pid(refusal.pid, 0, &e) > 1)
		refusal.parent = e.process[1].pid;
	return exec_repeats_count(&w->repeats, &refusal);
}

static void
record(struct exec_watch *w, pid_t pid, const struct exec_judged *x,
    bool final, bool is_killed)
{
	const struct exec_step *s = x->step;
	struct event e = { .kind = EVENT_EXEC, .verdict = x->verdict.v,
	    .path = s->real != NULL ? s->real : s->program, .argv = s->argv,
	    .argc = s->argc, .sys = is_killed ? 0 : EACCES,
	    .is_killed = is_killed, .is_final = final };

	witness_exec(w->config.witness, pid, &e);
}

/*
 * Is there room for an answer to the tracer?  An answer about an image has no
 * other way: the process may be dead by then, and its number another's.
 */
static bool
has_room(const struct exec_watch *w)
{
	struct pollfd p = { .fd = w->config.tracer_fd, .events = POLLOUT };

	return poll(&p, 1, 0) == 1 && (p.revents & POLLOUT) != 0;
}

/*
 * A call that the tracer cannot take is refused without a line.  If an answer
 * about an image fails, the tracer is gone, and the image with it.
 */
static void
carry_out(struct exec_watch *w, const struct question *q, const char *line)
{
	int fd = w->config.tracer_fd;

	if (q->image == 0 && tracer_refuse(fd, &q->call, EACCES, line) != 0)
		held_call_refuse(w->calls_fd, &q->call, EACCES);
	if (q->image != 0)
		(void)tracer_answer(fd, q->image, false, line);
}

/* The record comes first, while the caller can still be looked at. */
static void
refuse(struct exec_watch *w, const struct question *q,
    const struct exec_judged *x)
{
	pid_t pid = q->image != 0 ? q->image : q->call.tid;
	unsigned n = count(w, pid, x);
	bool is_final = n >= EXEC_REPEATS_FINAL, is_told = n == 0;
	struct buf line;

	buf_init(&line, 0);
	if (!is_told) {
		is_told = is_told_there(w, pid);
		record(w, pid, x, is_final, q->image != 0);
	}
	if (!is_told)
		exec_judge_line(x, is_final, TRACER_LINE_MAX, &line);
	carry_out(w, q, line.len > 0 ? line.data : NULL);
	buf_release(&line);
}

/* ---- questions ---- */

/*
 * What ssh and git would read where that process stands; looked for when a
 * rule asks, which few executions make it do.
 */
struct stand {
	pid_t			 pid;
	int			 root_fd;	/* of the jail */
	char *const		*envp;
	struct arena		*arena;
	const struct exec_world	*world;		/* NULL: nobody looked */
};

static const struct exec_world *
look_from(struct stand *s)
{
	char path[64], cwd[PATH_MAX];
	ssize_t n;

	if (s->world != NULL)
		return s->world;
	snprintf(path, sizeof path, "/proc/%d/cwd", (int)s->pid);
	n = readlink(path, cwd, sizeof cwd);
	if (n <= 0 || n == sizeof cwd || s->root_fd < 0)
		return NULL;
	s->world = exec_facts_world(exec_facts_new(s->arena, s->envp,
	    arena_strndup(s->arena, cwd, (size_t)n), s->root_fd));
	return s->world;
}

static const char *
ssh_config(void *arg, const char *path, size_t *ret_len)
{
	const struct exec_world *x = look_from(arg);

	return x != NULL ? x->ssh_config(x->arg, path, ret_len) : NULL;
}

static const char *
git_alias(void *arg, const char *name)
{
	const struct exec_world *x = look_from(arg);

	return x != NULL ? x->git_alias(x->arg, name) : NULL;
}

static int
answer_call(struct exec_watch *w, const struct question *q, struct arena *a)
{
	struct held_exec x;
	struct exec_judged judged;

	if (held_exec_read(w->root_fd, &q->call, w->judge.has_loader, a,
	    &x) != 0)
		return tracer_permit(w->config.tracer_fd, &q->call, NULL,
		    NULL, 0);	/* it will fail, or be asked about */
	/* An interpreter is a script's choice, and no part of the caller. */
	if (exec_judge(&w->judge, &x, &judged) && (judged.step != &x.step[0] ||
	    !exec_is_part(&w->judge, q->call.tid, judged.step, a))) {
		/* Where nothing lies now, whoever looks along PATH is to
		 * look on.  If something does a moment later, it is asked
		 * about. */
		if (judged.step->is_missing)
			return tracer_permit(w->config.tracer_fd, &q->call,
			    NULL, NULL, 0);
		refuse(w, q, &judged);
		return 0;
	}
	/* The tracer does not look at the environment. */
	return tracer_permit(w->config.tracer_fd, &q->call,
	    w->judge.has_loader ? NULL : x.exe, x.cmdline, x.cmdline_len);
}

static int
answer_image(struct exec_watch *w, const struct question *q, struct arena *a)
{
	struct held_exec x;
	struct exec_judged judged;

	if (!has_room(w)) {
		errno = EAGAIN;
		return -1;
	}
	if (exec_image_read(q->image, w->judge.has_loader, a, &x) != 0)
		return tracer_answer(w->config.tracer_fd, q->image, false,
		    NULL);
	if (exec_judge(&w->judge, &x, &judged)) {
		refuse(w, q, &judged);
		return 0;
	}
	return tracer_answer(w->config.tracer_fd, q->image, true, NULL);
}

/* -1: not now. */
static int
answer(struct exec_watch *w, const struct question *q)
{
	struct arena *a = arena_new();
	struct stand stand = { .pid = q->image != 0 ? q->image : q->call.tid,
	    .envp = w->config.envp, .arena = a };
	const struct exec_world world = { .ssh_config = ssh_config,
	    .git_alias = git_alias, .arg = &stand };
	int rc;

	if (w->root_fd < 0)
		w->root_fd = exec_root(stand.pid);
	stand.root_fd = w->root_fd;
	w->judge.world = &world;
	rc = q->image != 0 ? answer_image(w, q, a) : answer_call(w, q, a);

	rc = rc != 0 && (errno == EAGAIN || errno == ENOBUFS) ? -1 : 0;
	w->judge.world = NULL;
	arena_free(a);
	return rc;
}

static void
ask(struct exec_watch *w, const struct question *q)
{
	if (w->is_lost) {
		if (q->image == 0)
			held_call_refuse(w->calls_fd, &q->call, EACCES);
		return;
	}
	if (w->waiting.n > 0 || answer(w, q) != 0) {
		*vec_push(&w->waiting) = *q;
		(void)watch_events(w->watch, LOOP_READ | LOOP_WRITE);
	}
}

static void
answer_waiting(struct exec_watch *w)
{
	while (w->nanswered < w->waiting.n &&
	    answer(w, &w->waiting.v[w->nanswered]) == 0)
		w->nanswered++;
	if (w->nanswered < w->waiting.n)
		return;
	vec_release(&w->waiting);
	w->nanswered = 0;
	(void)watch_events(w->watch, LOOP_READ);
}

/* ---- the tracer ---- */

/* Those it was attached to are killed; nobody else starts anything. */
static void
lose(struct exec_watch *w)
{
	watch_free(w->watch);
	w->watch = NULL;
	w->is_lost = true;
	for (size_t i = w->nanswered; i < w->waiting.n; i++)
		ask(w, &w->waiting.v[i]);
	vec_release(&w->waiting);
	w->nanswered = 0;
	w->config.lost(w->config.arg);
}

static void
hear(struct exec_watch *w, const struct tracer_word *word)
{
	if (word->kind == TRACER_ASKS)
		ask(w, &(struct question){ .image = word->pid });
	else if (word->kind == TRACER_CALL)
		w->config.held(&word->call, w->config.arg);
	else
		witness_unseen(w->config.witness, word->pid, word->is_traced ?
		    "a debugger traces it" : "it cannot be traced");
}

static void
tracer_ready(struct watch *watch, int what, void *arg)
{
	struct exec_watch *w = arg;
	struct tracer_word word;
	int rc = 0;

	(void)watch;
	if ((what & LOOP_WRITE) != 0 && w->waiting.n > 0)
		answer_waiting(w);
	if ((what & (LOOP_READ | LOOP_HUP)) == 0)
		return;
	while ((rc = tracer_next(w->config.tracer_fd, &word)) > 0)
		hear(w, &word);
	if (rc < 0)
		lose(w);
}

/* ---- the face ---- */

int
exec_watch_tracer(const struct exec_watch_config *c, int *ret_fd,
    pid_t *ret_pid, struct err *e)
{
	struct exec_screen screen;	/* the tracer keeps its copy */

	exec_screen_init(&screen, c);
	return tracer_start(&(struct tracer_screen){ exec_screen_permits,
	    &screen, c->wall }, ret_fd, ret_pid, e);
}

struct exec_watch *
exec_watch_new(const struct exec_watch_config *c)
{
	struct exec_watch *w = calloc(1, sizeof *w);

	if (w == NULL)
		return NULL;
	w->config = *c;
	w->judge = (struct exec_judge){ .policy = c->policy,
	    .envp = c->envp, .has_rules = c->has_rules,
	    .has_loader = decide_loader_refuses(c->policy) };
	w->calls_fd = w->root_fd = -1;
	w->watch = loop_fd(c->loop, c->tracer_fd, LOOP_READ, tracer_ready, w);
	if (w->watch == NULL) {
		free(w);
		return NULL;
	}
	return w;
}

void
exec_watch_free(struct exec_watch *w)
{
	if (w == NULL)
		return;
	watch_free(w->watch);
	vec_release(&w->waiting);
	fd_close(&w->root_fd);
	free(w);
}

void
exec_watch_listen(struct exec_watch *w, int calls_fd)
{
	w->calls_fd = calls_fd;
	if (!w->is_lost && tracer_listen(w->config.tracer_fd, calls_fd) != 0)
		lose(w);
}

void
exec_watch_call(int calls_fd, const struct held_call *call, void *arg)
{
	(void)calls_fd;
	ask(arg, &(struct question){ .call = *call });
}
