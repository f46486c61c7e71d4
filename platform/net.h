/*
 * net: addresses as plain data, and the few socket settings everybody needs.
 * A v4-mapped v6 address is the v4 address inside it, on the way in and out.
 */
#ifndef FENCE_PLATFORM_NET_H
#define FENCE_PLATFORM_NET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

struct net_addr {
	uint16_t	family;		/* AF_INET, AF_INET6, 0 for neither */
	uint16_t	port;		/* host order */
	uint8_t		addr[16];	/* network order; v4: the first four */
};

enum { NET_TEXT_MAX = 64 };

/* -1 and family 0 for anything but AF_INET and AF_INET6. */
int	 net_from_sockaddr(const struct sockaddr *, socklen_t,
	    struct net_addr *ret);
/* The length, or 0 for family 0. */
socklen_t net_to_sockaddr(const struct net_addr *, struct sockaddr_storage *);
int	 net_local(int fd, struct net_addr *ret);	/* getsockname() */
/* accept4(), close-on-exec and non-blocking; ret is who came. */
int	 net_accept(int fd, struct net_addr *ret);

bool	 net_is_loopback(const struct net_addr *);	/* 127/8, ::1 */
/* The address alone: "198.18.0.7", "2001:db8::1". */
void	 net_text(const struct net_addr *, char text[NET_TEXT_MAX]);

/* Closes with a reset: the other end sees ECONNRESET, not end of file. */
void	 net_reset(int *fd);

#endif
