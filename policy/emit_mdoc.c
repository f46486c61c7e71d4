/* The table of keys as the key section of fence-policy(5). */
#include <string.h>

#include "policy/emit.h"
#include "policy/keys.h"

enum { WIDTH = 76 };

static void
put_escaped(struct buf *b, const char *s, size_t len)
{
	if (len > 0 && (s[0] == '.' || s[0] == '\''))
		buf_puts(b, "\\&");
	for (size_t i = 0; i < len; i++) {
		if (s[i] == '\\')
			buf_puts(b, "\\e");
		else
			buf_putc(b, s[i]);
	}
}

/* Filled lines; a sentence begins its own, as mdoc likes it. */
static void
put_text(struct buf *b, const char *text)
{
	size_t column = 0;

	while (*text != '\0') {
		size_t len = strcspn(text, " ");

		if (column != 0 && column + 1 + len > WIDTH) {
			buf_putc(b, '\n');
			column = 0;
		}
		if (column != 0)
			buf_putc(b, ' ');
		put_escaped(b, text, len);
		column += len + 1;
		if (text[len - 1] == '.' && text[len] != '\0') {
			buf_putc(b, '\n');
			column = 0;
		}
		text += len + (text[len] == ' ');
	}
	buf_putc(b, '\n');
}

static void
put_type(struct buf *b, const struct key *key)
{
	static const char *const names[] = {
		[KEY_IGNORED] = "String", [KEY_STRLIST] = "List of strings",
		[KEY_INTLIST] = "List of numbers",
		[KEY_STRMAP] = "Names with strings",
		[KEY_BOOL] = "true or false",
		[KEY_TRISTATE] = "true, false or null",
		[KEY_INT] = "Number", [KEY_SIZE] = "Size",
		[KEY_DURATION] = "Duration", [KEY_ENUM] = "One of",
		[KEY_STRING] = "String",
	};
	struct buf line;

	buf_init(&line, 0);
	buf_puts(&line, key->may_be_lone ? "String or list of strings" :
	    names[key->type]);
	for (size_t i = 0; key->type == KEY_ENUM && key->words[i] != NULL; i++)
		buf_printf(&line, "%s\"%s\"", i == 0 ? " " : ", ",
		    key->words[i]);
	if (key->type == KEY_INT || key->type == KEY_INTLIST)
		buf_printf(&line, " from %llu to %llu",
		    (unsigned long long)key->min,
		    (unsigned long long)key->max);
	if (key->fallback != NULL)
		buf_printf(&line, "; %s if not written", key->fallback);
	buf_putc(&line, '.');
	put_text(b, line.data);
	buf_release(&line);
}

/* "a": { "b": VALUE } */
static void
put_example(struct buf *b, const struct key *key)
{
	const char *name = key->name;
	unsigned depth = 0;

	buf_puts(b, ".Bd -literal -compact\n");
	for (;;) {
		size_t len = strcspn(name, ".");

		buf_printf(b, "\"%.*s\": ", (int)len, name);
		if (name[len] == '\0')
			break;
		buf_puts(b, "{ ");
		depth++;
		name += len + 1;
	}
	put_escaped(b, key->example, strlen(key->example));
	while (depth-- > 0)
		buf_puts(b, " }");
	buf_puts(b, "\n.Ed\n");
}

void
emit_mdoc(struct buf *b)
{
	buf_puts(b, ".Bl -tag -width Ds\n");
	for (size_t i = 0; i < policy_nkeys; i++) {
		buf_printf(b, ".It Cm %s\n", policy_keys[i].name);
		put_text(b, policy_keys[i].help);
		put_type(b, &policy_keys[i]);
		put_example(b, &policy_keys[i]);
	}
	buf_puts(b, ".El\n");
}
