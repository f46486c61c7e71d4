#include "launcher/plan/enforce.h"

#include <stdbool.h>
#include <string.h>

/* One thing asked for: is it, and where? */
struct asked {
	bool		 is_asked;
	struct origin	 at;
};

static struct asked
of_list(const struct strlist *l)
{
	return (struct asked){ l->n > 0, l->n > 0 ? l->v[0].at : l->at };
}

static struct asked
of_choice(const struct choice *c, int value)
{
	return (struct asked){ c->is_set && c->value == value, c->at };
}

#define ROW(fn, expr)							\
	static struct asked						\
	fn(const struct policy *p)					\
	{								\
		return expr;						\
	}

ROW(guard, of_choice(&p->fs.guard, GUARD_BROKER))
ROW(loader, of_choice(&p->env.loader, ENV_LOADER_REFUSE))
ROW(calls, of_list(&p->trace.calls))

/* A row goes when its enforcer is built. */
static const struct {
	const char	*key;
	struct asked	(*ask)(const struct policy *);
} rows[] = {
	{ "filesystem.guard", guard },
	{ "env.loader", loader },
	{ "trace.calls", calls },
};

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
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct asked a = rows[i].ask(p);

		if (!a.is_asked)
			continue;
		err_set(e, ERR_POLICY, "not in this version");
		err_key(e, "%s", rows[i].key);
		err_where(e, a.at.file, a.at.line, a.at.col);
		err_hint(e, "without this line the command would run with "
		    "less protection: remove it knowingly");
		return -1;
	}
	if (has_command_rules(p))
		notice("command and ssh rules are not enforced in this "
		    "version", arg);
	return 0;
}
