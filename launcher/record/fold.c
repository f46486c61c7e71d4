#include "launcher/record/fold.h"

#include <stdlib.h>
#include <string.h>

#include "platform/base/arena.h"
#include "platform/base/clock.h"
#include "platform/base/xalloc.h"

struct folded {
	pid_t		 pid;
	void		*key;		/* NULL: free */
	size_t		 len;
	int64_t		 ms;		/* when it was written last */
	struct event	*event;		/* its strings are the arena's */
	struct arena	*arena;
	unsigned	 count;		/* since then */
};

struct fold {
	struct folded	 entry[FOLD_MAX];
	int64_t		 due_ms;	/* of the first one, or later */
	fold_fn		*fn;
	void		*arg;
};

struct fold *
fold_new(fold_fn *fn, void *arg)
{
	struct fold *f = xcalloc(1, sizeof *f);

	f->fn = fn;
	f->arg = arg;
	f->due_ms = INT64_MAX;
	return f;
}

static void
forget(struct folded *n)
{
	free(n->key);
	free(n->event);
	arena_free(n->arena);
	*n = (struct folded){ 0 };
}

void
fold_free(struct fold *f)
{
	for (unsigned i = 0; f != NULL && i < FOLD_MAX; i++)
		forget(&f->entry[i]);
	free(f);
}

static void
write_repeats(struct fold *f, struct folded *n)
{
	struct event e = *n->event;

	if (n->count == 0)
		return;
	e.count = n->count;
	n->count = 0;
	f->fn(&e, f->arg);
}

const struct event *
fold_repeat(struct fold *f, pid_t pid, const void *key, size_t len,
    int64_t now_ms)
{
	for (unsigned i = 0; i < FOLD_MAX; i++) {
		struct folded *n = &f->entry[i];

		if (n->key == NULL || n->pid != pid || n->len != len ||
		    memcmp(n->key, key, len) != 0 ||
		    now_ms - n->ms >= FOLD_MS)
			continue;
		n->event->end_ms = clock_ms(CLOCK_REALTIME);
		if (n->count++ == 0)
			n->event->start_ms = n->event->end_ms;
		return n->event;
	}
	return NULL;
}

/* The place of the same, of a free one, or of the one written first. */
static struct folded *
place_of(struct fold *f, pid_t pid, const void *key, size_t len)
{
	struct folded *oldest = &f->entry[0];

	for (unsigned i = 0; i < FOLD_MAX; i++) {
		struct folded *n = &f->entry[i];

		if (n->key != NULL && n->pid == pid && n->len == len &&
		    memcmp(n->key, key, len) == 0)
			return n;
		if (n->ms < oldest->ms)
			oldest = n;
	}
	return oldest;
}

static const char *
keep(struct arena *a, const char *s)
{
	return s != NULL ? arena_strdup(a, s) : NULL;
}

void
fold_note(struct fold *f, pid_t pid, const void *key, size_t len,
    const struct event *e, int64_t now_ms)
{
	struct folded *n = place_of(f, pid, key, len);

	if (n->key != NULL)
		write_repeats(f, n);
	forget(n);
	*n = (struct folded){ .pid = pid, .len = len, .ms = now_ms,
	    .key = xcalloc(1, len + 1), .arena = arena_new(),
	    .event = xcalloc(1, sizeof *n->event) };
	memcpy(n->key, key, len);
	*n->event = *e;
	n->event->path = keep(n->arena, e->path);
	n->event->ip = keep(n->arena, e->ip);
	n->event->host = keep(n->arena, e->host);
	n->event->verdict.rule.text = keep(n->arena, e->verdict.rule.text);
	if (f->due_ms > now_ms + FOLD_MS)
		f->due_ms = now_ms + FOLD_MS;
}

void
fold_flush(struct fold *f, bool all, int64_t now_ms)
{
	if (!all && now_ms < f->due_ms)
		return;
	f->due_ms = INT64_MAX;
	for (unsigned i = 0; i < FOLD_MAX; i++) {
		struct folded *n = &f->entry[i];

		if (n->key == NULL)
			continue;
		if (all || now_ms - n->ms >= FOLD_MS) {
			write_repeats(f, n);
			forget(n);
		} else if (n->ms + FOLD_MS < f->due_ms) {
			f->due_ms = n->ms + FOLD_MS;
		}
	}
}
