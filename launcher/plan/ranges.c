#include "launcher/plan/ranges.h"

#include <string.h>
#include <sys/socket.h>

size_t
ranges_of(const struct pattern *p, struct jail_range ret[RANGES_MAX])
{
	memset(ret, 0, RANGES_MAX * sizeof *ret);
	if (p->kind == PATTERN_ANY) {
		ret[0].family = AF_INET;
		ret[1].family = AF_INET6;
		return 2;
	}
	if (p->kind != PATTERN_CIDR && (p->kind != PATTERN_DOMAIN ||
	    p->host.kind == HOST_NAME))
		return 0;
	ret[0].family = p->host.kind == HOST_IPV4 ? AF_INET : AF_INET6;
	ret[0].bits = p->kind == PATTERN_CIDR ? p->bits :
	    ret[0].family == AF_INET ? 32 : 128;
	memcpy(ret[0].addr, p->host.addr, sizeof ret[0].addr);
	return 1;
}

static bool
is_within(const struct jail_range *outer, const struct jail_range *inner)
{
	unsigned bytes = outer->bits / 8, rest = outer->bits % 8;
	unsigned char mask = (unsigned char)(0xff << (8 - rest));

	if (outer->family != inner->family || outer->bits > inner->bits ||
	    memcmp(outer->addr, inner->addr, bytes) != 0)
		return false;
	return rest == 0 || ((outer->addr[bytes] ^ inner->addr[bytes]) &
	    mask) == 0;
}

bool
ranges_cover(const struct jail_range *v, size_t n, const struct jail_range *r)
{
	for (size_t i = 0; i < n; i++)
		if (is_within(&v[i], r))
			return true;
	return false;
}
