/*
 * confine: give up rights of this process for good.  Each program and each
 * helper process of fence calls its own function before it meets hostile
 * bytes.  Every call either holds afterwards or returns an error; none can be
 * undone.  There is nothing to own.
 *
 * The text above each function says what the process may still do, or what it
 * no longer can.
 */
#ifndef FENCE_PLATFORM_CONFINE_H
#define FENCE_PLATFORM_CONFINE_H

#include "platform/base/err.h"

/*
 * fence-net: it may use the descriptors it has and receive more, and nothing
 * else: no open, no exec, no socket, no connect (nor what comes to the same,
 * such as a connection by sending, or most socket options), no kill, no fork.
 * Where the system can refuse files a second time (jail_walls), it does.
 */
int	 confine_net(struct err *);
/*
 * fence-names: no write, no exec, no listening, no unix sockets, no kill; it
 * may read files, fork its resolvers, send UDP anywhere (the name servers are
 * anywhere) and connect to TCP port 53, or to any port where the system
 * cannot tell ports apart.
 */
int	 confine_names(struct err *);
/*
 * The monitor (launcher/run/run.c), once everything is started: no administrator's
 * right, no exec, no open for writing, no tracing of processes, no mount, no
 * entering or making of namespaces.  It goes on seeing and signalling the
 * jail's processes as their owner, so files are not refused to it a second
 * time: the system would hide the jail's processes from it, too.
 */
int	 confine_monitor(struct err *);

/*
 * The guard (launcher/guard/guard.h): files may be opened, moved, copied and
 * removed, and its children enter the jail and mount there (remask.h); no
 * administrator's right, no exec, no socket, no kill, no tracing.  Files are
 * not refused to it a second time, since a process so confined may not mount.
 * It lives as long as it likes.
 */
int	 confine_guard(struct err *);

/*
 * The tracer (tracer.h): it may attach to the user's processes, read their
 * memory and about them in /proc, kill them, receive and answer held calls; no
 * memory of theirs is written.  No exec, no socket, no file but for reading
 * and what is open already.  In no domain of Landlock, which would keep it from tracing.
 */
int	 confine_tracer(struct err *);

/*
 * The looker (looker.h): it may receive and answer held calls, read memory of
 * the user's processes and about them in /proc, and find its way with
 * descriptors that read nothing.  No exec, no socket, no fork, no kill, no
 * other open.  In no domain of Landlock, as the tracer.
 */
int	 confine_looker(struct err *);

/*
 * The keeper of a group (limits.h): it may read, wait and remove empty
 * folders.  Root's keeps its administrator's rights: without them nobody may
 * change the folders of groups.
 */
int	 confine_keeper(struct err *);

/*
 * What removes a run's empty directories and files (launcher/run/granted_dirs.h):
 * it may wait, read and empty the journal that it holds, read files, and remove
 * names.  Root's keeps its
 * administrator's rights, with which they were made.
 */
int	 confine_sweeper(struct err *);

/*
 * The minter (mint.h): it may make TCP sockets and pass them on, and nothing
 * else.
 */
int	 confine_mint(struct err *);

/*
 * Common to the workers: no administrator's right, and none to gain by exec;
 * no process of the same user may look into their memory; death_signal comes
 * when the parent ends.
 */
int	 confine_child(int death_signal, struct err *);

#endif
