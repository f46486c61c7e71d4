#include "launcher/hooks/import.h"

#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/hooks/import_parts.h"
#include "platform/base/str.h"
#include "platform/base/toml.h"
#include "platform/base/vec.h"
#include "policy/keys.h"
#include "policy/policy.h"

enum { IMPORT_MAX = 4 * 1024 * 1024 };

static const struct {
	const char	*name, *file, *title;
} sources[] = {
	[IMPORT_CLAUDE] = { "claude", ".claude/settings.json",
	    "Claude Code" },
	[IMPORT_SRT] = { "srt", ".srt-settings.json", "sandbox-runtime" },
	[IMPORT_CODEX] = { "codex", ".codex/config.toml", "Codex" },
};

const char *
import_name(enum import_source s)
{
	return sources[s].name;
}

const char *
import_default_file(enum import_source s)
{
	return sources[s].file;
}

/* ---- notes ---- */

void
import_note(struct import *m, const struct jnode *at, const char *what,
    const char *fmt, ...)
{
	char why[400];
	va_list ap;
	struct buf b;

	va_start(ap, fmt);
	vsnprintf(why, sizeof why, fmt, ap);
	va_end(ap);
	buf_init(&b, 0);
	str_escape(&b, what, strnlen(what, 200), 0);
	if (at != NULL)
		buf_printf(&b, " (line %d)", at->line);
	buf_puts(&b, ": ");
	str_escape(&b, why, strlen(why), 0);
	*vec_push(&m->notes) = arena_strndup(m->arena, b.data, b.len);
	buf_release(&b);
}

const char *
import_where(struct import *m, const struct jnode *n)
{
	const char *ret = "";
	unsigned i = 0;

	for (; n != NULL && n->parent != NULL; n = n->parent) {
		if (n->key != NULL) {
			ret = arena_printf(m->arena, "%s%s%s", n->key,
			    ret[0] != '\0' && ret[0] != '[' ? "." : "", ret);
			continue;
		}
		i = 0;
		for (const struct jnode *p = n->prev; p != NULL; p = p->prev)
			i++;
		ret = arena_printf(m->arena, "[%u]%s%s", i,
		    ret[0] != '\0' && ret[0] != '[' ? "." : "", ret);
	}
	return ret;
}

static const char *
shown_value(struct import *m, const struct jnode *n)
{
	const char *ret;
	struct buf b;

	buf_init(&b, 0);
	jsontree_put(&b, n, NULL, "", "");
	ret = b.len <= 100 ? arena_strndup(m->arena, b.data, b.len) :
	    n->kind == JSON_ARRAY ? "[...]" : n->kind == JSON_OBJECT ?
	    "{...}" : "...";
	buf_release(&b);
	return ret;
}

void
import_left(struct import *m, const struct jnode *n, const char *why)
{
	import_note(m, n, arena_printf(m->arena, "%s: %s",
	    import_where(m, n), shown_value(m, n)), "%s", why);
}

/* ---- entries ---- */

static const struct key *
row_of(size_t key)
{
	for (size_t i = 0; i < policy_nkeys; i++)
		if (policy_keys[i].offset == key &&
		    policy_keys[i].type != KEY_IGNORED)
			return &policy_keys[i];
	abort();		/* KEY_OF() of a field without a row */
}


/* Would a policy with this entry be one?  The row's own check says. */
static bool
is_fit(struct import *m, const struct import_entry *in,
    const struct jnode *at)
{
	struct policy_env env = { .workspace = "/", .home = m->rq.home };
	struct policy *p = policy_new("import", &env);
	struct entry entry = { .text = in->value, .name = in->name };
	const struct key *key = row_of(in->key);
	struct err e = { 0 };
	bool is = true;

	if (in->value[0] == '!') {
		is = false;
		err_set(&e, ERR_POLICY, "an entry that begins with '!' takes "
		    "others away");
	} else if (key->check != NULL) {
		is = key->check(p, &env, &entry, &e) == 0;
	}
	if (!is)
		import_note(m, at, in->from, "%s would not take it: %s",
		    key->name, e.msg);
	policy_free(p);
	return is;
}

static bool
is_there(const struct import *m, const struct import_entry *e)
{
	for (size_t i = 0; i < m->entries.n; i++) {
		const struct import_entry *o = &m->entries.v[i];

		if (o->key == e->key &&
		    (e->name == NULL || strcmp(o->name, e->name) == 0) &&
		    strcmp(o->value, e->value) == 0)
			return true;
	}
	return false;
}

static void
add(struct import *m, struct import_entry e, const struct jnode *at)
{
	if ((!e.is_json && !is_fit(m, &e, at)) || is_there(m, &e))
		return;
	if (at != NULL)
		e.from = arena_printf(m->arena, "%s (line %d)", e.from,
		    at->line);
	*vec_push(&m->entries) = e;
}

