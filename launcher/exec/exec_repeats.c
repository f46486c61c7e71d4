#include "launcher/exec/exec_repeats.h"

#include <stddef.h>

static struct exec_repeat *
find(struct exec_repeats *r, pid_t pid, uint32_t what)
{
	for (unsigned i = 0; i < EXEC_REPEATS; i++)
		if (r->entry[i].count > 0 && r->entry[i].pid == pid &&
		    r->entry[i].what == what)
			return &r->entry[i];
	return NULL;
}

static unsigned
count_one(struct exec_repeats *r, pid_t pid, const struct exec_refusal *x)
{
	struct exec_repeat *e = find(r, pid, x->what);

	if (e != NULL)
		return ++e->count;
	e = &r->entry[r->next++ % EXEC_REPEATS];
	*e = (struct exec_repeat){ pid, x->what, x->path, 1 };
	return 1;
}

unsigned
exec_repeats_count(struct exec_repeats *r, const struct exec_refusal *x)
{
	const struct exec_repeat *e = find(r, x->pid, x->what);
	unsigned own, parents = 0;

	if (e != NULL && e->path != x->path)
		return 0;
	own = count_one(r, x->pid, x);
	if (x->parent > 0)
		parents = count_one(r, x->parent, x);
	return own > parents ? own : parents;
}
