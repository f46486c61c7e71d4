#include "launcher/record/suspect.h"

#include <stdio.h>
#include <string.h>

#include "platform/base/str.h"

/* The last two labels: whose zone it is, as far as a name tells. */
static const char *
domain_of(const char *name)
{
	const char *last = strrchr(name, '.'), *p = last;

	if (last == NULL)
		return name;
	while (p > name && p[-1] != '.')
		p--;
	return p;
}

static bool
has_long_label(const char *name)
{
	size_t n;

	for (; *name != '\0'; name += n + (name[n] == '.')) {
		n = strcspn(name, ".");
		if (n >= SUSPECT_LABEL)
			return true;
	}
	return false;
}

static uint32_t
hash(const char *s)
{
	uint32_t h = str_hash(s, strlen(s));

	return h ^ h >> 16;
}

static struct suspect_domain *
find(struct suspect *s, const char *domain)
{
	struct suspect_domain *d;

	for (unsigned i = 0; i < s->n; i++)
		if (strcmp(s->domain[i].name, domain) == 0)
			return &s->domain[i];
	if (s->n == SUSPECT_DOMAINS)
		return NULL;
	d = &s->domain[s->n++];
	snprintf(d->name, sizeof d->name, "%s", domain);
	return d;
}

bool
suspect_name(struct suspect *s, const char *name, const char **ret_domain)
{
	const char *domain = domain_of(name);
	struct suspect_domain *d = domain != name ? find(s, domain) : NULL;

	if (d == NULL || d->is_told)
		return false;
	d->seen |= UINT64_C(1) << hash(name) % 64;
	d->is_told = has_long_label(name) ||
	    __builtin_popcountll(d->seen) >= SUSPECT_NAMES;
	*ret_domain = domain;
	return d->is_told;
}
