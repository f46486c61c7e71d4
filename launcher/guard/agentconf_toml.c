/* TOML: lines taken out, values replaced, lines and tables added. */
#include <string.h>

#include "launcher/guard/agentconf_parts.h"
#include "platform/base/str.h"

/* ---- writing ---- */

static void
put_string(struct buf *b, const char *s, size_t len)
{
	buf_putc(b, '"');
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)s[i];

		if (c == '"' || c == '\\')
			buf_printf(b, "\\%c", c);
		else if (c < 0x20 || c == 0x7f)
			buf_printf(b, "\\u%04x", c);
		else
			buf_putc(b, (char)c);
	}
	buf_putc(b, '"');
}

static void
put_key(struct buf *b, const char *key)
{
	static const char bare[] = "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

	if (key[0] != '\0' && key[strspn(key, bare)] == '\0')
		buf_puts(b, key);
	else
		put_string(b, key, strlen(key));
}

/* In one line.  Depth is bounded by the readers. */
static void
put_value(struct buf *b, const struct jnode *n)
{
	bool is_object = n->kind == JSON_OBJECT;

	if (n->kind == JSON_STRING) {
		put_string(b, n->text, n->len);
	} else if (n->kind == JSON_NUMBER) {
		buf_add(b, n->text, n->len);
	} else if (n->kind != JSON_ARRAY && !is_object) {
		buf_puts(b, n->kind == JSON_TRUE ? "true" : "false");
	} else {
		buf_puts(b, is_object ? "{" : "[");
		for (const struct jnode *c = n->child; c != NULL;
		    c = c->next) {
			buf_puts(b, c->prev != NULL ? ", " : " ");
			if (is_object) {
				put_key(b, c->key);
				buf_puts(b, " = ");
			}
			put_value(b, c);
		}
		buf_puts(b, is_object ? " }" : " ]");
	}
}

static void
put_pair(struct buf *b, const struct jnode *n)
{
	put_key(b, n->key);
	buf_puts(b, " = ");
	put_value(b, n);
	buf_putc(b, '\n');
}

/* a.b.c of the object n. */
static void
put_path(struct buf *b, const struct jnode *n)
{
	if (n->parent != NULL && n->parent->parent != NULL) {
		put_path(b, n->parent);
		buf_putc(b, '.');
	}
	put_key(b, n->key);
}

static void
put_header(struct buf *b, const struct jnode *n)
{
	if (b->len > 0)
		buf_puts(b, b->data[b->len - 1] != '\n' ? "\n\n" : "\n");
	buf_putc(b, '[');
	put_path(b, n);
	buf_puts(b, "]\n");
}

/* A table with what is below it. */
static void
put_table(struct buf *b, const struct jnode *n)
{
	bool has_values = n->child == NULL;

	for (const struct jnode *c = n->child; c != NULL; c = c->next)
		has_values |= c->kind != JSON_OBJECT;
	if (has_values && n->parent != NULL)
		put_header(b, n);
	for (const struct jnode *c = n->child; c != NULL; c = c->next)
		if (c->kind != JSON_OBJECT)
			put_pair(b, c);
	for (const struct jnode *c = n->child; c != NULL; c = c->next)
		if (c->kind == JSON_OBJECT)
			put_table(b, c);
}

void
conf_toml_put(struct buf *b, const struct jnode *root)
{
	put_table(b, root);
}

/* ---- where things stand ---- */

struct toml_text {
	const char	*p;
	size_t		 len;
};

static bool
is_headed(const struct toml_text *t, const struct jnode *n)
{
	return n->kind == JSON_OBJECT && n->end > 0 && t->p[n->start] == '[';
}

/* In braces or brackets, all in one statement? */
static bool
is_closed(const struct toml_text *t, const struct jnode *n)
{
	return n->end > 0 && (n->kind == JSON_ARRAY ||
	    (n->kind == JSON_OBJECT && t->p[n->start] == '{'));
}

/* The outermost value that n is written in, or n. */
static const struct jnode *
statement_of(const struct toml_text *t, const struct jnode *n)
{
	const struct jnode *found = n;

	for (; n != NULL; n = n->parent)
		if (is_closed(t, n))
			found = n;
	return found;
}

