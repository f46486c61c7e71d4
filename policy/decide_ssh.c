#include "policy/decide_ssh.h"

#include <string.h>

#include "policy/exec_remedy.h"
#include "policy/sshconf.h"
#include "policy/verdict.h"

enum {
	ALLOWED_HOSTS = KEY_OF(ssh.allowed_hosts),
	DENIED_HOSTS = KEY_OF(ssh.denied_hosts),
	ALLOWED_COMMANDS = KEY_OF(ssh.allowed_commands),
	DENIED_COMMANDS = KEY_OF(ssh.denied_commands),
};

static bool
has_host_rules(const struct policy *p)
{
	return p->ssh.allowed_hosts.n > 0 || p->ssh.denied_hosts.n > 0;
}

bool
decide_ssh_is_active(const struct policy *p)
{
	return has_host_rules(p) || p->ssh.allowed_commands.n > 0 ||
	    p->ssh.denied_commands.n > 0;
}

/* ---- hosts ---- */

/* A '?' is no wildcard here, and no host name has one. */
static bool
is_listed(const struct strlist *l, const char *name, size_t *ret_entry)
{
	for (size_t i = 0; name != NULL && i < l->n; i++) {
		const char *text = l->v[i].text;

		if (sshconf_match(text, strlen(text), name)) {
			*ret_entry = i;
			return true;
		}
	}
	return false;
}

/* An entry of ssh.allowedHosts that means this name and no other. */
static void
remedy_host(struct verdict *v, const char *name)
{
	const char *colon = strchr(name, ':');

	if (name[0] == '!' || strpbrk(name, "/@*?\\\"") != NULL ||
	    (colon != NULL && strchr(colon + 1, ':') == NULL))
		return;
	verdict_remedy(v, REMEDY_ADD, ALLOWED_HOSTS, name);
}

static bool
host_denied(const struct policy *p, const struct sshhost *h,
    struct verdict *v)
{
	const struct strlist *denied = &p->ssh.denied_hosts;
	const struct strlist *allowed = &p->ssh.allowed_hosts;
	const char *name = h->is_renamed ? h->real_name : h->name;
	size_t i;

	if (is_listed(denied, h->name, &i) ||
	    is_listed(denied, h->real_name, &i)) {
		verdict_entry(v, ACTION_DENY, DENIED_HOSTS, denied, i);
		verdict_reason(v, "the host is denied; removing the entry "
		    "would allow it");
		verdict_remedy(v, REMEDY_REMOVE, DENIED_HOSTS,
		    denied->v[i].text);
		return true;
	}
	if (allowed->n == 0 || is_listed(allowed, name, &i) ||
	    is_listed(allowed, h->real_name, &i))
		return false;
	verdict_default(v, ACTION_DENY, ALLOWED_HOSTS, allowed);
	remedy_host(v, name);
	return true;
}

bool
decide_ssh_hosts_deny(const struct policy *p, const struct sshline *line,
    struct verdict *v)
{
	if (!has_host_rules(p))
		return false;
	for (size_t i = 0; i < line->nhosts; i++)
		if (host_denied(p, &line->hosts[i], v))
			return true;
	return false;
}

/* ---- commands over there ---- */

/* command.deny and the built-in list, where ssh.inheritDeny says so. */
static bool
inherited(const struct policy *p, const struct cmd_ask *ask,
    struct verdict *v, bool *ret_is_unsure)
{
	enum cmd_match m, builtin = CMD_NO;
	const char *text = NULL;
	size_t i = 0;

	m = cmd_index_find(p, CMD_DENY, ask, &i);
	if (p->command.use_defaults.value != TRI_FALSE)
		text = cmdrule_builtin(ask, &builtin);
	*ret_is_unsure |= m == CMD_MAYBE || builtin == CMD_MAYBE;
	if (m < CMD_YES_WITHOUT && builtin < CMD_YES_WITHOUT)
		return false;
	if (m >= CMD_YES_WITHOUT)
		verdict_entry(v, ACTION_DENY, KEY_OF(command.deny),
		    &p->command.deny, i);
	else
		verdict_rule(v, ACTION_DENY, RULE_BUILTIN_COMMAND, text,
		    p->command.use_defaults.at);
	verdict_reason(v, "refused on the other host, too "
	    "(ssh.inheritDeny)");
	verdict_remedy(v, REMEDY_SET, KEY_OF(ssh.inherit_deny), "false");
	return true;
}

static bool
listed(const struct policy *p, const struct cmd_ask *ask, struct verdict *v,
    bool *ret_is_unsure)
{
	enum cmd_match m;
	size_t i = 0;

	m = cmd_index_find(p, CMD_SSH_DENIED, ask, &i);
	*ret_is_unsure |= m == CMD_MAYBE;
	if (m < CMD_YES_WITHOUT)
		return false;
	verdict_entry(v, ACTION_DENY, DENIED_COMMANDS,
	    &p->ssh.denied_commands, i);
	verdict_reason(v, "denied on the other host; removing the entry "
	    "would allow it");
	verdict_remedy(v, REMEDY_REMOVE, DENIED_COMMANDS,
	    p->ssh.denied_commands.v[i].text);
	return true;
}

/*
 * Does a layer without ssh.allowAllCommands and without a list of commands
 * permit none?  As soon as it has rules about hosts.
 */
static bool
is_closed(const struct policy *p)
{
	return !p->ssh.allow_all_commands.value &&
	    (p->ssh.allowed_commands.n > 0 || has_host_rules(p));
}

bool
decide_ssh_command_denies(const struct policy *p, const struct cmd_ask *ask,
    struct verdict *v, bool *ret_is_unsure)
{
	size_t i;

	if (!decide_ssh_is_active(p))
		return false;
	if (ask->name != NULL) {
		if (p->ssh.inherit_deny.value &&
		    inherited(p, ask, v, ret_is_unsure))
			return true;
		if (listed(p, ask, v, ret_is_unsure))
			return true;
		if (!is_closed(p) ||
		    cmd_index_find(p, CMD_SSH_ALLOWED, ask, &i) == CMD_YES)
			return false;
	} else if (!is_closed(p)) {
		return false;
	}
	verdict_default(v, ACTION_DENY, ALLOWED_COMMANDS,
	    &p->ssh.allowed_commands);
	if (ask->name == NULL || !exec_remedy_add(v, ALLOWED_COMMANDS, ask,
	    NULL))
		verdict_remedy(v, REMEDY_SET, KEY_OF(ssh.allow_all_commands),
		    "true");
	return true;
}
