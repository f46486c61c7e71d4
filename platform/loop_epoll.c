#include "platform/loop.h"

#include <assert.h>
#include <errno.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <sys/epoll.h>
#include <sys/signalfd.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/base/clock.h"
#include "platform/fd.h"

enum { LOOP_BATCH = 64 };

enum watch_kind { WATCH_FD, WATCH_AFTER, WATCH_CHILD, WATCH_SIGNAL };

static const size_t NOT_IN_HEAP = (size_t)-1;

struct watch {
	struct loop	*loop;
	struct watch	*next, *prev;	/* of the live; next: of the dead */
	loop_fn		*fn;
	void		*arg;
	enum watch_kind	 kind;
	bool		 is_dead;
	int		 fd;		/* ours for a child or a signal */
	int		 events;
	size_t		 heap_at;
	int64_t		 due_ms;
	pid_t		 pid;		/* the child's */
	int		 code;
};

struct loop {
	int		 epoll_fd;
	bool		 is_stopped;
	bool		 is_idle;
	int		 status;
	int64_t		 now_ms;
	char		*buf;
	struct watch	*live;
	struct watch	*dead;		/* freed at the end of the turn */
	struct watch	**heap;		/* armed deadlines, earliest first */
	size_t		 nheap, heap_cap;
	size_t		 ndeadlines;	/* armed or not: room is kept for all */
};

struct loop *
loop_new(void)
{
	struct loop *l = calloc(1, sizeof *l);

	if (l == NULL)
		return NULL;
	l->epoll_fd = epoll_create1(EPOLL_CLOEXEC);
	if (l->epoll_fd < 0) {
		free(l);
		return NULL;
	}
	l->now_ms = clock_ms(CLOCK_MONOTONIC);
	return l;
}

static void
loop_bury(struct loop *l)
{
	struct watch *w;

	while ((w = l->dead) != NULL) {
		l->dead = w->next;
		free(w);
	}
}

void
loop_free(struct loop *l)
{
	if (l == NULL)
		return;
	while (l->live != NULL)
		watch_free(l->live);
	loop_bury(l);
	fd_close(&l->epoll_fd);
	free(l->heap);
	free(l->buf);
	free(l);
}

void
loop_stop(struct loop *l, int status)
{
	l->is_stopped = true;
	l->status = status;
}

bool
loop_is_idle(const struct loop *l)
{
	return l->is_idle;
}

int64_t
loop_now_ms(const struct loop *l)
{
	return l->now_ms;
}

char *
loop_buf(struct loop *l)
{
	if (l->buf == NULL)
		l->buf = malloc(LOOP_BUF_BYTES);
	return l->buf;
}

/* Deadlines: a binary heap, every member of which knows its place. */

static void
heap_set(struct loop *l, size_t at, struct watch *w)
{
	l->heap[at] = w;
	w->heap_at = at;
}

static void
heap_up(struct loop *l, size_t at)
{
	struct watch *w = l->heap[at];

	while (at > 0 && w->due_ms < l->heap[(at - 1) / 2]->due_ms) {
		heap_set(l, at, l->heap[(at - 1) / 2]);
		at = (at - 1) / 2;
	}
	heap_set(l, at, w);
}

static void
heap_down(struct loop *l, size_t at)
{
	struct watch *w = l->heap[at];
	size_t child;

	while ((child = at * 2 + 1) < l->nheap) {
		if (child + 1 < l->nheap &&
		    l->heap[child + 1]->due_ms < l->heap[child]->due_ms)
			child++;
		if (w->due_ms <= l->heap[child]->due_ms)
			break;
		heap_set(l, at, l->heap[child]);
		at = child;
	}
	heap_set(l, at, w);
}

static void
heap_remove(struct loop *l, struct watch *w)
{
	size_t at = w->heap_at;
	struct watch *last;

	if (at == NOT_IN_HEAP)
		return;
	w->heap_at = NOT_IN_HEAP;
	last = l->heap[--l->nheap];
	if (last == w)
		return;
	heap_set(l, at, last);
	heap_up(l, at);
	heap_down(l, last->heap_at);
}

