/*
 * The lexer follows config.c of git (2.20 to 2.51) character by character:
 * where a blank may stand, what ends a value, what is no longer a file.
 */
#include "launcher/guard/gitconf.h"

#include <string.h>

enum {
	END = -1,
	MAX_TOLD = 6,		/* keys by name */
};

struct reader {
	const unsigned char	*p, *end;
	bool		 is_end;
	bool		 has_nul;
	struct buf	 name;
	size_t		 base;		/* of the name: "section." */
	struct buf	 value;
};

/* "\r\n" is "\n"; the end of the file ends a line, once and for ever. */
static int
next(struct reader *r)
{
	int c;

	if (r->p == r->end) {
		r->is_end = true;
		return '\n';
	}
	c = *r->p++;
	if (c == '\r' && r->p < r->end && *r->p == '\n')
		c = *r->p++;
	if (c == '\0')
		r->has_nul = true;
	return c;
}

static bool
is_space(int c)
{
	return c == ' ' || c == '\t' || c == '\n' || c == '\r';
}

/* Not isalnum(): what a locale thinks is not what git thinks. */
static bool
is_letter(int c)
{
	return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
}

static bool
is_key_char(int c)
{
	return is_letter(c) || (c >= '0' && c <= '9') || c == '-';
}

static char
lower(int c)
{
	return (char)(c >= 'A' && c <= 'Z' ? c - 'A' + 'a' : c);
}

/* [section "sub"]: what is in the quotes, up to the bracket. */
static int
read_sub(struct reader *r, int c)
{
	for (; is_space(c); c = next(r))
		if (c == '\n')
			return -1;
	if (c != '"')
		return -1;
	buf_putc(&r->name, '.');
	while ((c = next(r)) != '"') {
		if (c == '\\')
			c = next(r);
		if (c == '\n')
			return -1;
		buf_putc(&r->name, (char)c);
	}
	return next(r) == ']' ? 0 : -1;
}

static int
read_section(struct reader *r)
{
	int c;

	buf_clear(&r->name);
	while ((c = next(r)) != ']') {
		if (is_space(c)) {
			if (r->is_end || read_sub(r, c) != 0)
				return -1;
			break;
		}
		if (!is_key_char(c) && c != '.')
			return -1;
		buf_putc(&r->name, lower(c));
	}
	if (r->name.len == 0)
		return -1;
	buf_putc(&r->name, '.');
	r->base = r->name.len;
	return 0;
}

/* What stands behind a backslash; END: git knows no such thing. */
static int
escaped(int c)
{
	switch (c) {
	case 't':
		return '\t';
	case 'b':
		return '\b';
	case 'n':
		return '\n';
	case '\\':
	case '"':
		return c;
	default:
		return END;
	}
}

/* Blanks between words stay, those around the value do not. */
static int
read_value(struct reader *r)
{
	bool in_quotes = false, in_comment = false;
	size_t kept = 0;
	int c;

	buf_clear(&r->value);
	while ((c = next(r)) != '\n') {
		if (in_comment)
			continue;
		if (is_space(c) && !in_quotes) {
			if (r->value.len > 0)
				buf_putc(&r->value, (char)c);
			continue;
		}
		if (!in_quotes && (c == ';' || c == '#')) {
			in_comment = true;
			continue;
		}
		kept = r->value.len;	/* whatever comes now */
		if (c == '"') {
			in_quotes = !in_quotes;
			continue;
		}
		if (c == '\\') {
			if ((c = next(r)) == '\n')
				continue;
			if ((c = escaped(c)) == END)
				return -1;
		}
		buf_putc(&r->value, (char)c);
		kept = r->value.len;
	}
	if (kept < r->value.len) {
		r->value.len = kept;
		r->value.data[kept] = '\0';
	}
	return in_quotes ? -1 : 0;
}

/* One key, whose first letter is c, and its value. */
static int
read_entry(struct reader *r, int c, struct gitconf_entry *ret)
{
	r->name.len = r->base;
	for (; is_key_char(c) && !r->is_end; c = next(r))
		buf_putc(&r->name, lower(c));
	while (c == ' ' || c == '\t')
		c = next(r);
	ret->value = NULL;
	if (c != '\n') {
		if (c != '=' || read_value(r) != 0)
			return -1;
		ret->value = r->value.data;
	}
	ret->name = r->name.data;
	return r->has_nul || r->name.failed || r->value.failed ? -1 : 0;
}

