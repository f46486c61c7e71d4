#include "policy/diff.h"

#include <stdbool.h>
#include <string.h>

#include "platform/base/str.h"
#include "policy/keys.h"
#include "policy/rule.h"
#include "policy/settle.h"

struct lines {
	void	(*fn)(const struct diff_line *, void *);
	void	 *arg;
	bool	  is_more;	/* those of this turn */
};

static void
put(struct lines *l, bool is_more, const struct key *key, const char *what,
    const struct origin *at)
{
	struct diff_line line = { key, is_more, what, at };

	if (is_more == l->is_more)
		l->fn(&line, l->arg);
}

void
diff_put(struct buf *b, const struct diff_line *l)
{
	buf_printf(b, "%c %s ", l->is_more ? '+' : '-', l->key->name);
	str_escape(b, l->what, strlen(l->what), 0);
	if (l->at->file != NULL)
		buf_puts(b, "  ");
	origin_put(b, l->at);
}

/* Entries of `in` that `out` lacks: present is true for those of b. */
static void
diff_entries(struct lines *l, const struct key *k, const struct strlist *in,
    const struct strlist *out, bool is_more)
{
	struct buf what;

	buf_init(&what, 0);
	for (size_t i = 0; i < in->n; i++) {
		const struct entry *e = &in->v[i];

		if (settle_lists(out, e))
			continue;
		buf_clear(&what);
		if (e->name != NULL)
			buf_printf(&what, "%s=\"%s\"", e->name, e->text);
		else
			buf_printf(&what, "\"%s\"", e->text);
		if (k->way == WAY_RESTRICTS)
			buf_puts(&what, is_more ? " (no longer denied)" :
			    " (denied)");
		put(l, is_more, k, what.data, &e->at);
	}
	buf_release(&what);
}

static void
diff_list(struct lines *l, const struct key *k, const struct policy *a,
    const struct policy *b)
{
	const struct strlist *la = keys_cstrlist(k, a);
	const struct strlist *lb = keys_cstrlist(k, b);
	bool grants = k->way == WAY_GRANTS;

	diff_entries(l, k, lb, la, grants);
	diff_entries(l, k, la, lb, !grants);
}

/* How far a value goes in the row's way: null lies between false and true. */
static uint64_t
reach_of(const struct key *k, uint64_t value)
{
	static const uint8_t tri[] = {
		[TRI_FALSE] = 0, [TRI_AUTO] = 1, [TRI_TRUE] = 2,
	};

	if (k->type == KEY_TRISTATE)
		return tri[value];
	return k->type == KEY_ENUM ? keys_rank(k, (int)value) : value;
}

/* A value as a number, and its place. */
static uint64_t
value_of(const struct key *k, const struct policy *p, struct origin *at)
{
	const void *f = keys_cfield(k, p);

	switch (k->type) {
	case KEY_BOOL:
		*at = ((const struct flag *)f)->at;
		return ((const struct flag *)f)->value;
	case KEY_TRISTATE:
		*at = ((const struct tristate *)f)->at;
		return ((const struct tristate *)f)->value;
	case KEY_ENUM:
		*at = ((const struct choice *)f)->at;
		return (uint64_t)((const struct choice *)f)->value;
	case KEY_INT: case KEY_SIZE: case KEY_DURATION:
		*at = ((const struct number *)f)->at;
		return ((const struct number *)f)->value;
	default:
		return 0;
	}
}

static void
diff_value(struct lines *l, const struct key *k, const struct policy *a,
    const struct policy *b)
{
	struct origin at_a = { 0 }, at_b = { 0 };
	uint64_t va = value_of(k, a, &at_a), vb = value_of(k, b, &at_b);
	char what[96];
	bool is_more;

	if (va == vb)
		return;
	is_more = (reach_of(k, vb) > reach_of(k, va)) ==
	    (k->way == WAY_GRANTS);
	if (keys_is_limit(k))
		is_more = vb == 0 || (va != 0 && vb > va);
	if (k->type == KEY_ENUM)
		snprintf(what, sizeof what, "%s, was %s", k->words[vb],
		    k->words[va]);
	else if (k->type == KEY_BOOL)
		snprintf(what, sizeof what, "%s", vb ? "true" : "false");
	else if (k->type == KEY_TRISTATE)
		snprintf(what, sizeof what, "%s", vb == TRI_TRUE ? "true" :
		    vb == TRI_FALSE ? "false" : "null");
	else
		snprintf(what, sizeof what, "%llu, was %llu",
		    (unsigned long long)vb, (unsigned long long)va);
	put(l, is_more, k, what, at_b.file != NULL ? &at_b : &at_a);
}

static void
diff_string(struct lines *l, const struct key *k, const struct policy *a,
    const struct policy *b)
{
	const struct string *sa = keys_cfield(k, a), *sb = keys_cfield(k, b);

	if (strcmp(sa->text, sb->text) == 0)
		return;
	if (sb->text[0] != '\0')
		put(l, true, k, sb->shown, &sb->at);
	else
		put(l, false, k, sa->shown, &sa->at);
}

static void
diff_keys(struct lines *l, const struct policy *a, const struct policy *b)
{
	for (size_t i = 0; i < policy_nkeys; i++) {
		const struct key *k = &policy_keys[i];

		if (k->type == KEY_IGNORED || k->way == WAY_NEITHER)
			continue;
		if (keys_cstrlist(k, a) != NULL)
			diff_list(l, k, a, b);
		else if (k->type == KEY_STRING)
			diff_string(l, k, a, b);
		else
			diff_value(l, k, a, b);
	}
}

void
diff_each(const struct policy *a, const struct policy *b,
    void (*fn)(const struct diff_line *, void *), void *arg)
{
	struct lines l = { .fn = fn, .arg = arg, .is_more = true };

	diff_keys(&l, a, b);
	l.is_more = false;
	diff_keys(&l, a, b);
}

struct text {
	struct buf	*b;
	size_t		 nmore;
};

static void
put_line(const struct diff_line *l, void *arg)
{
	struct text *t = arg;

	t->nmore += l->is_more;
	diff_put(t->b, l);
	buf_putc(t->b, '\n');
}

size_t
diff_policies(const struct policy *a, const struct policy *b,
    struct buf *ret)
{
	struct text t = { .b = ret };

	diff_each(a, b, put_line, &t);
	return t.nmore;
}
