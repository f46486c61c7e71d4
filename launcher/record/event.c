#include "launcher/record/event.h"

#include <string.h>

#include "platform/base/str.h"

#define ARROW		" \xe2\x86\x92 "
#define ELLIPSIS	"\xe2\x80\xa6"

bool
event_is_finding(enum event_kind kind)
{
	return kind == EVENT_DROPPED || kind == EVENT_WORKER ||
	    kind == EVENT_SUSPECT || kind == EVENT_LIMIT ||
	    kind == EVENT_NEST || kind == EVENT_UNSEEN ||
	    kind == EVENT_BLIND;
}

bool
event_is_trouble(const struct event *e)
{
	switch (e->kind) {
	case EVENT_CONNECT:
		return e->verdict.action == ACTION_DENY || e->sys != 0;
	case EVENT_OPEN:
	case EVENT_CALL:
	case EVENT_EXEC:
	case EVENT_DNS:
	case EVENT_SNI:
		return e->verdict.action == ACTION_DENY;
	case EVENT_HTTP:
		return e->verdict.action == ACTION_DENY || e->status >= 500;
	default:
		return event_is_finding(e->kind);
	}
}

/* Oldest first: the one that asked stands last, next to its deed. */
void
event_chain(const struct event *e, struct buf *b)
{
	unsigned n = e->nprocess < EVENT_ANCESTORS ? e->nprocess :
	    EVENT_ANCESTORS;

	for (unsigned i = n; i-- > 0;) {
		const struct event_process *p = &e->process[i];

		str_escape(b, p->comm[0] != '\0' ? p->comm : "?",
		    p->comm[0] != '\0' ? strnlen(p->comm, EVENT_COMM) : 1, 0);
		if (p->pid > 0)
			buf_printf(b, "[%ld]", (long)p->pid);
		if (i != 0)
			buf_puts(b, ARROW);
	}
}

/* East Asian scripts and pictures take two columns of a terminal. */
static bool
is_wide(const char *p, size_t n)
{
	static const struct { uint32_t from, to; } wide[] = {
		{ 0x1100, 0x115f }, { 0x2e80, 0xa4cf }, { 0xac00, 0xd7a3 },
		{ 0xf900, 0xfaff }, { 0xfe30, 0xfe6f }, { 0xff00, 0xff60 },
		{ 0xffe0, 0xffe6 }, { 0x1f300, 0x1f64f },
		{ 0x1f680, 0x1f6ff }, { 0x1f900, 0x1f9ff },
		{ 0x20000, 0x3fffd },
	};
	uint32_t cp;

	if (n < 3 || str_utf8(p, n, &cp) == 0)
		return false;
	for (unsigned i = 0; i < sizeof wide / sizeof *wide; i++)
		if (cp >= wide[i].from && cp <= wide[i].to)
			return true;
	return false;
}

/* One unit that is never cut: an escape, or one character of UTF-8. */
static size_t
unit(const char *p, size_t *ret_chars)
{
	size_t n = 1;

	if (p[0] == '\\' && p[1] == 'x' && p[2] != '\0' && p[3] != '\0')
		return *ret_chars = 4;
	if (p[0] == '\\' && p[1] != '\0')
		return *ret_chars = 2;
	while (((unsigned char)p[n] & 0xc0) == 0x80)
		n++;
	*ret_chars = is_wide(p, n) ? 2 : 1;
	return n;
}

size_t
event_chars(const char *s)
{
	size_t total = 0, chars;

	for (; *s != '\0'; total += chars)
		s += unit(s, &chars);
	return total;
}

void
event_cut(struct buf *b, const char *s, size_t head, size_t tail)
{
	size_t left = event_chars(s), chars, n;

	if (left <= head + 1 + tail) {
		buf_puts(b, s);
		return;
	}
	while (n = unit(s, &chars), chars <= head) {
		buf_add(b, s, n);
		s += n;
		head -= chars;
		left -= chars;
	}
	buf_puts(b, ELLIPSIS);
	while (left > tail) {
		s += unit(s, &chars);
		left -= chars;
	}
	buf_puts(b, s);
}
