/*
 * serve: the servers of this folder, each of which speaks one protocol with
 * the clients of one listener.  Not for other folders.
 */
#ifndef FENCE_PROXY_SERVE_H
#define FENCE_PROXY_SERVE_H

#include <stddef.h>
#include <stdint.h>

#include "platform/loop.h"
#include "proxy/conn.h"
#include "proxy/questions.h"

/*
 * The servers.  Each takes a connection that is accepted (a zeroed struct of
 * serve_*_size bytes with the conn in front); -1 makes the caller free it.
 */
extern const size_t serve_http_size, serve_socks5_size, serve_dns_tcp_size;
int		 serve_http(struct conn *);
int		 serve_socks5(struct conn *);
/* http://fence.internal/ itself; a conn of serve_http's. */
int		 serve_self(struct conn *, const void *early, size_t len);
int		 serve_transparent(struct conn *);
int		 serve_port(struct conn *);
int		 serve_dns_tcp(struct conn *);

struct dns;			/* the UDP side, and all pending queries */
struct dns	*dns_new(struct questions *, struct loop *);
int		 dns_listen_udp(struct dns *, int fd);	/* fd: the caller's */
void		 dns_free(struct dns *);	/* after all connections */

#endif
