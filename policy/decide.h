/*
 * decide: pure questions, pure answers.  A verdict names the rule that
 * spoke, where it is written, and the line that would change the answer.
 * The enforcers and the explainers ask the same functions.
 */
#ifndef FENCE_POLICY_DECIDE_H
#define FENCE_POLICY_DECIDE_H

#include <stdint.h>

#include "policy/host.h"
#include "policy/origin.h"
#include "policy/policy.h"

enum action { ACTION_ALLOW, ACTION_DENY };

struct verdict {
	enum action	 action;
	/* "network.deniedDomains[1]"; without index: no entry matched. */
	char		 rule[96];
	/* The entry's text, or NULL where no entry matched. */
	const char	*rule_text;
	/* Of the entry; of the list where no entry matched. */
	struct origin	 at;
	/* A few words: "not in allowedDomains", "denied by name" ... */
	char		 reason[96];
	/*
	 * remedy_key += "remedy_value"; key "" where no line helps.  A value
	 * in parentheses is an instruction about the key instead of an entry:
	 * (remove "~/.ssh").
	 */
	char		 remedy_key[64];
	char		 remedy_value[4096];
	char		 remedy_flag[8];	/* "-w", "-a", or "" */
};

/* May the command talk to this host on this port?  Asked before resolving. */
void	 decide_net(const struct policy *, const struct host *,
	    uint16_t port, struct verdict *);
/*
 * And is the address it resolved to one we may dial?  `host` as above;
 * is_own: the address belongs to this machine.  A literal that the policy
 * names (decide_net allowed a HOST_IPV4/6) passes.
 */
void	 decide_net_addr(const struct policy *, const struct host *,
	    const uint8_t *addr, size_t addr_len, int is_own,
	    struct verdict *);

enum fs_op { FS_READ, FS_WRITE, FS_EXEC };

/*
 * path: absolute and clean (no "." or ".." or double slash).  Longest match
 * decides; at equal length the denial speaks.  Writable places every jail
 * has of its own (/tmp, /dev/shm, /dev/null ...) are allowed by the rule
 * "built-in", unless an entry matches as long; a workspace below /tmp is not
 * part of them.  A write is denied where denyRead would deny the read.
 */
void	 decide_fs(const struct policy *, enum fs_op, const char *path,
	    struct verdict *);

#endif
