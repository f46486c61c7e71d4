/*
 * sha256: FIPS 180-4.  For the digests of trusted policy files; nothing
 * here is secret, so nothing is wiped.
 */
#ifndef FENCE_BASE_SHA256_H
#define FENCE_BASE_SHA256_H

#include <stddef.h>
#include <stdint.h>

enum { SHA256_BYTES = 32, SHA256_HEX = 65 };	/* the latter with its NUL */

struct sha256 {
	uint32_t	state[8];
	uint64_t	len;		/* bytes so far */
	uint8_t		block[64];
};

void	 sha256_init(struct sha256 *);
void	 sha256_add(struct sha256 *, const void *, size_t);
/* In lower-case hexadecimal. */
void	 sha256_end_hex(struct sha256 *, char ret[SHA256_HEX]);

#endif
