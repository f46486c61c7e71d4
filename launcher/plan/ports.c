#include "launcher/plan/ports.h"

#include <arpa/inet.h>
#include <ctype.h>
#include <netinet/in.h>
#include <string.h>

#include "platform/base/ip.h"
#include "platform/base/str.h"
#include "platform/base/vec.h"
#include "platform/jail.h"
#include "policy/decide.h"
#include "policy/keys.h"

static const char forms[] = "[ADDR:]PORT[:INSIDE], as in 3000, 8080:3000, "
    "0.0.0.0:3000 or [::1]:3000";

/* ---- one value of --port ---- */

static int
bad_spec(const char *spec, const char *why, const char *hint, struct err *e)
{
	err_set(e, ERR_USAGE, "invalid --port '%.80s': %s", spec, why);
	err_hint(e, "%s", hint);
	return -1;
}

static struct str
trim(const char *s)
{
	size_t n = strlen(s);

	while (n > 0 && isspace((unsigned char)s[n - 1]))
		n--;
	while (n > 0 && isspace((unsigned char)*s)) {
		s++;
		n--;
	}
	return (struct str){ s, n };
}

/* The part before the first colon; what is behind it stays in *rest. */
static struct str
segment(struct str *rest, bool *ret_has_colon)
{
	const char *colon = memchr(rest->p, ':', rest->len);
	struct str s = *rest;

	*ret_has_colon = colon != NULL;
	if (colon != NULL)
		s.len = (size_t)(colon - rest->p);
	rest->p += s.len + (colon != NULL);
	rest->len -= s.len + (colon != NULL);
	return s;
}

static bool
is_digits(struct str s)
{
	for (size_t i = 0; i < s.len; i++)
		if (s.p[i] < '0' || s.p[i] > '9')
			return false;
	return s.len > 0;
}

static int
to_addr(int family, struct str s, struct net_addr *ret)
{
	char text[NET_TEXT_MAX];

	if (s.len >= sizeof text)
		return -1;
	memcpy(text, s.p, s.len);
	text[s.len] = '\0';
	memset(ret->addr, 0, sizeof ret->addr);
	if (inet_pton(family, text, ret->addr) != 1)
		return -1;
	ret->family = (uint16_t)family;
	if (family == AF_INET6 && ip_unmap(ret->addr))
		ret->family = AF_INET;
	return 0;
}

/* Takes "[V6]:" from the front. */
static int
take_bracket(const char *spec, struct str *rest, struct net_addr *ret,
    struct err *e)
{
	const char *end = memchr(rest->p, ']', rest->len);
	struct str inner = { rest->p + 1, end != NULL ?
	    (size_t)(end - rest->p - 1) : 0 };
	size_t used = inner.len + 2;

	if (end == NULL || to_addr(AF_INET6, inner, ret) != 0)
		return bad_spec(spec, "no IPv6 address in the brackets",
		    forms, e);
	if (used >= rest->len || rest->p[used] != ':')
		return bad_spec(spec, "no port behind the address", forms, e);
	rest->p += used + 1;
	rest->len -= used + 1;
	return 0;
}

static size_t
count_colons(struct str s)
{
	size_t n = 0;

	for (size_t i = 0; i < s.len; i++)
		n += s.p[i] == ':';
	return n;
}

/* Takes "V4:" from the front, if there is one. */
static int
take_address(const char *spec, struct str *rest, struct net_addr *ret,
    struct err *e)
{
	struct str after = *rest, first;
	size_t ncolons = count_colons(*rest);
	struct net_addr none;
	bool has_colon;

	first = segment(&after, &has_colon);
	if (ncolons > 2 || (ncolons == 2 && first.len == 0))
		return bad_spec(spec, "an IPv6 address wants brackets",
		    "[::1]:3000", e);
	if (ncolons == 1 && first.len == 0)
		return bad_spec(spec, "no address before the colon",
		    "without the colon it is 127.0.0.1", e);
	if (ncolons == 0 && to_addr(AF_INET, first, &none) == 0)
		return bad_spec(spec, "no port behind the address", forms, e);
	if (ncolons == 0 || (ncolons == 1 && is_digits(first)))
		return 0;		/* PORT, PORT:INSIDE */
	if (to_addr(AF_INET, first, ret) != 0)
		return bad_spec(spec, "the address must be an IP literal",
		    "names are not looked up: 127.0.0.1:3000", e);
	*rest = after;
	return 0;
}

