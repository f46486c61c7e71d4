#include "platform/base/toml.h"

#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>

#include "platform/base/str.h"

struct toml {
	struct arena	*arena;
	const char	*shown;
	const char	*p;
	size_t		 len, pos, line_start;
	int		 line;
	struct jnode	*root;
	struct err	*err;
};

/*
 * How a table came to be, as its text.  What braces have written none may add
 * to; what a header or a dotted key has made no header may open again.
 */
static const char closed[] = "closed";
static const char headed[] = "headed";
static const char dotted[] = "dotted";

static int __attribute__((format(printf, 2, 3)))
bad(struct toml *t, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	err_vset(t->err, ERR_POLICY, fmt, ap);
	va_end(ap);
	err_where(t->err, t->shown, t->line,
	    (int)(t->pos - t->line_start) + 1);
	return -1;
}

static char
at(const struct toml *t, size_t ahead)
{
	return t->len - t->pos > ahead ? t->p[t->pos + ahead] : '\0';
}

static bool
looks(const struct toml *t, const char *text)
{
	size_t n = strlen(text);

	return t->len - t->pos >= n && memcmp(t->p + t->pos, text, n) == 0;
}

static void
newline(struct toml *t)
{
	t->pos++;
	t->line++;
	t->line_start = t->pos;
}

static void
skip_blank(struct toml *t)
{
	while (at(t, 0) == ' ' || at(t, 0) == '\t')
		t->pos++;
}

/* Blanks and a comment, up to the end of the line. */
static void
skip_comment(struct toml *t)
{
	skip_blank(t);
	if (at(t, 0) == '#')
		while (t->pos < t->len && at(t, 0) != '\n')
			t->pos++;
	if (at(t, 0) == '\r' && at(t, 1) == '\n')
		t->pos++;
}

/* What is left of the line, and its end if there is one. */
static int
end_line(struct toml *t)
{
	skip_comment(t);
	if (t->pos == t->len)
		return 0;
	if (at(t, 0) != '\n')
		return bad(t, "expected the end of the line");
	newline(t);
	return 0;
}

/* Within brackets lines may end anywhere. */
static void
skip_lines(struct toml *t)
{
	for (;;) {
		skip_comment(t);
		if (t->pos == t->len || at(t, 0) != '\n')
			return;
		newline(t);
	}
}

/* ---- nodes ---- */

static struct jnode *
node_new(struct toml *t, struct jnode *parent, const char *key,
    enum json_kind kind)
{
	struct jnode *n = arena_alloc(t->arena, sizeof *n);

	n->kind = kind;
	n->line = t->line;
	n->col = (int)(t->pos - t->line_start) + 1;
	n->key = key;
	jnode_append(parent, n);
	return n;
}

static unsigned
depth_of(const struct jnode *n)
{
	unsigned depth = 0;

	for (; n != NULL; n = n->parent)
		depth++;
	return depth;
}

/* ---- strings ---- */

static int
read_unicode(struct toml *t, size_t digits, struct buf *b)
{
	uint32_t cp = 0;

	for (size_t i = 0; i < digits; i++) {
		char c = at(t, 2 + i);
		uint32_t d = c >= '0' && c <= '9' ? (uint32_t)(c - '0') :
		    c >= 'a' && c <= 'f' ? (uint32_t)(c - 'a' + 10) :
		    c >= 'A' && c <= 'F' ? (uint32_t)(c - 'A' + 10) : 16;

		if (d == 16)
			return bad(t, "\\u needs hexadecimal digits");
		cp = cp << 4 | d;
	}
	if (cp == 0 || cp > 0x10ffff || (cp >= 0xd800 && cp <= 0xdfff))
		return bad(t, "no character has that number");
	str_put_utf8(b, cp);
	t->pos += 2 + digits;
	return 0;
}

