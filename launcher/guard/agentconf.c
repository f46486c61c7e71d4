#include "launcher/guard/agentconf.h"

#include <ctype.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/guard/agentconf_parts.h"
#include "platform/base/str.h"
#include "platform/base/toml.h"

enum {
	DEPTH = JSON_DEPTH + 1,
	VALUES_MAX = 500000,
	KEY_SHOWN = 120,	/* bytes of one name */
};

enum class { STATE, MIXED, EXECUTES, QUIET };

struct sift {
	struct arena			*arena;
	const struct agentconf_file	*file;
	const char			*path[DEPTH];
	unsigned			 depth;
	bool				 is_mute;
	bool				 differs;
	struct agentconf_answer		*answer;
};

/* ---- trees ---- */

static int
compare_keys(const void *a, const void *b)
{
	return strcmp((*(const struct jnode *const *)a)->key,
	    (*(const struct jnode *const *)b)->key);
}

struct members
members_of(struct arena *a, const struct jnode *n)
{
	struct members m = { NULL, 0 };
	size_t i = 0;

	if (n == NULL || n->kind != JSON_OBJECT || n->child == NULL)
		return m;
	for (const struct jnode *c = n->child; c != NULL; c = c->next)
		m.n++;
	m.v = arena_alloc(a, m.n * sizeof *m.v);
	for (const struct jnode *c = n->child; c != NULL; c = c->next)
		m.v[i++] = c;
	qsort(m.v, m.n, sizeof *m.v, compare_keys);
	return m;
}

const struct jnode *
members_get(const struct members *m, const char *key)
{
	struct jnode wanted = { .key = key };
	const struct jnode *p = &wanted, **found = m->n == 0 ? NULL :
	    bsearch(&p, m->v, m->n, sizeof *m->v, compare_keys);

	return found != NULL ? *found : NULL;
}

static bool
same_scalar(const struct jnode *a, const struct jnode *b)
{
	if (a->kind != JSON_STRING && a->kind != JSON_NUMBER)
		return true;
	return a->len == b->len && memcmp(a->text, b->text, a->len) == 0;
}

static bool
same_object(struct arena *arena, const struct jnode *a, const struct jnode *b)
{
	struct members m = members_of(arena, a), o = members_of(arena, b);

	if (m.n != o.n)
		return false;
	for (size_t i = 0; i < m.n; i++)
		if (strcmp(m.v[i]->key, o.v[i]->key) != 0 ||
		    !conf_same(arena, m.v[i], o.v[i]))
			return false;
	return true;
}

bool
conf_same(struct arena *arena, const struct jnode *a, const struct jnode *b)
{
	const struct jnode *x, *y;

	if (a->kind != b->kind)
		return false;
	if (a->kind == JSON_OBJECT)
		return same_object(arena, a, b);
	if (a->kind != JSON_ARRAY)
		return same_scalar(a, b);
	for (x = a->child, y = b->child; x != NULL && y != NULL;
	    x = x->next, y = y->next)
		if (!conf_same(arena, x, y))
			return false;
	return x == y;
}

static struct jnode *
copy(struct arena *a, const struct jnode *n, struct jnode *parent)
{
	struct jnode *new = arena_alloc(a, sizeof *new);

	*new = (struct jnode){ .kind = n->kind, .key = n->key };
	if (n->kind == JSON_STRING || n->kind == JSON_NUMBER) {
		new->text = n->text;
		new->len = n->len;
	}
	jnode_append(parent, new);
	for (const struct jnode *c = n->child; c != NULL; c = c->next)
		(void)copy(a, c, new);
	return new;
}

static struct jnode *
object_new(struct arena *a, const char *key)
{
	struct jnode *n = arena_alloc(a, sizeof *n);

	*n = (struct jnode){ .kind = JSON_OBJECT, .key = key };
	return n;
}

/* ---- reading ---- */

/* So that a hostile text does not become a tree of gigabytes. */
static bool
has_too_many(const char *text, size_t len)
{
	size_t n = 0;

	for (size_t i = 0; i < len; i++)
		n += text[i] == ',' || text[i] == '{' || text[i] == '[' ||
		    text[i] == '=';
	return n > VALUES_MAX;
}

/* No reader agrees with another about these. */
static bool
is_plain_text(const char *text, size_t len)
{
	uint32_t cp;
	size_t n;

	for (size_t i = 0; i < len; i += n) {
		n = str_utf8(text + i, len - i, &cp);
		if (n == 0 || cp == 0x7f || (i == 0 && cp == 0xfeff) ||
		    (cp < 0x20 && cp != '\t' && cp != '\n' && cp != '\r'))
			return false;
		if (cp == '\r' && (i + 1 == len || text[i + 1] != '\n'))
			return false;
	}
	return true;
}

