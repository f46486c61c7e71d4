#include "launcher/plan/enforce.h"

#include <stdbool.h>

#include "policy/keys.h"

/* Command and ssh rules are guidance: they are told, once, and run. */
static bool
has_command_rules(const struct policy *p)
{
	return p->command.deny.n > 0 || p->command.allow.n > 0 ||
	    p->ssh.allowed_hosts.n > 0 || p->ssh.denied_hosts.n > 0 ||
	    p->ssh.allowed_commands.n > 0 || p->ssh.denied_commands.n > 0;
}

int
enforce_check(const struct policy *p, void (*notice)(const char *, void *),
    void *arg, struct err *e)
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
	if (has_command_rules(p))
		notice("command and ssh rules are not enforced in this "
		    "version", arg);
	return 0;
}
