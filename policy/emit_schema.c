/* The table of keys as a JSON Schema, draft 2020-12. */
#include <string.h>

#include "platform/base/json.h"
#include "policy/emit.h"
#include "policy/keys.h"

struct out {
	struct buf	*b;
	unsigned	 depth;
	bool		 needs_comma;
};

static void
put_string(struct buf *b, const char *text)
{
	json_put_string(b, text, strlen(text));
}

/* "name": , on a line of its own; the value is the caller's. */
static void
name(struct out *o, const char *text)
{
	buf_printf(o->b, "%s\n%*s", o->needs_comma ? "," : "",
	    (int)(2 * o->depth), "");
	if (text != NULL) {
		put_string(o->b, text);
		buf_puts(o->b, ": ");
	}
	o->needs_comma = true;
}

static void
open_object(struct out *o, const char *text)
{
	if (text != NULL)
		name(o, text);
	buf_putc(o->b, '{');
	o->depth++;
	o->needs_comma = false;
}

static void
close_object(struct out *o)
{
	o->depth--;
	buf_printf(o->b, "\n%*s}", (int)(2 * o->depth), "");
	o->needs_comma = true;
}

static void
member(struct out *o, const char *text, const char *value)
{
	name(o, text);
	put_string(o->b, value);
}

static void
raw(struct out *o, const char *text, const char *json)
{
	name(o, text);
	buf_puts(o->b, json);
}

/* {"type": "string", "pattern": ...} in one line */
static void
put_pattern(struct out *o, const char *pattern)
{
	buf_puts(o->b, "{ \"type\": \"string\", \"pattern\": ");
	put_string(o->b, pattern);
	buf_puts(o->b, " }");
}

static void
put_range(struct out *o, const struct key *key)
{
	buf_printf(o->b, "{ \"type\": \"integer\", \"minimum\": %llu, "
	    "\"maximum\": %llu }", (unsigned long long)key->min,
	    (unsigned long long)key->max);
}

static void
put_list(struct out *o, const struct key *key)
{
	member(o, "type", "array");
	name(o, "items");
	if (key->type == KEY_STRLIST) {
		put_pattern(o, key->schema);
		return;
	}
	buf_puts(o->b, "{ \"anyOf\": [ ");
	put_range(o, key);
	buf_puts(o->b, ", ");
	put_pattern(o, "^![1-9][0-9]*$");
	buf_puts(o->b, " ] }");
}

static void
put_lone_or_list(struct out *o, const struct key *key)
{
	name(o, "anyOf");
	buf_puts(o->b, "[ ");
	put_pattern(o, key->schema);
	buf_puts(o->b, ", { \"type\": \"array\", \"items\": ");
	put_pattern(o, key->schema);
	buf_puts(o->b, " } ]");
}

/* "!NAME" takes a variable away, and has no value. */
static void
put_map(struct out *o)
{
	member(o, "type", "object");
	open_object(o, "patternProperties");
	raw(o, "^[A-Za-z_][A-Za-z0-9_]*$", "{ \"type\": \"string\" }");
	raw(o, "^![A-Za-z_][A-Za-z0-9_]*$", "{ \"const\": \"\" }");
	close_object(o);
	raw(o, "additionalProperties", "false");
	raw(o, "maxProperties", "256");
}

static void
put_words(struct out *o, const struct key *key)
{
	name(o, "enum");
	buf_puts(o->b, "[");
	for (const char *const *w = key->words; *w != NULL; w++) {
		buf_puts(o->b, w != key->words ? ", " : "");
		put_string(o->b, *w);
	}
	buf_puts(o->b, "]");
}

static void
put_type(struct out *o, const struct key *key)
{
	switch (key->type) {
	case KEY_STRLIST:
	case KEY_INTLIST:
		if (key->may_be_lone)
			put_lone_or_list(o, key);
		else
			put_list(o, key);
		break;
	case KEY_STRMAP:
		put_map(o);
		break;
	case KEY_BOOL:
		member(o, "type", "boolean");
		break;
	case KEY_TRISTATE:
		raw(o, "type", "[\"boolean\", \"null\"]");
		break;
	case KEY_INT:
		member(o, "type", "integer");
		name(o, "minimum");
		buf_printf(o->b, "%llu", (unsigned long long)key->min);
		name(o, "maximum");
		buf_printf(o->b, "%llu", (unsigned long long)key->max);
		break;
	case KEY_ENUM:
		put_words(o, key);
		break;
	case KEY_IGNORED:
		member(o, "type", "string");
		break;
	case KEY_SIZE:
	case KEY_DURATION:
	case KEY_STRING:
		member(o, "type", "string");
		member(o, "pattern", key->type == KEY_SIZE ?
		    "^(?:[1-9][0-9]{0,5}[KMGT]|[1-9][0-9]{0,14})$" :
		    key->type == KEY_DURATION ?
		    "^[1-9][0-9]{0,5}(?:ms|s|m|h|d)$" : key->schema);
		break;
	}
}

static void
put_key(struct out *o, const struct key *key, const char *shown)
{
	open_object(o, shown);
	member(o, "description", key->help);
	put_type(o, key);
	if (key->fallback != NULL && strcmp(key->fallback, "\"\"") != 0)
		raw(o, "default", key->fallback);
	close_object(o);
}

/* All keys below `section`, its first n bytes; sub-sections in place. */
static void
put_section(struct out *o, const char *section, size_t n)
{
	char done[64] = "";

	member(o, "type", "object");
	raw(o, "additionalProperties", "false");
	open_object(o, "properties");
	for (size_t i = 0; i < policy_nkeys; i++) {
		const char *full = policy_keys[i].name, *rest, *dot;
		char part[64];

		if (n != 0 && (strncmp(full, section, n) != 0 ||
		    full[n] != '.'))
			continue;
		rest = full + (n != 0 ? n + 1 : 0);
		dot = strchr(rest, '.');
		if (dot == NULL) {
			put_key(o, &policy_keys[i], rest);
			continue;
		}
		snprintf(part, sizeof part, "%.*s", (int)(dot - rest), rest);
		if (strcmp(part, done) == 0)
			continue;
		memcpy(done, part, sizeof done);
		open_object(o, part);
		put_section(o, full, (size_t)(dot - full));
		close_object(o);
	}
	close_object(o);
}

/* What policy_cross_check() says about a file that stands alone. */
static const char alone[] =
    "{ \"required\": [\"network\"], \"not\": { \"required\": [\"extends\"] }, "
    "\"properties\": { \"network\": { \"required\": [\"defaultAction\"], "
    "\"properties\": { \"defaultAction\": { \"const\": \"proxy\" } } } } }";

void
emit_schema(struct buf *b)
{
	struct out o = { .b = b };

	open_object(&o, NULL);
	member(&o, "$schema", "https://json-schema.org/draft/2020-12/schema");
	member(&o, "title", "fence policy");
	put_section(&o, "", 0);
	raw(&o, "if", alone);
	raw(&o, "then", "{ \"properties\": { \"network\": "
	    "{ \"required\": [\"upstreamProxy\"] } } }");
	close_object(&o);
	buf_putc(b, '\n');
}
