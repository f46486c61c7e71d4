/*
 * The TOML reader: it ends, each refusal has its place, and what is taken is a
 * tree whose links agree and that can be shown as JSON.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "platform/base/toml.h"

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static void
check(const struct jnode *n, unsigned depth)
{
	const struct jnode *last = NULL;

	if (depth > 2 * TOML_DEPTH)
		abort();
	for (const struct jnode *c = n->child; c != NULL; c = c->next) {
		if (c->parent != n || c->prev != last ||
		    (n->kind == JSON_OBJECT) != (c->key != NULL) ||
		    c->line < 1 || c->col < 1)
			abort();
		last = c;
		check(c, depth + 1);
	}
	if (n->last != last)
		abort();
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct arena *a = arena_new();
	struct jnode *root = NULL;
	struct err e = { 0 };
	struct buf b;

	if (toml_parse(a, "F", (const char *)data, len, &root, &e) != 0) {
		if (e.msg[0] == '\0' || e.where[0] == '\0')
			abort();
	} else {
		check(root, 0);
		buf_init(&b, 0);
		jsontree_put(&b, root, "  ", "\n", "");
		buf_release(&b);
	}
	arena_free(a);
	return 0;
}
