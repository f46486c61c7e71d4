/*
 * Hermes' config.yaml.  No YAML library: the part that is ours to touch is the
 * block mapping `hooks:` of the outermost level and the block list
 * `pre_tool_call:` in it, and these are found by their indentation.  Whatever
 * is written there in another way is refused, never guessed at.
 */
#include "launcher/hooks/entry.h"

#include <string.h>

#include "launcher/hooks/line.h"

/* A piece of the text, in lines: from its first byte to behind its last. */
struct part {
	size_t	from, to;
	size_t	indent;
};

struct yaml {
	struct arena	*arena;
	const char	*text;
	size_t		 len;
	bool		 has_hooks, has_list;
	struct part	 hooks;		/* what stands below "hooks:" */
	struct part	 hooks_line;
	struct part	 list;		/* what stands below "pre_tool_call:" */
	struct part	 list_line;
};

static const char *const matchers[] = { "terminal", "^(patch|write_file)$",
    "web_extract" };
enum { NMATCHERS = sizeof matchers / sizeof *matchers };

static size_t
next_line(const struct yaml *y, size_t pos)
{
	const char *nl = memchr(y->text + pos, '\n', y->len - pos);

	return nl != NULL ? (size_t)(nl - y->text) + 1 : y->len;
}

static size_t
indent_at(const struct yaml *y, size_t pos)
{
	return strspn(y->text + pos, " ");
}

/* Nothing, or a comment. */
static bool
is_void(const struct yaml *y, size_t pos)
{
	const char *p = y->text + pos + strspn(y->text + pos, " \t");

	return *p == '\0' || *p == '\n' || *p == '\r' || *p == '#';
}

static bool
is_item(const struct yaml *y, size_t pos)
{
	const char *p = y->text + pos + indent_at(y, pos);

	return p[0] == '-' && (p[1] == ' ' || p[1] == '\n' || p[1] == '\r' ||
	    p[1] == '\0');
}

static bool
is_key(const struct yaml *y, size_t pos, const char *key)
{
	size_t n = strlen(key);
	const char *p = y->text + pos + indent_at(y, pos);

	return strncmp(p, key, n) == 0 && p[n] == ':' &&
	    (p[n + 1] == '\0' || strchr(" \t\r\n", p[n + 1]) != NULL);
}

/* Behind "key:", without blanks: what stands there, and how long it is. */
static const char *
value_at(const struct yaml *y, size_t pos, size_t *ret_len)
{
	const char *p = strchr(y->text + pos, ':') + 1;
	size_t n;

	p += strspn(p, " \t");
	n = strcspn(p, "\r\n");
	if (p[0] == '#')
		n = 0;
	while (n > 0 && (p[n - 1] == ' ' || p[n - 1] == '\t'))
		n--;
	*ret_len = n;
	return p;
}

/* Has the key no value of its own: nothing, or an empty one? */
static bool
is_empty_value(const struct yaml *y, size_t pos, const char *other)
{
	static const char *const none[] = { "", "null", "~" };
	size_t n;
	const char *p = value_at(y, pos, &n);

	for (size_t i = 0; i < sizeof none / sizeof *none; i++)
		if (strlen(none[i]) == n && strncmp(p, none[i], n) == 0)
			return true;
	return strlen(other) == n && strncmp(p, other, n) == 0;
}

static int
refuse(const struct yaml *y, size_t pos, const char *shown,
    const char *what, struct err *e)
{
	int line = 1;

	for (size_t i = 0; i < pos; i++)
		line += y->text[i] == '\n';
	err_set(e, ERR_POLICY, "%s is written in a way that fence does not "
	    "edit", what);
	err_where(e, shown, line, 1);
	err_hint(e, "'fence hooks print --hermes' shows the lines to add by "
	    "hand");
	return -1;
}

