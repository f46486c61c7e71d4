/*
 * socks5: the server's half of RFC 1928, up to and with the request.  Pure:
 * bytes in, facts and answers out, no sockets.  CONNECT is the one command
 * offered.  No method is preferred; the password of RFC 1929 is taken, and
 * forgotten as it is read, because some clients insist on giving one.
 * SOCKS4 and HTTP are recognised, so that who speaks them is told so in kind.
 */
#ifndef FENCE_PROXY_SOCKS5_H
#define FENCE_PROXY_SOCKS5_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum socks5_status { SOCKS5_MORE, SOCKS5_DONE, SOCKS5_BAD };

/* The values are those on the wire. */
enum socks5_outcome {
	SOCKS5_GRANTED, SOCKS5_FAILURE, SOCKS5_NOT_ALLOWED,
	SOCKS5_NET_UNREACHABLE, SOCKS5_HOST_UNREACHABLE, SOCKS5_REFUSED,
	SOCKS5_TTL, SOCKS5_COMMAND, SOCKS5_ADDRESS_TYPE,
};

enum { SOCKS5_CONNECT = 1, SOCKS5_BIND, SOCKS5_UDP_ASSOCIATE };

enum {
	SOCKS5_MAX_BYTES = 257 + 513 + 262,	/* no request takes more */
	SOCKS5_MAX_ANSWER = 256,
	SOCKS5_REPLY_BYTES = 10,
};

struct socks5 {
	/*
	 * After every feed, whatever it returned: what the client gets next.
	 * After BAD these are the last words.
	 */
	size_t		 answer_len;
	uint8_t		 answer[SOCKS5_MAX_ANSWER];

	/* After DONE, and after BAD if the request was read to its end. */
	uint8_t		 command;	/* 0: it was not */
	bool		 is_name;	/* sent as a name, not an address */
	char		 host[256];	/* name as sent, or address as text */
	uint16_t	 port;

	/* After BAD. */
	const char	*why;

	/* The parser's own. */
	unsigned	 state;
	unsigned	 n, left;	/* of the field that is being read */
	unsigned	 verbs;		/* bits: HTTP methods it may still be */
	uint8_t		 asked;		/* the command, until all is read */
	bool		 has_none, has_password;
};

void	 socks5_init(struct socks5 *);
/*
 * Eats up to len bytes; *used are those eaten, all of them unless it answers
 * DONE or BAD.  What follows a request is the tunnel's.  A name has 1 to 255
 * bytes, none of them a control byte; it is not checked otherwise.  DONE and
 * BAD are final.  Facts and answers, put end to end, are the same whether the
 * bytes come one at a time or all at once.
 */
enum socks5_status socks5_feed(struct socks5 *, const void *, size_t len,
	    size_t *used);
/* The reply to a request; its BND.ADDR is 0.0.0.0:0, for nobody binds. */
void	 socks5_reply(enum socks5_outcome, uint8_t out[SOCKS5_REPLY_BYTES]);

#endif
