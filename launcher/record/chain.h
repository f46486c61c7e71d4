/*
 * chain: each JSON record names the SHA-256 of the line before it
 * (unmapped.fence.prev), so that a record that is changed, taken out or put in
 * later is found.  Writers of records move the chain on; `fence trace
 * --verify` follows it.  Who writes all of the file anew can forge it: the
 * hash of the last line, kept elsewhere, speaks for all lines before.
 */
#ifndef FENCE_LAUNCHER_CHAIN_H
#define FENCE_LAUNCHER_CHAIN_H

#include <stddef.h>

#include "platform/base/sha256.h"

struct chain {
	char	prev[SHA256_HEX];	/* 64 zeros before the first line */
};

void	 chain_init(struct chain *);
/* The line as it was written, without its newline. */
void	 chain_add(struct chain *, const char *line, size_t len);

#endif
