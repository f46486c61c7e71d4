/*
 * A call that names no path and no address was refused: by the jail's filter,
 * or because what it aims at is not the jail's.
 */
#include "launcher/record/judge.h"

#include <errno.h>
#include <sched.h>
#include <string.h>
#include <unistd.h>

#include "platform/calls.h"
#include "policy/verdict.h"

/* What no row of the filter says, since the kernel refuses it otherwise. */
static const struct {
	const char	*call, *why;
} beyond_filter[] = {
	{ "kill", "signals reach the jail's own processes alone" },
	{ "tkill", "signals reach the jail's own processes alone" },
	{ "tgkill", "signals reach the jail's own processes alone" },
	{ "pidfd_send_signal", "signals reach the jail's own processes alone" },
	{ "ptrace", "debuggers reach the jail's own processes alone" },
	{ "process_vm_readv", "debuggers reach the jail's own processes alone" },
	{ "process_vm_writev",
	    "debuggers reach the jail's own processes alone" },
	{ "kcmp", "debuggers reach the jail's own processes alone" },
	{ "pidfd_getfd", "debuggers reach the jail's own processes alone" },
};

static const char *
why_refused(const struct event *e, const struct wire_report *r)
{
	const char *why = calls_why(e->call, r->flags);

	for (size_t i = 0; why == NULL &&
	    i < sizeof beyond_filter / sizeof *beyond_filter; i++)
		if (strcmp(e->call, beyond_filter[i].call) == 0)
			why = beyond_filter[i].why;
	return why != NULL ? why : "no jail permits it";
}

/* The one key that permits calls: to users, and for namespaces alone. */
static bool
would_nest(const struct policy *p, const struct event *e, uint32_t flags)
{
	return (flags & CLONE_NEWUSER) != 0 && geteuid() != 0 &&
	    (strcmp(e->call, "unshare") == 0 ||
	    strcmp(e->call, "clone") == 0) &&
	    !p->allow_nested_sandbox.value && p->limits.memory.num.value == 0;
}

enum judged
judge_call(const struct judge *j, const struct wire_report *r,
    struct event *e)
{
	struct origin nowhere = { .file = NULL };

	e->kind = EVENT_CALL;
	e->enforcer = ENFORCER_SECCOMP;
	e->call = calls_name(r->nr);
	e->call_flags = r->flags;
	if (e->call == NULL)
		return JUDGED_NOTHING;
	verdict_rule(&e->verdict, ACTION_DENY, RULE_PLACE,
	    e->has_own_filter ? "a sandbox inside filters calls, and may have "
	    "refused it" : why_refused(e, r), nowhere);
	if (would_nest(j->policy, e, r->flags))
		verdict_remedy(&e->verdict, REMEDY_SET,
		    KEY_OF(allow_nested_sandbox), "true");
	return JUDGED_FENCE;
}
