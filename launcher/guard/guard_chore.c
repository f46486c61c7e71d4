/*
 * Chores: what takes as long as a jail likes, done by a child beside the
 * process that watches.  One child at a time takes all that is waiting; it
 * shares a page of results and otherwise what it inherited.  At the end of the
 * run it is waited for a while; what it then still removes it removes on its
 * own, without a descriptor of the caller's.
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/guard/guard_parts.h"
#include "launcher/guard/guard_wide.h"
#include "platform/fd.h"

enum {
	LATE_MS = 300,		/* at the end, for those who are writing */
	LAST_MS = 3000,		/* at the end, for all */
	STOP_MS = 200,		/* for a copy to be given up */
	DEAD_MS = 2000,		/* of silence */
	PAUSE_MS = 20,		/* a fork takes some time of the guard's */
	SOON_MS = 2,
};

/* ---- the list ---- */

/* The folder, held for the rest of the run. */
static int
chore_place(struct guard *g, int dir)
{
	struct chores *c = &g->chores;
	struct stat st;
	int fd;

	if (fstat(dir, &st) != 0)
		return -1;
	for (unsigned i = 0; i < c->nplaces; i++)
		if (c->place[i].dev == st.st_dev && c->place[i].ino ==
		    st.st_ino)
			return (int)i;
	if (c->nplaces == CHORE_PLACES)
		return -1;
	fd = fcntl(dir, F_DUPFD_CLOEXEC, 3);
	if (fd < 0)
		return -1;
	c->place[c->nplaces] = (struct chore_place){ fd, st.st_dev,
	    st.st_ino };
	return (int)c->nplaces++;
}

bool
guard_chore(struct guard *g, enum chore_kind kind, int dir, struct leaf *l,
    const struct kept *from, const struct kept *to)
{
	struct chores *c = &g->chores;
	int place = c->n == MAX_CHORES ? -1 : chore_place(g, dir);

	if (place < 0)
		return false;
	c->v[c->n++] = (struct chore){ .kind = kind, .place = place,
	    .leaf = l, .from = *from, .to = *to };
	return true;
}

bool
guard_chores_wait(const struct guard *g)
{
	const struct chores *c = &g->chores;

	return c->n > 0 || (c->pid > 0 && !c->shared->is_waiting);
}

/* ---- in the child ---- */

/* 1: to be tried again. */
static int
carry_once(struct guard *g, int dir, const char *from, const char *to,
    struct chore_result *r)
{
	struct move *m = &g->keep.move;
	struct wide w;
	int rc;

	(void)wide_give(&w, dir, NULL);
	rc = move_copy(m, dir, from, g->keep.fd, to);
	if (rc == 0) {
		r->ncopies++;
		if (move_drop(m, dir, from, g->keep.fd, to) != 0)
			rc = 1;
	} else if (errno == EACCES)
		rc = 1;		/* the rights changed meanwhile */
	wide_back(&w);
	return rc;
}

static int
carry(struct guard *g, const struct chore *c, struct chore_result *r)
{
	int dir = g->chores.place[c->place].fd, rc;
	char from[NAME_MAX + 1], to[NAME_MAX + 1];
	struct kept copy = c->to;

	guard_kept_name(&c->from, from);
	for (unsigned i = 0; i < CHORE_TRIES; i++) {
		copy.number = c->to.number + r->ncopies;
		guard_kept_name(&copy, to);
		if (g->chores.shared->is_stopped) {
			errno = ECANCELED;
			return -1;
		}
		rc = carry_once(g, dir, from, to, r);
		if (rc <= 0)
			return rc;
	}
	errno = EAGAIN;
	return -1;
}

static int
chore_remove(struct guard *g, const struct chore *c)
{
	int dir = g->chores.place[c->place].fd;
	char name[NAME_MAX + 1];
	struct wide w;
	int rc;

	guard_kept_name(&c->from, name);
	(void)wide_give(&w, dir, NULL);
	rc = move_remove(dir, name);
	wide_back(&w);
	return rc;
}

