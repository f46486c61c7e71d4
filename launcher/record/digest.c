#include "launcher/record/digest.h"

#include <stdlib.h>
#include <string.h>

#include "platform/base/json.h"
#include "platform/base/str.h"
#include "platform/base/xalloc.h"
#include "policy/keys.h"

enum { MAX_RULES = 24, MAX_LINES = 64, OBJECT_CHARS = 56, RULE_CHARS = 120,
	BLIND_BYTES = 4096 };

struct by_rule {
	struct rule	 rule;		/* the policy's strings */
	char		*words;		/* rule, or why there is none */
	char		*object;	/* the first; escaped */
	uint64_t	 count;
	bool		 is_one_object, is_helped;
};

struct digest {
	char		*home;
	struct by_rule	 rule[MAX_RULES];
	unsigned	 nrules;
	struct remedy	*line[MAX_LINES];	/* to paste, each once */
	unsigned	 nlines;
	uint64_t	 total, helped, unruled, lost;
	bool		 is_cut;		/* lines did not fit */
	bool		 is_least;		/* lost, or more */
	struct buf	 blind;			/* names, escaped */
};

struct digest *
digest_new(const char *home)
{
	struct digest *d = xcalloc(1, sizeof *d);

	d->home = home != NULL ? xstrdup(home) : NULL;
	buf_init(&d->blind, BLIND_BYTES);
	return d;
}

void
digest_free(struct digest *d)
{
	if (d == NULL)
		return;
	for (unsigned i = 0; i < d->nrules; i++) {
		free(d->rule[i].words);
		free(d->rule[i].object);
	}
	for (unsigned i = 0; i < d->nlines; i++)
		free(d->line[i]);
	buf_release(&d->blind);
	free(d->home);
	free(d);
}

void
digest_lost(struct digest *d, uint64_t n, bool is_least)
{
	d->lost += n;
	d->is_least = d->is_least || is_least;
}

/* Entries are known by place, what has no entry by its words. */
static bool
is_same(const struct by_rule *r, const struct rule *rule, const char *words)
{
	return r->rule.id == rule->id && r->rule.key == rule->key &&
	    r->rule.index == rule->index && strcmp(r->words, words) == 0;
}

/* Escaped, with "~" for home, and short. */
static char *
object_words(const struct digest *d, const struct event *e)
{
	const char *s = e->path != NULL ? e->path : e->host != NULL ?
	    e->host : e->ip != NULL ? e->ip : e->call != NULL ? e->call : "?";
	struct buf whole, cut;
	char *ret;

	buf_init(&whole, 0);
	buf_init(&cut, 0);
	if (e->path != NULL && d->home != NULL && d->home[1] != '\0' &&
	    str_path_below(s, d->home)) {
		buf_putc(&whole, '~');
		s += strlen(d->home);
	}
	str_escape(&whole, s, strlen(s), 0);
	event_cut(&cut, whole.data, OBJECT_CHARS / 2, OBJECT_CHARS / 2);
	ret = xstrdup(cut.data);
	buf_release(&whole);
	buf_release(&cut);
	return ret;
}

static void
rule_words(const struct verdict *v, struct buf *ret)
{
	struct buf whole;

	buf_init(&whole, 0);
	rule_put_whole(&whole, &v->rule);
	if (v->rule.text == NULL && v->rule.id != RULE_NO_ENTRY &&
	    v->reason[0] != '\0') {
		buf_puts(&whole, " (");
		str_escape(&whole, v->reason, strlen(v->reason), 0);
		buf_putc(&whole, ')');
	}
	event_cut(ret, whole.data, RULE_CHARS / 2, RULE_CHARS / 2);
	buf_release(&whole);
}

static void
add_rule(struct digest *d, const struct event *e)
{
	const struct rule *rule = &e->verdict.rule;
	struct by_rule *r = d->rule, *end = d->rule + d->nrules;
	char *object = object_words(d, e);
	struct buf words;

	buf_init(&words, 0);
	rule_words(&e->verdict, &words);
	while (r < end && !is_same(r, rule, words.data))
		r++;
	if (r == end && d->nrules < MAX_RULES) {
		d->nrules++;
		*r = (struct by_rule){ .rule = *rule,
		    .words = xstrdup(words.data), .object = object,
		    .is_one_object = true };
		object = NULL;
	}
	if (r < d->rule + d->nrules) {
		r->count += e->count;
		r->is_helped |= e->verdict.remedy.kind != REMEDY_NONE;
		if (object != NULL && strcmp(object, r->object) != 0)
			r->is_one_object = false;
	} else {
		d->unruled += e->count;
	}
	free(object);
	buf_release(&words);
}

static void
add_line(struct digest *d, const struct event *e)
{
	const struct remedy *r = &e->verdict.remedy;

	if (r->kind == REMEDY_NONE)
		return;
	d->helped += e->count;
	for (unsigned i = 0; i < d->nlines; i++)
		if (remedy_same(d->line[i], r))
			return;
	if (d->nlines == MAX_LINES) {
		d->is_cut = true;
		return;
	}
	d->line[d->nlines] = xcalloc(1, sizeof *r);
	*d->line[d->nlines++] = *r;
}

static void
add_blind(struct digest *d, const struct event *e)
{
	const char *comm = e->process[0].comm;

	if (d->blind.len > 0)
		buf_puts(&d->blind, ", ");
	str_escape(&d->blind, comm, strnlen(comm, EVENT_COMM), 0);
}

void
digest_add(struct digest *d, const struct event *e)
{
	if (e->kind == EVENT_BLIND)
		add_blind(d, e);
	if (e->kind >= EVENT_RUN_START || e->verdict.action != ACTION_DENY)
		return;
	d->total += e->count;
	add_rule(d, e);
	add_line(d, e);
}