/* The lines below a key that are indented deeper, and void ones between. */
static struct part
below(const struct yaml *y, size_t pos, size_t indent, bool items_may_align)
{
	struct part p = { next_line(y, pos), next_line(y, pos), 0 };
	bool is_first = true;

	for (size_t i = p.from; i < y->len; i = next_line(y, i)) {
		if (is_void(y, i))
			continue;
		if (indent_at(y, i) < indent || (indent_at(y, i) == indent &&
		    !(items_may_align && is_item(y, i))))
			break;
		if (is_first)
			p.indent = indent_at(y, i);
		is_first = false;
		p.to = next_line(y, i);
	}
	return p;
}

static int
parse(struct yaml *y, const char *shown, struct err *e)
{
	bool is_first = true;

	for (size_t i = 0; i < y->len; i = next_line(y, i)) {
		if (i > 0 && strncmp(y->text + i, "---", 3) == 0)
			return refuse(y, i, shown, "a second document", e);
		if (strncmp(y->text + i, "\"hooks\"", 7) == 0 ||
		    strncmp(y->text + i, "'hooks'", 7) == 0)
			return refuse(y, i, shown, "'hooks'", e);
		if (indent_at(y, i) != 0 || !is_key(y, i, "hooks"))
			continue;
		if (!is_empty_value(y, i, "{}"))
			return refuse(y, i, shown, "'hooks'", e);
		if (y->has_hooks)
			return refuse(y, i, shown, "'hooks', twice,", e);
		y->has_hooks = true;
		y->hooks_line = (struct part){ i, next_line(y, i), 0 };
		y->hooks = below(y, i, 0, false);
	}
	if (y->has_hooks && (y->text[y->hooks.to] == '\t' ||
	    memchr(y->text + y->hooks.from, '\t',
	    y->hooks.to - y->hooks.from) != NULL))
		return refuse(y, y->hooks.from, shown, "'hooks' (with tabs)",
		    e);
	for (size_t i = y->hooks.from; i < y->hooks.to; i = next_line(y, i)) {
		if (!is_void(y, i) && (indent_at(y, i) < y->hooks.indent ||
		    (is_first && is_item(y, i))))
			return refuse(y, i, shown, "'hooks'", e);
		is_first = is_first && is_void(y, i);
		if (indent_at(y, i) != y->hooks.indent ||
		    !is_key(y, i, "pre_tool_call"))
			continue;
		if (y->has_list)
			return refuse(y, i, shown, "'pre_tool_call', twice,",
			    e);
		if (!is_empty_value(y, i, "[]"))
			return refuse(y, i, shown, "'pre_tool_call'", e);
		y->has_list = true;
		y->list_line = (struct part){ i, next_line(y, i), 0 };
		y->list = below(y, i, y->hooks.indent, true);
		for (size_t k = y->list.from; k < y->list.to;
		    k = next_line(y, k))
			if (!is_void(y, k) && !is_item(y, k) &&
			    indent_at(y, k) <= y->list.indent)
				return refuse(y, k, shown, "'pre_tool_call'",
				    e);
	}
	return 0;
}

/* ---- items ---- */

/* The item that begins at pos. */
static struct part
item_at(const struct yaml *y, size_t pos)
{
	struct part p = { pos, next_line(y, pos), y->list.indent };

	for (size_t i = p.to; i < y->list.to; i = next_line(y, i)) {
		if (is_void(y, i))
			continue;
		if (indent_at(y, i) <= y->list.indent)
			break;
		p.to = next_line(y, i);
	}
	return p;
}

/* A scalar of one line, without its quotes. */
static const char *
scalar(struct arena *a, const char *p, size_t n)
{
	char quote = n > 1 && (p[0] == '\'' || p[0] == '"') ? p[0] : '\0';
	char *ret = arena_alloc(a, n + 1);
	size_t k = 0;

	if (quote == '\0') {
		const char *end = strstr(p, " #");

		if (end != NULL && (size_t)(end - p) < n)
			n = (size_t)(end - p);
		return arena_strndup(a, p, n);
	}
	for (size_t i = 1; i < n && (p[i] != quote ||
	    (quote == '\'' && i + 1 < n && p[i + 1] == quote)); i++) {
		if ((quote == '\'' && p[i] == quote) ||
		    (quote == '"' && p[i] == '\\' && i + 1 < n))
			i++;
		ret[k++] = p[i];
	}
	return ret;
}

