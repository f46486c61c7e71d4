#include <string.h>

#include "policy/decide.h"
#include "policy/index.h"
#include "policy/pattern.h"
#include "policy/verdict.h"

enum {
	ALLOWED_KEY = KEY_OF(net.allowed_domains),
	DENIED_KEY = KEY_OF(net.denied_domains),
	PRIVATE_KEY = KEY_OF(net.allow_private),
};

static void
deny_by_entry(const struct policy *p, long i, const char *how,
    struct verdict *v)
{
	verdict_entry(v, ACTION_DENY, DENIED_KEY, &p->net.denied_domains,
	    (size_t)i);
	verdict_reason(v, "denied by %s; removing the entry would allow it",
	    how);
}

/* This machine to whoever resolves it, so also to a proxy that runs here. */
static bool
is_localhost(const struct host *h)
{
	static const char name[] = "localhost";
	size_t n = strlen(h->text), m = sizeof name - 1;

	return h->kind == HOST_NAME && n >= m &&
	    strcmp(h->text + n - m, name) == 0 &&
	    (n == m || h->text[n - m - 1] == '.');
}

bool
decide_has_grey(const struct policy *p)
{
	return p->net.upstream_proxy.is_set &&
	    (!p->net.default_action.is_set ||
	    p->net.default_action.value == NET_ACTION_PROXY);
}

/* No list names the host: another proxy decides, or nobody is asked. */
static void
decide_grey(const struct policy *p, const struct host *h, struct verdict *v)
{
	const struct string *proxy = &p->net.upstream_proxy;
	const struct choice *action = &p->net.default_action;

	if (decide_has_grey(p) && !is_localhost(h)) {
		verdict_key(v, ACTION_ALLOW, action->is_set ?
		    KEY_OF(net.default_action) : KEY_OF(net.upstream_proxy),
		    action->is_set ? action->at : proxy->at);
		v->rule.text = proxy->shown;
		verdict_reason(v, "the upstream proxy decides");
		v->via_upstream = true;
		return;
	}
	verdict_default(v, ACTION_DENY, ALLOWED_KEY, &p->net.allowed_domains);
	verdict_remedy(v, REMEDY_ADD, ALLOWED_KEY, h->text);
	verdict_flag(v);
}

/*
 * The entry that denies the host, also by the IPv4 address that a translator
 * on the way makes of it (64:ff9b::1.2.3.4).  What is denied on one port only
 * can still be looked up.
 */
static long
find_denied(const struct policy *p, const struct host *h, uint16_t port,
    bool literal_only)
{
	const struct net_index *ix = p->net_denied_index;
	long i = net_index_find(ix, h, port, false, literal_only);
	struct host v4;

	if (i == INDEX_NONE && host_embedded(h, &v4))
		i = net_index_find(ix, &v4, port, false, true);
	return i;
}

static void
decide_layer(const struct policy *p, const struct host *h, uint16_t port,
    struct verdict *v)
{
	long allowed, denied;

	denied = find_denied(p, h, port, false);
	allowed = net_index_find(p->net_allowed_index, h, port, true, false);
	if (denied != INDEX_NONE) {
		deny_by_entry(p, denied, "name", v);
		if (allowed == INDEX_NONE)
			verdict_reason(v, "denied by name; "
			    "remove the entry, and allow the host");
	} else if (allowed != INDEX_NONE) {
		verdict_entry(v, ACTION_ALLOW, ALLOWED_KEY,
		    &p->net.allowed_domains, (size_t)allowed);
		verdict_reason(v, "allowed by name");
	} else {
		decide_grey(p, h, v);
	}
}

/* "a loopback address", "an address of this machine" */
static const char *
describe(enum addr_class class, int is_own, char *buf, size_t size)
{
	const char *name = host_addr_class_name(class);

	if (class == ADDR_PUBLIC || (is_own && class == ADDR_PRIVATE))
		return "an address of this machine";
	snprintf(buf, size, "%s %s address",
	    strchr("aeiou", name[0]) != NULL ? "an" : "a", name);
	return buf;
}

static enum addr_class
class_of(const struct host *h)
{
	return host_addr_class(h->addr, h->kind == HOST_IPV4 ? 4 : 16);
}

/* A range names an address if all of it is of the address's class. */
static bool
is_range_of(const struct pattern *p, enum addr_class class)
{
	unsigned most = p->host.kind == HOST_IPV4 ? 32 : 128;
	struct host last = p->host;

	for (unsigned i = p->bits; i < most; i++)
		last.addr[i / 8] |= (uint8_t)(0x80 >> i % 8);
	return class_of(&p->host) == class && class_of(&last) == class;
}

/*
 * Is this very address named, or a range that can mean nothing else?  Few
 * entries are addresses, and few connections lead to a special one.
 */
static long
find_named(const struct policy *p, const struct host *addr, uint16_t port,
    int is_own)
{
	const struct strlist *l = &p->net.allowed_domains;
	enum addr_class class = class_of(addr);

	for (size_t i = 0; i < l->n; i++) {
		const struct pattern *pat = l->v[i].pattern;

		if ((pat->kind != PATTERN_DOMAIN &&
		    pat->kind != PATTERN_CIDR) ||
		    (pat->port != 0 && port != 0 && pat->port != port) ||
		    !pattern_match_host(pat, addr))
			continue;
		if (pat->kind == PATTERN_DOMAIN ||
		    (!is_own && is_range_of(pat, class)))
			return (long)i;
	}
	return INDEX_NONE;
}