/* A backslash at the end of a line takes the blanks that follow, too. */
static int
read_escape(struct toml *t, bool is_multi, struct buf *b)
{
	static const char from[] = "btnfr\"\\", to[] = "\b\t\n\f\r\"\\";
	char c = at(t, 1);
	const char *found = c != '\0' ? strchr(from, c) : NULL;
	bool has_line = false;

	if (c == 'u' || c == 'U')
		return read_unicode(t, c == 'u' ? 4 : 8, b);
	if (found != NULL) {
		buf_putc(b, to[found - from]);
		t->pos += 2;
		return 0;
	}
	if (!is_multi || c == '\0' || strchr(" \t\r\n", c) == NULL)
		return bad(t, "unknown escape in a string");
	t->pos++;
	while (t->pos < t->len && strchr(" \t\r\n", at(t, 0)) != NULL) {
		if (at(t, 0) == '\n') {
			newline(t);
			has_line = true;
		} else {
			t->pos++;
		}
	}
	return has_line ? 0 : bad(t, "unknown escape in a string");
}

/* One character of a string as it is. */
static int
read_char(struct toml *t, bool is_multi, struct buf *b)
{
	uint32_t cp;
	size_t n = str_utf8(t->p + t->pos, t->len - t->pos, &cp);

	if (n == 0)
		return bad(t, "invalid UTF-8");
	if (cp == '\n' || (cp == '\r' && at(t, 1) == '\n')) {
		if (!is_multi)
			return bad(t, "string without its end");
		t->pos += cp == '\r';
		buf_putc(b, '\n');
		newline(t);
		return 0;
	}
	if (cp < 0x20 && cp != '\t')
		return bad(t, "control character in a string");
	buf_add(b, t->p + t->pos, n);
	t->pos += n;
	return 0;
}

/* Three quotes end it; up to two more before them belong to it. */
static bool
take_end(struct toml *t, char quote, bool is_multi, struct buf *b)
{
	if (at(t, 0) != quote)
		return false;
	if (!is_multi) {
		t->pos++;
		return true;
	}
	if (at(t, 1) != quote || at(t, 2) != quote)
		return false;
	for (int i = 0; i < 2 && at(t, 3) == quote; i++) {
		buf_putc(b, quote);
		t->pos++;
	}
	t->pos += 3;
	return true;
}

static int
read_string(struct toml *t, bool may_be_multi, const char **ret,
    size_t *ret_len)
{
	char quote = at(t, 0);
	bool is_multi = at(t, 1) == quote && at(t, 2) == quote;
	int rc = 0;
	struct buf b;

	if (is_multi && !may_be_multi)
		return bad(t, "a key is in single quotes or double quotes");
	t->pos += is_multi ? 3 : 1;
	if (is_multi && at(t, 0) == '\r' && at(t, 1) == '\n')
		t->pos++;
	if (is_multi && at(t, 0) == '\n')
		newline(t);
	buf_init(&b, TOML_MAX);
	while (rc == 0 && !take_end(t, quote, is_multi, &b)) {
		if (t->pos == t->len)
			rc = bad(t, "string without its end");
		else if (quote == '"' && at(t, 0) == '\\')
			rc = read_escape(t, is_multi, &b);
		else
			rc = read_char(t, is_multi, &b);
	}
	if (rc == 0) {
		*ret = arena_strndup(t->arena, b.data, b.len);
		*ret_len = b.len;
	}
	buf_release(&b);
	return rc;
}

/* ---- keys ---- */

static const char bare[] = "abcdefghijklmnopqrstuvwxyz"
    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-";

static size_t
span(const struct toml *t, const char *set)
{
	size_t n = 0;

	while (t->pos + n < t->len && t->p[t->pos + n] != '\0' &&
	    strchr(set, t->p[t->pos + n]) != NULL)
		n++;
	return n;
}