void
import_add(struct import *m, size_t key, const char *value,
    const struct jnode *at, const char *from)
{
	add(m, (struct import_entry){ .key = key, .value = value,
	    .from = from }, at);
}

void
import_add_rule(struct import *m, size_t key, const char *value,
    const struct jnode *at, const char *from)
{
	add(m, (struct import_entry){ .key = key, .value = value,
	    .is_rule = true, .from = from }, at);
}

void
import_add_map(struct import *m, size_t key, const char *name,
    const char *value, const struct jnode *at, const char *from)
{
	add(m, (struct import_entry){ .key = key, .name = name,
	    .value = value, .from = from }, at);
}

void
import_set(struct import *m, size_t key, const char *json,
    const struct jnode *at, const char *from)
{
	add(m, (struct import_entry){ .key = key, .value = json,
	    .is_json = true, .from = from }, at);
}

/* ---- rows ---- */

void
import_list(struct import *m, const struct jnode *list, size_t key,
    const char *(*fn)(struct import *, const char *))
{
	if (list->kind != JSON_ARRAY) {
		import_left(m, list, "it is no list");
		return;
	}
	for (const struct jnode *n = list->child; n != NULL; n = n->next) {
		m->nrules++;
		if (n->kind != JSON_STRING)
			import_left(m, n, "it is no string");
		else
			import_add(m, key, fn != NULL ? fn(m, n->text) :
			    n->text, n, import_where(m, n));
	}
}

static void
take_row(struct import *m, const struct jnode *n,
    const struct import_row *row)
{
	if (row->key == 0) {
		import_left(m, n, row->why);
		return;
	}
	if (row_of(row->key)->type == KEY_STRLIST) {
		import_list(m, n, row->key, row->fn);
	} else if (n->kind == JSON_TRUE || n->kind == JSON_FALSE) {
		m->nrules++;
		import_set(m, row->key, n->kind == JSON_TRUE ? "true" :
		    "false", n, import_where(m, n));
	} else {
		import_left(m, n, "it is neither true nor false");
	}
}

void
import_member(struct import *m, const struct jnode *n,
    const struct import_row *r)
{
	while (r->name != NULL && strcmp(r->name, n->key) != 0)
		r++;
	if (r->name != NULL)
		take_row(m, n, r);
	else
		import_left(m, n, "fence does not know it");
}

void
import_rows(struct import *m, const struct jnode *object,
    const struct import_row *rows)
{
	if (object->kind != JSON_OBJECT) {
		import_left(m, object, "it is no object");
		return;
	}
	for (const struct jnode *n = object->child; n != NULL; n = n->next)
		import_member(m, n, rows);
}

/* ---- paths ---- */

const char *
import_escape(struct import *m, const char *path)
{
	const char *ret;
	struct buf b;

	buf_init(&b, 0);
	for (; *path != '\0'; path++) {
		if (*path == '$' || *path == '{')
			buf_putc(&b, '\\');
		buf_putc(&b, *path);
	}
	ret = arena_strndup(m->arena, b.data, b.len);
	buf_release(&b);
	return ret;
}

const char *
import_short(struct import *m, const char *path)
{
	size_t n = strlen(m->rq.home);

	if (n > 1 && strncmp(path, m->rq.home, n) == 0 &&
	    (path[n] == '/' || path[n] == '\0'))
		return arena_printf(m->arena, "~%s", path + n);
	return path;
}

/* ---- the text ---- */

static void
put_comment(struct buf *b, const char *indent, const char *text)
{
	buf_printf(b, "%s// ", indent);
	str_escape(b, text, strlen(text), 0);
	buf_putc(b, '\n');
}

static void
put_head(const struct import *m, struct buf *b)
{
	buf_printf(b, "// Made by 'fence import --%s' from\n",
	    sources[m->rq.source].name);
	put_comment(b, "", m->rq.file);
	buf_puts(b, "// fence-policy(5) explains every key, and 'fence "
	    "config check' checks this file.\n");
	if (m->notes.n > 0)
		buf_puts(b, "//\n// Not carried over:\n");
	for (size_t i = 0; i < m->notes.n; i++) {
		buf_puts(b, "//   ");
		buf_puts(b, m->notes.v[i]);	/* escaped already */
		buf_putc(b, '\n');
	}
}

/* Lists and maps: one entry a line, each with its comment. */
static void
put_many(const struct import *m, const struct key *key, const char *indent,
    struct buf *b)
{
	bool is_map = key->type == KEY_STRMAP;
	size_t left = 0;