static void
chore_do(struct guard *g, const struct chore *c, struct chore_result *r)
{
	char name[NAME_MAX + 1];
	int rc = 0;

	switch (c->kind) {
	case CHORE_CARRY:
		rc = carry(g, c, r);
		break;
	case CHORE_REMOVE:
		rc = chore_remove(g, c);
		break;
	case CHORE_WEIGH:
		guard_kept_name(&c->from, name);
		move_weigh(g->chores.place[c->place].fd, name, &r->weight);
		break;
	case CHORE_COUNT:
		move_weigh(g->chores.place[c->place].fd, "..", &r->weight);
		break;
	}
	r->sys = rc == 0 ? 0 : errno;
	r->is_done = true;
}

/* Those who are writing to what was taken away go on until they close it. */
static void
wait_for_writers(struct guard *g)
{
	struct chore_shared *s = g->chores.shared;
	struct move *m = &g->keep.move;
	int64_t end = INT64_MAX;

	/* A guard that was killed hurries nobody. */
	while (m->nlate > 0 && !s->is_hurried && guard_now() < end &&
	    guard_now() - s->beat_ms < DEAD_MS) {
		move_late(m, false);
		if (s->is_last && end == INT64_MAX)
			end = guard_now() + LATE_MS;
		if (m->nlate > 0)
			(void)poll(NULL, 0, SOON_MS);
	}
	move_late(m, true);
}

static void
do_all(struct guard *g)
{
	struct chores *c = &g->chores;

	for (unsigned i = 0; i < c->nspares; i++)
		c->shared->is_repeat[i] = guard_spare_judge(&g->keep, i);
	for (unsigned i = 0; i < c->nbusy; i++)
		chore_do(g, &c->busy[i], &c->shared->result[i]);
	c->shared->is_waiting = true;
	c->shared->copied = g->keep.move.copied;
	wait_for_writers(g);
	c->shared->copied = g->keep.move.copied;
}

/* ---- around it ---- */

