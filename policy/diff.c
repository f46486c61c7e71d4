#include "policy/diff.h"

#include <stdbool.h>
#include <string.h>

#include "platform/base/str.h"
#include "policy/keys.h"
#include "policy/layers.h"
#include "policy/rule.h"

/* Which way a key turns: does more of it let more through? */
enum way { WAY_NONE, WAY_GRANTS, WAY_RESTRICTS };

static const struct { const char *name; enum way way; } ways[] = {
	{ "extends", WAY_NONE },
	{ "profile", WAY_RESTRICTS },
	{ "network.deniedDomains", WAY_RESTRICTS },
	{ "network.proxyVariables", WAY_NONE },
	{ "network.httpProxyPort", WAY_NONE },
	{ "network.socksProxyPort", WAY_NONE },
	{ "filesystem.defaultDenyRead", WAY_RESTRICTS },
	{ "filesystem.strictDenyRead", WAY_RESTRICTS },
	{ "filesystem.denyRead", WAY_RESTRICTS },
	{ "filesystem.denyWrite", WAY_RESTRICTS },
	{ "filesystem.guard", WAY_RESTRICTS },
	{ "command.deny", WAY_RESTRICTS },
	{ "command.useDefaults", WAY_RESTRICTS },
	{ "command.runtimeExecPolicy", WAY_RESTRICTS },
	{ "ssh.deniedHosts", WAY_RESTRICTS },
	{ "ssh.deniedCommands", WAY_RESTRICTS },
	{ "ssh.inheritDeny", WAY_RESTRICTS },
	{ "env.deny", WAY_RESTRICTS },
	{ "env.loader", WAY_RESTRICTS },
	{ "env.denySecrets", WAY_RESTRICTS },
	{ "limits.memory", WAY_RESTRICTS },
	{ "limits.processMemory", WAY_RESTRICTS },
	{ "limits.processes", WAY_RESTRICTS },
	{ "limits.time", WAY_RESTRICTS },
	{ "limits.files", WAY_RESTRICTS },
	{ "limits.tmp", WAY_RESTRICTS },
};

/* A key that is not listed grants: a new one is rather told than missed. */
static enum way
way_of(const struct key *k)
{
	for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
		if (strcmp(ways[i].name, k->name) == 0)
			return ways[i].way;
	return WAY_GRANTS;
}

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

static bool
is_listed(const struct strlist *l, const struct entry *e)
{
	for (size_t i = 0; i < l->n; i++) {
		const struct entry *o = &l->v[i];

		if (layers_same(o, e) && (e->name == NULL || o->name == NULL ||
		    strcmp(e->name, o->name) == 0))
			return true;
	}
	return false;
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

		if (is_listed(out, e))
			continue;
		buf_clear(&what);
		if (e->name != NULL)
			buf_printf(&what, "%s=\"%s\"", e->name, e->text);
		else
			buf_printf(&what, "\"%s\"", e->text);
		if (way_of(k) == WAY_RESTRICTS)
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
	bool grants = way_of(k) == WAY_GRANTS;

	diff_entries(l, k, lb, la, grants);
	diff_entries(l, k, la, lb, !grants);
}

/* A value as a number that grows with what it says, and its place. */
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

/* No limit is the largest: 0 turns round. */
static bool
is_limit(const struct key *k)
{
	return k->type == KEY_SIZE || k->type == KEY_DURATION ||
	    (k->type == KEY_INT && strncmp(k->name, "limits.", 7) == 0);
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
	is_more = (vb > va) == (way_of(k) == WAY_GRANTS);
	if (is_limit(k))
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

		if (k->type == KEY_IGNORED || way_of(k) == WAY_NONE)
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