/* Comments and commas that JSON proper does not have; the text is JSONC. */
static bool
has_extras(const char *text, size_t len)
{
	char last = '\0';
	bool in_string = false;

	for (size_t i = 0; i < len; i++) {
		char c = text[i];

		if (in_string) {
			i += c == '\\';
			in_string = c != '"';
			continue;
		}
		if (c == '/' || (last == ',' && (c == '}' || c == ']')))
			return true;
		in_string = c == '"';
		if (!isspace((unsigned char)c))
			last = c;
	}
	return false;
}

static bool
is_twice(struct arena *a, const struct jnode *n)
{
	struct members m = members_of(a, n);

	for (size_t i = 1; i < m.n; i++)
		if (strcmp(m.v[i - 1]->key, m.v[i]->key) == 0)
			return true;
	for (const struct jnode *c = n->child; c != NULL; c = c->next)
		if (c->child != NULL && is_twice(a, c))
			return true;
	return false;
}

int
conf_parse(struct arena *a, const struct agentconf_file *f, const char *text,
    size_t len, struct jnode **ret, struct err *e)
{
	bool is_toml = f->format == AGENTCONF_TOML;

	*ret = NULL;
	if (len > (is_toml ? (size_t)TOML_MAX : (size_t)AGENTCONF_MAX) ||
	    has_too_many(text, len))
		return err_set(e, ERR_POLICY, "it is too long");
	if (!is_plain_text(text, len))
		return err_set(e, ERR_POLICY,
		    "it is no plain UTF-8 text");
	if ((is_toml ? toml_parse(a, "", text, len, ret, e) :
	    jsontree_parse(a, "", text, len, AGENTCONF_MAX, ret, e)) != 0)
		return -1;
	if (f->format == AGENTCONF_JSON && has_extras(text, len))
		return err_set(e, ERR_POLICY,
		    "it has comments or commas that JSON does not have");
	if (*ret == NULL || (*ret)->kind != JSON_OBJECT)
		return err_set(e, ERR_POLICY, "it holds no object");
	if (is_twice(a, *ret))
		return err_set(e, ERR_POLICY, "a key is written twice");
	return 0;
}

/* ---- what a key is ---- */

/* Go's readers take "ſ" and the sign for Kelvin for s and k. */
static char
next_folded(const char **p)
{
	unsigned char c = (unsigned char)**p;

	if (strncmp(*p, "\u017f", 2) == 0 || strncmp(*p, "\u212a", 3) == 0) {
		*p += c == 0xc5 ? 2 : 3;
		return c == 0xc5 ? 's' : 'k';
	}
	++*p;
	return (char)tolower(c);
}

static bool
is_name(const char *key, const char *name, size_t len, bool is_folded)
{
	size_t i = 0;

	if (len == 1 && name[0] == '*')
		return true;
	if (!is_folded)
		return strlen(key) == len && memcmp(key, name, len) == 0;
	while (*key != '\0' && i < len)
		if (next_folded(&key) != (char)tolower((unsigned char)
		    name[i++]))
			return false;
	return *key == '\0' && i == len;
}

enum match { NOT, ABOVE, WHOLE };

/* Is the path the pattern's or below it, above it, or neither? */
static enum match
match(const struct sift *s, const char *pattern, bool is_folded)
{
	pattern += pattern[0] == '=';
	for (unsigned i = 0; i < s->depth; i++) {
		size_t n = strcspn(pattern, ".");

		if (!is_name(s->path[i], pattern, n, is_folded))
			return NOT;
		if (pattern[n] == '\0')
			return WHOLE;
		pattern += n + 1;
	}
	return ABOVE;
}

static enum match
best_match(const struct sift *s, const char *const *patterns, bool is_folded,
    const char **ret_pattern)
{
	enum match best = NOT;

	for (; patterns != NULL && *patterns != NULL; patterns++) {
		enum match m = match(s, *patterns, is_folded);

		if (m > best) {
			best = m;
			*ret_pattern = *patterns;
		}
	}
	return best;
}

/* Wherever they stand, some reader of some version takes them up. */
static bool
is_forbidden(const char *key)
{
	static const char *const names[] = { "mcpServers", "mcp_servers",
	    "hooks", "apiKeyHelper", "__proto__", "prototype",
	    "constructor" };

	for (size_t i = 0; i < sizeof names / sizeof *names; i++)
		if (is_name(key, names[i], strlen(names[i]), true))
			return true;
	return false;
}