/* Room for every deadline there is, so that arming one cannot fail. */
static int
heap_reserve(struct loop *l)
{
	size_t cap = l->heap_cap != 0 ? l->heap_cap * 2 : 16;
	struct watch **heap;

	if (l->ndeadlines < l->heap_cap)
		return 0;
	heap = reallocarray(l->heap, cap, sizeof *heap);
	if (heap == NULL)
		return -1;
	l->heap = heap;
	l->heap_cap = cap;
	return 0;
}

/* Watches */

static struct watch *
watch_new(struct loop *l, enum watch_kind kind, loop_fn *fn, void *arg)
{
	struct watch *w = malloc(sizeof *w);

	if (w == NULL)
		return NULL;
	*w = (struct watch){ .loop = l, .kind = kind, .fn = fn, .arg = arg,
	    .fd = -1, .heap_at = NOT_IN_HEAP, .next = l->live };
	if (l->live != NULL)
		l->live->prev = w;
	l->live = w;
	return w;
}

void
watch_free(struct watch *w)
{
	struct loop *l;

	if (w == NULL)
		return;
	assert(!w->is_dead);
	l = w->loop;
	watch_events(w, 0);
	heap_remove(l, w);
	if (w->kind == WATCH_AFTER)
		l->ndeadlines--;
	if (w->kind == WATCH_CHILD || w->kind == WATCH_SIGNAL)
		fd_close(&w->fd);
	if (w->next != NULL)
		w->next->prev = w->prev;
	if (w->prev != NULL)
		w->prev->next = w->next;
	else
		l->live = w->next;
	w->is_dead = true;
	w->next = l->dead;
	l->dead = w;
}

int
watch_events(struct watch *w, int events)
{
	struct epoll_event ev = { .data.ptr = w };
	int saved = errno;
	int op;

	if (events == w->events)
		return 0;
	if ((events & LOOP_READ) != 0)
		ev.events |= EPOLLIN;
	if ((events & LOOP_WRITE) != 0)
		ev.events |= EPOLLOUT;
	op = events == 0 ? EPOLL_CTL_DEL :
	    w->events == 0 ? EPOLL_CTL_ADD : EPOLL_CTL_MOD;
	if (epoll_ctl(w->loop->epoll_fd, op, w->fd, &ev) != 0 && events != 0)
		return -1;
	errno = saved;
	w->events = events;
	return 0;
}

void
watch_become(struct watch *w, loop_fn *fn, void *arg)
{
	assert(w->kind == WATCH_FD && !w->is_dead);
	w->fn = fn;
	w->arg = arg;
}

struct watch *
loop_fd(struct loop *l, int fd, int events, loop_fn *fn, void *arg)
{
	struct watch *w = watch_new(l, WATCH_FD, fn, arg);

	if (w == NULL)
		return NULL;
	w->fd = fd;
	if (watch_events(w, events) != 0) {
		watch_free(w);
		return NULL;
	}
	return w;
}

struct watch *
loop_after(struct loop *l, int64_t ms, loop_fn *fn, void *arg)
{
	struct watch *w;

	if (heap_reserve(l) != 0)
		return NULL;
	w = watch_new(l, WATCH_AFTER, fn, arg);
	if (w == NULL)
		return NULL;
	l->ndeadlines++;
	watch_after(w, ms);
	return w;
}

void
watch_after(struct watch *w, int64_t ms)
{
	struct loop *l = w->loop;

	assert(w->kind == WATCH_AFTER && !w->is_dead);
	heap_remove(l, w);
	if (ms < 0)
		return;
	w->due_ms = clock_ms(CLOCK_MONOTONIC) + ms;
	heap_set(l, l->nheap++, w);
	heap_up(l, w->heap_at);
}

/* Takes fd, also when it fails. */
static struct watch *
watch_own(struct loop *l, enum watch_kind kind, int fd, loop_fn *fn, void *arg)
{
	auto_fd own = fd;
	struct watch *w;

	if (own < 0)
		return NULL;
	w = watch_new(l, kind, fn, arg);
	if (w == NULL)
		return NULL;
	w->fd = fd_take(&own);
	if (watch_events(w, LOOP_READ) != 0) {
		watch_free(w);
		return NULL;
	}
	return w;
}

