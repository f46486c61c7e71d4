/*
 * confine: give up rights for good.  Every call either holds afterwards or
 * returns an error; none of them can be undone.
 */
#ifndef FENCE_PLATFORM_CONFINE_H
#define FENCE_PLATFORM_CONFINE_H

#include "platform/base/err.h"

/*
 * fence-net: an empty Landlock domain where there is one, and a seccomp
 * allow list: it may use the descriptors it has and receive more, and
 * nothing else: no open, no exec, no socket, no connect, no kill, no fork.
 */
int	 confine_net(struct err *);
/*
 * fence-names: no write, no exec, no listening; it may read files, make
 * sockets and connect them, fork its resolvers.
 */
int	 confine_names(struct err *);
/*
 * The monitor, once everything is started: no exec, no open for writing, no
 * ptrace, no mount, no setns, no new namespaces.  Never Landlock: it would
 * lose sight of the jail's processes (LINUX-FACTS-2 8).
 */
int	 confine_monitor(struct err *);

/* Common to all: no_new_privs, not dumpable, dies with its parent. */
int	 confine_child(int death_signal, struct err *);

#endif
