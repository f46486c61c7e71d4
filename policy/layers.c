#include "policy/layers.h"

#include <string.h>

#include "platform/base/str.h"
#include "policy/keys.h"
#include "policy/pattern.h"
#include "policy/settle.h"

void
layers_add(struct policy *first, struct policy *layer)
{
	while (first->also != NULL)
		first = first->also;
	first->also = layer;
}

void
layers_settle(struct policy *first)
{
	for (const struct policy *l = first->also; l != NULL; l = l->also)
		for (size_t i = 0; i < policy_nkeys; i++)
			policy_keys[i].settle(&policy_keys[i], first, l);
}

/* ---- ceilings ---- */

/* Two homes are two paths, each mounted as a whole. */
static bool
is_glob(const struct entry *e)
{
	const struct pattern *p = e->pattern;

	if (p->nalts == 0 || strchr(e->text, '{') != NULL)
		return p->kind == PATTERN_GLOB;
	for (size_t i = 0; i < p->nalts; i++)
		if (p->alts[i]->kind == PATTERN_GLOB)
			return true;
	return false;
}

static int
check_mounted(const struct key *k, const struct strlist *l, struct err *e)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct entry *entry = &l->v[i];

		if (!is_glob(entry))
			continue;
		err_set(e, ERR_POLICY, "a ceiling cannot hold the glob "
		    "\"%.100s\"", entry->text);
		err_where(e, entry->at.file, entry->at.line, entry->at.col);
		err_key(e, "%s[%zu]", k->name, i);
		err_hint(e, "name the directory: a path covers all that is "
		    "below it");
		return -1;
	}
	return 0;
}

int
layers_check_ceiling(const struct policy *p, struct err *e)
{
	for (size_t i = 0; i < policy_nkeys; i++)
		if (policy_keys[i].is_mounted && check_mounted(&policy_keys[i],
		    keys_cstrlist(&policy_keys[i], p), e) != 0)
			return -1;
	return 0;
}

/* ---- what was asked for ---- */

struct refused {
	const struct policy	*user, *asked;
	struct buf		*b;
	size_t			 n, most;
};

static void
refuse(struct refused *r, const struct key *k, const char *text)
{
	if (r->n++ >= r->most)
		return;
	buf_printf(r->b, "%s%s", r->n > 1 ? ", " : "", k->name);
	if (text != NULL) {
		buf_puts(r->b, " \"");
		str_escape(r->b, text, strlen(text), '"');
		buf_putc(r->b, '"');
	}
}

static void
refuse_entries(struct refused *r, const struct key *k)
{
	const struct strlist *asked = keys_cstrlist(k, r->asked);
	const struct strlist *granted = keys_cstrlist(k, r->user);

	for (size_t i = 0; i < asked->n; i++) {
		const struct entry *e = &asked->v[i];

		if (!settle_lists(granted, e) && (k->covers == NULL ||
		    !k->covers(r->user, granted, e)))
			refuse(r, k, e->text);
	}
}

/* A text that is not written is the row's fallback, which stands in quotes. */
static bool
is_text(const struct key *k, const struct string *s, const char *text)
{
	size_t n = strlen(text);

	if (s->is_set)
		return strcmp(s->text, text) == 0;
	return strlen(k->fallback) == n + 2 &&
	    strncmp(k->fallback + 1, text, n) == 0;
}

static void
refuse_value(struct refused *r, const struct key *k)
{
	const void *asked = keys_cfield(k, r->asked);
	const void *granted = keys_cfield(k, r->user);
	const struct flag *f = asked, *g = granted;
	const struct tristate *t = asked, *u = granted;
	const struct choice *c = asked, *d = granted;
	const struct string *s = asked;

	if (k->type == KEY_BOOL && f->value && !g->value)
		refuse(r, k, NULL);
	else if (k->type == KEY_TRISTATE && t->value == TRI_TRUE &&
	    u->value != TRI_TRUE)
		refuse(r, k, NULL);
	else if (k->type == KEY_ENUM && c->is_set &&
	    keys_rank(k, c->value) > keys_rank(k, d->value))
		refuse(r, k, k->words[c->value]);
	else if (k->type == KEY_STRING && s->is_set &&
	    !is_text(k, granted, s->text))
		refuse(r, k, s->shown);
}

size_t
layers_refused(const struct policy *user, const struct policy *asked,
    size_t most, struct buf *b)
{
	struct refused r = { .user = user, .asked = asked, .b = b,
	    .most = most };

	for (size_t i = 0; i < policy_nkeys; i++) {
		const struct key *k = &policy_keys[i];

		if (k->way != WAY_GRANTS || k->is_macos)
			continue;
		if (keys_cstrlist(k, asked) != NULL)
			refuse_entries(&r, k);
		else
			refuse_value(&r, k);
	}
	return r.n;
}
