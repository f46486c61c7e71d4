/*
 * Records as text for people.  Names in a record were chosen by processes of a
 * jail, and the file may be anybody's: everything passes put_word() or
 * history_put_plain().
 */
#include "launcher/history/history.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "launcher/history/lines.h"
#include "launcher/record/event.h"
#include "platform/base/json.h"
#include "platform/base/jsontree.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"

enum { SHOWN_MEMBERS = 10, SHOWN_CHARS = 100, SHOWN_ID = 8 };

void
history_put_plain(struct buf *b, const char *s)
{
	size_t len = strlen(s);
	uint32_t cp;

	for (size_t n; len > 0; s += n, len -= n) {
		n = str_utf8(s, len, &cp);
		if (n > 0 && (cp == '\\' || !str_is_deceptive(cp))) {
			buf_add(b, s, n);
		} else {
			n = n > 0 ? n : 1;
			str_escape(b, s, n, 0);
		}
	}
}

/* Escaped, and its middle cut out if it is long. */
static void
put_word(struct buf *b, const char *s)
{
	struct buf whole;

	buf_init(&whole, 0);
	str_escape(&whole, s, strlen(s), 0);
	event_cut(b, whole.data, SHOWN_CHARS / 2, SHOWN_CHARS / 2 - 1);
	buf_release(&whole);
}

static void
put_time(struct buf *b, int64_t time_ms)
{
	time_t t = (time_t)(time_ms / 1000);
	char text[64];
	struct tm tm;

	if (localtime_r(&t, &tm) == NULL ||
	    strftime(text, sizeof text, "%Y-%m-%d %H:%M:%S", &tm) == 0)
		return;
	buf_puts(b, text);
}

static void
put_count(struct buf *b, uint64_t n, const char *noun)
{
	buf_printf(b, "%llu %s%s", (unsigned long long)n, noun,
	    n == 1 ? "" : "s");
}

/* As much of it as names a run. */
static void
put_id(struct buf *b, const char *id)
{
	size_t n = strnlen(id, SHOWN_ID);

	str_escape(b, id, n, 0);
}

/* ---- runs ---- */

static void
put_state(struct buf *b, const struct history_run *run)
{
	if (run->state == HISTORY_ENDED)
		buf_printf(b, "exit %d", run->exit_status);
	else
		buf_puts(b, run->state == HISTORY_LASTS ? "running" :
		    "killed");
}

void
history_put_runs(struct buf *b, const struct history_runs *runs)
{
	struct buf state;

	buf_init(&state, 0);
	for (size_t i = 0; i < runs->n; i++) {
		const struct history_run *run = &runs->v[i];

		buf_clear(&state);
		put_state(&state, run);
		put_id(b, run->id);
		buf_puts(b, "  ");
		put_time(b, run->time_ms);
		buf_printf(b, "  %-8s %5llu refused  ", state.data,
		    (unsigned long long)run->refusals);
		put_word(b, run->command);
		buf_putc(b, '\n');
	}
	buf_release(&state);
}

void
history_put_runs_json(struct buf *b, const struct history_runs *runs)
{
	static const char *const names[] = { "ended", "running", "killed" };

	buf_puts(b, "{\"runs\": [");
	for (size_t i = 0; i < runs->n; i++) {
		const struct history_run *run = &runs->v[i];

		buf_puts(b, i == 0 ? "\n  {" : ",\n  {");
		json_put_text(b, "id", run->id);
		json_put_name(b, "time");
		buf_printf(b, "%lld", (long long)run->time_ms);
		json_put_text(b, "command", run->command);
		json_put_text(b, "state", names[run->state]);
		json_put_name(b, "exitStatus");
		if (run->state == HISTORY_ENDED)
			buf_printf(b, "%d", run->exit_status);
		else
			buf_puts(b, "null");
		json_put_name(b, "refusals");
		buf_printf(b, "%llu", (unsigned long long)run->refusals);
		json_put_text(b, "file", run->path);
		buf_putc(b, '}');
	}
	buf_puts(b, "]}\n");
}

/* ---- one run ---- */

