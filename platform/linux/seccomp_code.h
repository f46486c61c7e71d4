/*
 * seccomp_code: a filter's instructions, written from its end to its start,
 * so that every jump goes to what is already there.  The same instruction
 * with the same continuation is written once.  Pure.
 *
 * A place is what these calls return: where a program goes on.  What runs
 * from there depends on the accumulator and the call alone, so places may be
 * shared freely.
 */
#ifndef FENCE_LINUX_SECCOMP_CODE_H
#define FENCE_LINUX_SECCOMP_CODE_H

#include <linux/filter.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/base/buf.h"

enum { CODE_MAX = 2048 };

struct code {
	struct sock_filter	ins[CODE_MAX];	/* backwards */
	size_t			to[CODE_MAX][2];/* places they go on at */
	size_t			n;
	bool			failed;		/* it grew past CODE_MAX */
};

/* The verdict value; there may be several such places. */
size_t	 code_return(struct code *, uint32_t verdict);
/* Loads 32 bits of struct seccomp_data, or masks what was loaded. */
size_t	 code_load(struct code *, size_t offset, size_t next);
size_t	 code_and(struct code *, uint32_t mask, size_t next);
/* op is BPF_JEQ or BPF_JGE. */
size_t	 code_if(struct code *, unsigned op, uint32_t k, size_t yes,
	     size_t no);
/* Appends the program that starts at a place; -1 if it grew too long. */
int	 code_export(struct code *, size_t start, struct buf *);

#endif
