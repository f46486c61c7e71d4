#include "launcher/callers.h"

#include <stdlib.h>
#include <string.h>

#include "launcher/who.h"

enum {
	SAME_MS = 100,		/* one process, one place: not asked again */
	CLAIM_MS = 1100,	/* the shim tells again after a second */
	SOURCE_MS = 10000,	/* ports come again */
	SOURCES = 32,
};

struct caller {
	struct callers_place	 place;
	int64_t			 ms;
	unsigned		 calls;		/* that no question came for */
	bool			 is_for_all;	/* that it made meanwhile */
	uint16_t		 from[SOURCES];	/* its ports that are known */
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
	if (len == 4) {
		p->addr[10] = p->addr[11] = 0xff;
		memcpy(p->addr + 12, addr, 4);
	} else
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

static void
add_source(struct caller *x, uint16_t from)
{
	x->from[x->next_from++ % SOURCES] = from;
}

static bool
is_known(struct callers *c, const struct callers_note *n, int64_t now_ms)
{
	for (unsigned i = CALLERS_MAX; i-- > 0;) {
		struct caller *x = nth(c, i);

		if (!is_there(x, &n->place) || now_ms - x->ms > SAME_MS ||
		    x->process[0].pid != n->pid)
			continue;
		if (n->from != 0)
			add_source(x, n->from);
		else
			x->calls++;
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

	if (is_known(c, n, now_ms) || is_over_limit(c, now_ms))
		return;
	if (who_pid(n->pid, n->stop_pid, &e) == 0) {
		if (n->pid <= 0 || n->claim == NULL)
			return;
		e.process[0] = (struct event_process){ .pid = n->pid };
		e.nprocess = 1;
	}
	if (e.process[0].comm[0] == '\0' && n->claim != NULL)
		strncpy(e.process[0].comm, n->claim, EVENT_COMM - 1);
	x = &c->v[c->next++ % CALLERS_MAX];
	free(x->process);
	size = e.nprocess * sizeof *e.process;
	*x = (struct caller){ .place = n->place, .ms = now_ms,
	    .is_for_all = n->claim != NULL && n->from == 0,
	    .calls = n->from == 0, .nprocess = e.nprocess,
	    .process = malloc(size) };
	if (x->process != NULL)
		memcpy(x->process, e.process, size);
	if (n->from != 0)
		add_source(x, n->from);
}

/*
 * Two runs of one program, from the same parent: either is the name.  One that
 * was about to end when we looked has no program any more, and maybe no
 * parent.
 */
static bool
is_alike(const struct caller *x, const struct event *e)
{
	const struct event_process *a = x->process, *b = e->process;
	bool is_ended = a->exe[0] == '\0' || b->exe[0] == '\0';

	if (e->nprocess == 0 || strcmp(a->comm, b->comm) != 0 ||
	    (!is_ended && strcmp(a->exe, b->exe) != 0))
		return false;
	if (x->nprocess > 1 && e->nprocess > 1)
		return a[1].pid == b[1].pid;
	return is_ended || a->pid == b->pid;
}

/* Leaves those that are also x or ancestors of x. */
static void
keep_common(struct event *e, const struct caller *x)
{
	for (unsigned i = 0; i < e->nprocess; i++)
		for (unsigned k = 0; k < x->nprocess; k++) {
			if (e->process[i].pid != x->process[k].pid)
				continue;
			e->nprocess -= i;
			memmove(e->process, e->process + i, e->nprocess *
			    sizeof *e->process);
			return;
		}
	e->nprocess = 0;
}

/* May a question be its that came from a port nobody knows? */
static bool
is_open(const struct caller *x, int64_t now_ms)
{
	int64_t age = now_ms - x->ms;

	return x->calls > 0 ? age <= CALLERS_MS :
	    x->is_for_all && age <= CLAIM_MS;
}

static bool
is_from(const struct caller *x, uint16_t from, int64_t now_ms)
{
	for (unsigned i = 0; i < SOURCES && now_ms - x->ms < SOURCE_MS; i++)
		if (x->from[i] == from)
			return from != 0;
	return false;
}

static void
heard(struct caller *x, uint16_t from)
{
	if (x->calls > 0)
		x->calls--;
	add_source(x, from);
}

static void
name(const struct caller *x, struct event *e)
{
	e->nprocess = x->nprocess;
	memcpy(e->process, x->process, x->nprocess * sizeof *x->process);
}

bool
callers_find(struct callers *c, const struct callers_place *p, uint16_t from,
    int64_t now_ms, struct event *e)
{
	struct caller *one = NULL;
	bool is_sure = true;

	for (unsigned i = CALLERS_MAX; i-- > 0;) {
		struct caller *x = nth(c, i);

		if (is_there(x, p) && is_from(x, from, now_ms)) {
			name(x, e);
			return true;
		}
	}
	for (unsigned i = 0; i < CALLERS_MAX; i++) {
		struct caller *x = nth(c, i);

		if (!is_there(x, p) || !is_open(x, now_ms))
			continue;
		if (one == NULL || (is_sure && one->calls == 0 &&
		    x->calls > 0 && is_alike(x, e))) {
			one = x;
			name(x, e);
		} else if (!is_alike(x, e)) {
			is_sure = false;
			keep_common(e, x);
		}
	}
	if (one != NULL && is_sure)
		heard(one, from);
	return one != NULL && e->nprocess > 0;
}

void
callers_heard(struct callers *c, const struct callers_place *p, uint16_t from,
    pid_t pid)
{
	for (unsigned i = 0; i < CALLERS_MAX; i++) {
		struct caller *x = nth(c, i);

		if (!is_there(x, p) || x->process[0].pid != pid ||
		    x->calls == 0)
			continue;
		heard(x, from);
		return;
	}
}
