/*
 * The text line, or two of them on a terminal.  It is put together from parts, so that a line which comes
 * out too long gives way where that hurts least: first in the object's path,
 * then in the chain, then in the remedy, and in the rule last of all.
 */
#include "launcher/record/event.h"

#include <fcntl.h>
#include <string.h>
#include <time.h>

#include "launcher/record/probe_call.h"
#include "platform/base/errname.h"
#include "platform/base/str.h"

enum { TEXT_MAX = 400, URL_MAX = 60, INDENT = 12, ARGV_MAX = 120,
	RESULT_MAX = 120, LEAST_COLUMNS = 40 };

enum part { PREFIX, HEAD, OBJECT, TAIL, CHAIN, SEP, RULE, ENTRY, PLACE, REMEDY_HEAD,
	REMEDY, REMEDY_TAIL, NPARTS };

struct line {
	struct buf	part[NPARTS];
};

static void
put_escaped(struct buf *b, const char *s, char quote)
{
	if (s != NULL)
		str_escape(b, s, strlen(s), quote);
}

/* "[fence:fs]  14:03:22 ": the time of day where the user is. */
static void
put_head(struct buf *b, const char *prefix, const struct event *e)
{
	time_t t = (time_t)(e->time_ms / 1000);
	struct tm tm = { 0 };

	(void)localtime_r(&t, &tm);
	buf_printf(b, "%-11s %02d:%02d:%02d ", prefix, tm.tm_hour, tm.tm_min,
	    tm.tm_sec);
}

/* A proxy that is no use refuses nothing: that is trouble. */
static void
put_icon(struct buf *b, const struct event *e)
{
	const struct verdict *v = &e->verdict;

	if (v->action == ACTION_DENY && (e->kind != EVENT_HTTP ||
	    e->status < 500))
		buf_puts(b, "\xe2\x9c\x97 ");
	else if (event_is_trouble(e) || e->sys != 0 ||
	    v->action == ACTION_DENY)
		buf_puts(b, "! ");
	else
		buf_puts(b, v->via_upstream ? "\xe2\x86\x92 " :
		    "\xe2\x9c\x93 ");
}

static void
put_errno(struct buf *b, const struct event *e)
{
	char other[ERRNAME_MAX];

	if (e->sys != 0)
		buf_printf(b, " %s", errname(e->sys, other));
}

/* A host as it stands before ":port". */
static void
put_host(struct buf *b, const char *host)
{
	int is_v6 = host != NULL && strchr(host, ':') != NULL;

	if (is_v6)
		buf_putc(b, '[');
	put_escaped(b, host, 0);
	if (is_v6)
		buf_putc(b, ']');
}

static void
open_parts(struct line *l, const struct event *e)
{
	static const char *const words[] = {
		[OP_OPEN] = "open", [OP_MAKE] = "make", [OP_REMOVE] = "remove",
		[OP_CHANGE] = "change", [OP_LOOK] = "stat",
	};
	int is_write = (e->open_flags & O_ACCMODE) != O_RDONLY ||
	    (e->open_flags & (O_CREAT | O_TRUNC)) != 0;

	put_head(&l->part[PREFIX], "[fence:fs]", e);
	put_icon(&l->part[PREFIX], e);
	buf_printf(&l->part[HEAD], "%s(\"", e->call != NULL ? e->call :
	    words[e->op]);
	put_escaped(&l->part[OBJECT], e->path, '"');
	buf_puts(&l->part[TAIL], e->op != OP_OPEN ? "\")" :
	    is_write ? "\", write)" : "\", read)");
	put_errno(&l->part[TAIL], e);
	if (e->moved_to != NULL) {
		buf_puts(&l->part[TAIL], " moved to ");
		put_escaped(&l->part[TAIL], e->moved_to, 0);
	}
}

