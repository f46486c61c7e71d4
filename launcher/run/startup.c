#include "launcher/run/startup.h"

#include <string.h>

#include "launcher/plan/env.h"
#include "launcher/log.h"
#include "platform/base/str.h"

static void
tell_command(const struct plan *p)
{
	struct buf b;

	buf_init(&b, 2048);
	for (char *const *a = p->spec.argv; *a != NULL; a++) {
		if (a != p->spec.argv)
			buf_putc(&b, ' ');
		str_escape(&b, *a, strlen(*a), 0);
	}
	log_fact("command: %s%s", b.data, b.failed ? " ..." : "");
	log_fact("program: %s", p->spec.program);
	buf_release(&b);
}

static void
tell_policy(const struct plan *p)
{
	const struct resolved *r = &p->resolved;

	for (size_t i = 0; i < r->nchain; i++)
		log_fact("policy: %*s%s", (int)r->chain[i].depth * 2, "",
		    r->chain[i].label);
	if (r->nchain == 0)
		log_fact("policy: %s", p->policy->name);
	log_fact("workspace: %s", r->workspace);
}

static void
tell_features(const struct plan *p)
{
	struct buf b;

	buf_init(&b, 256);
	jail_features(&p->spec, &b);
	log_fact("features: %s", b.data);
	buf_release(&b);
}

static void
tell_jail(const struct plan *p)
{
	const struct jail_spec *s = &p->spec;

	log_fact("jail: %s(%spid,fs), %zu mounts, %zu writable, %zu guarded "
	    "names%s", s->bwrap != NULL ? "bwrap" : "native",
	    s->shares_net ? "" : "network,", s->nmounts, s->nwrite_roots,
	    p->nguards, s->is_strict ? ", strict" : "");
}

static void
tell_network(const struct plan *p)
{
	const struct policy *policy = p->policy;

	if (p->spec.shares_net)
		log_fact("network: the host's, unfiltered");
	else if (policy->net.allowed_domains.n == 0)
		log_fact("network: closed");
	else
		log_fact("network: %zu allowed, %zu denied, %zu address "
		    "ranges", policy->net.allowed_domains.n,
		    policy->net.denied_domains.n, p->spec.nranges);
}

/* Names alone: values may be secrets. */
static void
tell_removed(const struct plan *p, char *const *host_env)
{
	struct buf b;

	buf_init(&b, 2048);
	for (; *host_env != NULL; host_env++) {
		size_t n = strcspn(*host_env, "=");
		char name[256];

		if (n >= sizeof name)
			continue;
		memcpy(name, *host_env, n);
		name[n] = '\0';
		if (env_get(p->spec.envp, name) != NULL)
			continue;
		buf_puts(&b, b.len > 0 ? ", " : "");
		str_escape(&b, name, n, 0);
	}
	if (b.len > 0)
		log_fact("not passed on: %s", b.data);
	buf_release(&b);
}

void
startup_tell(const struct plan *p, char *const *host_env)
{
	tell_command(p);
	tell_policy(p);
	tell_features(p);
	tell_jail(p);
	tell_network(p);
	tell_removed(p, host_env);
}
