/*
 * upstream: the client side of CONNECT and of SOCKS5, towards another proxy.
 * Bytes in, bytes to send out, and at the end whether the way is open; no
 * sockets.  Fed whole or byte by byte, the answer is the same, and nothing
 * behind the proxy's last word is eaten: it may be the server's first.
 */
#ifndef FENCE_PROXY_UPSTREAM_H
#define FENCE_PROXY_UPSTREAM_H

#include <stddef.h>
#include <stdint.h>

enum upstream_kind { UPSTREAM_HTTP, UPSTREAM_SOCKS5 };
enum upstream_status { UPSTREAM_MORE, UPSTREAM_DONE, UPSTREAM_FAILED };

enum upstream_why {
	UPSTREAM_OPEN,		/* no failure */
	UPSTREAM_REFUSED,	/* code: HTTP status, or reply of SOCKS */
	UPSTREAM_LOGIN,		/* it wants another user and password, or any */
	UPSTREAM_BAD,		/* what answers is no such proxy */
};

enum {
	UPSTREAM_LOGIN_MAX = 255,	/* bytes of user, and of password */
	UPSTREAM_HEAD_MAX = 16 * 1024,	/* of an answer to CONNECT */
	UPSTREAM_OUT_MAX = 2048,
};

struct upstream {
	/* To be sent before more is read; the caller sets out_len to 0. */
	uint8_t			out[UPSTREAM_OUT_MAX];
	size_t			out_len;
	enum upstream_why	why;
	int			code;

	/* Its own. */
	enum { UPSTREAM_HEAD, UPSTREAM_METHOD, UPSTREAM_LOGGED,
	    UPSTREAM_REPLY }	state;
	size_t			total;		/* bytes eaten */
	uint8_t			word[32];	/* the present line or message */
	size_t			word_len;
	uint8_t			login[3 + 2 * UPSTREAM_LOGIN_MAX];
	size_t			login_len;	/* 0: none */
	uint8_t			request[6 + 256];
	size_t			request_len;
};

/* Who is to be reached, and as whom.  user NULL: without a login. */
struct upstream_target {
	const char	*host;		/* a name, 1.2.3.4, or 2001:db8::1 */
	uint16_t	 port;
	const char	*user, *password;
};

/* out holds the first words.  -1: host, user or password is too long. */
int			 upstream_init(struct upstream *, enum upstream_kind,
			    const struct upstream_target *);
/* used: how much was eaten: all of it, unless it is over, or out has to be
 * sent first. */
enum upstream_status	 upstream_feed(struct upstream *, const void *,
			    size_t, size_t *used);

#endif
