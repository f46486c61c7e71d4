#include "platform/base/jsonedit.h"

#include <string.h>

/* How the file is written, so that what is added looks alike. */
struct style {
	const char	*newline;
	const char	*unit;		/* NULL: all in one line */
};

static bool
is_blank(char c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Behind blanks and comments. */
static size_t
skip_space(const struct jsonedit *j, size_t pos)
{
	const char *end;

	while (pos < j->len) {
		const char *p = j->text + pos;

		if (is_blank(*p)) {
			pos++;
		} else if (p[0] == '/' && p[1] == '/') {
			end = strchr(p, '\n');
			pos = end != NULL ? (size_t)(end - j->text) : j->len;
		} else if (p[0] == '/' && p[1] == '*') {
			end = strstr(p + 2, "*/");
			pos = end != NULL ? (size_t)(end - j->text) + 2 :
			    j->len;
		} else {
			break;
		}
	}
	return pos;
}

static size_t
line_start(const struct jsonedit *j, size_t pos)
{
	while (pos > 0 && j->text[pos - 1] != '\n')
		pos--;
	return pos;
}

/* Are only blanks before it in its line? */
static bool
begins_line(const struct jsonedit *j, size_t pos)
{
	size_t from = line_start(j, pos);

	return from + strspn(j->text + from, " \t") >= pos;
}

/* The blanks at the beginning of the line that pos is in. */
static const char *
indent_of(const struct jsonedit *j, size_t pos)
{
	const char *line = j->text + line_start(j, pos);

	return arena_strndup(j->arena, line, strspn(line, " \t"));
}

static bool
has_newline(const struct jsonedit *j, size_t from, size_t to)
{
	return memchr(j->text + from, '\n', to - from) != NULL;
}

static struct style
style_of(const struct jsonedit *j)
{
	struct style s = { "\n", "  " };
	const char *nl = strchr(j->text, '\n');
	const struct jnode *n = j->root->child;

	if (nl != NULL && nl > j->text && nl[-1] == '\r')
		s.newline = "\r\n";
	if (n != NULL && !has_newline(j, j->root->start, j->root->end))
		s.unit = NULL;
	else if (n != NULL && begins_line(j, n->key_start) &&
	    indent_of(j, n->key_start)[0] != '\0')
		s.unit = indent_of(j, n->key_start);
	return s;
}

/* ---- a new text ---- */

static int
set_text(struct jsonedit *j, struct buf *b, struct err *e)
{
	if (b->failed) {
		buf_release(b);
		return err_set(e, ERR_POLICY, "%s would grow too long",
		    j->shown);
	}
	j->text = arena_strndup(j->arena, b->data, b->len);
	j->len = b->len;
	buf_release(b);
	return jsontree_parse(j->arena, j->shown, j->text, j->len,
	    JSONEDIT_MAX, &j->root, e);
}

int
jsonedit_init(struct jsonedit *j, struct arena *a, const char *shown,
    const char *text, size_t len, struct err *e)
{
	*j = (struct jsonedit){ .arena = a, .shown = shown,
	    .text = arena_strndup(a, text, len), .len = len };
	if (jsontree_parse(a, shown, j->text, len, JSONEDIT_MAX, &j->root,
	    e) != 0)
		return -1;
	if (j->root != NULL && j->root->kind != JSON_OBJECT) {
		err_set(e, ERR_POLICY, "expected an object, found %s",
		    json_kind_name(j->root->kind));
		err_where(e, shown, j->root->line, j->root->col);
		return -1;
	}
	return 0;
}

/* An empty file, or one of comments alone, becomes an empty object. */
static int
make_root(struct jsonedit *j, struct err *e)
{
	struct buf b;

	if (j->root != NULL)
		return 0;
	buf_init(&b, JSONEDIT_MAX);
	buf_add(&b, j->text, j->len);
	if (j->len > 0 && j->text[j->len - 1] != '\n')
		buf_putc(&b, '\n');
	buf_puts(&b, "{}\n");
	return set_text(j, &b, e);
}

/* ---- adding ---- */

/* What is added, and how. */
struct addition {
	const char		*key;		/* or NULL */
	const struct jnode	*value;
	struct style		 style;
	const char		*indent;	/* of its line */
};

static void
put_addition(struct buf *b, const struct addition *a)
{
	if (a->key != NULL) {
		json_put_string(b, a->key, strlen(a->key));
		buf_puts(b, a->style.unit != NULL ? ": " : ":");
	}
	jsontree_put(b, a->value, a->style.unit, a->style.newline,
	    a->indent);
}

/* Behind the last item of a list or object that has some. */
static void
put_behind(struct buf *b, const struct jsonedit *j, const struct jnode *in,
    struct addition *a)
{
	size_t after = skip_space(j, in->last->end), end = in->end - 1;
	bool has_comma = j->text[after] == ',';

	if (!has_newline(j, in->start, in->end)) {
		a->style.unit = NULL;
		buf_add(b, j->text, in->last->end);
		buf_puts(b, in->last->end < in->end - 1 ||
		    strstr(j->text, ", ") != NULL ? ", " : ",");
		put_addition(b, a);
		buf_puts(b, j->text + in->last->end);
		return;
	}
	if (begins_line(j, in->last->key_start))
		a->indent = indent_of(j, in->last->key_start);
	while (end > 0 && is_blank(j->text[end - 1]))
		end--;
	buf_add(b, j->text, in->last->end);
	if (!has_comma)
		buf_putc(b, ',');
	buf_add(b, j->text + in->last->end, end - in->last->end);
	buf_puts(b, a->style.newline);
	buf_puts(b, a->indent);
	put_addition(b, a);
	if (has_comma)
		buf_putc(b, ',');
	buf_puts(b, j->text + end);
}

/* Into a list or object that has none. */
static void
put_inside(struct buf *b, const struct jsonedit *j, const struct jnode *in,
    struct addition *a)
{
	size_t end = in->end - 1;

	while (end > in->start + 1 && is_blank(j->text[end - 1]))
		end--;
	buf_add(b, j->text, end);
	if (a->style.unit != NULL) {
		buf_puts(b, a->style.newline);
		buf_puts(b, a->indent);
	}
	put_addition(b, a);
	if (a->style.unit != NULL && !has_newline(j, end, in->end)) {
		buf_puts(b, a->style.newline);
		buf_puts(b, indent_of(j, in->start));
		end = in->end - 1;
	}
	buf_puts(b, j->text + end);
}

static int
add_child(struct jsonedit *j, const struct jnode *in, const char *key,
    const char *value, struct err *e)
{
	struct addition a = { .key = key, .style = style_of(j) };
	struct jnode *node;
	struct buf b;

	if (jsontree_parse(j->arena, "", value, strlen(value), JSONEDIT_MAX,
	    &node, e) != 0)
		return -1;
	a.value = node;
	a.indent = arena_printf(j->arena, "%s%s", indent_of(j, in->start),
	    a.style.unit != NULL ? a.style.unit : "");
	buf_init(&b, JSONEDIT_MAX);
	(in->last != NULL ? put_behind : put_inside)(&b, j, in, &a);
	return set_text(j, &b, e);
}

int
jsonedit_add_member(struct jsonedit *j, const char *key, const char *value,
    struct err *e)
{
	return make_root(j, e) != 0 ? -1 :
	    add_child(j, j->root, key, value, e);
}

int
jsonedit_add_to(struct jsonedit *j, const struct jnode *object,
    const char *key, const char *value, struct err *e)
{
	return add_child(j, object, key, value, e);
}

int
jsonedit_replace(struct jsonedit *j, const struct jnode *n,
    const char *value, struct err *e)
{
	struct style style = style_of(j);
	struct jnode *node;
	struct buf b;

	if (jsontree_parse(j->arena, "", value, strlen(value), JSONEDIT_MAX,
	    &node, e) != 0)
		return -1;
	buf_init(&b, JSONEDIT_MAX);
	buf_add(&b, j->text, n->start);
	jsontree_put(&b, node, style.unit, style.newline,
	    indent_of(j, n->key_start));
	buf_add(&b, j->text + n->end, j->len - n->end);
	return set_text(j, &b, e);
}

static int
wrong_kind(const struct jsonedit *j, const struct jnode *n,
    const char *wanted, struct err *e)
{
	err_set(e, ERR_POLICY, "'%.60s' is %s, not %s", n->key,
	    json_kind_name(n->kind), wanted);
	err_where(e, j->shown, n->line, n->col);
	return -1;
}

int
jsonedit_append(struct jsonedit *j, const char *const names[],
    const char *value, struct err *e)
{
	struct jnode *n, *in;

	if (make_root(j, e) != 0)
		return -1;
	in = j->root;
	for (size_t i = 0; names[i] != NULL; i++) {
		bool is_last = names[i + 1] == NULL;

		if ((n = jsontree_get(in, names[i])) == NULL) {
			if (add_child(j, in, names[i], is_last ? "[]" : "{}",
			    e) != 0)
				return -1;
			return jsonedit_append(j, names, value, e);
		}
		if (n->kind != (is_last ? JSON_ARRAY : JSON_OBJECT))
			return wrong_kind(j, n, is_last ? "a list" :
			    "an object", e);
		in = n;
	}
	return add_child(j, in, NULL, value, e);
}

/* ---- taking away ---- */

/* In place of a whole line nothing is left; from and to grow over blanks. */
static void
widen(const struct jsonedit *j, size_t *from, size_t *to, bool is_last)
{
	size_t end = *to + strspn(j->text + *to, " \t");

	if (is_last) {
		/* The line's end before it goes, but none that a comment
		 * needs. */
		while (*from > 0 && is_blank(j->text[*from - 1]) &&
		    (j->text[*from - 1] != '\n' || j->text[end] == '\n' ||
		    j->text[end] == '\r'))
			--*from;
	} else if (begins_line(j, *from) && (j->text[end] == '\n' ||
	    j->text[end] == '\r')) {
		*from = line_start(j, *from);
		*to = end + strcspn(j->text + end, "\n") + 1;
	} else {
		*to = end;
	}
}

int
jsonedit_cut(struct jsonedit *j, const struct jnode *n, struct err *e)
{
	size_t from = n->key_start, to = n->end, comma = j->len;
	size_t after = skip_space(j, n->end);
	struct buf b;

	buf_init(&b, JSONEDIT_MAX);
	if (j->text[after] == ',') {
		if (strspn(j->text + to, " \t\r\n") == after - to)
			to = after + 1;
		else
			comma = after;
		widen(j, &from, &to, false);
	} else {
		if (n->prev != NULL)
			comma = skip_space(j, n->prev->end);
		widen(j, &from, &to, true);
	}
	if (comma < from) {
		buf_add(&b, j->text, comma);
		buf_add(&b, j->text + comma + 1, from - comma - 1);
		buf_add(&b, j->text + to, j->len - to);
	} else {
		buf_add(&b, j->text, from);
		if (comma < j->len) {
			buf_add(&b, j->text + to, comma - to);
			to = comma + 1;
		}
		buf_add(&b, j->text + to, j->len - to);
	}
	return set_text(j, &b, e);
}

bool
jsonedit_has_more(const struct jsonedit *j, const struct jnode *in,
    const struct jnode *but)
{
	for (size_t i = in->start + 1; i < in->end - 1; i++) {
		if (i >= but->key_start && i < but->end)
			continue;
		if (!is_blank(j->text[i]) && j->text[i] != ',')
			return true;
	}
	return false;
}
