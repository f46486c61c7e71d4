#include <string.h>

#include "policy/decide.h"
#include "policy/pattern.h"
#include "policy/verdict.h"

static const char allowed_key[] = "network.allowedDomains";
static const char denied_key[] = "network.deniedDomains";

/* The first entry that matches; list->n: none. */
static size_t
find(const struct strlist *list, const struct host *h)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (pattern_match_host(list->v[i].pattern, h))
			break;
	return i;
}

static void
deny_by_entry(const struct policy *p, size_t i, const char *how,
    struct verdict *v)
{
	verdict_entry(v, ACTION_DENY, denied_key, &p->net.denied_domains, i);
	verdict_reason(v, "denied by %s; removing the entry would allow it",
	    how);
}

void
decide_net(const struct policy *p, const struct host *h, uint16_t port,
    struct verdict *v)
{
	const struct strlist *allowed = &p->net.allowed_domains;
	const struct strlist *denied = &p->net.denied_domains;
	size_t i;

	(void)port;	/* no entry carries one */
	if ((i = find(denied, h)) < denied->n) {
		deny_by_entry(p, i, "name", v);
		if (find(allowed, h) == allowed->n)
			verdict_reason(v, "denied by name; "
			    "remove the entry, and allow the host");
		return;
	}
	if ((i = find(allowed, h)) < allowed->n) {
		verdict_entry(v, ACTION_ALLOW, allowed_key, allowed, i);
		verdict_reason(v, "allowed by name");
		return;
	}
	verdict_default(v, ACTION_DENY, allowed_key, allowed);
	verdict_remedy(v, allowed_key, "%s", h->text);
}

/* The entry that is this very address, not one that happens to cover it. */
static size_t
find_literal(const struct strlist *list, const struct host *h)
{
	size_t i;

	for (i = 0; i < list->n; i++)
		if (list->v[i].pattern->kind == PATTERN_DOMAIN &&
		    pattern_match_host(list->v[i].pattern, h))
			break;
	return i;
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

void
decide_net_addr(const struct policy *p, const struct host *h,
    const uint8_t *addr, size_t addr_len, int is_own, struct verdict *v)
{
	const struct strlist *allowed = &p->net.allowed_domains;
	const struct strlist *denied = &p->net.denied_domains;
	enum addr_class class = host_addr_class(addr, addr_len);
	struct host literal;
	char what[48];
	size_t i;

	decide_net(p, h, 0, v);
	if (v->action == ACTION_DENY)
		return;
	/* A name does not lead around the denial of an address. */
	host_from_addr(addr, addr_len, &literal);
	if ((i = find_literal(denied, &literal)) < denied->n) {
		deny_by_entry(p, i, "address", v);
		return;
	}
	if (class == ADDR_PUBLIC && !is_own)
		return;
	i = find_literal(allowed, &literal);
	if (i < allowed->n) {
		verdict_entry(v, ACTION_ALLOW, allowed_key, allowed, i);
		verdict_reason(v, "allowed by address");
		return;
	}
	verdict_default(v, ACTION_DENY, allowed_key, allowed);
	verdict_reason(v, "%.48s %s %s", h->text,
	    h->kind == HOST_NAME ? "resolves to" : "is",
	    describe(class, is_own, what, sizeof what));
	verdict_remedy(v, allowed_key, "%s", literal.text);
}