/* The value of a key of the item, or NULL. */
static const char *
item_value(const struct yaml *y, const struct part *item, const char *key)
{
	size_t n;
	const char *p;

	for (size_t i = item->from; i < item->to; i = next_line(y, i)) {
		size_t at = i + indent_at(y, i);

		if (i == item->from) {
			at++;
			at += strspn(y->text + at, " ");
		}
		if (strncmp(y->text + at, key, strlen(key)) != 0 ||
		    y->text[at + strlen(key)] != ':')
			continue;
		p = value_at(y, at, &n);
		return scalar(y->arena, p, n);
	}
	return NULL;
}

static bool
next_ours(const struct yaml *y, const struct agent *g, size_t *pos,
    struct part *ret, const char **program, const char **line)
{
	while (*pos < y->list.to) {
		const char *command;

		if (!is_item(y, *pos) ||
		    indent_at(y, *pos) != y->list.indent) {
			*pos = next_line(y, *pos);
			continue;
		}
		*ret = item_at(y, *pos);
		*pos = ret->to;
		command = item_value(y, ret, "command");
		if (command != NULL && entry_is_call(y->arena, g, command,
		    program)) {
			*line = command;
			return true;
		}
	}
	return false;
}

int
entry_yaml_find(struct arena *a, const struct agent *g,
    const struct entry_call *c, const char *text, struct entry_found *ret,
    struct err *e)
{
	struct yaml y = { .arena = a, .text = text, .len = strlen(text) };
	const char *program, *line, *wanted = c != NULL ? entry_line(a, c) :
	    "";
	unsigned same = 0;
	struct part item;
	size_t pos;

	if (parse(&y, "config.yaml", e) != 0)
		return -1;
	pos = y.list.from;
	while (y.has_list && next_ours(&y, g, &pos, &item, &program, &line)) {
		const char *matcher = item_value(&y, &item, "matcher");

		if (ret->n++ == 0) {
			ret->program = program;
			ret->command = line;
		}
		for (size_t i = 0; i < NMATCHERS && matcher != NULL; i++)
			same += strcmp(matcher, matchers[i]) == 0 &&
			    strcmp(line, wanted) == 0;
	}
	ret->is_as_wanted = ret->n == NMATCHERS && same == NMATCHERS;
	return 0;
}

/* ---- taking out ---- */

static void
cut(struct yaml *y, size_t from, size_t to)
{
	struct buf b;

	buf_init(&b, 0);
	buf_add(&b, y->text, from);
	buf_add(&b, y->text + to, y->len - to);
	y->text = arena_strndup(y->arena, b.data, b.len);
	y->len = b.len;
	buf_release(&b);
}

static struct yaml
again(const struct yaml *y)
{
	struct yaml n = { .arena = y->arena, .text = y->text,
	    .len = y->len };
	struct err e;

	(void)parse(&n, "", &e);	/* it was fine before, and is smaller */
	return n;
}

/* No item, no key, no comment between the two? */
static bool
is_bare(const struct yaml *y, const struct part *p)
{
	return strspn(y->text + p->from, " \r\n") >= p->to - p->from;
}

static void
remove_ours(struct yaml *y, const struct agent *g)
{
	const char *program, *line;
	bool had_any = false;
	struct part item;
	size_t pos;

	while (y->has_list && (pos = y->list.from,
	    next_ours(y, g, &pos, &item, &program, &line))) {
		cut(y, item.from, item.to);
		*y = again(y);
		had_any = true;
	}
	if (!had_any || !y->has_list || !is_bare(y, &y->list))
		return;
	cut(y, y->list_line.from, y->list_line.to);
	*y = again(y);
	if (is_bare(y, &y->hooks)) {
		cut(y, y->hooks_line.from, y->hooks_line.to);
		*y = again(y);
	}
}