void
history_put_head(struct buf *b, const struct history *h)
{
	const struct record *first = h->start != NULL ? h->start :
	    h->n > 0 ? h->v : NULL;

	if (first == NULL)
		return;
	buf_puts(b, "run ");
	put_id(b, first->run);
	buf_puts(b, "  ");
	put_time(b, first->time_ms);
	if (h->end != NULL)
		buf_printf(b, "  exit %d", h->end->exit_status);
	buf_puts(b, "  ");
	put_count(b, h->refusals, "refusal");
	if (h->dropped > 0) {
		buf_puts(b, " and ");
		put_count(b, h->dropped, "record");
		buf_puts(b, " dropped");
	}
	if (h->start != NULL && h->start->command[0] != '\0') {
		buf_puts(b, "  ");
		put_word(b, h->start->command);
	}
	buf_putc(b, '\n');
}

/* "… | rule …": the second line begins where the first one's icon stands. */
static void
put_message(struct buf *b, const char *text, bool is_wide)
{
	static const char sign[] = " | rule ";
	const char *at = is_wide ? strstr(text, sign) : NULL;

	for (const char *p = at; p != NULL; p = strstr(p + 1, sign))
		at = p;
	if (at == NULL) {
		history_put_plain(b, text);
	} else {
		struct buf head;

		buf_init(&head, 0);
		buf_add(&head, text, (size_t)(at - text));
		history_put_plain(b, head.data);
		buf_puts(b, "\n            ");
		history_put_plain(b, at + 3);
		buf_release(&head);
	}
}

static void
put_record(struct buf *b, const struct record *r, bool is_wide)
{
	if (r->kind != RECORD_REFUSAL && r->kind != RECORD_FINDING)
		return;
	put_message(b, r->message, is_wide);
	if (r->count > 1)
		buf_printf(b, "  (%llu times)", (unsigned long long)r->count);
	buf_putc(b, '\n');
}

void
history_put_times(struct buf *b, const struct history *h, bool is_wide)
{
	for (size_t i = 0; i < h->n; i++)
		put_record(b, &h->v[i], is_wide);
}

enum record_kind
history_put_line(struct buf *b, const char *line, size_t len, bool is_wide)
{
	struct arena *a = arena_new();
	struct err ignored = { 0 };
	struct record r;

	if (record_parse(a, line, len, &r, &ignored) == 0)
		put_record(b, &r, is_wide);
	arena_free(a);
	return r.kind;
}

/* ---- groups ---- */

struct cell {
	const char	*key, *member;
	uint64_t	 count;
	size_t		 first;		/* its place among the cells */
};

struct cells { struct cell *v; size_t n, cap; };

static int
by_name(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;
	int rc = strcmp(x->key, y->key);

	return rc != 0 ? rc : strcmp(x->member, y->member);
}

static int
by_count(const void *a, const void *b)
{
	const struct cell *x = a, *y = b;

	if (x->count != y->count)
		return x->count < y->count ? 1 : -1;
	return by_name(a, b);
}

/* The rule as a line of -m says it. */
static const char *
rule_of(struct arena *a, const struct record *r)
{
	if (r->rule_text[0] == '\0')
		return arena_printf(a, "%s %s", r->rule, r->place);
	return arena_printf(a, "%s \"%s\" %s", r->rule, r->rule_text,
	    r->place);
}

static struct cell
cell_of(struct arena *a, const struct record *r, enum history_by by)
{
	struct cell c = { .key = r->object, .member = r->program,
	    .count = r->count };

	if (by == HISTORY_BY_PROCESS)
		c = (struct cell){ r->program, r->object, r->count, 0 };
	else if (by == HISTORY_BY_RULE)
		c = (struct cell){ rule_of(a, r), r->object, r->count, 0 };
	return c;
}

/* Equal neighbours become one; by_key: the member does not matter. */
static void
fold(struct cells *c, bool by_key)
{
	size_t n = 0;

	for (size_t i = 0; i < c->n; i++) {
		if (n > 0 && strcmp(c->v[n - 1].key, c->v[i].key) == 0 &&
		    (by_key || strcmp(c->v[n - 1].member,
		    c->v[i].member) == 0)) {
			c->v[n - 1].count += c->v[i].count;
			continue;
		}
		c->v[n] = c->v[i];
		c->v[n++].first = i;
	}
	c->n = n;
}

