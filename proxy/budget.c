#include "proxy/budget.h"

#include <stddef.h>

#include "proxy/serve.h"

void
budget_add(struct budget *b, struct conn *c)
{
	c->budget = b;
	c->next = b->first;
	c->prev = NULL;
	if (c->next != NULL)
		c->next->prev = c;
	b->first = c;
	b->n++;
}

void
budget_remove(struct conn *c)
{
	struct budget *b = c->budget;

	if (c->next != NULL)
		c->next->prev = c->prev;
	if (c->prev != NULL)
		c->prev->next = c->next;
	else
		b->first = c->next;
	b->n--;
}

int64_t
budget_last_ms(const struct conn *c)
{
	int64_t ms = c->relay != NULL ? relay_last_ms(c->relay) :
	    c->last_ms != NULL ? c->last_ms(c) : 0;

	return ms > c->since_ms ? ms : c->since_ms;
}

struct conn *
budget_idlest(const struct budget *b)
{
	struct conn *found = NULL;
	int64_t ms, found_ms = 0;

	for (struct conn *c = b->first; c != NULL; c = c->next) {
		ms = budget_last_ms(c);
		if (found != NULL && ms > found_ms)
			continue;	/* the last of equals is the oldest */
		found = c;
		found_ms = ms;
	}
	return found;
}

unsigned
budget_ceiling(const struct budget *all, enum budget_kind kind, unsigned most,
    unsigned total)
{
	unsigned part = total / (2 * BUDGET_KINDS), others = 0;

	for (int i = 0; i < BUDGET_KINDS; i++)
		if (i != (int)kind)
			others += all[i].n > part ? all[i].n : part;
	total = total > others ? total - others : 0;
	return most < total ? most : total;
}