static void
call_parts(struct line *l, const struct event *e)
{
	put_head(&l->part[PREFIX], "[fence:call]", e);
	put_icon(&l->part[PREFIX], e);
	put_escaped(&l->part[HEAD], e->call != NULL ? e->call : "a call", 0);
	buf_puts(&l->part[HEAD], "()");
	put_errno(&l->part[TAIL], e);
}

/* Its words are escaped where they are made. */
static void
probe_parts(struct line *l, const struct event *e)
{
	const struct probe_call *c = e->probe;
	char other[ERRNAME_MAX];

	put_head(&l->part[PREFIX], "[fence:probe]", e);
	buf_printf(&l->part[HEAD], "%s(", c->function);
	for (size_t i = 0; i < c->nargs; i++)
		buf_printf(&l->part[OBJECT], i > 0 ? ", %s" : "%s",
		    c->arg[i]);
	buf_putc(&l->part[TAIL], ')');
	if (c->result != NULL) {
		buf_puts(&l->part[TAIL], " = ");
		event_cut(&l->part[TAIL], c->result, RESULT_MAX - 1, 0);
	}
	if (c->err != 0)
		buf_printf(&l->part[TAIL], " %s", errname(c->err, other));
}

/* [ "a" "b" ], its middle left out where it is long. */
static void
put_argv(struct buf *b, const struct event *e)
{
	struct buf words;

	buf_init(&words, 4 * ARGV_MAX * sizeof "\\x00");
	for (size_t i = 0; i < e->argc && !words.failed; i++) {
		buf_puts(&words, i > 0 ? " \"" : "\"");
		put_escaped(&words, e->argv[i], '"');
		buf_putc(&words, '"');
	}
	buf_putc(b, '[');
	event_cut(b, words.data, ARGV_MAX - 20, 19);
	buf_putc(b, ']');
	buf_release(&words);
}

/* The phrase that scripts written for the Go program look for. */
static void
blocked_parts(struct line *l, const struct event *e)
{
	put_head(&l->part[PREFIX], "[fence:exec]", e);
	put_icon(&l->part[PREFIX], e);
	buf_puts(&l->part[HEAD], "Runtime exec policy blocked exec=\"");
	put_escaped(&l->part[OBJECT], e->path, '"');
	buf_puts(&l->part[TAIL], "\" argv=");
	put_argv(&l->part[TAIL], e);
	put_errno(&l->part[TAIL], e);
	if (e->is_killed)
		buf_puts(&l->part[TAIL], " killed");
	if (e->is_final)
		buf_puts(&l->part[TAIL], " final: a retry will not change it");
}

static void
exec_parts(struct line *l, const struct event *e)
{
	if (e->argv != NULL) {
		blocked_parts(l, e);
		return;
	}
	put_head(&l->part[PREFIX], "[fence:exec]", e);
	put_icon(&l->part[PREFIX], e);
	buf_puts(&l->part[HEAD], "exec(\"");
	put_escaped(&l->part[OBJECT], e->path, '"');
	buf_puts(&l->part[TAIL], "\")");
	put_errno(&l->part[TAIL], e);
}

/* The shape that scripts written for the Go program look for. */
static void
socks_parts(struct line *l, const struct event *e)
{
	put_head(&l->part[PREFIX], "[fence:socks]", e);
	put_icon(&l->part[PREFIX], e);
	buf_puts(&l->part[HEAD], "CONNECT ");
	put_host(&l->part[OBJECT], e->host != NULL ? e->host : e->ip);
	buf_printf(&l->part[TAIL], ":%u %s", e->port,
	    e->verdict.action == ACTION_DENY ? "BLOCKED" : "ALLOWED");
}

static void
connect_parts(struct line *l, const struct event *e)
{
	if (e->is_socks) {
		socks_parts(l, e);
		return;
	}
	put_head(&l->part[PREFIX], "[fence:gate]", e);
	put_icon(&l->part[PREFIX], e);
	buf_puts(&l->part[HEAD], "connect(");
	if (e->path != NULL) {
		buf_putc(&l->part[HEAD], '"');
		put_escaped(&l->part[OBJECT], e->path, '"');
		buf_puts(&l->part[TAIL], "\")");
	} else {
		put_host(&l->part[OBJECT], e->host != NULL ? e->host : e->ip);
		buf_printf(&l->part[TAIL], e->is_datagram ? ":%u/udp)" :
		    ":%u)", e->port);
	}
	put_errno(&l->part[TAIL], e);
}