static int
take_port(const char *spec, struct str s, uint16_t *ret, struct err *e)
{
	uint64_t n;

	if (!is_digits(s))
		return bad_spec(spec, s.len == 0 ? "a port is missing" :
		    "a port is a number", forms, e);
	if (str_to_u64(s, 65535, &n) != 0 || n == 0)
		return bad_spec(spec, "a port is a number from 1 to 65535",
		    forms, e);
	*ret = (uint16_t)n;
	return 0;
}

int
ports_parse(const char *spec, struct port_in *ret, struct err *e)
{
	struct port_in p = { .at = { .family = AF_INET,
	    .addr = { 127, 0, 0, 1 } } };
	struct str rest = trim(spec), port;
	bool has_inside;

	if (rest.len == 0)
		return bad_spec(spec, "it is empty", forms, e);
	if ((rest.p[0] == '[' ? take_bracket : take_address)(spec, &rest,
	    &p.at, e) != 0)
		return -1;
	port = segment(&rest, &has_inside);
	if (take_port(spec, port, &p.at.port, e) != 0)
		return -1;
	p.inside = p.at.port;
	if (has_inside && take_port(spec, rest, &p.inside, e) != 0)
		return -1;
	*ret = p;
	return 0;
}

/* ---- all of them ---- */

static bool
is_same_place(const struct net_addr *a, const struct net_addr *b)
{
	return a->family == b->family && a->port == b->port &&
	    memcmp(a->addr, b->addr, sizeof a->addr) == 0;
}

int
ports_parse_all(struct arena *a, const struct opt_list *specs,
    struct ports *ret, struct err *e)
{
	struct port_in *v = arena_alloc(a, (specs->n + 1) * sizeof *v);
	size_t n = 0, k;

	for (size_t i = 0; i < specs->n; i++) {
		if (ports_parse(specs->v[i], &v[n], e) != 0)
			return -1;
		for (k = 0; k < n; k++)
			if (is_same_place(&v[k].at, &v[n].at))
				break;
		if (k < n && v[k].inside != v[n].inside)
			return bad_spec(specs->v[i], "an earlier --port has "
			    "this address and port", "each leads to one port "
			    "inside", e);
		n += k == n;
	}
	if (n > PORTS_MAX)
		return err_set(e, ERR_USAGE, "more than %d of --port",
		    (int)PORTS_MAX);
	ret->in = v;
	ret->nin = n;
	return 0;
}

int
ports_model(const char *text, bool *ret_is_on_host, struct err *e)
{
	struct str s = trim(text != NULL ? text : "");

	*ret_is_on_host = str_caseeq(s, "on-host");
	if (s.len == 0 || *ret_is_on_host || str_caseeq(s, "in-sandbox"))
		return 0;
	err_set(e, ERR_USAGE, "invalid --service-execution-model '%.60s'",
	    text);
	err_hint(e, "in-sandbox or on-host");
	return -1;
}

/* ---- with the policy ---- */

uint16_t
ports_http(const struct policy *p)
{
	uint64_t n = p->net.http_proxy_port.value;

	return n != 0 ? (uint16_t)n : JAIL_HTTP_PORT;
}

uint16_t
ports_socks(const struct policy *p)
{
	uint64_t n = p->net.socks_proxy_port.value;

	return n != 0 ? (uint16_t)n : JAIL_SOCKS_PORT;
}

/* Whose port inside is it already? */
static const char *
owner(const struct ports *p, uint16_t port)
{
	if (port == p->http)
		return "the HTTP proxy's";
	if (port == p->socks)
		return "the SOCKS proxy's";
	return port == JAIL_DNS_PORT ? "the resolver's" : NULL;
}

static int
clash(uint16_t port, const char *whose, struct origin at, struct err *e)
{
	err_set(e, ERR_POLICY, "port %u is %s inside the jail",
	    (unsigned)port, whose);
	err_where(e, at.file, at.line, at.col);
	return -1;
}

static int
check_proxies(const struct policy *policy, const struct ports *p,
    struct err *e)
{
	const struct {
		size_t			 key;
		const char		*other;
		const struct number	*n;
		uint16_t		 port;
	} rows[] = {
		{ KEY_OF(net.http_proxy_port), "the SOCKS proxy's",
		    &policy->net.http_proxy_port, p->http },
		{ KEY_OF(net.socks_proxy_port), "the HTTP proxy's",
		    &policy->net.socks_proxy_port, p->socks },
	};

	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++) {
		const char *whose = rows[i].port == JAIL_DNS_PORT ?
		    "the resolver's" : p->http == p->socks &&
		    rows[i].n->is_set ? rows[i].other : NULL;

		if (whose == NULL)
			continue;
		clash(rows[i].port, whose, rows[i].n->at, e);
		err_key(e, "%s", keys_name(rows[i].key));
		return -1;
	}
	return 0;
}

