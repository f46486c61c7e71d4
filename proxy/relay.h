/*
 * relay: carry bytes both ways between two sockets until both sides are done.
 * Knows nothing of what the bytes mean.  Memory is the loop's shared buffer;
 * a relay owns some only while a reader is slow, at most one such buffer each
 * way, and stops reading the fast side meanwhile.  End of file of one side is
 * passed on as end of file; an error of one side is passed on as a reset.
 */
#ifndef FENCE_PROXY_RELAY_H
#define FENCE_PROXY_RELAY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "platform/loop.h"

struct relay;

/* Once, when both sides are done; the relay is freed inside it or later. */
typedef void	 relay_done_fn(struct relay *, void *arg);

/*
 * A relay may be looked into while it begins.  What the client says is held
 * until `look` lets it pass: it gets all that is held, and answers how many
 * bytes of it may go on, -1 to reset both sides; *is_over once everything may
 * pass and nobody needs to look or hear any more.  It is called when the
 * client has said more, after `hear`, which gets the server's bytes as they
 * pass, and by relay_look().  Neither may free the relay.  A full hold makes
 * the client wait; one that stays for long ends the relay.
 */
typedef ssize_t	 relay_look_fn(void *arg, const char *held, size_t len,
		    bool *is_over);
typedef void	 relay_hear_fn(void *arg, const char *, size_t len);

enum { RELAY_HELD_MAX = 64 * 1024, RELAY_HELD_MS = 60 * 1000 };

struct relay_spec {
	int		 client_fd;
	int		 server_fd;
	struct watch	*client_watch;	/* of client_fd, or NULL; taken */
	int64_t		 idle_ms;	/* without a byte either way: reset */
	/* What goes to each side before anything that is read. */
	const void	*to_client, *to_server;
	size_t		 to_client_len, to_server_len;
	relay_look_fn	*look;		/* NULL: nobody looks into it */
	relay_hear_fn	*hear;		/* or NULL */
	relay_done_fn	*done;
	void		*arg;		/* of all these functions */
};

/*
 * Takes both fds on success; on failure (NULL) they are the caller's.  Neither
 * is to wait for more bytes before it sends few (TCP_NODELAY): who listened,
 * or dialled, has seen to that.
 */
struct relay	*relay_start(struct loop *, const struct relay_spec *);
void		 relay_free(struct relay *);	/* NULL is fine; closes fds */
/* When a byte passed for the last time. */
int64_t		 relay_last_ms(const struct relay *);
/* Resets both sides, and it is done. */
void		 relay_abort(struct relay *);
/* More is known than before: looks again.  It may be done afterwards. */
void		 relay_look(struct relay *);
/* Last words for the client, and it is done. */
void		 relay_finish(struct relay *, const void *, size_t len);

#endif
