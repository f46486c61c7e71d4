#include "launcher/gate/sni.h"

#include <stdio.h>
#include <string.h>

#include "policy/verdict.h"

static bool
has_denials(const struct policy *p)
{
	for (; p != NULL; p = p->also)
		if (p->net.denied_domains.n > 0)
			return true;
	return false;
}

/* A verdict of no rule of the user's. */
static void
deny_hello(struct verdict *v, const char *reason)
{
	verdict_key(v, ACTION_DENY, KEY_OF(net.sni),
	    (struct origin){ .file = "<built-in>",
	    .kind = ORIGIN_BUILT_IN });
	verdict_reason(v, "%s", reason);
	verdict_remedy(v, REMEDY_SET, KEY_OF(net.sni), "\"off\"");
}

bool
sni_is_denied(const struct policy *p, const struct ask_msg *q,
    struct host *ret, struct verdict *v)
{
	struct host server;
	bool is_name = host_canon(q->granted, strlen(q->granted),
	    &server) != 0 || server.kind == HOST_NAME;

	if (q->name_len == 0) {
		deny_hello(v, "its TLS hello cannot be understood");
		return is_name || has_denials(p);
	}
	if (host_canon(q->name, q->name_len, ret) != 0) {
		snprintf(ret->text, sizeof ret->text, "%s", q->name);
		deny_hello(v, "not a host name");
		return is_name || has_denials(p);
	}
	decide_net(p, ret, q->port, v);
	if (is_name)
		return v->action == ACTION_DENY || v->via_upstream;
	return v->action == ACTION_DENY && v->rule.id == RULE_ENTRY;
}
