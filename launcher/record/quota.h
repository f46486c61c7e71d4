/*
 * quota: who may say how much.  The witness asks before it judges a report and
 * before it writes a record, with the pid that the kernel gives for the sender.
 *
 * There is one store for all senders, and each sender has one of its own that
 * begins full; both fill again with time.  What is said is taken from both, so
 * that one process which floods uses up its own store, and not that of all.
 * Where many processes have emptied the common store, each may still say a few
 * things a second.  Memory is fixed: of more senders than there is room for,
 * the one that has been silent for the longest is forgotten.
 */
#ifndef FENCE_LAUNCHER_QUOTA_H
#define FENCE_LAUNCHER_QUOTA_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

enum { QUOTA_SETS = 32, QUOTA_WAYS = 8 };

struct quota_rule {
	unsigned	each, each_per_second;	/* store, and how it fills */
	unsigned	all, all_per_second;
	unsigned	least_per_second;	/* whatever the others say */
};

struct quota_store {
	int64_t		ms;		/* when it was filled last */
	int64_t		thousandths;
};

struct quota {
	struct quota_rule	 rule;
	struct quota_store	 all;
	struct quota_sender {
		pid_t			pid;	/* 0: free */
		struct quota_store	store;
		int64_t			second;	/* the last one it spoke in */
		unsigned		used;	/* in it */
	}	 sender[QUOTA_SETS][QUOTA_WAYS];
};

/* Of memory that is zeroed, and is not touched but for what is used of it. */
void	 quota_init(struct quota *, const struct quota_rule *);
/* May this sender say one more thing?  If so, it is taken from its quota. */
bool	 quota_take(struct quota *, pid_t, int64_t now_ms);

#endif
