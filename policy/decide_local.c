#include <string.h>

#include "policy/decide.h"
#include "policy/verdict.h"

enum {
	HOST_KEY = KEY_OF(net.host_ports),
	SWITCHED_KEY = KEY_OF(net.allow_local_outbound_ports),
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

static bool
is_listed(const struct intlist *ports, size_t key, uint16_t port,
    struct verdict *v)
{
	const struct strlist *l = &ports->list;

	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].number == port) {
			verdict_entry(v, ACTION_ALLOW, key, l, i);
			verdict_reason(v, "a port of the host's localhost");
			return true;
		}
	return false;
}

static void
decide_layer(const struct policy *p, uint16_t port, struct verdict *v)
{
	bool is_open = decide_local_is_open(p);

	if (is_listed(&p->net.host_ports, HOST_KEY, port, v) ||
	    (is_open && is_listed(&p->net.allow_local_outbound_ports,
	    SWITCHED_KEY, port, v)))
		return;
	if (is_open)
		verdict_default(v, ACTION_DENY, SWITCHED_KEY,
		    &p->net.allow_local_outbound_ports.list);
	else
		verdict_default(v, ACTION_DENY, HOST_KEY,
		    &p->net.host_ports.list);
	verdict_remedy_number(v, REMEDY_ADD_NUMBER, HOST_KEY, port);
	verdict_flag(v);
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