static long
find_private(const struct policy *p, const struct host *h,
    const struct host *addr)
{
	const struct strlist *l = &p->net.allow_private;

	for (size_t i = 0; i < l->n; i++)
		if (pattern_match_host(l->v[i].pattern, addr) ||
		    pattern_match_host(l->v[i].pattern, h))
			return (long)i;
	return INDEX_NONE;
}

static void
deny_address(const struct policy *p, const struct host *h,
    const struct host *addr, int is_own, struct verdict *v)
{
	enum addr_class class = class_of(addr);
	char what[48];

	verdict_key(v, ACTION_DENY, ALLOWED_KEY, p->net.allowed_domains.at);
	verdict_reason(v, "%.48s %s %s", h->text,
	    h->kind == HOST_NAME ? "resolves to" : "is",
	    describe(class, is_own, what, sizeof what));
	verdict_remedy(v, REMEDY_ADD, ALLOWED_KEY, addr->text);
	verdict_flag(v);
}

static void
decide_address(const struct policy *p, const struct host *h, uint16_t port,
    const struct host *addr, int is_own, struct verdict *v)
{
	enum addr_class class = class_of(addr);
	bool via_upstream;
	long i;

	decide_layer(p, h, port, v);
	/* A name leads where the proxy says; an address is an address. */
	if (v->action == ACTION_DENY ||
	    (v->via_upstream && h->kind == HOST_NAME))
		return;
	via_upstream = v->via_upstream;
	/* A name does not lead around the denial of an address. */
	i = find_denied(p, addr, port, true);
	if (i != INDEX_NONE) {
		deny_by_entry(p, i, "address", v);
		return;
	}
	if (class == ADDR_PUBLIC && !is_own)
		return;
	if ((i = find_named(p, addr, port, is_own)) != INDEX_NONE) {
		verdict_entry(v, ACTION_ALLOW, ALLOWED_KEY,
		    &p->net.allowed_domains, (size_t)i);
		verdict_reason(v, "allowed by address");
	} else if (class == ADDR_PRIVATE && !is_own &&
	    (i = find_private(p, h, addr)) != INDEX_NONE) {
		verdict_entry(v, ACTION_ALLOW, PRIVATE_KEY,
		    &p->net.allow_private, (size_t)i);
		verdict_reason(v, "allowed by network.allowPrivate");
		v->via_upstream = via_upstream;
	} else {
		deny_address(p, h, addr, is_own, v);
	}
}

/*
 * What one layer denies no other opens, so the options of the command line,
 * which are the first layer's, do not help.  What it leaves to a proxy is
 * left to the first layer's, and refused where that names none.
 */
static void
agree(const struct policy *first, const struct verdict *other,
    struct verdict *v)
{
	if (other->action == ACTION_ALLOW && (!other->via_upstream ||
	    first->net.upstream_proxy.is_set)) {
		v->via_upstream |= other->via_upstream;
		return;
	}
	*v = *other;
	v->remedy.has_flag = false;
	if (v->action == ACTION_DENY)
		return;
	v->action = ACTION_DENY;
	v->via_upstream = false;
	verdict_reason(v, "left to an upstream proxy, and the policy below "
	    "has none");
}

/* Layers agreed on it beforehand: nobody else is asked. */
static bool
is_direct(const struct policy *p, struct verdict *v)
{
	if (p->net.mode.value != NET_MODE_DIRECT)
		return false;
	verdict_key(v, ACTION_ALLOW, KEY_OF(net.mode), p->net.mode.at);
	verdict_reason(v, "the network is the host's");
	return true;
}

void
decide_net(const struct policy *p, const struct host *h, uint16_t port,
    struct verdict *v)
{
	struct verdict other;

	if (is_direct(p, v))
		return;
	decide_layer(p, h, port, v);
	for (const struct policy *l = p->also;
	    l != NULL && v->action == ACTION_ALLOW; l = l->also) {
		decide_layer(l, h, port, &other);
		agree(p, &other, v);
	}
}

bool
decide_net_is_entry(const struct policy *p, const struct host *h)
{
	bool is_entry = false;

	for (; h->kind == HOST_NAME && p != NULL && !is_entry; p = p->also)
		is_entry = net_index_has_name(p->net_allowed_index, h->text);
	return is_entry;
}

void
decide_net_dial(const struct policy *p, const struct host *h, uint16_t port,
    const uint8_t *addr, size_t addr_len, int is_own, struct verdict *v)
{
	struct verdict other;
	struct host literal;

	if (is_direct(p, v))
		return;
	host_from_addr(addr, addr_len, &literal);
	decide_address(p, h, port, &literal, is_own, v);
	for (const struct policy *l = p->also;
	    l != NULL && v->action == ACTION_ALLOW; l = l->also) {
		decide_address(l, h, port, &literal, is_own, &other);
		agree(p, &other, v);
	}
}
