/*
 * relay: carry bytes both ways between two sockets until both sides are done.
 * Knows nothing of what the bytes mean.  Memory is the loop's shared buffer;
 * a relay owns some only while a reader is slow, at most one such buffer each
 * way, and stops reading the fast side meanwhile.  End of file of one side is
 * passed on as end of file; an error of one side is passed on as a reset.
 */
#ifndef FENCE_PROXY_RELAY_H
#define FENCE_PROXY_RELAY_H

#include <stddef.h>
#include <stdint.h>

#include "platform/loop.h"

struct relay;

/* Once, when both sides are done; the relay is freed inside it or later. */
typedef void	 relay_done_fn(struct relay *, void *arg);

struct relay_spec {
	int		 client_fd;
	int		 server_fd;
	int64_t		 idle_ms;	/* without a byte either way: reset */
	/* What goes to each side before anything that is read. */
	const void	*to_client, *to_server;
	size_t		 to_client_len, to_server_len;
	/*
	 * How many bytes of the client are still for the server, the rest
	 * being dropped; below 0: all, and its end of file too.
	 */
	int64_t		 client_budget;
	relay_done_fn	*done;
	void		*arg;
};

/* Takes both fds on success; on failure (NULL) they are the caller's. */
struct relay	*relay_start(struct loop *, const struct relay_spec *);
void		 relay_free(struct relay *);	/* NULL is fine; closes fds */

#endif