/* The Go program's shape, too. */
static void
http_parts(struct line *l, const struct event *e)
{
	const char *method = e->method != NULL ? e->method : "-";
	int is_tunnel = strcmp(method, "CONNECT") == 0;
	struct buf b, url;

	buf_init(&b, 0);
	buf_init(&url, 0);
	put_head(&l->part[PREFIX], "[fence:http]", e);
	put_icon(&l->part[PREFIX], e);
	put_escaped(&b, method, 0);
	event_cut(&url, b.data, 15, 0);
	buf_printf(&l->part[HEAD], "%-7s %d ", url.data, e->status);
	put_escaped(&l->part[OBJECT], e->host != NULL ? e->host : e->ip, 0);
	buf_clear(&b);
	buf_clear(&url);
	buf_puts(&url, is_tunnel ? "https://" : "http://");
	put_host(&url, e->host != NULL ? e->host : e->ip);
	if (is_tunnel || e->port != 80)
		buf_printf(&url, ":%u", e->port);
	if (!is_tunnel)
		put_escaped(&url, e->url_path, 0);
	event_cut(&b, url.data, URL_MAX - 1, 0);
	buf_printf(&l->part[TAIL], " %s (%lldms)", b.data,
	    (long long)e->duration_ms);
	buf_release(&b);
	buf_release(&url);
}

static void
dns_parts(struct line *l, const struct event *e)
{
	struct buf b;

	buf_init(&b, 0);
	put_head(&l->part[PREFIX], "[fence:dns]", e);
	put_icon(&l->part[PREFIX], e);
	buf_puts(&l->part[HEAD], "query(");
	put_escaped(&l->part[OBJECT], e->host, 0);
	put_escaped(&b, e->qtype != NULL ? e->qtype : "?", 0);
	buf_puts(&l->part[TAIL], ", ");
	event_cut(&l->part[TAIL], b.data, 39, 0);
	buf_puts(&l->part[TAIL], e->verdict.action == ACTION_DENY ?
	    ") NXDOMAIN" : ")");
	buf_release(&b);
}

static void
sni_parts(struct line *l, const struct event *e)
{
	struct buf b;

	buf_init(&b, 0);
	put_head(&l->part[PREFIX], "[fence:gate]", e);
	put_icon(&l->part[PREFIX], e);
	buf_puts(&l->part[HEAD], "tls(");
	put_escaped(&l->part[OBJECT], e->host != NULL ? e->host : "?", 0);
	put_host(&b, e->server);
	buf_puts(&l->part[TAIL], ") on a connection to ");
	event_cut(&l->part[TAIL], b.data, 59, 0);
	buf_printf(&l->part[TAIL], ":%u", e->port);
	buf_release(&b);
}

static void
other_parts(struct line *l, const struct event *e)
{
	if (e->kind == EVENT_DROPPED) {
		buf_printf(&l->part[HEAD], e->dropped == 1 ?
		    "[fence] %s%llu record was dropped" :
		    "[fence] %s%llu records were dropped",
		    e->is_least ? "at least " : "",
		    (unsigned long long)e->dropped);
		return;
	}
	put_head(&l->part[PREFIX], "[fence]", e);
	if (e->kind == EVENT_RUN_END)
		buf_printf(&l->part[TAIL], "run ended: exit status %d",
		    e->status);
	else if (e->kind == EVENT_RUN_START)
		buf_puts(&l->part[HEAD], "run started: ");
	else if (e->kind == EVENT_POLICY)
		buf_puts(&l->part[HEAD], "policy loaded: ");
	if (e->kind != EVENT_RUN_END)
		put_escaped(&l->part[OBJECT], e->detail, 0);
}