/* A value that a reader does not expand: "$(…)", "{file:…}". */
static bool
is_inert(const struct jnode *n)
{
	if (n->kind == JSON_STRING && strpbrk(n->text, "$`{") != NULL)
		return false;
	for (const struct jnode *c = n->child; c != NULL; c = c->next)
		if (!is_inert(c))
			return false;
	return true;
}

static bool
has_forbidden(const struct jnode *n)
{
	for (const struct jnode *c = n->child; c != NULL; c = c->next)
		if ((c->key != NULL && is_forbidden(c->key)) ||
		    has_forbidden(c))
			return true;
	return false;
}

/* A list where names are expected below is no state of any version. */
static enum class
class_of_state(const struct jnode *value, enum match m)
{
	if (m == WHOLE)
		return EXECUTES;
	if (value->kind == JSON_OBJECT)
		return MIXED;
	return (m == ABOVE && value->child != NULL) ||
	    has_forbidden(value) ? EXECUTES : STATE;
}

static enum class
class_of(const struct sift *s, const struct jnode *value)
{
	const struct agentconf_file *f = s->file;
	const char *pattern = NULL;
	enum match m;

	if (best_match(s, f->quiet, true, &pattern) == WHOLE)
		return QUIET;
	if (is_forbidden(s->path[s->depth - 1]))
		return EXECUTES;
	m = best_match(s, f->keys, f->is_state, &pattern);
	if (f->is_state)
		return class_of_state(value, m);
	if (m != WHOLE)
		return m == ABOVE && value->kind == JSON_OBJECT ? MIXED :
		    EXECUTES;
	return has_forbidden(value) || (pattern[0] == '=' &&
	    !is_inert(value)) ? EXECUTES : STATE;
}

/* The same as no such key?  false: where state is the rule, the way it is. */
static bool
is_nothing(const struct sift *s, const struct jnode *n)
{
	if (n == NULL || n->kind == JSON_NULL)
		return true;
	if (n->kind == JSON_OBJECT || n->kind == JSON_ARRAY)
		return n->child == NULL;
	return s->file->is_state && n->kind == JSON_FALSE;
}

/* ---- what differs ---- */

static void
add_key(struct sift *s, const char *more)
{
	struct agentconf_answer *w = s->answer;
	struct buf b;

	if (w->nkeys == AGENTCONF_KEYS_MAX) {
		w->has_more = true;
		return;
	}
	buf_init(&b, 0);
	for (unsigned i = 0; i < s->depth; i++) {
		if (i > 0)
			buf_putc(&b, '.');
		buf_add(&b, s->path[i], strnlen(s->path[i], KEY_SHOWN));
	}
	if (more != NULL) {
		buf_putc(&b, '.');
		buf_add(&b, more, strnlen(more, KEY_SHOWN));
	}
	w->keys[w->nkeys++] = arena_strndup(s->arena, b.data, b.len);
	buf_release(&b);
}

static bool
is_object(const struct jnode *n)
{
	return n == NULL || n->kind == JSON_OBJECT;
}

/* path is the host's again. */
static void
note(struct sift *s, enum class class, const struct jnode *host,
    const struct jnode *jail)
{
	struct members theirs;

	if (s->is_mute)
		return;
	s->differs = true;
	if (class == QUIET)
		return;
	if (!is_object(host) || !is_object(jail)) {
		add_key(s, NULL);
		return;
	}
	theirs = members_of(s->arena, host);
	for (const struct jnode *c = jail != NULL ? jail->child : NULL;
	    c != NULL; c = c->next) {
		const struct jnode *o = members_get(&theirs, c->key);

		if (o == NULL || !conf_same(s->arena, c, o))
			add_key(s, c->key);
	}
	theirs = members_of(s->arena, jail);
	for (const struct jnode *c = host != NULL ? host->child : NULL;
	    c != NULL; c = c->next)
		if (members_get(&theirs, c->key) == NULL)
			add_key(s, c->key);
}

static bool
is_equal(const struct sift *s, const struct jnode *host,
    const struct jnode *jail)
{
	if (is_nothing(s, host) && is_nothing(s, jail))
		return true;
	return host != NULL && jail != NULL &&
	    conf_same(s->arena, host, jail);
}

static struct jnode	*merge(struct sift *, const struct jnode *host,
			    const struct jnode *jail, const char *key);