static int
read_all(struct reader *r, void (*fn)(const struct gitconf_entry *, void *),
    void *arg)
{
	struct gitconf_entry entry;
	bool in_comment = false;
	int c;

	while ((c = next(r)) != '\n' || !r->is_end) {
		if (c == '\0')
			return -1;
		if (c == '\n')
			in_comment = false;
		if (in_comment || is_space(c))
			continue;
		if (c == '#' || c == ';') {
			in_comment = true;
		} else if (c == '[') {
			if (read_section(r) != 0 || r->has_nul)
				return -1;
		} else {
			if (!is_letter(c) || read_entry(r, c, &entry) != 0)
				return -1;
			fn(&entry, arg);
		}
	}
	return 0;
}

int
gitconf_each(const char *text, size_t len,
    void (*fn)(const struct gitconf_entry *, void *), void *arg)
{
	struct reader r = { .p = (const unsigned char *)text };
	int rc;

	if (len > GITCONF_MAX)
		return -1;
	r.end = r.p + len;
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0)
		r.p += 3;
	buf_init(&r.name, 0);
	buf_init(&r.value, 0);
	rc = read_all(&r, fn, arg);
	buf_release(&r.name);
	buf_release(&r.value);
	return rc;
}

/* Writing */

struct cleaning {
	const struct gitconf_request	*rq;
	struct buf	*clean, *keys;
	struct buf	 section;	/* of the entry before */
	unsigned	 ngone;
};

static void
put_quoted(struct buf *b, const char *text, size_t len, bool is_value)
{
	buf_putc(b, '"');
	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (c == '"' || c == '\\')
			buf_putc(b, '\\');
		if (is_value && (c == '\n' || c == '\t' || c == '\b')) {
			buf_putc(b, '\\');
			c = c == '\n' ? 'n' : c == '\t' ? 't' : 'b';
		}
		buf_putc(b, c);
	}
	buf_putc(b, '"');
}

/* In quotes where git would see something else without. */
static void
put_value(struct buf *b, const char *text)
{
	size_t n = strlen(text);

	if (n > 0 && strpbrk(text, "\"\\;#\n\t\b\r") == NULL &&
	    text[0] != ' ' && text[n - 1] != ' ')
		buf_add(b, text, n);
	else
		put_quoted(b, text, n, true);
}

/* name: up to its last dot. */
static void
put_section(struct cleaning *c, const char *name, size_t len)
{
	const char *dot = memchr(name, '.', len);
	size_t n = dot != NULL ? (size_t)(dot - name) : len;

	if (c->section.len == len && memcmp(c->section.data, name, len) == 0)
		return;
	buf_clear(&c->section);
	buf_add(&c->section, name, len);
	buf_putc(c->clean, '[');
	buf_add(c->clean, name, n);
	if (dot != NULL) {
		buf_putc(c->clean, ' ');
		put_quoted(c->clean, dot + 1, len - n - 1, false);
	}
	buf_puts(c->clean, "]\n");
}

/* An entry without a section means nothing to git. */
static void
put_entry(struct cleaning *c, const struct gitconf_entry *e)
{
	const char *key = strrchr(e->name, '.');

	if (key == NULL || key == e->name || e->name[0] == '.')
		return;
	put_section(c, e->name, (size_t)(key - e->name));
	buf_printf(c->clean, "\t%s", key + 1);
	if (e->value != NULL) {
		buf_puts(c->clean, " = ");
		put_value(c->clean, e->value);
	}
	buf_putc(c->clean, '\n');
}

static void
put_gone(struct cleaning *c, const char *what)
{
	enum { MAX_NAME = 80 };

	if (c->ngone++ > MAX_TOLD)
		return;
	if (c->ngone > 1)
		buf_puts(c->keys, ", ");
	if (c->ngone > MAX_TOLD)
		buf_puts(c->keys, "and others");
	else
		buf_add(c->keys, what, strnlen(what, MAX_NAME));
}

static void
clean_entry(const struct gitconf_entry *e, void *arg)
{
	struct cleaning *c = arg;
	enum gitconf_kind kind = gitconf_kind(e);

	if (kind == GITCONF_PLAIN || (kind == GITCONF_WORKTREE &&
	    e->value != NULL && c->rq->is_outside != NULL &&
	    !c->rq->is_outside(e->value, c->rq->arg)))
		put_entry(c, e);
	else
		put_gone(c, e->name);
}

bool
gitconf_clean(const struct gitconf_request *rq, struct buf *clean,
    struct buf *keys)
{
	struct cleaning c = { .rq = rq, .clean = clean, .keys = keys };

	buf_init(&c.section, 0);
	if (gitconf_each(rq->text, rq->len, clean_entry, &c) != 0)
		put_gone(&c, "what cannot be read");
	buf_release(&c.section);
	return c.ngone > 0;
}
