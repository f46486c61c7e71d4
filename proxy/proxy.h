/*
 * proxy: the folder's face.  Serves the listeners of one jail: HTTP CONNECT
 * and absolute-form requests, SOCKS5, transparent connections, DNS.  It knows no
 * policy; for every name and connection it asks through ask_fd.
 */
#ifndef FENCE_PROXY_PROXY_H
#define FENCE_PROXY_PROXY_H

#include <stddef.h>
#include <stdint.h>

#include "platform/loop.h"

struct proxy;

/* The descriptors of ASK_LISTEN, in this order. */
enum proxy_listener {
	PROXY_LISTEN_TRANSPARENT4,	/* getsockname() is the destination */
	PROXY_LISTEN_TRANSPARENT6,
	PROXY_LISTEN_HTTP,
	PROXY_LISTEN_SOCKS,
	PROXY_LISTEN_DNS_UDP,		/* PKTINFO on */
	PROXY_LISTEN_DNS_TCP,
	PROXY_NLISTENERS
};

/* A listener of ASK_PORT. */
struct proxy_port {
	int		fd;
	uint16_t	via;		/* ASK_VIA_LOCAL, ASK_VIA_INSIDE */
	uint16_t	port;
};

enum { PROXY_MAX_PORTS = 768 };

struct proxy_limits {
	unsigned	max_connections;	/* of each kind; see budget.h */
	unsigned	max_total;		/* of all kinds together */
	unsigned	max_header_bytes;
	int64_t		handshake_ms;		/* until a request is whole */
	int64_t		idle_ms;		/* a tunnel without a byte */
	int64_t		give_way_ms;		/* ... that may be ended */
};

extern const struct proxy_limits proxy_default_limits;

/*
 * Asks by ask_fd, which stays the caller's; its end of file is loop_stop(0).
 * NULL: out of memory.
 */
struct proxy	*proxy_new(struct loop *, int ask_fd,
		    const struct proxy_limits *);
/*
 * Serves these and takes them; a bit of `which` for each listener that is
 * there (without IPv6 one is not).  -1: it cannot, and is to be given up.
 */
int		 proxy_listen(struct proxy *, unsigned which, const int *fds,
		    size_t nfds);
/* The same for ports, of which there are none at first. */
int		 proxy_listen_ports(struct proxy *,
		    const struct proxy_port *, size_t n);
void		 proxy_free(struct proxy *);

#endif