/* An entry spoke: its text.  None did: say so, or why else it is refused. */
static void
put_entry(struct buf *b, const struct verdict *v)
{
	if (v->rule.text != NULL) {
		buf_putc(b, '"');
		put_escaped(b, v->rule.text, '"');
		buf_putc(b, '"');
	} else if (v->rule.id == RULE_NO_ENTRY || v->reason[0] == '\0') {
		buf_puts(b, "(no entry matches)");
	} else {
		buf_putc(b, '(');
		put_escaped(b, v->reason, 0);
		buf_putc(b, ')');
	}
}

/* The line that would change the answer. */
static void
remedy_parts(struct line *l, const struct remedy *r)
{
	if (r->kind == REMEDY_NONE)
		return;
	buf_puts(&l->part[REMEDY_HEAD], "   allow: ");
	remedy_put_parts(r, &l->part[REMEDY_HEAD], &l->part[REMEDY],
	    &l->part[REMEDY_TAIL]);
}

static void
rule_parts(struct line *l, const struct verdict *v,
    const struct event_look *look)
{
	if (v->rule.id == RULE_NONE && v->reason[0] == '\0')
		return;
	if (look == NULL)
		buf_puts(&l->part[SEP], " | ");
	if (v->rule.id == RULE_NONE) {
		put_escaped(&l->part[RULE], v->reason, 0);
		return;
	}
	buf_puts(&l->part[RULE], "rule ");
	rule_put(&l->part[RULE], &v->rule);
	buf_putc(&l->part[RULE], ' ');
	put_entry(&l->part[ENTRY], v);
	origin_put(&l->part[PLACE], &v->rule.at);
	if (l->part[PLACE].len != 0)
		buf_putc(&l->part[ENTRY], ' ');
	if (v->action == ACTION_DENY)
		remedy_parts(l, &v->remedy);
}

/* Shorten one part towards `least` characters; what is still too much. */
static size_t
shrink(struct buf *b, size_t least, size_t excess)
{
	size_t chars = event_chars(b->data), want;
	struct buf cut;

	if (excess == 0 || chars <= least)
		return excess;
	want = chars > excess + least ? chars - excess : least;
	buf_init(&cut, 0);
	event_cut(&cut, b->data, (want - 1) / 2, want - 1 - (want - 1) / 2);
	want = event_chars(cut.data);
	buf_release(b);
	*b = cut;
	return excess > chars - want ? excess - (chars - want) : 0;
}

struct step {
	enum part	part;
	size_t		least;
};

/* The parts from `first` to `last` fit into `most` if the steps allow it. */
static void
fit(struct line *l, enum part first, enum part last, size_t most,
    const struct step *steps, size_t nsteps)
{
	size_t total = 0;

	for (unsigned i = first; i <= last; i++)
		total += event_chars(l->part[i].data);
	if (total <= most)
		return;
	total -= most;
	for (size_t i = 0; i < nsteps; i++)
		total = shrink(&l->part[steps[i].part], steps[i].least,
		    total);
}

static void
chain_part(struct line *l, const struct event *e)
{
	if (e->count > 1)
		buf_printf(&l->part[TAIL], " (%u times)", e->count);
	if (e->nprocess == 0)
		return;
	buf_puts(&l->part[TAIL], "  ");
	event_chain(e, &l->part[CHAIN]);
}

