#include "policy/emit.h"

#include <string.h>

#include "platform/base/json.h"
#include "platform/base/str.h"
#include "policy/keys.h"

static bool
is_worth_it(const struct key *key, const void *field)
{
	const struct strlist *list = field;
	const struct flag *flag = field;
	const struct tristate *tri = field;
	const struct number *number = field;
	const struct choice *choice = field;
	const struct string *string = field;

	switch (key->type) {
	case KEY_IGNORED:
		return false;
	case KEY_STRLIST:
	case KEY_INTLIST:
	case KEY_STRMAP:
		return list->n != 0 || list->nwithout != 0;
	case KEY_BOOL:
		return flag->is_set && flag->value;
	case KEY_TRISTATE:
		return tri->value != TRI_AUTO;
	case KEY_INT:
	case KEY_SIZE:
	case KEY_DURATION:
		return number->is_set && (number->value != 0 ||
		    keys_has_zero(key));
	case KEY_ENUM:
		return choice->is_set;
	case KEY_STRING:
		return string->text[0] != '\0';
	}
	return false;
}

static struct origin
origin_of(const struct key *key, const void *field)
{
	switch (key->type) {
	case KEY_BOOL:
		return ((const struct flag *)field)->at;
	case KEY_TRISTATE:
		return ((const struct tristate *)field)->at;
	case KEY_ENUM:
		return ((const struct choice *)field)->at;
	case KEY_STRING:
		return ((const struct string *)field)->at;
	case KEY_INT:
	case KEY_SIZE:
	case KEY_DURATION:
		return ((const struct number *)field)->at;
	default:
		return ((const struct strlist *)field)->at;
	}
}

/* A single value's text, and whether JSON writes it as a string. */
static const char *
text_of(const struct key *key, const void *field, bool *ret_is_string)
{
	const struct number *number = field;

	*ret_is_string = true;
	switch (key->type) {
	case KEY_BOOL:
		*ret_is_string = false;
		return "true";
	case KEY_TRISTATE:
		*ret_is_string = false;
		return ((const struct tristate *)field)->value == TRI_TRUE ?
		    "true" : "false";
	case KEY_ENUM:
		return key->words[((const struct choice *)field)->value];
	case KEY_STRING:
		return ((const struct string *)field)->shown;
	default:
		*ret_is_string = key->type != KEY_INT;
		return number->text;
	}
}

static void
put_origin(struct buf *b, const char *comment, struct origin at)
{
	buf_printf(b, "%s ", comment);
	str_escape(b, at.file, strlen(at.file), 0);
	if (at.line > 0)
		buf_printf(b, ":%d:%d", at.line, at.col);
}

/* ---- JSON ---- */

struct out {
	struct buf	*b;
	unsigned	 flags;
	char		 section[64];	/* that is open: "macos.mach" */
	unsigned	 depth;
	bool		 needs_comma;
	struct origin	 at;		/* of the line before */
	bool		 has_origin;
};

/* A new line; the comment of the last one stands behind its comma. */
static void
new_line(struct out *o, bool is_end)
{
	if (o->needs_comma && !is_end)
		buf_putc(o->b, ',');
	if (o->has_origin && (o->flags & EMIT_ORIGINS) != 0) {
		buf_puts(o->b, "  ");
		put_origin(o->b, "//", o->at);
	}
	o->has_origin = false;
	buf_printf(o->b, "\n%*s", (int)(2 * o->depth), "");
}

static void
put_quoted(struct out *o, const char *text)
{
	json_put_string(o->b, text, strlen(text));
}

static void
close_nest(struct out *o, char c)
{
	o->depth--;
	new_line(o, true);
	buf_putc(o->b, c);
	o->needs_comma = true;
}

static void
open_nest(struct out *o, char c)
{
	buf_putc(o->b, c);
	o->depth++;
	o->needs_comma = false;
}

/* Closes and opens sections until `want` is the open one. */
static void
go_to_section(struct out *o, const char *want, size_t len)
{
	while (strncmp(o->section, want, strlen(o->section)) != 0 ||
	    (o->section[0] != '\0' && strlen(o->section) != len &&
	    want[strlen(o->section)] != '.')) {
		char *dot = strrchr(o->section, '.');

		*(dot != NULL ? dot : o->section) = '\0';
		close_nest(o, '}');
	}
	while (strlen(o->section) < len) {
		size_t n = strlen(o->section), from = n != 0 ? n + 1 : 0;
		size_t to = from + strcspn(want + from, ".");
		char name[64];

		snprintf(name, sizeof name, "%.*s", (int)(to - from),
		    want + from);
		new_line(o, false);
		put_quoted(o, name);
		buf_puts(o->b, ": ");
		open_nest(o, '{');
		snprintf(o->section, sizeof o->section, "%.*s", (int)to,
		    want);
	}
}

static void
put_entry(struct out *o, const struct key *key, const struct entry *e,
    bool is_without)
{
	const char *text = e->name != NULL ? e->name : e->text;
	struct buf b;

	new_line(o, false);
	buf_init(&b, 0);
	buf_printf(&b, "%s%s", is_without ? "!" : "", text);
	if (key->type == KEY_INTLIST && !is_without)
		buf_puts(o->b, text);
	else
		put_quoted(o, b.data);
	if (e->name != NULL) {
		buf_puts(o->b, ": ");
		put_quoted(o, e->text);
	}
	buf_release(&b);
	o->needs_comma = true;
	o->at = e->at;
	o->has_origin = true;
}