/* Does the host's value have keys below it that must stay? */
static bool
has_executing(struct sift *s, const struct jnode *host)
{
	bool was = s->is_mute, has;

	if (host == NULL || (host->kind != JSON_OBJECT &&
	    host->kind != JSON_ARRAY))
		return false;
	if (host->kind == JSON_ARRAY)
		return has_forbidden(host);
	s->is_mute = true;
	has = merge(s, host, NULL, NULL)->child != NULL;
	s->is_mute = was;
	return has;
}

static void
settle(struct sift *s, enum class class, const struct jnode *host,
    const struct jnode *jail, struct jnode *in)
{
	if (jail != NULL && is_equal(s, host, jail)) {
		(void)copy(s->arena, jail, in);
	} else if (jail != NULL || !is_nothing(s, host)) {
		if (host != NULL)
			(void)copy(s->arena, host, in);
		note(s, class, host, jail);
	}
}

/* A member of the jail's; the path ends with its key. */
static void
merge_one(struct sift *s, const struct jnode *host, const struct jnode *jail,
    struct jnode *in)
{
	enum class class = class_of(s, jail);

	if (class == MIXED)
		jnode_append(in, merge(s, host, jail, jail->key));
	else if (class == STATE && !has_executing(s, host))
		(void)copy(s->arena, jail, in);
	else
		settle(s, class, host, jail, in);
}

/* A member that the host alone has. */
static void
merge_missing(struct sift *s, const struct jnode *host, struct jnode *in)
{
	enum class class = class_of(s, host);
	struct jnode *part;

	if (class == STATE)
		return;
	if (class != MIXED) {
		settle(s, class, host, NULL, in);
		return;
	}
	part = merge(s, host, NULL, host->key);
	if (part->child != NULL)
		jnode_append(in, part);
}

/*
 * The jail's object with the host's executing members.  Either may be NULL;
 * the path leads to it.
 */
static struct jnode *
merge(struct sift *s, const struct jnode *host, const struct jnode *jail,
    const char *key)
{
	struct members hosts = members_of(s->arena, host);
	struct members jails = members_of(s->arena, jail);
	struct jnode *in = object_new(s->arena, key);
	const struct jnode *c;

	s->depth++;
	for (c = jail != NULL ? jail->child : NULL; c != NULL; c = c->next) {
		s->path[s->depth - 1] = c->key;
		merge_one(s, members_get(&hosts, c->key), c, in);
	}
	for (c = host != NULL ? host->child : NULL; c != NULL; c = c->next) {
		s->path[s->depth - 1] = c->key;
		if (members_get(&jails, c->key) == NULL)
			merge_missing(s, c, in);
	}
	s->depth--;
	return in;
}

/* ---- the whole ---- */

static void
answer(struct agentconf_answer *w, enum agentconf_verdict verdict,
    const char *text, size_t len)
{
	w->verdict = verdict;
	w->text = text;
	w->len = len;
}

static void
unreadable(struct sift *s, const char *before, size_t before_len,
    const char *why)
{
	s->answer->nkeys = 0;
	s->answer->has_more = false;
	answer(s->answer, AGENTCONF_UNREADABLE, before, before_len);
	s->answer->why = arena_strdup(s->arena, why);
}

void
agentconf_sift(struct arena *a, const struct agentconf_file *f,
    const char *before, size_t before_len, const char *after,
    size_t after_len, struct agentconf_answer *ret)
{
	struct sift s = { .arena = a, .file = f, .answer = ret };
	struct jnode *host = NULL, *jail, *want;
	struct err e = { 0 };

	*ret = (struct agentconf_answer){ .verdict = AGENTCONF_SAME };
	if (before != NULL && before_len == after_len &&
	    memcmp(before, after, after_len) == 0) {
		answer(ret, AGENTCONF_SAME, before, before_len);
		return;
	}
	if (conf_parse(a, f, after, after_len, &jail, &e) != 0) {
		unreadable(&s, before, before_len, e.msg);
		return;
	}
	if (before != NULL && before_len > 0 &&
	    conf_parse(a, f, before, before_len, &host, &e) != 0) {
		unreadable(&s, before, before_len,
		    "the host's file itself cannot be read");
		return;
	}
	want = merge(&s, host, jail, NULL);
	if (!s.differs)
		answer(ret, AGENTCONF_CARRIED, after, after_len);
	else if (conf_write(a, f, after, after_len, want, &ret->text,
	    &ret->len) == 0)
		ret->verdict = AGENTCONF_SIFTED;
	else
		unreadable(&s, before, before_len,
		    "its keys cannot be put back into it");
}
