/*
 * mint: the sockets of the gate, made inside the jail's network namespace
 * for a process outside it.  A socket keeps the namespace it was made in.
 *
 * The resolver's sockets are transparent as well: an answer has to leave
 * with the address that was asked (8.8.8.8) as its source.  Whoever reads
 * the UDP one gets that address as IPV6_PKTINFO (v4-mapped for IPv4, which
 * comes with an IP_PKTINFO besides) and gives the very same IPV6_PKTINFO to
 * sendmsg().  Without IPv6 the socket is AF_INET and has IP_PKTINFO alone,
 * whose ipi_addr goes into ipi_spec_dst of the answer's.
 */
#ifndef FENCE_LINUX_MINT_H
#define FENCE_LINUX_MINT_H

#include <stdbool.h>

#include "platform/jail.h"

/* Of the transparent ends, or the next that is free. */
enum { MINT_GATE_PORT = 2 };

/*
 * Fills all of listen_fd; in a kernel without IPv6 JAIL_LISTEN_TRANSPARENT6
 * is -1.  (Where it is merely switched off the socket is made, and idle.)
 * Fills local_fd, two for each of the spec's local ports: 127.0.0.1, and ::1
 * or -1.  Needs lo up and CAP_NET_ADMIN, CAP_NET_BIND_SERVICE in the
 * namespace.  No malloc, no stdio.  -1 with errno and the enum jail_listener
 * that failed (JAIL_NLISTENERS: a local port); all that was made is closed.
 */
int	 mint_listeners(const struct jail_spec *, bool has_gate,
	    int listen_fd[JAIL_NLISTENERS], int *local_fd, int *ret_step);
/*
 * Those that are the same for every policy, by which nft_apply() goes; the
 * others are -1.  mint_listeners() with has_gate makes the rest.  No local
 * port may be one of theirs.
 */
int	 mint_gate(int listen_fd[JAIL_NLISTENERS], int *ret_step);
/* The port a listener got; 0 for -1, which is what nft_plan wants. */
unsigned mint_port(int fd);
const char *mint_step_text(int step);

#endif
