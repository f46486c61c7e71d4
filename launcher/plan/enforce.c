#include "launcher/plan/enforce.h"

#include <stdbool.h>

#include "policy/keys.h"

int
enforce_check(const struct policy *p, struct err *e)
{
	for (size_t i = 0; i < policy_nkeys; i++) {
		const struct key *k = &policy_keys[i];
		const struct origin *at = keys_lost(k, k->built, p);

		if (at == NULL)
			continue;
		err_set(e, ERR_POLICY, "not in this version");
		err_key(e, "%s", k->name);
		err_where(e, at->file, at->line, at->col);
		err_hint(e, "without this line the command would run with "
		    "less protection: remove it knowingly");
		return -1;
	}
	return 0;
}
