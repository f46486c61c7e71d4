#include "policy/pattern.h"

#include <string.h>

#include "platform/base/arena.h"

struct pattern *
pattern_new(struct arena *a, enum pattern_kind kind, const char *text)
{
	struct pattern *p = arena_alloc(a, sizeof *p);

	p->kind = kind;
	p->text = text;
	p->len = text != NULL ? strlen(text) : 0;
	return p;
}

bool
pattern_equal(const struct pattern *a, const struct pattern *b)
{
	if (a == NULL || b == NULL)
		return a == b;
	if (a->kind != b->kind || a->port != b->port || a->bits != b->bits ||
	    a->nalts != b->nalts || strcmp(a->text, b->text) != 0)
		return false;
	for (size_t i = 0; i < a->nalts; i++)
		if (!pattern_equal(a->alts[i], b->alts[i]))
			return false;
	return true;
}

const struct pattern *
pattern_copy(struct arena *a, const struct pattern *p)
{
	struct pattern *copy;

	if (p == NULL)
		return NULL;
	copy = arena_alloc(a, sizeof *copy);
	*copy = *p;
	copy->text = arena_strdup(a, p->text);
	copy->alts = arena_alloc(a, p->nalts * sizeof *copy->alts);
	for (size_t i = 0; i < p->nalts; i++)
		copy->alts[i] = pattern_copy(a, p->alts[i]);
	return copy;
}