	for (size_t i = 0; i < m->entries.n; i++)
		left += m->entries.v[i].key == key->offset;
	buf_puts(b, is_map ? "{\n" : "[\n");
	for (size_t i = 0; i < m->entries.n; i++) {
		const struct import_entry *e = &m->entries.v[i];

		if (e->key != key->offset)
			continue;
		buf_printf(b, "%s  ", indent);
		if (is_map) {
			json_put_string(b, e->name, strlen(e->name));
			buf_puts(b, ": ");
		}
		json_put_string(b, e->value, strlen(e->value));
		buf_puts(b, --left > 0 ? "," : "");
		put_comment(b, " ", e->from);
	}
	buf_printf(b, "%s%c", indent, is_map ? '}' : ']');
}

static const struct import_entry *
first_of(const struct import *m, size_t key)
{
	for (size_t i = 0; i < m->entries.n; i++)
		if (m->entries.v[i].key == key)
			return &m->entries.v[i];
	return NULL;
}

static void
put_key(const struct import *m, const struct key *key, const char *indent,
    struct buf *b)
{
	const char *dot = strrchr(key->name, '.');
	const struct import_entry *e = first_of(m, key->offset);

	if (e->is_json)
		put_comment(b, indent, e->from);
	buf_printf(b, "%s\"%s\": ", indent, dot != NULL ? dot + 1 :
	    key->name);
	if (e->is_json)
		buf_puts(b, e->value);
	else
		put_many(m, key, indent, b);
}

static size_t
section_len(const char *name)
{
	const char *dot = strrchr(name, '.');

	return dot != NULL ? (size_t)(dot - name) : 0;
}

/* All keys of the section that the row at `first` begins. */
static void
put_section(const struct import *m, size_t first, struct buf *b)
{
	size_t n = section_len(policy_keys[first].name);
	const char *sep = "";

	buf_printf(b, "  \"%.*s\": {\n", (int)n, policy_keys[first].name);
	for (size_t i = first; i < policy_nkeys; i++) {
		if (section_len(policy_keys[i].name) != n ||
		    strncmp(policy_keys[i].name, policy_keys[first].name,
		    n) != 0 || first_of(m, policy_keys[i].offset) == NULL)
			continue;
		buf_puts(b, sep);
		put_key(m, &policy_keys[i], "    ", b);
		sep = ",\n";
	}
	buf_puts(b, "\n  }");
}

/* Was the section of this row put already? */
static bool
is_put(const struct import *m, size_t row)
{
	size_t n = section_len(policy_keys[row].name);

	for (size_t i = 0; i < row; i++)
		if (section_len(policy_keys[i].name) == n &&
		    strncmp(policy_keys[i].name, policy_keys[row].name,
		    n) == 0 && first_of(m, policy_keys[i].offset) != NULL)
			return true;
	return false;
}

void
import_put(const struct import *m, struct buf *b)
{
	const char *sep = "\n";

	put_head(m, b);
	buf_putc(b, '{');
	if (m->rq.extends != NULL) {
		buf_puts(b, "\n  \"extends\": ");
		json_put_string(b, m->rq.extends, strlen(m->rq.extends));
		sep = ",\n";
	}
	for (size_t i = 0; i < policy_nkeys; i++) {
		bool is_top = section_len(policy_keys[i].name) == 0;

		if (first_of(m, policy_keys[i].offset) == NULL ||
		    (!is_top && is_put(m, i)))
			continue;
		buf_puts(b, sep);
		if (is_top)
			put_key(m, &policy_keys[i], "  ", b);
		else
			put_section(m, i, b);
		sep = ",\n";
	}
	buf_puts(b, "\n}\n");
}

/* ---- the whole ---- */

int
import_read(struct arena *a, const struct import_request *rq,
    struct import *ret, struct err *e)
{
	struct jnode *root = NULL;
	int rc;

	*ret = (struct import){ .arena = a, .rq = *rq };
	rc = rq->source == IMPORT_CODEX ?
	    toml_parse(a, rq->file, rq->text, rq->len, &root, e) :
	    jsontree_parse(a, rq->file, rq->text, rq->len, IMPORT_MAX, &root,
	    e);
	if (rc != 0)
		return -1;
	if (root == NULL)	/* an empty file has no rules */
		return 0;
	if (root->kind != JSON_OBJECT) {
		err_set(e, ERR_POLICY, "expected an object, found %s",
		    json_kind_name(root->kind));
		err_where(e, rq->file, root->line, root->col);
		return -1;
	}
	if (rq->source == IMPORT_CLAUDE)
		import_claude(ret, root);
	else if (rq->source == IMPORT_SRT)
		import_srt(ret, root);
	else
		import_codex(ret, root);
	return 0;
}

void
import_release(struct import *m)
{
	vec_release(&m->entries);
	vec_release(&m->notes);
}
