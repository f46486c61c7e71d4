#include "launcher/record/sink.h"

#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>

#include "launcher/record/chain.h"
#include "launcher/writer.h"
#include "platform/base/clock.h"
#include "platform/base/xalloc.h"

enum { LINE_BYTES = 256 * 1024 };

struct sink {
	struct writer		 writer;
	int			 is_tty;
	const struct event_run	*run;
	uint64_t		 sequence;	/* of the last line */
	struct chain		 chain;		/* JSON: its hash */
	uint64_t		 lost;		/* and not told yet */
	bool			 is_least;	/* ... or more */
	uint64_t		 claimed, bytes;	/* written */
	uint64_t		 claimed_max, bytes_max;
	int64_t			 lost_second;
	struct buf		 rest;		/* of a line half written */
};

struct sink *
sink_new(int fd, const struct event_run *run, int is_tty)
{
	struct sink *s = xcalloc(1, sizeof *s);

	writer_init(&s->writer, fd);
	s->run = run;
	s->is_tty = is_tty;
	chain_init(&s->chain);
	buf_init(&s->rest, LINE_BYTES);
	sink_limit(s, SINK_CLAIMED_MAX, SINK_BYTES_MAX);
	return s;
}

void
sink_limit(struct sink *s, uint64_t claimed, uint64_t all)
{
	s->claimed_max = claimed;
	s->bytes_max = all;
}

static int64_t
this_second(void)
{
	return clock_ms(CLOCK_MONOTONIC) / 1000;
}

void
sink_lost(struct sink *s, uint64_t n, bool is_least)
{
	if (s->writer.fd < 0 || n == 0)
		return;
	s->is_least = s->is_least || is_least;
	s->lost += n;
	s->lost_second = this_second();
}

/* Writes from s->rest until it is empty (0) or nobody takes more (-1). */
static int
push(struct sink *s)
{
	size_t n = s->rest.len > 0 ? writer_put(&s->writer, s->rest.data,
	    s->rest.len) : 0;

	buf_consume(&s->rest, n);
	return s->rest.len > 0 ? -1 : 0;
}

void
sink_free(struct sink *s)
{
	if (s == NULL)
		return;
	(void)push(s);		/* the rest of a line */
	writer_release(&s->writer);
	buf_release(&s->rest);
	free(s);
}

/* What the terminal is now; COLUMNS is the command's affair, and old. */
static const struct event_look *
look_at(const struct sink *s, struct event_look *ret)
{
	const char *no = getenv("NO_COLOR"), *term = getenv("TERM");
	struct winsize size = { .ws_col = 0 };

	if (ioctl(s->writer.fd, TIOCGWINSZ, &size) != 0 || size.ws_col == 0)
		size.ws_col = 80;
	ret->columns = size.ws_col;
	ret->has_colour = (no == NULL || no[0] == '\0') && term != NULL &&
	    strcmp(term, "dumb") != 0;
	return ret;
}

/*
 * A line counts as written once its first byte is: the rest of it is kept
 * and goes out before anything else does.
 */
static int
put_line(struct sink *s, const struct event *e)
{
	struct chain next;
	struct event_look look;
	size_t len;

	if (push(s) != 0)
		return -1;
	buf_clear(&s->rest);
	if (s->run != NULL)
		event_json(e, s->run, &s->rest);
	else
		event_text(e, s->is_tty ? look_at(s, &look) : NULL, &s->rest);
	if (s->run != NULL)
		chain_add(&next, s->rest.data, s->rest.len);
	buf_putc(&s->rest, '\n');
	len = s->rest.len;
	if (!s->rest.failed && (push(s) == 0 || s->rest.len < len)) {
		if (s->run != NULL)
			s->chain = next;
		s->bytes += len;
		s->claimed += e->witness == WITNESS_SHIM ? len : 0;
		return 0;
	}
	buf_clear(&s->rest);
	return -1;
}

static int
put_event(struct sink *s, struct event *e)
{
	e->sequence = s->sequence + 1;
	e->prev = s->chain.prev;
	if (put_line(s, e) != 0)
		return -1;
	s->sequence++;
	return 0;
}

void
sink_flush(struct sink *s)
{
	struct event e = { .kind = EVENT_DROPPED, .witness = WITNESS_MONITOR,
	    .enforcer = ENFORCER_NONE, .dropped = s->lost,
	    .is_least = s->is_least, .count = 1 };

	if (s->writer.fd < 0 || s->lost == 0)
		return;
	e.time_ms = clock_ms(CLOCK_REALTIME);
	if (put_event(s, &e) != 0)
		return;
	s->lost = 0;
	s->is_least = false;
}

static bool
is_full(const struct sink *s, const struct event *e)
{
	return e->kind != EVENT_RUN_END && (s->bytes >= s->bytes_max ||
	    (e->witness == WITNESS_SHIM && s->claimed >= s->claimed_max));
}

void
sink_event(struct sink *s, struct event *e)
{
	if (s->writer.fd < 0)
		return;
	if (s->lost > 0 && this_second() != s->lost_second)
		sink_flush(s);
	if (is_full(s, e) || put_event(s, e) != 0)
		sink_lost(s, e->count > 0 ? e->count : 1, false);
}
