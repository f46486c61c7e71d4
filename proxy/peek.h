/*
 * peek: which of the first bytes of a tunnel's client may pass.  Pure: bytes
 * in, facts out, no sockets, no memory of its own.
 *
 * A stream that begins with a TLS hello waits until its name is judged.  A
 * server may ask for a second hello (HelloRetryRequest), and servers differ
 * in which of the two names they believe, so both are judged; until the
 * server has said whether it asks, nothing behind the first hello passes.
 * (Only early data is ever sent so soon, and it can wait.)  Streams of any
 * other kind pass from the first byte that tells.
 */
#ifndef FENCE_PROXY_PEEK_H
#define FENCE_PROXY_PEEK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "proxy/tlshello.h"

enum peek_step {
	PEEK_HOLD,	/* nothing may pass before more is known */
	PEEK_PASS,	/* so many bytes may; ask again for the rest */
	PEEK_JUDGE,	/* hello.sni is to be judged: peek_allow(), or end */
	PEEK_BAD,	/* not to be understood: hello.why */
	PEEK_OVER,	/* everything may pass, from now on */
};

enum { PEEK_SERVER_BYTES = 38 };	/* type, length, version, random */

struct peek {
	struct tlshello	 hello;

	/* The parser's own. */
	unsigned	 state;
	bool		 is_second;	/* hello */
	bool		 is_heard;	/* the server has said what follows */
	bool		 is_retry;	/* ... that it wants a second hello */
	uint8_t		 header[5];
	size_t		 nheader, record_left, nserver;
	uint8_t		 server[PEEK_SERVER_BYTES];
};

void	 peek_init(struct peek *);
/*
 * held: what the client has sent and was not let pass, from its first byte;
 * TLSHELLO_MAX_BYTES of it are always enough to tell.  BAD and OVER are final.
 */
enum peek_step peek_client(struct peek *, const void *held, size_t len,
	    size_t *ret_pass);
void	 peek_allow(struct peek *);	/* after JUDGE */
/* What the server says, as it comes. */
void	 peek_server(struct peek *, const void *, size_t len);

#endif