static int
check_out(const struct ports *p, size_t key, const struct entry *entry,
    size_t i, struct err *e)
{
	const char *whose = owner(p, (uint16_t)entry->number);

	if (whose == NULL)
		return 0;
	clash((uint16_t)entry->number, whose, entry->at, e);
	err_key(e, "%s[%zu]", keys_name(key), i);
	if (entry->number != JAIL_DNS_PORT)
		err_hint(e, "%s moves the proxy", keys_name(entry->number ==
		    p->http ? KEY_OF(net.http_proxy_port) :
		    KEY_OF(net.socks_proxy_port)));
	return -1;
}

static bool
has_out(const struct ports *p, uint16_t port)
{
	for (size_t i = 0; i < p->nout; i++)
		if (p->out[i] == port)
			return true;
	return false;
}

static int
check_in(const struct ports *p, struct err *e)
{
	for (size_t i = 0; i < p->nin; i++) {
		uint16_t port = p->in[i].inside;
		const char *whose = owner(p, port);

		if (whose == NULL && has_out(p, port))
			whose = "one that leads to the host's localhost";
		if (whose == NULL)
			continue;
		err_set(e, ERR_USAGE, "--port: port %u is %s inside the jail",
		    (unsigned)port, whose);
		err_hint(e, "--port %u:INSIDE leads to another port inside",
		    (unsigned)p->in[i].at.port);
		return -1;
	}
	return 0;
}

static int
too_many(size_t key, const struct strlist *l, struct err *e)
{
	err_set(e, ERR_POLICY, "more than %d ports", (int)PORTS_MAX);
	err_key(e, "%s", keys_name(key));
	err_where(e, l->at.file, l->at.line, l->at.col);
	return -1;
}

/* Those of this list that every layer allows. */
static int
take_out(const struct policy *policy, size_t key, uint16_t *out,
    struct ports *p, struct err *e)
{
	const struct strlist *l = keys_cstrlist(keys_at(key), policy);
	struct verdict v;

	for (size_t i = 0; i < l->n; i++) {
		uint16_t port = (uint16_t)l->v[i].number;

		decide_local(policy, port, &v);
		if (v.action == ACTION_DENY || has_out(p, port))
			continue;
		if (check_out(p, key, &l->v[i], i, e) != 0)
			return -1;
		if (p->nout == PORTS_MAX)
			return too_many(key, l, e);
		out[p->nout++] = port;
	}
	return 0;
}

int
ports_settle(struct arena *a, const struct policy *policy,
    struct ports *ret, struct err *e)
{
	uint16_t *out = arena_alloc(a, PORTS_MAX * sizeof *out);

	ret->http = ports_http(policy);
	ret->socks = ports_socks(policy);
	ret->out = out;
	ret->nout = 0;
	if (check_proxies(policy, ret, e) != 0 ||
	    take_out(policy, KEY_OF(net.host_ports), out, ret, e) != 0 ||
	    take_out(policy, KEY_OF(net.allow_local_outbound_ports), out,
	    ret, e) != 0)
		return -1;
	return check_in(ret, e);
}

void
ports_print(const struct ports *p, struct buf *b)
{
	char text[NET_TEXT_MAX];

	if (p->http != JAIL_HTTP_PORT)
		buf_printf(b, "proxy http 127.0.0.1:%u\n", p->http);
	if (p->socks != JAIL_SOCKS_PORT)
		buf_printf(b, "proxy socks5 127.0.0.1:%u\n", p->socks);
	for (size_t i = 0; i < p->nout; i++)
		buf_printf(b, "port  localhost:%u inside leads to the "
		    "host's\n", p->out[i]);
	for (size_t i = 0; i < p->nin; i++) {
		const struct net_addr *at = &p->in[i].at;

		net_text(at, text);
		buf_printf(b, at->family == AF_INET6 ? "port  [%s]:%u" :
		    "port  %s:%u", text, at->port);
		buf_printf(b, " leads to localhost:%u inside\n",
		    p->in[i].inside);
	}
}
