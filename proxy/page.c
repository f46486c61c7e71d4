#include "proxy/page.h"

#include <string.h>

#include "platform/base/json.h"
#include "platform/base/str.h"

static const char page_whose[] = "\nThese lines belong in the policy, which "
    "only the person who started this run can change.\n";

/*
 * What comes here is escaped once; this is the last gate before a reader.
 * Bytes that a terminal or an eye would obey (controls, bidi, zero width, what
 * is no UTF-8) become \xNN, and a backslash stays one.
 */
static void
put_safe(struct buf *b, const char *s)
{
	size_t len = strlen(s), n;
	uint32_t cp = 0;

	for (; len > 0; s += n, len -= n) {
		n = str_utf8(s, len, &cp);
		if (n > 0 && !str_is_deceptive(cp)) {
			buf_add(b, s, n);
			continue;
		}
		n = n == 0 ? 1 : n;
		for (size_t i = 0; i < n; i++)
			buf_printf(b, "\\x%02x", (unsigned char)s[i]);
	}
}

static void
put_json_string(struct buf *b, const char *key, const char *s, char after)
{
	struct buf safe;

	buf_init(&safe, 0);
	put_safe(&safe, s);
	buf_printf(b, "\"%s\": ", key);
	json_put_string(b, safe.data, safe.len);
	buf_putc(b, after);
	buf_release(&safe);
}

/* "name: text\n", or nothing. */
static void
put_field(struct buf *b, const char *name, const char *text)
{
	if (text[0] == '\0')
		return;
	buf_puts(b, name);
	put_safe(b, text);
	buf_putc(b, '\n');
}

void
page_refusal(struct buf *b, const struct page_refusal *r, bool is_json)
{
	if (is_json) {
		buf_putc(b, '{');
		put_json_string(b, "error", r->error, ',');
		put_json_string(b, "detail", r->detail, ',');
		put_json_string(b, "reason", r->reason, ',');
		put_json_string(b, "rule", r->rule, ',');
		put_json_string(b, "remedy", r->remedy, '}');
		buf_putc(b, '\n');
		return;
	}
	buf_puts(b, "fence: ");
	put_safe(b, r->detail);
	buf_putc(b, '\n');
	put_field(b, "reason: ", r->reason);
	put_field(b, "rule: ", r->rule);
	put_field(b, "allow: ", r->remedy);
}

void
page_recent(struct buf *b, const struct ask_answer *a, unsigned nth,
    bool is_json)
{
	if (is_json) {
		buf_puts(b, nth == 0 ? "{\"refusals\": [{" : ", {");
		put_json_string(b, "what", a->what, ',');
		put_json_string(b, "rule", a->rule, ',');
		put_json_string(b, "remedy", a->remedy, ',');
		buf_printf(b, "\"count\": %u}", a->count);
		return;
	}
	if (nth == 0)
		buf_puts(b, "fence: what was refused in this run, the last "
		    "first\n");
	buf_putc(b, '\n');
	put_safe(b, a->what);
	if (a->count > 1)
		buf_printf(b, " (%u times)", a->count);
	buf_putc(b, '\n');
	put_field(b, "  rule:  ", a->rule);
	put_field(b, "  allow: ", a->remedy);
}

void
page_why(struct buf *b, const struct page_why *w, bool is_json)
{
	if (is_json) {
		buf_putc(b, '{');
		put_json_string(b, "verdict", w->is_denied ? "denied" :
		    "allowed", ',');
		put_json_string(b, "host", w->host, ',');
		buf_printf(b, "\"port\": %u,", w->port);
		put_json_string(b, "reason", w->reason, ',');
		put_json_string(b, "rule", w->rule, ',');
		put_json_string(b, "remedy", w->remedy, '}');
		buf_putc(b, '\n');
		return;
	}
	buf_printf(b, "fence: %s: connect ", w->is_denied ? "denied" :
	    "allowed");
	put_safe(b, w->host);
	buf_printf(b, ":%u\n", w->port);
	put_field(b, "reason: ", w->reason);
	put_field(b, "rule: ", w->rule);
	put_field(b, "allow: ", w->remedy);
	if (w->remedy[0] != '\0')
		buf_puts(b, page_whose);
}

void
page_recent_end(struct buf *b, unsigned n, bool is_json)
{
	if (is_json)
		buf_puts(b, n == 0 ? "{\"refusals\": []}\n" : "]}\n");
	else if (n == 0)
		buf_puts(b, "fence: nothing was refused in this run\n");
	else
		buf_puts(b, page_whose);
}