/* What becomes of n; NULL for one that is in a list. */
static const struct jnode *
counterpart(const struct jnode *root, const struct jnode *n)
{
	const struct jnode *up;

	if (n->parent == NULL)
		return root;
	if (n->key == NULL)
		return NULL;
	up = counterpart(root, n->parent);
	return jsontree_get(up, n->key);
}

static size_t
line_begin(const struct toml_text *t, size_t pos)
{
	while (pos > 0 && t->p[pos - 1] != '\n')
		pos--;
	return pos;
}

static size_t
line_end(const struct toml_text *t, size_t pos)
{
	while (pos < t->len && t->p[pos] != '\n')
		pos++;
	return pos < t->len ? pos + 1 : pos;
}

/* ---- changing ---- */

/* The text that was gathered, which is released. */
static int
give(struct arena *a, struct buf *b, const char **ret, size_t *ret_len)
{
	int rc = b->failed ? -1 : 0;

	*ret = arena_strndup(a, b->data, b->len);
	*ret_len = b->len;
	buf_release(b);
	return rc;
}

static int
splice(struct arena *a, const struct toml_text *t, size_t from, size_t to,
    const struct buf *with, const char **ret, size_t *ret_len)
{
	struct buf b;

	buf_init(&b, AGENTCONF_MAX);
	buf_add(&b, t->p, from);
	buf_add(&b, with->data, with->len);
	buf_add(&b, t->p + to, t->len - to);
	return give(a, &b, ret, ret_len);
}

/* One line, or one statement of several: the last of those that make n. */
static int
cut(struct arena *a, const struct toml_text *t, const struct jnode *n,
    const char **ret, size_t *ret_len)
{
	struct buf none;

	while (!is_closed(t, n) && n->last != NULL)
		n = n->last;
	if (n->end == 0)
		return -1;
	buf_init(&none, 0);
	return splice(a, t, line_begin(t, n->key_start), line_end(t, n->end),
	    &none, ret, ret_len);
}

static int
replace(struct arena *a, const struct toml_text *t, const struct jnode *n,
    const struct jnode *want, const char **ret, size_t *ret_len)
{
	struct buf value;
	int rc;

	if (want == NULL || n->end == 0)
		return -1;
	buf_init(&value, AGENTCONF_MAX);
	put_value(&value, want);
	rc = splice(a, t, n->start, n->end, &value, ret, ret_len);
	buf_release(&value);
	return rc;
}

static int
append(struct arena *a, const struct toml_text *t, const struct jnode *want,
    const char **ret, size_t *ret_len)
{
	struct buf b;

	buf_init(&b, AGENTCONF_MAX);
	buf_add(&b, t->p, t->len);
	if (want->kind == JSON_OBJECT) {
		put_table(&b, want);
	} else {
		put_header(&b, want->parent);
		put_pair(&b, want);
	}
	return give(a, &b, ret, ret_len);
}

/* A line right below the header, or before all others. */
static int
insert(struct arena *a, const struct toml_text *t, const struct jnode *in,
    const struct jnode *want, const char **ret, size_t *ret_len)
{
	size_t at = in->parent == NULL ? 0 : line_end(t, in->end);
	struct buf line;
	int rc;

	buf_init(&line, AGENTCONF_MAX);
	if (at > 0 && t->p[at - 1] != '\n')
		buf_putc(&line, '\n');
	put_pair(&line, want);
	rc = splice(a, t, at, at, &line, ret, ret_len);
	buf_release(&line);
	return rc;
}

int
conf_toml_apply(struct arena *a, const char *text, size_t len,
    const struct conf_edit *c, const struct jnode *want_root,
    const char **ret, size_t *ret_len)
{
	struct toml_text t = { text, len };
	const struct jnode *s = statement_of(&t, c->is);

	if (is_closed(&t, s) && (s != c->is || c->what == CONF_INSERT))
		return replace(a, &t, s, counterpart(want_root, s), ret,
		    ret_len);
	if (c->what == CONF_REPLACE && (is_closed(&t, c->is) ||
	    (c->is->end > 0 && !is_headed(&t, c->is))))
		return replace(a, &t, c->is, c->want, ret, ret_len);
	if (c->what != CONF_INSERT)
		return cut(a, &t, c->is, ret, ret_len);
	if (c->want->kind == JSON_OBJECT ||
	    (c->is->parent != NULL && !is_headed(&t, c->is)))
		return append(a, &t, c->want, ret, ret_len);
	return insert(a, &t, c->is, c->want, ret, ret_len);
}
