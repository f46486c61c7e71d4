#include "policy/rule.h"

#include <string.h>

#include "platform/base/buf.h"
#include "platform/base/str.h"
#include "policy/keys.h"

void
rule_put(struct buf *b, const struct rule *r)
{
	switch (r->id) {
	case RULE_NONE:
		break;
	case RULE_ENTRY:
		buf_printf(b, "%s[%zu]", keys_name(r->key), r->index);
		break;
	case RULE_NO_ENTRY:
	case RULE_KEY:
		buf_puts(b, keys_name(r->key));
		break;
	case RULE_PLACE:
	case RULE_GUARD:
	case RULE_SHADOW:
	case RULE_OWN:
	case RULE_JAIL:
		buf_puts(b, "built-in");
		break;
	case RULE_PORT:
		buf_puts(b, "--port");
		break;
	case RULE_OPTION:
		buf_puts(b, r->text);
		break;
	case RULE_HOST:
		buf_puts(b, "network");
		break;
	case RULE_BUILTIN_COMMAND:
		buf_puts(b, keys_name(KEY_OF(command.use_defaults)));
		break;
	}
}

void
rule_put_whole(struct buf *b, const struct rule *r)
{
	if (r->id == RULE_GUARD)
		buf_puts(b, "guarded name");
	else if (r->id == RULE_SHADOW)
		buf_puts(b, "shadowed name");
	else if (r->key == 0 && r->text != NULL)
		str_escape(b, r->text, strlen(r->text), 0);
	else
		rule_put(b, r);
	if (r->key == 0)
		return;
	if (r->text != NULL) {
		buf_puts(b, " \"");
		str_escape(b, r->text, strlen(r->text), '"');
		buf_putc(b, '"');
	}
	if (r->at.file != NULL) {
		buf_putc(b, ' ');
		origin_put(b, &r->at);
	}
}

void
origin_put(struct buf *b, const struct origin *at)
{
	if (at->file == NULL || at->file[0] == '\0')
		return;
	str_escape(b, at->file, strlen(at->file), 0);
	if (at->line > 0)
		buf_printf(b, ":%d:%d", at->line, at->col);
}

/* What to do about the key, for all that is no entry to add. */
static void
put_instruction(struct buf *b, const struct remedy *r)
{
	switch (r->kind) {
	case REMEDY_NONE:
	case REMEDY_ADD:
	case REMEDY_ADD_NUMBER:
		break;
	case REMEDY_REMOVE:
		buf_printf(b, "remove \"%s\"", r->value);
		break;
	case REMEDY_SET:
		buf_printf(b, "set it to %s", r->value);
		break;
	case REMEDY_NO_PASSWORD:
		buf_puts(b, "without its password");
		break;
	case REMEDY_NEXT_RUN:
		buf_puts(b, "the next run has a route to it, and the proxies "
		    "have");
		break;
	case REMEDY_MUST_EXIST:
		buf_puts(b, "what it names has to exist before the run");
		break;
	case REMEDY_START_PROXY:
		buf_puts(b, r->key == KEY_OF(net.via) ? "start the proxy, or "
		    "set it to \"direct\"" : "start the proxy");
		break;
	case REMEDY_LOGIN:
	case REMEDY_OTHER_LOGIN:
		buf_printf(b, "%sUSER:PASSWORD@ before the host in %s",
		    r->kind == REMEDY_OTHER_LOGIN ? "another " : "",
		    r->value);
		break;
	case REMEDY_PROXY_PORT:
		buf_printf(b, "the proxy has to allow CONNECT to port %u",
		    r->number);
		break;
	case REMEDY_PROXY_KIND:
		buf_printf(b, "name the right one in %s", r->value);
		break;
	}
}

void
remedy_put_value(struct buf *b, const struct remedy *r)
{
	if (r->kind == REMEDY_ADD) {
		buf_puts(b, r->value);
		return;
	}
	if (r->kind == REMEDY_ADD_NUMBER) {
		buf_printf(b, "%u", r->number);
		return;
	}
	buf_putc(b, '(');
	put_instruction(b, r);
	buf_putc(b, ')');
}

void
remedy_put_parts(const struct remedy *r, struct buf *head, struct buf *value,
    struct buf *tail)
{
	bool is_entry = r->kind == REMEDY_ADD;
	bool is_number = r->kind == REMEDY_ADD_NUMBER;
	struct buf text;

	if (r->kind == REMEDY_NONE)
		return;
	buf_init(&text, 0);
	remedy_put_value(&text, r);
	buf_printf(head, is_entry ? "%s += \"" : is_number ? "%s += " : "%s ",
	    keys_name(r->key));
	str_escape(value, text.data, text.len, is_entry ? '"' : 0);
	if (is_entry)
		buf_putc(tail, '"');
	buf_release(&text);
}

void
remedy_put(struct buf *b, const struct remedy *r)
{
	remedy_put_parts(r, b, b, b);
}

const char *
remedy_flag(const struct remedy *r)
{
	if (!r->has_flag)
		return "";
	return r->key == KEY_OF(fs.allow_write) ? "-w" :
	    r->key == KEY_OF(fs.allow_read) ? "-r" :
	    r->key == KEY_OF(net.host_ports) ? "--host-port" :
	    r->key == KEY_OF(net.allowed_domains) ? "-a" : "";
}

bool
remedy_same(const struct remedy *a, const struct remedy *b)
{
	return a->kind == b->kind && a->key == b->key &&
	    a->number == b->number && a->has_flag == b->has_flag &&
	    strcmp(a->value, b->value) == 0;
}