/* Members in the order of their keys; groups: one for each key. */
static void
make_cells(const struct history *h, enum history_by by,
    struct cells *members, struct cells *groups)
{
	*members = *groups = (struct cells){ 0 };
	for (size_t i = 0; i < h->n; i++)
		if (h->v[i].kind == RECORD_REFUSAL)
			*vec_push(members) = cell_of(h->arena, &h->v[i], by);
	if (members->n == 0)
		return;
	qsort(members->v, members->n, sizeof *members->v, by_name);
	fold(members, false);
	for (size_t i = 0; i < members->n; i++)
		*vec_push(groups) = members->v[i];
	fold(groups, true);
	qsort(groups->v, groups->n, sizeof *groups->v, by_count);
}

/* Where the group's members stand, the most frequent first; how many. */
static struct cell *
members_of(struct cells *members, const struct cell *group, size_t *ret_n)
{
	struct cell *from = members->v + group->first;
	size_t n = 0;

	while (from + n < members->v + members->n &&
	    strcmp(from[n].key, group->key) == 0)
		n++;
	qsort(from, n, sizeof *from, by_count);
	*ret_n = n;
	return from;
}

void
history_put_groups(struct buf *b, const struct history *h,
    enum history_by by)
{
	struct cells members, groups;

	make_cells(h, by, &members, &groups);
	for (size_t i = 0; i < groups.n; i++) {
		size_t n;
		const struct cell *m = members_of(&members, &groups.v[i], &n);

		buf_printf(b, "%6llu  ", (unsigned long long)groups.v[i].count);
		put_word(b, groups.v[i].key);
		buf_putc(b, '\n');
		for (size_t k = 0; k < n && k < SHOWN_MEMBERS; k++) {
			buf_printf(b, "        %6llu  ",
			    (unsigned long long)m[k].count);
			put_word(b, m[k].member);
			buf_putc(b, '\n');
		}
		if (n > SHOWN_MEMBERS)
			buf_printf(b, "                and %zu more\n",
			    n - SHOWN_MEMBERS);
	}
	vec_release(&members);
	vec_release(&groups);
}

void
history_put_groups_json(struct buf *b, const struct history *h,
    enum history_by by)
{
	static const char *const names[][2] = {
		[HISTORY_BY_TIME] = { "object", "process" },
		[HISTORY_BY_RULE] = { "rule", "object" },
		[HISTORY_BY_PROCESS] = { "process", "object" },
		[HISTORY_BY_OBJECT] = { "object", "process" },
	};
	struct cells members, groups;

	make_cells(h, by, &members, &groups);
	buf_puts(b, "{\"groups\": [");
	for (size_t i = 0; i < groups.n; i++) {
		size_t n;
		const struct cell *m = members_of(&members, &groups.v[i], &n);

		buf_puts(b, i == 0 ? "\n  {" : ",\n  {");
		json_put_text(b, names[by][0], groups.v[i].key);
		json_put_name(b, "count");
		buf_printf(b, "%llu", (unsigned long long)groups.v[i].count);
		json_put_name(b, "members");
		buf_putc(b, '[');
		for (size_t k = 0; k < n; k++) {
			buf_puts(b, k == 0 ? "{" : ", {");
			json_put_text(b, names[by][1], m[k].member);
			json_put_name(b, "count");
			buf_printf(b, "%llu}", (unsigned long long)m[k].count);
		}
		buf_puts(b, "]}");
	}
	buf_puts(b, "]}\n");
	vec_release(&members);
	vec_release(&groups);
}

enum record_kind
history_put_json(struct buf *b, const char *line, size_t len)
{
	struct arena *a = arena_new();
	struct err ignored = { 0 };
	struct jnode *root;
	struct record r;

	if (record_parse(a, line, len, &r, &ignored) == 0 &&
	    jsontree_parse(a, "", line, len, RECORD_LINE_BYTES, &root,
	    &ignored) == 0) {
		jsontree_put(b, root, NULL, "", "");
		buf_putc(b, '\n');
	}
	arena_free(a);
	return r.kind;
}

int
history_write_json(int fd, FILE *out, struct err *e)
{
	enum line_kind kind;
	struct lines l;
	struct buf b;

	buf_init(&b, 0);
	lines_init(&l, fd);
	while ((kind = lines_next(&l)) == LINE_WHOLE || kind == LINE_LONG) {
		if (kind == LINE_LONG)
			continue;
		buf_clear(&b);
		(void)history_put_json(&b, l.line, l.len);
		fwrite(b.data, 1, b.len, out);
	}
	lines_release(&l);
	buf_release(&b);
	return kind != LINE_ERROR ? 0 : err_sys(e, errno,
	    "cannot read the records");
}
