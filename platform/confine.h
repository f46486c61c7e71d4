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
 * nothing else: no open, no exec, no socket, no connect (nor what comes to
 * the same: MSG_FASTOPEN, most socket options), no kill, no fork.
 */
int	 confine_net(struct err *);
/*
 * fence-names: no write, no exec, no listening, no unix sockets, no kill; it
 * may read files, fork its resolvers, send UDP anywhere (the name servers are
 * anywhere) and connect to TCP port 53, where Landlock knows ports, else to
 * any.
 */
int	 confine_names(struct err *);
/*
 * The monitor, once everything is started: no capability, no exec, no open
 * for writing, no ptrace, no mount, no setns, no new namespaces.  It sees and
 * signals the jail's processes as the owner of their user namespace.  Never
 * Landlock: it would lose sight of them (LINUX-FACTS-2 8).
 */
int	 confine_monitor(struct err *);

/*
 * The guard (launcher/guard.h): files may be opened, moved, copied and
 * removed, and its children enter the jail's namespaces and mount there; no
 * capability, no exec, no socket, no kill, no ptrace.  Never Landlock, either:
 * a process in any domain may not mount.  It lives as long as it likes.
 */
int	 confine_guard(struct err *);

/*
 * The keeper of a group (limits.h): it may read, wait and
 * remove empty folders.  Root's keeps its capabilities: the folders of
 * cgroups are nobody's to write without them.
 */
int	 confine_keeper(struct err *);

/*
 * The minter (platform/mint.h): an empty Landlock domain, and a seccomp
 * allow list: it may make TCP sockets and pass them on, and nothing else.
 */
int	 confine_mint(struct err *);

/*
 * Common to the workers: no_new_privs, no capability, not dumpable, dies with
 * its parent.
 */
int	 confine_child(int death_signal, struct err *);

#endif