static int
read_part(struct toml *t, const char **ret)
{
	size_t n;

	if (at(t, 0) == '"' || at(t, 0) == '\'')
		return read_string(t, false, ret, &n);
	n = span(t, bare);
	if (n == 0)
		return bad(t, "expected a key");
	*ret = arena_strndup(t->arena, t->p + t->pos, n);
	t->pos += n;
	return 0;
}

/* The table `key` of a table, made if it is missing. */
static struct jnode *
enter(struct toml *t, struct jnode *in, const char *key)
{
	struct jnode *n = jsontree_get(in, key);

	if (n == NULL && in->text == closed) {
		bad(t, "'%.60s' is added to a table in braces", key);
		return NULL;
	}
	if (n == NULL)
		n = node_new(t, in, key, JSON_OBJECT);
	/* Of a list of tables, the last. */
	if (n->kind == JSON_ARRAY && n->last != NULL && n->text != closed)
		n = n->last;
	if (n->kind != JSON_OBJECT) {
		bad(t, "'%.60s' has a value already", key);
		return NULL;
	}
	if (depth_of(n) > TOML_DEPTH) {
		bad(t, "tables nest deeper than %d", TOML_DEPTH);
		return NULL;
	}
	return n;
}

/* a.b.c: enters all but the last part, which it gives.  is_pair: no header. */
static int
read_key(struct toml *t, struct jnode **in, bool is_pair, const char **ret)
{
	for (;;) {
		skip_blank(t);
		if (read_part(t, ret) != 0)
			return -1;
		skip_blank(t);
		if (at(t, 0) != '.')
			return 0;
		t->pos++;
		*in = enter(t, *in, *ret);
		if (*in == NULL)
			return -1;
		if (is_pair && ((*in)->text == headed || (*in)->key == NULL))
			return bad(t, "'%.60s' is a table with a header",
			    *ret);
		if (is_pair && (*in)->text == NULL)
			(*in)->text = dotted;
	}
}

/* ---- values ---- */

static int	 read_value(struct toml *, struct jnode *in, const char *key);

static int
read_pair(struct toml *t, struct jnode *in)
{
	const char *key;
	size_t start = t->pos;

	if (read_key(t, &in, true, &key) != 0)
		return -1;
	if (at(t, 0) != '=')
		return bad(t, "expected '=' after the key");
	t->pos++;
	skip_blank(t);
	if (in->text == closed)
		return bad(t, "'%.60s' is added to a table in braces", key);
	if (jsontree_get(in, key) != NULL)
		return bad(t, "'%.60s' is written twice", key);
	if (read_value(t, in, key) != 0)
		return -1;
	in->last->key_start = start;
	return 0;
}

static int
read_array(struct toml *t, struct jnode *n)
{
	t->pos++;
	for (;;) {
		skip_lines(t);
		if (at(t, 0) == ']')
			break;
		if (read_value(t, n, NULL) != 0)
			return -1;
		skip_lines(t);
		if (at(t, 0) == ',')
			t->pos++;
		else if (at(t, 0) != ']')
			return bad(t, "expected ',' or ']'");
	}
	t->pos++;
	n->text = closed;
	return 0;
}

static int
read_braces(struct toml *t, struct jnode *n)
{
	t->pos++;
	skip_lines(t);
	while (at(t, 0) != '}') {
		if (read_pair(t, n) != 0)
			return -1;
		skip_lines(t);
		if (at(t, 0) == ',') {
			t->pos++;
			skip_lines(t);
		} else if (at(t, 0) != '}') {
			return bad(t, "expected ',' or '}'");
		}
	}
	t->pos++;
	n->text = closed;
	return 0;
}

/* true, false, or whatever begins like a number or a date. */
static int
read_word(struct toml *t, struct jnode *n)
{
	size_t len = span(t, "abcdefghijklmnopqrstuvwxyz"
	    "ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_+-.:");
	struct str word = { t->p + t->pos, len };

	if (str_eq(word, "true") || str_eq(word, "false")) {
		n->kind = len == 4 ? JSON_TRUE : JSON_FALSE;
	} else if (len > 0 && (strchr("0123456789+-.", word.p[0]) != NULL ||
	    str_eq(word, "inf") || str_eq(word, "nan"))) {
		n->kind = JSON_NUMBER;
		n->text = arena_strndup(t->arena, word.p, len);
		n->len = len;
	} else {
		return bad(t, "expected a value");
	}
	t->pos += len;
	return 0;
}

