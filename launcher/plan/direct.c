#include "launcher/plan/direct.h"

#include <stddef.h>
#include <string.h>

#include "policy/pattern.h"

bool
direct_is(const struct policy *p)
{
	return p->net.mode.value == NET_MODE_DIRECT;
}

/* NULL: nothing is asked that does not hold. */
typedef const struct origin	*ask_fn(const struct policy *);

/* "*" is what the mode gives; a list without it, also an empty one, is not. */
static const struct origin *
allowed(const struct policy *p)
{
	const struct strlist *l = &p->net.allowed_domains;

	for (size_t i = 0; i < l->n; i++)
		if (l->v[i].pattern->kind == PATTERN_ANY &&
		    l->v[i].pattern->port == 0)
			return NULL;
	return l->n > 0 ? &l->v[0].at : l->is_set ? &l->at : NULL;
}

#define ROW(fn, is_asked, where)					\
	static const struct origin *					\
	fn(const struct policy *p)					\
	{								\
		return (is_asked) ? &(where) : NULL;			\
	}

ROW(denied, p->net.denied_domains.n > 0, p->net.denied_domains.v[0].at)
ROW(private, p->net.allow_private.n > 0, p->net.allow_private.v[0].at)
ROW(ports, p->net.allow_local_outbound_ports.list.n > 0,
    p->net.allow_local_outbound_ports.list.v[0].at)
ROW(outbound, p->net.allow_local_outbound.value == TRI_FALSE,
    p->net.allow_local_outbound.at)
ROW(binding, p->net.allow_local_binding.is_set &&
    !p->net.allow_local_binding.value, p->net.allow_local_binding.at)
ROW(upstream, p->net.upstream_proxy.is_set, p->net.upstream_proxy.at)
ROW(via, p->net.via.is_set && strstr(p->net.via.text, "://") != NULL,
    p->net.via.at)
ROW(sni, p->net.sni.is_set && p->net.sni.value == NET_SNI_ENFORCE,
    p->net.sni.at)
ROW(variables, p->net.proxy_variables.value == NET_PROXYVARS_ON,
    p->net.proxy_variables.at)
ROW(http, p->net.http_proxy_port.value != 0, p->net.http_proxy_port.at)
ROW(socks, p->net.socks_proxy_port.value != 0, p->net.socks_proxy_port.at)

static const struct {
	const char	*key;
	ask_fn		*ask;
	const char	*hint;
} rows[] = {
	{ "network.allowedDomains", allowed,
	  "\"*\" is what this mode gives: add it knowingly" },
	{ "network.deniedDomains", denied,
	  "take the entries out (\"!x\" for inherited ones), or keep "
	  "network.mode \"gate\"" },
	{ "network.allowPrivate", private, NULL },
	{ "network.allowLocalOutboundPorts", ports, NULL },
	{ "network.allowLocalOutbound", outbound, NULL },
	{ "network.allowLocalBinding", binding, NULL },
	{ "network.upstreamProxy", upstream, NULL },
	{ "network.via", via, NULL },
	{ "network.sni", sni, NULL },
	{ "network.proxyVariables", variables, NULL },
	{ "network.httpProxyPort", http, NULL },
	{ "network.socksProxyPort", socks, NULL },
};

int
direct_check(const struct policy *p, struct err *e)
{
	for (; p != NULL; p = p->also)
		for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
			const struct origin *at = rows[i].ask(p);

			if (at == NULL)
				continue;
			err_set(e, ERR_POLICY, "cannot be enforced with "
			    "network.mode \"direct\"");
			err_key(e, "%s", rows[i].key);
			/* A layer may take it away by not writing it. */
			err_where(e, at->file != NULL ? at->file : p->name,
			    at->line, at->col);
			err_hint(e, "%s", rows[i].hint != NULL ? rows[i].hint :
			    "remove it, or keep network.mode \"gate\"");
			return -1;
		}
	return 0;
}