static int
share(struct chores *c)
{
	void *p;

	if (c->shared == NULL) {
		p = mmap(NULL, sizeof *c->shared, PROT_READ | PROT_WRITE,
		    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
		if (p == MAP_FAILED)
			return -1;
		c->shared = p;
	}
	memset(c->shared, 0, sizeof *c->shared);
	return 0;
}

static void
apply_one(struct guard *g, const struct chore *c,
    const struct chore_result *r)
{
	struct kept to = c->to;

	switch (c->kind) {
	case CHORE_CARRY:
		for (unsigned i = 0; i < r->ncopies; i++, to.number++)
			guard_keep_note(g, c->leaf, &to);
		if (r->sys == ENOENT && r->ncopies == 0)
			guard_say(g, c->leaf, GUARD_REMOVED, 0, &c->to);
		else if (r->sys != 0)
			guard_keep_note(g, c->leaf, &c->from);
		break;
	case CHORE_REMOVE:
		if (r->sys != 0)
			guard_keep_note(g, c->leaf, &c->from);
		break;
	case CHORE_WEIGH:
		g->keep.nbytes += r->weight.bytes;
		break;
	case CHORE_COUNT:
		g->keep.others = r->weight;
		break;
	}
}

static void
apply(struct guard *g)
{
	struct chores *c = &g->chores;

	g->keep.move.copied = c->shared->copied;
	for (unsigned i = 0; i < c->nspares; i++)
		guard_spare_done(&g->keep, c->shared->is_repeat[i]);
	c->nspares = 0;
	for (unsigned i = 0; i < c->nbusy; i++)
		apply_one(g, &c->busy[i], &c->shared->result[i]);
	c->nbusy = 0;
}

static _Noreturn void
chore_main(struct guard *g)
{
	for (int fd = STDIN_FILENO; fd <= STDERR_FILENO; fd++)
		close(fd);
	fd_close(&g->sock);
	fd_close(&g->inotify_fd);
	do_all(g);
	_exit(0);
}

/* Has the child ended, or is there none? */
static bool
is_idle(struct guard *g)
{
	struct chores *c = &g->chores;

	if (c->pid > 0 && waitpid(c->pid, NULL, WNOHANG) == 0) {
		c->shared->beat_ms = guard_now();
		if (c->shared->is_waiting && c->n > 0)
			c->shared->is_hurried = true;
		return false;
	}
	if (c->pid > 0)
		apply(g);
	c->pid = 0;
	return true;
}

/* Elsewhere than in the process of the guard there is nobody to be kept. */
void
guard_chores(struct guard *g)
{
	struct chores *c = &g->chores;

	if (!is_idle(g) || (!g->is_final && guard_now() - c->fork_ms <
	    PAUSE_MS))
		return;
	c->nspares = guard_spares_due(g);
	if ((c->n == 0 && c->nspares == 0) || share(c) != 0) {
		c->nspares = 0;
		return;
	}
	memcpy(c->busy, c->v, c->n * sizeof *c->v);
	c->nbusy = c->n;
	c->n = 0;
	c->shared->is_last = g->is_final;
	c->shared->beat_ms = guard_now();
	c->shared->copied = g->keep.move.copied;
	g->keep.move.is_stopped = &c->shared->is_stopped;
	c->pid = g->is_process ? fork() : -1;
	if (c->pid == 0)
		chore_main(g);
	c->fork_ms = guard_now();
	if (c->pid > 0)
		return;
	c->pid = 0;
	if (!g->is_process || g->is_final) {
		do_all(g);
		apply(g);
	} else {	/* next time */
		memcpy(c->v, c->busy, c->nbusy * sizeof *c->v);
		c->n = c->nbusy;
		c->nbusy = c->nspares = 0;
	}
}

/* It goes on removing by itself; what was not carried stays where it is. */
static void
leave(struct guard *g)
{
	struct chores *c = &g->chores;
	int64_t end = guard_now() + STOP_MS;

	c->shared->is_stopped = true;
	while (!is_idle(g) && guard_now() < end)
		(void)poll(NULL, 0, SOON_MS);
	for (unsigned i = 0; i < c->nbusy; i++) {
		struct chore *b = &c->busy[i];

		if (c->shared->result[i].is_done || b->kind == CHORE_CARRY)
			apply_one(g, b, &(struct chore_result){ .sys =
			    c->shared->result[i].is_done ?
			    c->shared->result[i].sys : ECANCELED, .ncopies =
			    c->shared->result[i].ncopies });
		else if (b->kind == CHORE_REMOVE)
			guard_say(g, b->leaf, GUARD_REMOVED, 0, &b->from);
	}
	c->nbusy = 0;
	for (unsigned i = 0; i < c->n; i++)
		guard_keep_note(g, c->v[i].leaf, &c->v[i].from);
	c->n = 0;
}

void
guard_chores_last(struct guard *g)
{
	struct chores *c = &g->chores;
	int64_t end = guard_now() + LAST_MS;

	if (c->shared != NULL)
		c->shared->is_last = true;
	do {
		guard_chores(g);
		if (c->pid == 0 && c->n == 0 && guard_spares_due(g) == 0)
			return;
		if (c->pid > 0)
			(void)poll(NULL, 0, SOON_MS);
	} while (guard_now() < end);
	if (c->pid > 0)
		leave(g);
}

void
guard_chores_free(struct guard *g)
{
	struct chores *c = &g->chores;

	for (unsigned i = 0; i < c->nplaces; i++)
		fd_close(&c->place[i].fd);
	if (c->shared != NULL)
		munmap(c->shared, sizeof *c->shared);
	c->shared = NULL;
}