/* What happened, to whom, in parts. */
static void
deed_parts(struct line *l, const struct event *e)
{
	static void (*const parts[])(struct line *, const struct event *) = {
		[EVENT_OPEN] = open_parts, [EVENT_EXEC] = exec_parts,
		[EVENT_CONNECT] = connect_parts, [EVENT_HTTP] = http_parts,
		[EVENT_DNS] = dns_parts, [EVENT_SNI] = sni_parts,
		[EVENT_CALL] = call_parts,
		[EVENT_RUN_START] = other_parts,
		[EVENT_RUN_END] = other_parts, [EVENT_POLICY] = other_parts,
		[EVENT_DROPPED] = other_parts, [EVENT_WORKER] = other_parts,
		[EVENT_SUSPECT] = other_parts,
		[EVENT_LIMIT] = other_parts, [EVENT_NEST] = other_parts,
		[EVENT_UNSEEN] = other_parts, [EVENT_BLIND] = other_parts,
	 [EVENT_PROBE] = probe_parts,
	};

	for (unsigned i = 0; i < NPARTS; i++)
		buf_init(&l->part[i], 0);
	parts[e->kind](l, e);
	if (e->kind < EVENT_RUN_START || e->kind == EVENT_WORKER ||
	    e->kind == EVENT_PROBE)
		chain_part(l, e);
}

static void
put_parts(struct line *l, enum part first, enum part last, struct buf *b)
{
	for (unsigned i = first; i <= last; i++) {
		buf_puts(b, l->part[i].data);
		buf_release(&l->part[i]);
	}
}

static void
put_line(struct line *l, struct buf *b)
{
	static const struct step steps[] = {
		{ OBJECT, 48 }, { CHAIN, 40 }, { REMEDY, 48 }, { OBJECT, 24 },
		{ CHAIN, 24 }, { REMEDY, 24 }, { ENTRY, 48 }, { PLACE, 48 },
	};

	fit(l, PREFIX, REMEDY_TAIL, TEXT_MAX, steps,
	    sizeof steps / sizeof *steps);
	put_parts(l, PREFIX, REMEDY_TAIL, b);
}

/* What no step made short enough ends where the terminal does. */
static void
put_row(struct line *l, enum part first, enum part last, size_t most,
    struct buf *b)
{
	struct buf row;

	buf_init(&row, 0);
	put_parts(l, first, last, &row);
	if (event_chars(row.data) > most)
		event_cut(b, row.data, most - 1, 0);
	else
		buf_puts(b, row.data);
	buf_release(&row);
}

static void
put_rows(struct line *l, const struct event_look *look, struct buf *b)
{
	static const struct step above[] = {
		{ CHAIN, 40 }, { OBJECT, 32 }, { CHAIN, 20 }, { OBJECT, 16 },
		{ CHAIN, 12 },
	};
	static const struct step below[] = {
		{ PLACE, 24 }, { ENTRY, 24 }, { PLACE, 12 }, { REMEDY, 32 },
		{ ENTRY, 12 }, { REMEDY, 16 },
	};
	size_t most = look->columns < LEAST_COLUMNS ? LEAST_COLUMNS :
	    look->columns;
	bool is_dim = look->has_colour;

	fit(l, PREFIX, CHAIN, most, above, sizeof above / sizeof *above);
	put_row(l, PREFIX, CHAIN, most, b);
	fit(l, SEP, REMEDY_TAIL, most - INDENT, below,
	    sizeof below / sizeof *below);
	if (l->part[RULE].len > 0)
		buf_printf(b, "\n%s%*s", is_dim ? "\033[2m" : "", INDENT, "");
	else
		is_dim = false;
	put_row(l, SEP, REMEDY_TAIL, most - INDENT, b);
	buf_puts(b, is_dim ? "\033[0m" : "");
}

void
event_text(const struct event *e, const struct event_look *look,
    struct buf *b)
{
	struct line l;

	deed_parts(&l, e);
	if (e->kind < EVENT_RUN_START)
		rule_parts(&l, &e->verdict, look);
	/* What has no rule is a sentence, which the terminal may wrap. */
	if (look != NULL && e->kind < EVENT_RUN_START)
		put_rows(&l, look, b);
	else
		put_line(&l, b);
}

void
event_deed(const struct event *e, struct buf *b)
{
	struct line l;

	deed_parts(&l, e);
	buf_clear(&l.part[PREFIX]);
	put_line(&l, b);
}
