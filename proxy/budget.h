/*
 * budget: the connections of one kind of listener, and how many of them there
 * may be.  Each kind has its own, so that a client that fills one (a peer on
 * the host, by --port) does not starve the others.  proxy.c counts by it; at
 * its ceiling the connection that is idle for the longest gives way.
 */
#ifndef FENCE_PROXY_BUDGET_H
#define FENCE_PROXY_BUDGET_H

#include <stdbool.h>
#include <stdint.h>

struct conn;
struct watch;

enum budget_kind {
	BUDGET_TRANSPARENT, BUDGET_HTTP, BUDGET_SOCKS, BUDGET_DNS,
	BUDGET_LOCAL,		/* the command to the host's localhost */
	BUDGET_INSIDE,		/* the host's peers to the command */
	BUDGET_KINDS
};

struct budget {
	struct conn	*first;
	unsigned	 n;
	bool		 is_full;	/* its listeners rest */
	struct watch	*wait;		/* until a connection is idle enough */
};

void		 budget_add(struct budget *, struct conn *);
void		 budget_remove(struct conn *);
/* When the connection last carried a byte or asked a question. */
int64_t		 budget_last_ms(const struct conn *);
/* The connection that is idle for the longest; NULL: there is none. */
struct conn	*budget_idlest(const struct budget *);
/*
 * How many there may be of one of BUDGET_KINDS budgets: `most`, and of all
 * together `total`, of which each kind has a part that no other can use.
 */
unsigned	 budget_ceiling(const struct budget *all, enum budget_kind,
		    unsigned most, unsigned total);

#endif
