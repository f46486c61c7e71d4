#include "launcher/plan/direct.h"

#include <stddef.h>

#include "policy/keys.h"

bool
direct_is(const struct policy *p)
{
	return p->net.mode.value == NET_MODE_DIRECT;
}

static int
check_layer(const struct policy *p, struct err *e)
{
	for (size_t i = 0; i < policy_nkeys; i++) {
		const struct key *k = &policy_keys[i];
		const struct origin *at = keys_lost(k, k->direct, p);

		if (at == NULL)
			continue;
		err_set(e, ERR_POLICY, "cannot be enforced with "
		    "network.mode \"direct\"");
		err_key(e, "%s", k->name);
		/* A layer may take it away by not writing it. */
		err_where(e, at->file != NULL ? at->file : p->name, at->line,
		    at->col);
		err_hint(e, "%s", k->direct_hint != NULL ? k->direct_hint :
		    "remove it, or keep network.mode \"gate\"");
		return -1;
	}
	return 0;
}

int
direct_check(const struct policy *p, struct err *e)
{
	for (; p != NULL; p = p->also)
		if (check_layer(p, e) != 0)
			return -1;
	return 0;
}