static int
read_any(struct toml *t, struct jnode *n)
{
	if (n->kind == JSON_ARRAY)
		return read_array(t, n);
	if (n->kind == JSON_OBJECT)
		return read_braces(t, n);
	if (at(t, 0) == '"' || at(t, 0) == '\'')
		return read_string(t, true, &n->text, &n->len);
	return read_word(t, n);
}

static int
read_value(struct toml *t, struct jnode *in, const char *key)
{
	char c = at(t, 0);
	struct jnode *n = node_new(t, in, key, c == '[' ? JSON_ARRAY :
	    c == '{' ? JSON_OBJECT : JSON_STRING);

	if (depth_of(n) > TOML_DEPTH)
		return bad(t, "values nest deeper than %d", TOML_DEPTH);
	n->start = n->key_start = t->pos;
	if (read_any(t, n) != 0)
		return -1;
	n->end = t->pos;
	return 0;
}

/* ---- lines ---- */

static void
mark_header(const struct toml *t, struct jnode *n, size_t start)
{
	n->text = headed;
	n->start = n->key_start = start;
	n->end = t->pos;
}

/* [a.b] or [[a.b]]; *ret is the table that follows. */
static int
read_header(struct toml *t, struct jnode **ret)
{
	bool is_list = looks(t, "[[");
	struct jnode *in = t->root, *n;
	size_t start = t->pos;
	const char *key;

	t->pos += is_list ? 2 : 1;
	if (read_key(t, &in, false, &key) != 0)
		return -1;
	if (!looks(t, is_list ? "]]" : "]"))
		return bad(t, "expected '%s'", is_list ? "]]" : "]");
	t->pos += is_list ? 2 : 1;
	if (!is_list) {
		n = jsontree_get(in, key);
		if (n != NULL && (n->kind != JSON_OBJECT || n->text != NULL))
			return bad(t, "'%.60s' has a value already", key);
		*ret = enter(t, in, key);
		if (*ret != NULL)
			mark_header(t, *ret, start);
		return *ret != NULL ? 0 : -1;
	}
	if (in->text == closed)
		return bad(t, "'%.60s' is added to a table in braces", key);
	n = jsontree_get(in, key);
	if (n == NULL)
		n = node_new(t, in, key, JSON_ARRAY);
	if (n->kind != JSON_ARRAY || n->text == closed)
		return bad(t, "'%.60s' has a value already", key);
	*ret = node_new(t, n, NULL, JSON_OBJECT);
	mark_header(t, *ret, start);
	return 0;
}

static int
read_lines(struct toml *t)
{
	struct jnode *in = t->root;

	while (t->pos < t->len) {
		int rc = 0;

		skip_blank(t);
		if (at(t, 0) == '[')
			rc = read_header(t, &in);
		else if (t->pos < t->len && strchr("#\r\n", at(t, 0)) == NULL)
			rc = read_pair(t, in);
		if (rc != 0 || end_line(t) != 0)
			return -1;
	}
	return 0;
}

int
toml_parse(struct arena *a, const char *shown, const char *text, size_t len,
    struct jnode **ret, struct err *e)
{
	struct toml t = { .arena = a, .shown = shown, .p = text, .len = len,
	    .line = 1, .err = e };

	if (len > TOML_MAX)
		return bad(&t, "longer than %d bytes", TOML_MAX);
	t.root = node_new(&t, NULL, NULL, JSON_OBJECT);
	if (read_lines(&t) != 0)
		return -1;
	*ret = t.root;
	return 0;
}
