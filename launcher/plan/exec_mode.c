#include "launcher/plan/exec_mode.h"

#include "policy/decide_exec.h"

/* What is denied by its file cannot be allowed by its arguments. */
static bool
has_exceptions(const struct policy *p)
{
	for (; p != NULL; p = p->also)
		if (p->command.allow.n > 0)
			return true;
	return false;
}

enum exec_mode
exec_mode(const struct policy *p)
{
	bool needs_argv = decide_exec_needs_argv(p);

	if (!decide_exec_has_rules(p))
		return EXEC_MODE_OFF;
	switch (p->command.runtime_exec_policy.value) {
	case EXEC_POLICY_OFF:
		return EXEC_MODE_OFF;
	case EXEC_POLICY_PATH:
		return EXEC_MODE_PATH;
	case EXEC_POLICY_ARGV:
		return EXEC_MODE_ARGV;
	default:
		return needs_argv || has_exceptions(p) ? EXEC_MODE_ARGV :
		    EXEC_MODE_PATH;
	}
}
