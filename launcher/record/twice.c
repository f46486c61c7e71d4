#include "launcher/record/twice.h"

#include <stddef.h>

#include "platform/base/str.h"

static uint32_t
add_text(uint32_t hash, const char *s)
{
	for (; s != NULL && *s != '\0'; s++)
		hash = str_hash_add(hash, (unsigned char)*s);
	return str_hash_add(hash, 0);
}

/* The path as it was written; of a call without one, its name. */
static uint32_t
hash_of(const struct event *e)
{
	uint32_t hash = str_hash_add(str_hash("", 0),
	    (unsigned char)e->kind);

	return add_text(hash, e->path != NULL ? e->path : e->call);
}

void
twice_told(struct twice *t, pid_t pid, const struct event *e, int64_t now_ms)
{
	t->v[t->next++ % TWICE_MAX] = (struct twice_call){ pid, hash_of(e),
	    now_ms };
}

bool
twice_was_told(struct twice *t, pid_t pid, const struct event *e,
    int64_t now_ms)
{
	uint32_t hash = hash_of(e);

	for (unsigned i = 0; i < TWICE_MAX; i++) {
		struct twice_call *c = &t->v[i];

		if (pid <= 0 || c->pid != pid || c->hash != hash ||
		    now_ms - c->at_ms > TWICE_MS)
			continue;
		c->pid = 0;
		return true;
	}
	return false;
}
