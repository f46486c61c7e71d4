/*
 * ports: which ports of the jail's localhost lead somewhere.  The proxies and
 * the resolver have theirs; those of network.hostPorts and of
 * network.allowLocalOutboundPorts lead out, to the same port of the host's
 * localhost; those of --port lead in, from a port of the host.  Two of them can never be one: that is an error here.
 */
#ifndef FENCE_LAUNCHER_PORTS_H
#define FENCE_LAUNCHER_PORTS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "launcher/options.h"
#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "platform/net.h"
#include "policy/policy.h"

enum { PORTS_MAX = 256 };	/* of a kind */

struct port_in {
	struct net_addr	at;		/* where the host listens */
	uint16_t	inside;
};

struct ports {
	uint16_t		 http, socks;
	const uint16_t		*out;		/* each once */
	size_t			 nout;
	const struct port_in	*in;		/* each once */
	size_t			 nin;
};

/*
 * One value of --port, pure: PORT, ADDR:PORT, PORT:INSIDE, ADDR:PORT:INSIDE;
 * ADDR is an IP literal, IPv6 in brackets, 127.0.0.1 where none is said.
 * Without INSIDE both sides have the same number.
 */
int	 ports_parse(const char *spec, struct port_in *ret, struct err *);
/* All of them, into `in`; a repetition counts once. */
int	 ports_parse_all(struct arena *, const struct opt_list *,
	    struct ports *ret, struct err *);
/*
 * A value of --service-execution-model, or NULL.  on-host: somebody else, a
 * daemon of the host, listens on the ports, so none of them leads in.
 */
int	 ports_model(const char *, bool *ret_is_on_host, struct err *);
/* What the policy says, into the rest; then whether it all fits together. */
int	 ports_settle(struct arena *, const struct policy *,
	    struct ports *ret, struct err *);
/* A line for each that leads out or in (--dry-run). */
void	 ports_print(const struct ports *, struct buf *);

/* The proxies' own, as the policy wants them. */
uint16_t ports_http(const struct policy *);
uint16_t ports_socks(const struct policy *);

#endif
