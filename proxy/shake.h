/*
 * shake: brings a proxy at the other end of a connection to open a way to one
 * host, and eats nothing of what comes by that way.  Reads what the network
 * sends, so it runs in fence-names.
 */
#ifndef FENCE_PROXY_SHAKE_H
#define FENCE_PROXY_SHAKE_H

#include "platform/loop.h"
#include "proxy/ask.h"

enum {
	SHAKE_MS = 10000,	/* then the proxy does not answer */
	SHAKES_MAX = 1024,	/* at a time */
};

/* All that are under way.  loop, fn and arg are the owner's. */
struct shakes {
	struct loop	*loop;
	/* Called once for each, never from inside shake_start(). */
	void		(*fn)(const struct ask_answer *, void *arg);
	void		*arg;
	struct shake	*first;
	unsigned	 n;
};

/* Takes *fd on success.  -1: there are too many, or no memory. */
int	 shake_start(struct shakes *, int *fd, const struct ask_shake *);
/* In a forked child: the connections are the parent's alone. */
void	 shakes_close(struct shakes *);

#endif
