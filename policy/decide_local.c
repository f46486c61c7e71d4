#include <string.h>

#include "policy/decide.h"
#include "policy/verdict.h"

enum {
	SWITCH_KEY = KEY_OF(net.allow_local_outbound),
	PORTS_KEY = KEY_OF(net.allow_local_outbound_ports),
};

bool
decide_local_is_home(const struct host *h)
{
	return strcmp(h->text, "localhost") == 0 ||
	    strcmp(h->text, "127.0.0.1") == 0 || strcmp(h->text, "::1") == 0;
}

bool
decide_local_is_open(const struct policy *p)
{
	return p->net.allow_local_outbound.value == TRI_TRUE ||
	    (p->net.allow_local_outbound.value == TRI_AUTO &&
	    p->net.allow_local_binding.value);
}

static void
deny_all(const struct policy *p, uint16_t port, struct verdict *v)
{
	struct origin at = p->net.allow_local_outbound.at;

	if (at.file == NULL)		/* not written anywhere */
		at = p->net.allow_local_outbound_ports.list.at;
	verdict_key(v, ACTION_DENY, SWITCH_KEY, at);
	verdict_reason(v, "the host's localhost is closed");
	verdict_remedy_number(v, REMEDY_OPEN_PORT, SWITCH_KEY, port);
}

static void
decide_layer(const struct policy *p, uint16_t port, struct verdict *v)
{
	const struct strlist *l = &p->net.allow_local_outbound_ports.list;

	if (!decide_local_is_open(p)) {
		deny_all(p, port, v);
		return;
	}
	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].number == port) {
			verdict_entry(v, ACTION_ALLOW, PORTS_KEY, l, i);
			verdict_reason(v, "a port of the host's localhost");
			return;
		}
	verdict_default(v, ACTION_DENY, PORTS_KEY, l);
	verdict_remedy_number(v, REMEDY_ADD_NUMBER, PORTS_KEY, port);
}

void
decide_local(const struct policy *p, uint16_t port, struct verdict *v)
{
	struct verdict other;

	decide_layer(p, port, v);
	for (const struct policy *l = p->also;
	    l != NULL && v->action == ACTION_ALLOW; l = l->also) {
		decide_layer(l, port, &other);
		if (other.action == ACTION_DENY)
			*v = other;
	}
}
