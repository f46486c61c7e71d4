#include "launcher/record/recent.h"

#include <errno.h>
#include <string.h>

/* As much as fits, and no half of a character. */
static void
copy(char *ret, size_t size, const char *s)
{
	size_t len = strlen(s);

	if (len >= size) {
		len = size - 1;
		while (len > 0 && ((unsigned char)s[len] & 0xc0) == 0x80)
			len--;
	}
	memcpy(ret, s, len);
	ret[len] = '\0';
}

/* " fence.jsonc:12:5"; of a long one its end, which tells most. */
static void
put_place(char *ret, size_t room, const char *place)
{
	static const char more[] = " \xe2\x80\xa6";
	size_t len = strlen(place);

	if (len + 1 > room && room > sizeof more) {
		place += len - (room - (sizeof more - 1));
		while (((unsigned char)*place & 0xc0) == 0x80)
			place++;
		strcpy(ret, more);
		strcat(ret, place);
	} else if (len + 1 <= room) {
		ret[0] = ' ';
		strcpy(ret + 1, place);
	}
}

void
recent_words(const struct verdict *v, char rule[RECENT_RULE],
    char remedy[RECENT_REMEDY])
{
	struct buf b;
	size_t room;

	buf_init(&b, 0);
	rule_put(&b, &v->rule);
	copy(rule, RECENT_RULE, b.data);
	room = RECENT_RULE - strlen(rule) - 1;
	if (v->rule.at.line > 0) {
		buf_clear(&b);
		origin_put(&b, &v->rule.at);
		put_place(rule + strlen(rule), room, b.data);
	}
	buf_clear(&b);
	remedy_put(&b, &v->remedy);
	copy(remedy, RECENT_REMEDY, b.data);
	buf_release(&b);
}

static void
fill_what(struct recent_entry *r, const struct event *e)
{
	struct buf b;

	buf_init(&b, 0);
	event_deed(e, &b);
	copy(r->what, sizeof r->what, b.data);
	buf_release(&b);
}

/* Places are compared as they are held: their strings are the policy's. */
static bool
is_same(const struct recent_entry *a, const struct recent_entry *b)
{
	return a->by.id == b->by.id && a->by.key == b->by.key &&
	    a->by.index == b->by.index && a->by.at.file == b->by.at.file &&
	    a->by.at.line == b->by.at.line && a->by.at.col == b->by.at.col &&
	    strcmp(a->object, b->object) == 0;
}

/* The place of an equal one, which it takes, or the oldest. */
static unsigned
place_of(const struct recent *l, const struct recent_entry *r)
{
	for (unsigned i = 0; i < l->n; i++)
		if (is_same(&l->entry[i], r))
			return i;
	return l->n < RECENT_MAX ? l->n : RECENT_MAX - 1;
}

void
recent_add(struct recent *l, const struct event *e)
{
	struct recent_entry r = { .count = e->count > 0 ? e->count : 1,
	    .by = e->verdict.rule };
	const char *object = e->path != NULL ? e->path :
	    e->host != NULL ? e->host : e->ip != NULL ? e->ip : "";
	struct verdict v = e->verdict;
	unsigned at;

	/* Hidden files are not there for the command: no word of them. */
	if (e->kind >= EVENT_RUN_START || e->verdict.action != ACTION_DENY ||
	    (e->sys == ENOENT && e->path != NULL) || e->is_led)
		return;
	if (e->is_hidden)
		v.remedy = e->blind;
	copy(r.object, sizeof r.object, object);
	recent_words(&v, r.rule, r.remedy);
	fill_what(&r, e);
	at = place_of(l, &r);
	if (at == l->n)
		l->n++;
	else if (is_same(&l->entry[at], &r))
		r.count += l->entry[at].count;
	memmove(&l->entry[1], &l->entry[0], at * sizeof l->entry[0]);
	l->entry[0] = r;
}
