/*
 * Planning: ports, routes to the gate, proxies on the way.
 */
#include <netinet/in.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/plan/plan_work.h"
#include "launcher/plan/ranges.h"
#include "platform/base/vec.h"
#include "policy/decide.h"

/* The command line's part, before any policy is read. */
int
plan_port_options(struct work *w, const struct run_options *ro,
    struct err *e)
{
	struct ports *ports = &w->plan->ports;
	bool is_on_host;

	if (ports_parse_all(w->arena, &ro->port, ports, e) != 0 ||
	    ports_model(ro->model, &is_on_host, e) != 0)
		return -1;
	if (is_on_host)
		ports->nin = 0;
	return 0;
}

int
plan_ports(struct work *w, struct err *e)
{
	const struct policy *p = w->plan->policy;
	const struct strlist *l = &p->net.allow_local_outbound_ports.list;
	struct ports *ports = &w->plan->ports;

	if (ports_settle(w->arena, p, ports, e) != 0)
		return -1;
	if (w->plan->spec.shares_net && ports->nin > 0) {
		err_set(e, ERR_USAGE, "with network.mode \"direct\" the "
		    "command listens on the host itself");
		err_hint(e, "without the option");
		err_key(e, "--port");
		return -1;
	}
	if (l->n > 0 && !decide_local_is_open(p))
		plan_notice(arena_printf(w->arena, "%s:%d:%d: "
		    "network.allowLocalOutboundPorts grants nothing: "
		    "network.allowLocalOutbound is not true; "
		    "network.hostPorts needs no such switch", l->v[0].at.file,
		    l->v[0].at.line, l->v[0].at.col), w);
	w->plan->spec.http_port = ports->http;
	w->plan->spec.socks_port = ports->socks;
	w->plan->spec.local_ports = ports->out;
	w->plan->spec.nlocal_ports = ports->nout;
	return 0;
}

static int
by_bytes(const void *a, const void *b)
{
	return memcmp(a, b, sizeof(struct jail_range));
}

struct ranges {
	struct jail_range	*v;
	size_t			 n, cap;
};

static void
add_all(struct ranges *ranges)
{
	struct jail_range r;

	memset(&r, 0, sizeof r);		/* padding counts below */
	r.family = AF_INET;
	*vec_push(ranges) = r;
	r.family = AF_INET6;
	*vec_push(ranges) = r;
}

/*
 * Routes to the gate: the addresses that the policy names, or all addresses
 * where an upstream proxy decides about hosts that no rule names.
 */
void
plan_ranges(struct work *w, const struct run_options *ro)
{
	const struct strlist *l = &w->plan->policy->net.allowed_domains;
	bool has_grey = decide_has_grey(w->plan->policy);
	struct ranges ranges = { 0 };

	if (has_grey)
		add_all(&ranges);
	for (size_t i = 0; i < l->n; i++) {
		struct jail_range r[RANGES_MAX];
		size_t n = ranges_of(l->v[i].pattern, r);

		for (size_t k = 0; k < n; k++)
			*vec_push(&ranges) = r[k];
	}
	/* The same address on two ports is one route. */
	if (ranges.n > 0)
		qsort(ranges.v, ranges.n, sizeof *ranges.v, by_bytes);
	for (size_t i = 0, n = ranges.n; i < n; i++)
		if (i == 0)
			ranges.n = 1;
		else if (by_bytes(&ranges.v[i], &ranges.v[ranges.n - 1]) != 0)
			ranges.v[ranges.n++] = ranges.v[i];
	w->plan->wants_names = !w->plan->spec.shares_net &&
	    (l->n > 0 || has_grey || ro->watch_policy);
	w->plan->spec.ranges = plan_keep(w->arena, ranges.v,
	    ranges.n * sizeof *ranges.v);
	w->plan->spec.nranges = ranges.n;
	vec_release(&ranges);
}

/* Proxies on the way matter only where some host may be reached. */
int
plan_via(struct work *w, char *const *env, struct err *e)
{
	return !w->plan->wants_names ? 0 : via_make(w->arena, w->plan->policy,
	    env, &w->plan->via, e);
}