static void
put_list(struct out *o, const struct key *key, const struct strlist *list)
{
	bool is_map = key->type == KEY_STRMAP;

	open_nest(o, is_map ? '{' : '[');
	for (size_t i = 0; i < list->nwithout; i++)
		put_entry(o, key, &list->without[i], true);
	for (size_t i = 0; i < list->n; i++)
		put_entry(o, key, &list->v[i], false);
	close_nest(o, is_map ? '}' : ']');
}

static void
put_key(struct out *o, const struct key *key, const void *field)
{
	const char *dot = strrchr(key->name, '.'), *text;
	bool is_string;

	go_to_section(o, key->name, dot != NULL ?
	    (size_t)(dot - key->name) : 0);
	new_line(o, false);
	put_quoted(o, dot != NULL ? dot + 1 : key->name);
	buf_puts(o->b, ": ");
	if (key->type == KEY_STRLIST || key->type == KEY_INTLIST ||
	    key->type == KEY_STRMAP) {
		put_list(o, key, field);
		return;
	}
	text = text_of(key, field, &is_string);
	if (is_string)
		put_quoted(o, text);
	else
		buf_puts(o->b, text);
	o->needs_comma = true;
	o->at = origin_of(key, field);
	o->has_origin = true;
}

void
emit_json(const struct policy *p, unsigned flags, struct buf *b)
{
	struct out o = { .b = b, .flags = flags };

	open_nest(&o, '{');
	for (size_t i = 0; i < policy_nkeys; i++) {
		const void *field = keys_cfield(&policy_keys[i], p);

		if (is_worth_it(&policy_keys[i], field))
			put_key(&o, &policy_keys[i], field);
	}
	if (!o.needs_comma) {		/* nothing was written */
		buf_puts(b, "}\n");
		return;
	}
	go_to_section(&o, "", 0);
	close_nest(&o, '}');
	buf_putc(b, '\n');
}

/* ---- INI ---- */

/* As it is, or in quotes where a reader of INI would take it apart. */
static void
put_ini_value(struct buf *b, const char *text)
{
	size_t len = strlen(text);
	bool is_plain = len != 0 && text[0] != '"' && text[0] != ' ' &&
	    text[len - 1] != ' ' && strstr(text, " ;") == NULL &&
	    text[0] != ';';
	struct buf q;

	for (size_t i = 0; i < len; i++)
		is_plain &= (unsigned char)text[i] >= 0x20 && text[i] != 0x7f;
	if (is_plain) {
		buf_puts(b, text);
		return;
	}
	buf_init(&q, 0);
	json_put_string(&q, text, len);
	for (size_t i = 0; i < q.len; i++)
		if (q.data[i] == ';')
			buf_puts(b, "\\u003b");
		else
			buf_putc(b, q.data[i]);
	buf_release(&q);
}

static void
put_ini_line(struct buf *b, unsigned flags, const char *name, bool is_without,
    const char *text, struct origin at)
{
	struct buf value;

	if ((flags & EMIT_ORIGINS) != 0) {
		put_origin(b, ";", at);
		buf_putc(b, '\n');
	}
	buf_init(&value, 0);
	buf_printf(&value, "%s%s", is_without ? "!" : "", text);
	buf_printf(b, "%s = ", name);
	put_ini_value(b, value.data);
	buf_putc(b, '\n');
	buf_release(&value);
}

static void
put_ini_list(struct buf *b, unsigned flags, const char *name,
    const struct strlist *list)
{
	char taken[128];

	for (size_t i = 0; i < list->nwithout + list->n; i++) {
		bool is_without = i < list->nwithout;
		const struct entry *e = is_without ? &list->without[i] :
		    &list->v[i - list->nwithout];

		if (e->name == NULL) {
			put_ini_line(b, flags, name, is_without, e->text,
			    e->at);
			continue;
		}
		snprintf(taken, sizeof taken, "%s%s", is_without ? "!" : "",
		    e->name);
		put_ini_line(b, flags, taken, false, e->text, e->at);
	}
}

static void
put_ini_section(struct buf *b, const char *name, size_t len, char *section,
    size_t size)
{
	if (strlen(section) == len && strncmp(section, name, len) == 0)
		return;
	snprintf(section, size, "%.*s", (int)len, name);
	buf_printf(b, "%s[%s]\n", b->len != 0 ? "\n" : "", section);
}

static void
put_ini_key(struct buf *b, unsigned flags, const struct key *key,
    const void *field, char *section, size_t size)
{
	const char *dot = strrchr(key->name, '.'), *text;
	const char *name = dot != NULL ? dot + 1 : key->name;
	bool is_string;

	put_ini_section(b, key->name, key->type == KEY_STRMAP ?
	    strlen(key->name) : dot != NULL ? (size_t)(dot - key->name) : 0,
	    section, size);
	if (key->type == KEY_STRLIST || key->type == KEY_INTLIST ||
	    key->type == KEY_STRMAP) {
		put_ini_list(b, flags, name, field);
		return;
	}
	text = text_of(key, field, &is_string);
	put_ini_line(b, flags, name, false, text, origin_of(key, field));
}

void
emit_ini(const struct policy *p, unsigned flags, struct buf *b)
{
	char section[64] = "";
	size_t start = b->len;

	/* A map is a section, and no other's keys may follow inside of it. */
	for (int maps = 0; maps < 2; maps++)
		for (size_t i = 0; i < policy_nkeys; i++) {
			const struct key *key = &policy_keys[i];
			const void *field = keys_cfield(key, p);

			if ((key->type == KEY_STRMAP) == maps &&
			    is_worth_it(key, field))
				put_ini_key(b, flags, key, field, section,
				    sizeof section);
		}
	if (b->len == start)
		buf_puts(b, "[network]\n");
}
