/*
 * via: by which proxy, if any, a connection leaves this host.  From the
 * policy and the host's own variables; decided for each connection anew.
 */
#ifndef FENCE_LAUNCHER_VIA_H
#define FENCE_LAUNCHER_VIA_H

#include <stdbool.h>
#include <stdint.h>

#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "policy/policy.h"
#include "policy/proxyurl.h"

struct via_proxy {
	struct proxyurl	 url;
	/* For records: never with user and password. */
	const char	*shown;		/* "http://proxy.example:8080" */
	size_t		 key;		/* KEY_OF(net.via) ... */
	struct origin	 at;		/* "$HTTPS_PROXY", without a line */
};

struct via {
	const struct via_proxy	*upstream;	/* for the grey zone */
	/* For plain HTTP, and for all else; NULL: none. */
	const struct via_proxy	*plain, *other;
	const char		*no_proxy;	/* "" for none */
};

/* Everything lives in the arena, or in the policy. */
int	 via_make(struct arena *, const struct policy *, char *const *env,
	    struct via *ret, struct err *);
/* For a host that a list names; NULL: straight to it. */
const struct via_proxy	*via_pick(const struct via *, const struct host *,
			    uint16_t port, bool is_plain);
/* Lines for --dry-run. */
void	 via_print(const struct via *, struct buf *);

#endif
