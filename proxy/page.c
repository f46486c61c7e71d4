#include "proxy/page.h"

static void
put_json_string(struct buf *b, const char *key, const char *s, char after)
{
	buf_printf(b, "\"%s\": \"", key);
	for (; *s != '\0'; s++) {
		unsigned char ch = (unsigned char)*s;

		if (ch == '"' || ch == '\\')
			buf_printf(b, "\\%c", ch);
		else if (ch < ' ' || ch == 0x7f)
			buf_printf(b, "\\u%04x", ch);
		else
			buf_putc(b, (char)ch);
	}
	buf_printf(b, "\"%c", after);
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
	buf_printf(b, "fence: %s\n", r->detail);
	if (r->reason[0] != '\0')
		buf_printf(b, "reason: %s\n", r->reason);
	if (r->rule[0] != '\0')
		buf_printf(b, "rule: %s\n", r->rule);
	if (r->remedy[0] != '\0')
		buf_printf(b, "allow: %s\n", r->remedy);
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
	buf_printf(b, "\n%s", a->what);
	if (a->count > 1)
		buf_printf(b, " (%u times)", a->count);
	buf_printf(b, "\n  rule:  %s\n", a->rule);
	if (a->remedy[0] != '\0')
		buf_printf(b, "  allow: %s\n", a->remedy);
}

void
page_recent_end(struct buf *b, unsigned n, bool is_json)
{
	if (is_json)
		buf_puts(b, n == 0 ? "{\"refusals\": []}\n" : "]}\n");
	else if (n == 0)
		buf_puts(b, "fence: nothing was refused in this run\n");
	else
		buf_puts(b, "\nThese lines belong in the policy, which only "
		    "the person who started this run can change.\n");
}
