/*
 * nft: the transparent gate as netlink bytes, without a library.
 *
 *	table ip fence {
 *		chain gate {
 *			type filter hook prerouting priority mangle;
 *			meta l4proto tcp ip daddr != 127.0.0.0/8
 *			    ip daddr != 198.18.0.0/24 tcp dport != 53
 *			    tproxy to 127.0.0.1:PORT accept
 *		}
 *	}
 *
 * and the same in table ip6 with daddr != ::1 and [::1]:PORT.  Packets that
 * a program sends loop through lo, so they do pass prerouting.  Port 53
 * belongs to the resolver's own listener (route.h).
 */
#ifndef FENCE_LINUX_NFT_H
#define FENCE_LINUX_NFT_H

#include <stddef.h>
#include <stdint.h>

struct nft_plan {
	uint16_t	port4;	/* of the transparent listener on 127.0.0.1 */
	uint16_t	port6;	/* ... on ::1; 0 leaves table ip6 out */
};

enum { NFT_BATCH_MAX = 4096 };	/* bytes that any batch fits in */

enum nft_step {
	NFT_SOCKET, NFT_BATCH,
	NFT_TABLE4, NFT_CHAIN4, NFT_RULE4,
	NFT_TABLE6, NFT_CHAIN6, NFT_RULE6,
};

/* The batch; its length, or 0 if it does not fit. */
size_t	 nft_build(struct nft_plan, unsigned char *out, size_t max);
/*
 * Installs it for these two listeners (listen6_fd may be -1) in the caller's
 * network namespace; needs CAP_NET_ADMIN there.  All of it or nothing.  No
 * malloc, no stdio, under 16 KiB of stack.  -1 with errno and the step.
 */
int	 nft_apply(int listen4_fd, int listen6_fd, int *ret_step);
const char *nft_step_text(int step);

#endif