struct watch *
loop_child(struct loop *l, pid_t pid, loop_fn *fn, void *arg)
{
	struct watch *w;

	/* A pidfd is close-on-exec by birth. */
	w = watch_own(l, WATCH_CHILD, (int)syscall(SYS_pidfd_open, pid, 0),
	    fn, arg);
	if (w != NULL)
		w->pid = pid;
	return w;
}

struct watch *
loop_signal(struct loop *l, int signo, loop_fn *fn, void *arg)
{
	sigset_t set;

	sigemptyset(&set);
	sigaddset(&set, signo);
	return watch_own(l, WATCH_SIGNAL,
	    signalfd(-1, &set, SFD_CLOEXEC | SFD_NONBLOCK), fn, arg);
}

int
loop_signal_code(const struct watch *w)
{
	return w->code;
}

/* Dispatch */

static void
fire_fd(struct watch *w, uint32_t got)
{
	int what = 0;

	if ((got & EPOLLIN) != 0)
		what |= LOOP_READ;
	if ((got & EPOLLOUT) != 0)
		what |= LOOP_WRITE;
	/* Whoever waits to read or write learns the reason by trying. */
	if ((got & (EPOLLHUP | EPOLLERR)) != 0)
		what |= LOOP_HUP | LOOP_READ | LOOP_WRITE;
	/* An earlier one of this batch may have changed what is asked for. */
	what &= w->events | LOOP_HUP;
	if (what != 0)
		w->fn(w, what, w->arg);
}

static void
fire_child(struct watch *w)
{
	int status = -1;
	pid_t got;

	do {
		got = waitpid(w->pid, &status, WNOHANG);
	} while (got < 0 && errno == EINTR);
	if (got == 0)
		return;
	watch_events(w, 0);
	fd_close(&w->fd);
	w->fn(w, got == w->pid ? status : -1, w->arg);
}

static void
fire_signal(struct watch *w)
{
	struct signalfd_siginfo info;

	while (!w->is_dead && !w->loop->is_stopped &&
	    read(w->fd, &info, sizeof info) == (ssize_t)sizeof info) {
		w->code = info.ssi_code;
		w->fn(w, (int)info.ssi_signo, w->arg);
	}
}

static void
fire(struct watch *w, uint32_t got)
{
	switch (w->kind) {
	case WATCH_FD:
		fire_fd(w, got);
		break;
	case WATCH_CHILD:
		fire_child(w);
		break;
	case WATCH_SIGNAL:
		fire_signal(w);
		break;
	case WATCH_AFTER:
		break;
	}
}

static int
loop_timeout(const struct loop *l)
{
	int64_t left;

	if (l->nheap == 0)
		return -1;
	left = l->heap[0]->due_ms - clock_ms(CLOCK_MONOTONIC);
	return left <= 0 ? 0 : left > INT_MAX ? INT_MAX : (int)left;
}

static void
loop_deadlines(struct loop *l)
{
	/* One that re-arms itself at 0 ms waits for the next turn. */
	size_t budget = l->nheap;
	struct watch *w;

	while (budget-- > 0 && l->nheap > 0 && !l->is_stopped) {
		w = l->heap[0];
		if (w->due_ms > l->now_ms)
			break;
		heap_remove(l, w);
		w->fn(w, 0, w->arg);
	}
}

static int
loop_turn(struct loop *l)
{
	struct epoll_event ev[LOOP_BATCH];
	struct watch *w;
	int i, n;

	n = epoll_wait(l->epoll_fd, ev, LOOP_BATCH, loop_timeout(l));
	if (n < 0 && errno != EINTR)
		return -1;
	l->now_ms = clock_ms(CLOCK_MONOTONIC);
	l->is_idle = n == 0;
	for (i = 0; i < n && !l->is_stopped; i++) {
		w = ev[i].data.ptr;
		/* Freed, or put to sleep, by an earlier one of this batch. */
		if (!w->is_dead && w->events != 0)
			fire(w, ev[i].events);
	}
	loop_deadlines(l);
	loop_bury(l);
	return 0;
}

int
loop_run(struct loop *l)
{
	while (!l->is_stopped)
		if (loop_turn(l) != 0)
			return -1;
	l->is_stopped = false;
	return l->status;
}