/* ---- the block ---- */

/* "filesystem" of "filesystem.allowWrite"; "" of a key at the top. */
static struct str
section_of(const struct remedy *r)
{
	const char *name = keys_name(r->key), *dot = strchr(name, '.');

	return (struct str){ name, dot != NULL ? (size_t)(dot - name) : 0 };
}

static bool
is_entry(const struct remedy *r)
{
	return r->kind == REMEDY_ADD || r->kind == REMEDY_ADD_NUMBER;
}

/* What a line of its own says: true or an entry; the rest are comments. */
static bool
is_line(const struct remedy *r)
{
	return is_entry(r) || (r->kind == REMEDY_SET &&
	    strcmp(r->value, "true") == 0);
}

static bool
same_section(const struct remedy *a, const struct remedy *b)
{
	struct str x = section_of(a), y = section_of(b);

	return x.len == y.len && memcmp(x.p, y.p, x.len) == 0;
}

static void
put_value(struct buf *b, const struct remedy *r)
{
	if (r->kind == REMEDY_ADD)
		json_put_string(b, r->value, strlen(r->value));
	else
		buf_printf(b, "%u", r->number);
}

/* One member, with all entries that are of its list. */
static void
put_member(const struct digest *d, unsigned first, struct buf *b)
{
	const struct remedy *r = d->line[first];
	const char *name = keys_name(r->key), *dot = strchr(name, '.');
	const char *before = "";

	buf_printf(b, "%s\"%s\": ", dot != NULL ? "    " : "  ",
	    dot != NULL ? dot + 1 : name);
	if (!is_entry(r)) {
		buf_puts(b, "true");
		return;
	}
	buf_putc(b, '[');
	for (unsigned i = first; i < d->nlines; i++) {
		if (!is_entry(d->line[i]) || d->line[i]->key != r->key)
			continue;
		buf_puts(b, before);
		put_value(b, d->line[i]);
		before = ", ";
	}
	buf_putc(b, ']');
}

/* Is it the first line of its key, or of its section? */
static bool
is_first(const struct digest *d, unsigned at, bool of_section)
{
	for (unsigned i = 0; i < at; i++)
		if (is_line(d->line[i]) && (of_section ?
		    same_section(d->line[i], d->line[at]) :
		    d->line[i]->key == d->line[at]->key))
			return false;
	return is_line(d->line[at]);
}

static void
put_section(const struct digest *d, unsigned first, struct buf *b)
{
	struct str section = section_of(d->line[first]);
	const char *before = "";

	if (section.len > 0)
		buf_printf(b, "  \"%.*s\": {\n", (int)section.len,
		    section.p);
	for (unsigned i = first; i < d->nlines; i++) {
		if (!same_section(d->line[i], d->line[first]) ||
		    !is_first(d, i, false))
			continue;
		buf_puts(b, before);
		put_member(d, i, b);
		before = ",\n";
	}
	if (section.len > 0)
		buf_puts(b, "\n  }");
}

static void
put_comments(const struct digest *d, struct buf *b)
{
	for (unsigned i = 0; i < d->nlines; i++) {
		if (is_line(d->line[i]))
			continue;
		buf_puts(b, "  // ");
		remedy_put(b, d->line[i]);
		buf_putc(b, '\n');
	}
}

static void
put_block(const struct digest *d, struct buf *b)
{
	const char *before = "";

	buf_puts(b, "{\n");
	put_comments(d, b);
	for (unsigned i = 0; i < d->nlines; i++) {
		if (!is_first(d, i, true))
			continue;
		buf_puts(b, before);
		put_section(d, i, b);
		before = ",\n";
	}
	buf_puts(b, before[0] != '\0' ? "\n}\n" : "}\n");
}

/* ---- the lines before it ---- */

static void
put_rule(const struct by_rule *r, struct buf *b)
{
	buf_printf(b, "  %6llu  %s: %s%s%s\n", (unsigned long long)r->count,
	    r->words, r->object, r->is_one_object ? "" : " and others",
	    r->is_helped ? "" : "; no line allows it");
}

/* The most frequent first; of equals, the first that appeared. */
static void
put_rules(const struct digest *d, struct buf *b)
{
	bool shown[MAX_RULES] = { false };

	for (unsigned n = 0; n < d->nrules; n++) {
		unsigned best = MAX_RULES;

		for (unsigned i = 0; i < d->nrules; i++)
			if (!shown[i] && (best == MAX_RULES ||
			    d->rule[i].count > d->rule[best].count))
				best = i;
		shown[best] = true;
		put_rule(&d->rule[best], b);
	}
	if (d->unruled > 0)
		buf_printf(b, "  %6llu  by other rules\n",
		    (unsigned long long)d->unruled);
}

void
digest_text(const struct digest *d, struct buf *b)
{
	if (d->total == 0)
		return;
	buf_printf(b, "fence: %s%llu refusal%s, by rule:\n", d->lost > 0 ?
	    "at least " : "", (unsigned long long)d->total,
	    d->total == 1 ? "" : "s");
	put_rules(d, b);
	if (d->lost > 0)
		buf_printf(b, "  %6llu  %sreports that were dropped\n",
		    (unsigned long long)d->lost, d->is_least ?
		    "or more " : "");
	if (d->blind.len > 0 && !d->blind.failed)
		buf_printf(b, "fence: %s did not load the preloaded library: "
		    "refused reads of theirs are not told\n", d->blind.data);
	if (d->nlines == 0)
		return;
	buf_printf(b, "fence: a policy that allows %s of them%s:\n",
	    d->helped == d->total ? "all" : "some", d->is_cut ?
	    ", of which there are more than fit here" : "");
	put_block(d, b);
}
