#include "policy/settle.h"

#include <string.h>

#include "platform/base/arena.h"
#include "policy/pattern.h"

void
settle_asked(const struct key *k, struct policy *first,
    const struct policy *layer)
{
	(void)k;
	(void)first;
	(void)layer;
}

void
settle_first(const struct key *k, struct policy *first,
    const struct policy *layer)
{
	(void)k;
	(void)first;
	(void)layer;
}

/* ---- entries ---- */

static bool
is_path(const struct entry *e)
{
	return e->pattern != NULL && (e->pattern->kind == PATTERN_PATH ||
	    e->pattern->kind == PATTERN_GLOB);
}

bool
settle_same(const struct entry *a, const struct entry *b)
{
	if (is_path(a) && is_path(b))
		return pattern_equal(a->pattern, b->pattern);
	return strcmp(a->text, b->text) == 0 && (a->name == NULL ||
	    b->name == NULL || strcmp(a->name, b->name) == 0);
}

bool
settle_lists(const struct strlist *l, const struct entry *entry)
{
	for (size_t i = 0; i < l->n; i++)
		if (settle_same(&l->v[i], entry))
			return true;
	return false;
}

/* A list that grants: what every layer lists. */
static void
intersect(struct strlist *mine, const struct strlist *theirs)
{
	size_t n = 0;

	for (size_t i = 0; i < mine->n; i++)
		if (settle_lists(theirs, &mine->v[i]))
			mine->v[n++] = mine->v[i];
	mine->n = n;
}

/* A list that restricts: what any layer lists.  Layers outlive each other. */
static void
unite(struct arena *a, struct strlist *mine, const struct strlist *theirs)
{
	struct entry *v;

	if (theirs->n == 0)
		return;
	v = arena_alloc(a, (mine->n + theirs->n) * sizeof *v);
	if (mine->n > 0)
		memcpy(v, mine->v, mine->n * sizeof *v);
	mine->v = v;
	mine->is_set = true;
	for (size_t i = 0; i < theirs->n; i++)
		if (!settle_lists(mine, &theirs->v[i]))
			mine->v[mine->n++] = theirs->v[i];
}

/* ---- single values ---- */

static void
settle_flag(const struct key *k, struct flag *mine, const struct flag *theirs)
{
	if (mine->value != theirs->value &&
	    theirs->value == (k->way == WAY_RESTRICTS))
		*mine = *theirs;
}

/* What is not written is what the row falls back to; null is no word. */
static enum tri
word_of(const struct key *k, const struct tristate *t)
{
	if (t->value != TRI_AUTO || strcmp(k->fallback, "null") == 0)
		return t->value;
	return strcmp(k->fallback, "true") == 0 ? TRI_TRUE : TRI_FALSE;
}

static void
settle_tristate(const struct key *k, struct tristate *mine,
    const struct tristate *theirs)
{
	enum tri strict = k->way == WAY_RESTRICTS ? TRI_TRUE : TRI_FALSE;

	if (word_of(k, theirs) == strict && word_of(k, mine) != strict)
		*mine = *theirs;
}

static void
settle_choice(const struct key *k, struct choice *mine,
    const struct choice *theirs)
{
	unsigned a = keys_rank(k, mine->value), b = keys_rank(k, theirs->value);

	if (k->way == WAY_RESTRICTS ? b > a : b < a)
		*mine = *theirs;
}

static void
settle_limit(struct number *mine, const struct number *theirs)
{
	if (theirs->value != 0 && (mine->value == 0 ||
	    theirs->value < mine->value))
		*mine = *theirs;
}

void
settle_strictest(const struct key *k, struct policy *first,
    const struct policy *layer)
{
	void *mine = keys_field(k, first);
	const void *theirs = keys_cfield(k, layer);

	switch (k->type) {
	case KEY_STRLIST: case KEY_INTLIST: case KEY_STRMAP:
		if (k->way == WAY_RESTRICTS)
			unite(first->arena, mine, theirs);
		else
			intersect(mine, theirs);
		break;
	case KEY_BOOL:
		settle_flag(k, mine, theirs);
		break;
	case KEY_TRISTATE:
		settle_tristate(k, mine, theirs);
		break;
	case KEY_ENUM:
		settle_choice(k, mine, theirs);
		break;
	case KEY_INT: case KEY_SIZE: case KEY_DURATION:
		settle_limit(mine, theirs);
		break;
	case KEY_STRING: case KEY_IGNORED:
		break;
	}
}

/*
 * Without a limit /tmp has the system's own room.  What another layer sets
 * stays "not set" in the first one, and the planner takes the smaller.
 */
void
settle_room(const struct key *k, struct policy *first,
    const struct policy *layer)
{
	struct number *mine = keys_field(k, first);
	bool is_set = mine->is_set;

	settle_limit(mine, keys_cfield(k, layer));
	mine->is_set = is_set;
}
