#include "launcher/enforce.h"

#include <stdbool.h>
#include <stdio.h>
#include <string.h>

enum level { LEVEL_ERROR, LEVEL_NOTICE };

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
of_number(const struct number *n)
{
	return (struct asked){ n->is_set, n->at };
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

ROW(new_session, ((struct asked){ p->force_new_session.value == TRI_TRUE,
    p->force_new_session.at }))
ROW(mode, of_choice(&p->net.mode, NET_MODE_DIRECT))
ROW(action, of_choice(&p->net.default_action, NET_ACTION_PROXY))
ROW(upstream, ((struct asked){ p->net.upstream_proxy.text[0] != '\0',
    p->net.upstream_proxy.at }))
ROW(via, ((struct asked){ strstr(p->net.via.text, "://") != NULL,
    p->net.via.at }))
ROW(guard, of_choice(&p->fs.guard, GUARD_BROKER))
ROW(loader, of_choice(&p->env.loader, ENV_LOADER_REFUSE))
ROW(memory, of_number(&p->limits.memory.num))
ROW(processes, of_number(&p->limits.processes))
ROW(time_limit, of_number(&p->limits.time.num))
ROW(files, of_number(&p->limits.files))
ROW(calls, of_list(&p->trace.calls))
ROW(ports, of_list(&p->net.allow_local_outbound_ports.list))

/* A row goes when its enforcer is built. */
static const struct {
	const char	*key;
	enum level	 level;
	struct asked	(*ask)(const struct policy *);
} rows[] = {
	{ "forceNewSession", LEVEL_ERROR, new_session },
	{ "network.mode", LEVEL_ERROR, mode },
	{ "network.defaultAction", LEVEL_ERROR, action },
	{ "network.upstreamProxy", LEVEL_ERROR, upstream },
	{ "network.via", LEVEL_ERROR, via },
	{ "filesystem.guard", LEVEL_ERROR, guard },
	{ "env.loader", LEVEL_ERROR, loader },
	{ "limits.memory", LEVEL_ERROR, memory },
	{ "limits.processes", LEVEL_ERROR, processes },
	{ "limits.time", LEVEL_ERROR, time_limit },
	{ "limits.files", LEVEL_ERROR, files },
	{ "trace.calls", LEVEL_ERROR, calls },
	{ "network.allowLocalOutboundPorts", LEVEL_NOTICE, ports },
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
	char text[512];

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		struct asked a = rows[i].ask(p);

		if (!a.is_asked)
			continue;
		if (rows[i].level == LEVEL_ERROR) {
			err_set(e, ERR_POLICY, "not in this version");
			err_key(e, "%s", rows[i].key);
			err_where(e, a.at.file, a.at.line, a.at.col);
			err_hint(e, "without this line the command would run "
			    "with less protection: remove it knowingly");
			return -1;
		}
		snprintf(text, sizeof text, "%s:%d:%d: %s is not in this "
		    "version: nothing is granted by it", a.at.file, a.at.line,
		    a.at.col, rows[i].key);
		notice(text, arg);
	}
	if (has_command_rules(p))
		notice("command and ssh rules are not enforced in this "
		    "version", arg);
	return 0;
}
