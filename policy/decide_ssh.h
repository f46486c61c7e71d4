/* decide_ssh: the rules of ssh.*, of one layer.  decide_exec asks them. */
#ifndef FENCE_POLICY_DECIDE_SSH_H
#define FENCE_POLICY_DECIDE_SSH_H

#include <stdbool.h>

#include "policy/cmdrule.h"
#include "policy/decide.h"
#include "policy/sshline.h"

/* Has the layer any rule about ssh? */
bool	 decide_ssh_is_active(const struct policy *);
/* All hosts of a command.  Denied, or left alone: then it is not written. */
bool	 decide_ssh_hosts_deny(const struct policy *, const struct sshline *,
	    struct verdict *);
/*
 * One simple command that runs over there; ask->name NULL: nobody knows which.
 * *ret_is_unsure: a denial might match.
 */
bool	 decide_ssh_command_denies(const struct policy *,
	    const struct cmd_ask *, struct verdict *, bool *ret_is_unsure);

#endif
