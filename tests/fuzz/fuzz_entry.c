/*
 * Edits of agents' files: whatever can be read, our entry goes in and is found
 * again, the rest stays to be read, and it comes out again.  The first byte
 * says which agent's file it is.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/hooks/entry.h"

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static const char *const args[] = { "hook", "claude", NULL };

static void
find(struct arena *a, const struct agent *g, const struct entry_call *c,
    const struct buf *text, struct entry_found *ret)
{
	struct err e = { 0 };

	if (entry_find(a, g, c, "F", text->data, text->len, ret, &e) != 0)
		abort();
}

static void
check(struct arena *a, const struct agent *g, const char *text, size_t len)
{
	const char *words[] = { args[0], g->name, NULL };
	struct entry_call c = { "/usr/bin/fence", words };
	struct entry_found found;
	struct err e = { 0 };
	struct buf with, without;

	buf_init(&with, 0);
	buf_init(&without, 0);
	if (entry_add(a, g, &c, "F", text, len, &with, &e) != 0) {
		if (e.msg[0] == '\0')
			abort();
	} else {
		find(a, g, &c, &with, &found);
		if (!found.is_as_wanted)
			abort();
		if (entry_remove(a, g, "F", with.data, with.len, &without,
		    &e) != 0)
			abort();
		find(a, g, NULL, &without, &found);
		if (found.n != 0)
			abort();
	}
	buf_release(&with);
	buf_release(&without);
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	static const char *const names[] = { "claude", "hermes", "cursor",
	    "windsurf" };
	struct arena *a = arena_new();
	char *text;

	if (len > 0 && memchr(data, '\0', len) == NULL) {
		text = arena_strndup(a, (const char *)data + 1, len - 1);
		check(a, agent_find(names[data[0] % 4]), text, len - 1);
	}
	arena_free(a);
	return 0;
}
