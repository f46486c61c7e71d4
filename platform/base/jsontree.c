#include "platform/base/jsontree.h"

#include <stdarg.h>
#include <string.h>

void
jnode_append(struct jnode *parent, struct jnode *n)
{
	n->parent = parent;
	if (parent == NULL)
		return;
	n->prev = parent->last;
	if (parent->last != NULL)
		parent->last->next = n;
	else
		parent->child = n;
	parent->last = n;
}

static struct jnode *
node_new(struct arena *a, const struct json_token *t, struct jnode *parent)
{
	struct jnode *n = arena_alloc(a, sizeof *n);

	n->kind = t->kind;
	n->line = t->line;
	n->col = t->col;
	n->start = n->key_start = t->start;
	n->end = t->end;
	if (t->kind == JSON_STRING || t->kind == JSON_NUMBER) {
		n->text = arena_strndup(a, t->text, t->len);
		n->len = t->len;
	}
	jnode_append(parent, n);
	return n;
}

/* One token; open is the innermost object or array.  1: the text's end. */
static int
take(struct arena *a, const struct json_token *t, struct jnode **root,
    struct jnode **open, const char **key, size_t *key_start)
{
	struct jnode *n;

	switch (t->kind) {
	case JSON_END:
		return 1;
	case JSON_OBJECT_END:
	case JSON_ARRAY_END:
		(*open)->end = t->end;
		*open = (*open)->parent;
		return 0;
	case JSON_KEY:
		*key = arena_strndup(a, t->text, t->len);
		*key_start = t->start;
		return 0;
	default:
		break;
	}
	n = node_new(a, t, *open);
	if (*key != NULL) {
		n->key = *key;
		n->key_start = *key_start;
		*key = NULL;
	}
	if (*root == NULL)
		*root = n;
	if (t->kind == JSON_OBJECT || t->kind == JSON_ARRAY)
		*open = n;
	return 0;
}

int
jsontree_parse(struct arena *a, const char *shown, const char *text,
    size_t len, size_t max_bytes, struct jnode **ret, struct err *e)
{
	struct jnode *root = NULL, *open = NULL;
	const char *key = NULL;
	struct json_reader r;
	struct json_token t;
	size_t key_start = 0;
	int rc;

	json_init(&r, shown, text, len, max_bytes);
	do {
		rc = json_next(&r, &t, e);
		if (rc == 0)
			rc = take(a, &t, &root, &open, &key, &key_start);
	} while (rc == 0);
	json_release(&r);
	if (rc < 0)
		return -1;
	*ret = root;
	return 0;
}

struct jnode *
jsontree_get(const struct jnode *n, const char *key)
{
	if (n == NULL || n->kind != JSON_OBJECT)
		return NULL;
	for (struct jnode *c = n->last; c != NULL; c = c->prev)
		if (strcmp(c->key, key) == 0)
			return c;
	return NULL;
}

struct jnode *
jsontree_walk(const struct jnode *n, ...)
{
	struct jnode *at = NULL;
	const char *key;
	va_list ap;

	va_start(ap, n);
	while ((key = va_arg(ap, const char *)) != NULL) {
		n = at = jsontree_get(n, key);
		if (n == NULL)
			break;
	}
	va_end(ap);
	return at;
}

const char *
jsontree_text(const struct jnode *n, const char *key)
{
	const struct jnode *c = jsontree_get(n, key);

	return c != NULL && c->kind == JSON_STRING ? c->text : NULL;
}

bool
jsontree_is_true(const struct jnode *n, const char *key)
{
	const struct jnode *c = jsontree_get(n, key);

	return c != NULL && c->kind == JSON_TRUE;
}

bool
jsontree_is_twice(const struct jnode *n, const char *key)
{
	unsigned count = 0;

	if (n == NULL || n->kind != JSON_OBJECT)
		return false;
	for (const struct jnode *c = n->child; c != NULL; c = c->next)
		count += strcmp(c->key, key) == 0;
	return count > 1;
}

static void
put_scalar(struct buf *b, const struct jnode *n)
{
	switch (n->kind) {
	case JSON_STRING:
		json_put_string(b, n->text, n->len);
		break;
	case JSON_NUMBER:
		buf_add(b, n->text, n->len);
		break;
	default:
		buf_puts(b, n->kind == JSON_TRUE ? "true" :
		    n->kind == JSON_FALSE ? "false" : "null");
		break;
	}
}

static void
put_line(struct buf *b, const char *unit, const char *newline,
    const char *indent, size_t depth)
{
	if (unit == NULL)
		return;
	buf_puts(b, newline);
	buf_puts(b, indent);
	while (depth-- > 0)
		buf_puts(b, unit);
}

static bool
is_nest(const struct jnode *n)
{
	return n->kind == JSON_OBJECT || n->kind == JSON_ARRAY;
}

static void
put_key(struct buf *b, const struct jnode *n, const char *unit)
{
	if (n->key == NULL)
		return;
	json_put_string(b, n->key, strlen(n->key));
	buf_puts(b, unit != NULL ? ": " : ":");
}

/* Without recursion: the text's depth is bounded, the stack of it is ours. */
void
jsontree_put(struct buf *b, const struct jnode *top, const char *unit,
    const char *newline, const char *indent)
{
	const struct jnode *n = top;
	size_t depth = 0;

	for (;;) {
		if (n != top)
			put_key(b, n, unit);
		if (is_nest(n) && n->child != NULL) {
			buf_putc(b, n->kind == JSON_OBJECT ? '{' : '[');
			put_line(b, unit, newline, indent, ++depth);
			n = n->child;
			continue;
		}
		if (is_nest(n))
			buf_puts(b, n->kind == JSON_OBJECT ? "{}" : "[]");
		else
			put_scalar(b, n);
		while (n != top && n->next == NULL) {
			n = n->parent;
			put_line(b, unit, newline, indent, --depth);
			buf_putc(b, n->kind == JSON_OBJECT ? '}' : ']');
		}
		if (n == top)
			return;
		buf_putc(b, ',');
		put_line(b, unit, newline, indent, depth);
		n = n->next;
	}
}