int
entry_yaml_remove(struct arena *a, const struct agent *g, const char *text,
    struct buf *ret)
{
	struct yaml y = { .arena = a, .text = text, .len = strlen(text) };

	y = again(&y);
	remove_ours(&y, g);
	buf_add(ret, y.text, y.len);
	return 0;
}

/* ---- adding ---- */

static void
put_single(struct buf *b, const char *text)
{
	buf_putc(b, '\'');
	for (; *text != '\0'; text++) {
		if (*text == '\'')
			buf_putc(b, '\'');
		buf_putc(b, *text);
	}
	buf_putc(b, '\'');
}

static void
put_items(struct buf *b, const char *line, size_t indent, const char *nl)
{
	for (size_t i = 0; i < NMATCHERS; i++) {
		buf_printf(b, "%*s- matcher: ", (int)indent, "");
		put_single(b, matchers[i]);
		buf_printf(b, "%s%*s  command: ", nl, (int)indent, "");
		put_single(b, line);
		buf_puts(b, nl);
	}
}

/* The text up to `to`, and the end of its last line. */
static void
put_head(struct buf *b, const struct yaml *y, size_t to, const char *nl)
{
	buf_add(b, y->text, to);
	if (to > 0 && y->text[to - 1] != '\n')
		buf_puts(b, nl);
}

/* "key: {}" becomes "key:"; a comment behind it stays. */
static void
put_key_line(struct buf *b, const struct yaml *y, const struct part *line,
    const char *nl)
{
	size_t n;
	const char *p = value_at(y, line->from, &n);

	buf_add(b, y->text + line->from, (size_t)(p - y->text) - line->from);
	while (b->len > 0 && (b->data[b->len - 1] == ' '))
		b->len--;
	p += n;
	n = line->to - (size_t)(p - y->text);
	if (p[strspn(p, " \t")] == '#')
		buf_putc(b, ' ');
	buf_add(b, p + (p[0] == ' '), n - (p[0] == ' '));
	if (b->len > 0 && b->data[b->len - 1] != '\n')
		buf_puts(b, nl);
}

int
entry_yaml_add(struct arena *a, const struct agent *g,
    const struct entry_call *c, const char *shown, const char *text,
    struct buf *ret, struct err *e)
{
	struct yaml y = { .arena = a, .text = text, .len = strlen(text) };
	const char *nl = strstr(text, "\r\n") != NULL ? "\r\n" : "\n";
	const char *line = entry_line(a, c);
	size_t indent;

	if (parse(&y, shown, e) != 0)
		return -1;
	remove_ours(&y, g);
	indent = y.has_hooks && y.hooks.indent > 0 ? y.hooks.indent : 2;
	if (y.has_list && y.list.to > y.list.from) {
		put_head(ret, &y, y.list.to, nl);
		put_items(ret, line, y.list.indent, nl);
		buf_add(ret, y.text + y.list.to, y.len - y.list.to);
	} else if (y.has_list) {
		buf_add(ret, y.text, y.list_line.from);
		put_key_line(ret, &y, &y.list_line, nl);
		put_items(ret, line, indent + 2, nl);
		buf_add(ret, y.text + y.list_line.to,
		    y.len - y.list_line.to);
	} else if (y.has_hooks) {
		buf_add(ret, y.text, y.hooks_line.from);
		put_key_line(ret, &y, &y.hooks_line, nl);
		buf_printf(ret, "%*spre_tool_call:%s", (int)indent, "", nl);
		put_items(ret, line, indent + 2, nl);
		buf_add(ret, y.text + y.hooks_line.to,
		    y.len - y.hooks_line.to);
	} else {
		put_head(ret, &y, y.len, nl);
		buf_printf(ret, "hooks:%s  pre_tool_call:%s", nl, nl);
		put_items(ret, line, 4, nl);
	}
	return 0;
}
