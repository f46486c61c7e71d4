#include "launcher/record/callers.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/record/who.h"
#include "platform/base/ip.h"

enum {
	SAME_MS = 100,		/* one process, one place: not asked again */
	SOURCE_MS = 60000,	/* ports come again */
	SOURCES = 32,		/* then the process is noted once more */
};

struct source {
	uint16_t	port;
	int64_t		ms;
};

struct caller {
	struct callers_place	 place;
	int64_t			 ms;
	struct source		 from[SOURCES];
	unsigned		 next_from;
	unsigned		 nprocess;
	struct event_process	*process;	/* NULL: nobody here */
};

struct callers {
	struct caller	 v[CALLERS_MAX];
	unsigned	 next;
	int64_t		 second;
	unsigned	 looks;		/* in it */
};

struct callers *
callers_new(void)
{
	return calloc(1, sizeof(struct callers));
}

void
callers_free(struct callers *c)
{
	for (unsigned i = 0; c != NULL && i < CALLERS_MAX; i++)
		free(c->v[i].process);
	free(c);
}

void
callers_place(struct callers_place *p, const uint8_t *addr, size_t len,
    uint16_t port)
{
	*p = (struct callers_place){ .port = port };
	if (len == 4)
		ip_map(addr, p->addr);
	else
		memcpy(p->addr, addr, 16);
}

static bool
is_there(const struct caller *x, const struct callers_place *p)
{
	return x->process != NULL && x->place.port == p->port && (p->is_any ||
	    memcmp(x->place.addr, p->addr, sizeof p->addr) == 0);
}

/* The oldest first. */
static struct caller *
nth(struct callers *c, unsigned i)
{
	return &c->v[(c->next + i) % CALLERS_MAX];
}

/* ---- notes ---- */

static void
add_source(struct caller *x, uint16_t port, int64_t now_ms)
{
	x->from[x->next_from++ % SOURCES] = (struct source){ port, now_ms };
}

/* It may be another program by now. */
static bool
is_known(struct callers *c, const struct callers_note *n, int64_t now_ms)
{
	for (unsigned i = CALLERS_MAX; i-- > 0;) {
		struct caller *x = nth(c, i);

		if (!is_there(x, &n->place) || now_ms - x->ms > SAME_MS ||
		    x->process[0].pid != n->pid || x->next_from >= SOURCES ||
		    !who_runs(n->pid, x->process[0].exe))
			continue;
		add_source(x, n->from, now_ms);
		return true;
	}
	return false;
}

static bool
is_over_limit(struct callers *c, int64_t now_ms)
{
	if (now_ms / 1000 != c->second) {
		c->second = now_ms / 1000;
		c->looks = 0;
	}
	return c->looks++ >= CALLERS_PER_SECOND;
}

void
callers_note(struct callers *c, const struct callers_note *n, int64_t now_ms)
{
	struct event e = { .nprocess = 0 };
	struct caller *x;
	size_t size;

	if (is_known(c, n, now_ms) || is_over_limit(c, now_ms) ||
	    who_pid(n->pid, n->stop_pid, &e) == 0)
		return;
	x = &c->v[c->next++ % CALLERS_MAX];
	free(x->process);
	size = e.nprocess * sizeof *e.process;
	*x = (struct caller){ .place = n->place, .ms = now_ms,
	    .nprocess = e.nprocess, .process = malloc(size) };
	if (x->process != NULL)
		memcpy(x->process, e.process, size);
	add_source(x, n->from, now_ms);
}

/* ---- questions ---- */

static const struct source *
find_source(const struct caller *x, uint16_t port, int64_t now_ms)
{
	const struct source *best = NULL;

	for (unsigned i = 0; i < SOURCES; i++)
		if (x->from[i].port == port &&
		    now_ms - x->from[i].ms <= SOURCE_MS &&
		    (best == NULL || x->from[i].ms > best->ms))
			best = &x->from[i];
	return best;
}

/* The last caller from that port; it may be gone. */
static const struct caller *
find_from(struct callers *c, const struct callers_place *p, uint16_t port,
    int64_t now_ms)
{
	struct caller *found = NULL;
	int64_t found_ms = 0;

	for (unsigned i = 0; i < CALLERS_MAX; i++) {
		struct caller *x = nth(c, i);
		const struct source *s = is_there(x, p) ?
		    find_source(x, port, now_ms) : NULL;

		if (s == NULL || (found != NULL && s->ms < found_ms) ||
		    (now_ms - s->ms > CALLERS_MS &&
		    !who_runs(x->process[0].pid, x->process[0].exe)))
			continue;
		found = x;
		found_ms = s->ms;
	}
	return found;
}

bool
callers_find(struct callers *c, const struct callers_place *p, uint16_t from,
    int64_t now_ms, struct event *e)
{
	const struct caller *x = find_from(c, p, from, now_ms);

	if (x == NULL)
		return false;
	e->nprocess = x->nprocess;
	memcpy(e->process, x->process, x->nprocess * sizeof *x->process);
	return e->nprocess > 0;
}
