/* Does each line of a trace name the hash of the line before it? */
#include "launcher/history/history.h"

#include <errno.h>
#include <string.h>

#include "launcher/history/lines.h"
#include "launcher/record/chain.h"

enum { RUNS = 64 };		/* runs that share one file */

struct link {
	char		 run[64];
	struct chain	 chain;
	uint64_t	 sequence, line;	/* of its last record */
	bool		 has_end;
};

struct verify {
	const char	*shown;
	struct link	 link[RUNS];
	size_t		 nlinks;
	uint64_t	 records;
};

static void
put_place(struct buf *b, const struct verify *v, uint64_t line)
{
	history_put_plain(b, v->shown);
	buf_printf(b, ":%llu: ", (unsigned long long)line);
}

/* NULL: there are more runs than anybody puts into one file. */
static struct link *
link_of(struct verify *v, const char *run)
{
	struct link *l;

	for (size_t i = 0; i < v->nlinks; i++)
		if (strcmp(v->link[i].run, run) == 0)
			return &v->link[i];
	if (v->nlinks == RUNS || strlen(run) >= sizeof l->run)
		return NULL;
	l = &v->link[v->nlinks++];
	strcpy(l->run, run);
	chain_init(&l->chain);
	return l;
}

/* Says what is wrong with a record, if something is. */
static bool
is_broken(struct buf *b, const struct verify *v, const struct link *l,
    const struct record *r, uint64_t line)
{
	if (strcmp(r->prev, l->chain.prev) == 0 &&
	    r->sequence == l->sequence + 1 && !l->has_end)
		return false;
	put_place(b, v, line);
	if (r->prev[0] == '\0') {
		buf_puts(b, "the record names no hash of the line before: it "
		    "is of an older fence, or was put in\n");
		return true;
	}
	buf_puts(b, "the chain breaks: this record follows a line with the "
	    "hash ");
	history_put_plain(b, r->prev);
	if (l->line > 0)
		buf_printf(b, ", line %llu has %s",
		    (unsigned long long)l->line, l->chain.prev);
	else
		buf_printf(b, ", the first of a run follows %s",
		    l->chain.prev);
	if (r->sequence != l->sequence + 1)
		buf_printf(b, " (record %llu, expected %llu)",
		    (unsigned long long)r->sequence,
		    (unsigned long long)l->sequence + 1);
	buf_putc(b, '\n');
	return true;
}

/* 1: broken here. */
static int
check_line(struct buf *b, struct verify *v, const struct lines *lines)
{
	struct arena *a = arena_new();
	struct err why = { 0 };
	struct link *l = NULL;
	struct record r;
	int rc = 1;

	if (record_parse(a, lines->line, lines->len, &r, &why) != 0) {
		put_place(b, v, lines->number);
		buf_puts(b, "this is no record: ");
		history_put_plain(b, why.msg);
		buf_putc(b, '\n');
	} else if ((l = link_of(v, r.run)) == NULL) {
		put_place(b, v, lines->number);
		buf_printf(b, "more than %d runs in one file\n", RUNS);
	} else if (!is_broken(b, v, l, &r, lines->number)) {
		chain_add(&l->chain, lines->line, lines->len);
		l->sequence = r.sequence;
		l->line = lines->number;
		l->has_end = r.kind == RECORD_END;
		v->records++;
		rc = 0;
	}
	arena_free(a);
	return rc;
}

static void
put_whole(struct buf *b, const struct verify *v)
{
	history_put_plain(b, v->shown);
	buf_printf(b, ": the chain of %llu record%s holds\n",
	    (unsigned long long)v->records, v->records == 1 ? "" : "s");
	for (size_t i = 0; i < v->nlinks; i++) {
		buf_puts(b, "run ");
		history_put_plain(b, v->link[i].run);
		buf_printf(b, ": the last line's hash is %s\n",
		    v->link[i].chain.prev);
		if (!v->link[i].has_end)
			buf_puts(b, "    it has no end: the run lasts, was "
			    "killed, or lines were cut off\n");
	}
}

int
history_verify(struct buf *b, int fd, const char *shown, struct err *e)
{
	struct verify v = { .shown = shown };
	enum line_kind kind;
	struct lines lines;
	int rc = 0;

	lines_init(&lines, fd);
	while (rc == 0 && (kind = lines_next(&lines)) != LINE_NONE) {
		if (kind == LINE_ERROR) {
			rc = err_sys(e, errno, "cannot read the records");
			err_where(e, shown, 0, 0);
		} else if (kind == LINE_WHOLE) {
			rc = check_line(b, &v, &lines);
		} else {
			put_place(b, &v, lines.number +
			    (kind == LINE_CUT ? 1 : 0));
			buf_puts(b, kind == LINE_CUT ? "the last line is "
			    "cut\n" : "the line is too long for a record\n");
			rc = 1;
		}
	}
	lines_release(&lines);
	if (rc == 0 && v.records == 0) {
		history_put_plain(b, shown);
		buf_puts(b, ": there is no record\n");
		rc = 1;
	} else if (rc == 0) {
		put_whole(b, &v);
	}
	return rc;
}
