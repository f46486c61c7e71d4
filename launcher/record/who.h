/*
 * who: a pid or a connection -> the process and its ancestors, as the kernel
 * tells them in /proc.  What is read there was written by the jail (names,
 * arguments), so every file is read to a bound and every walk has an end.
 */
#ifndef FENCE_LAUNCHER_WHO_H
#define FENCE_LAUNCHER_WHO_H

#include <stdbool.h>
#include <sys/types.h>

#include "launcher/record/event.h"
#include "proxy/ask.h"

/*
 * Fills process[] of the event: pid first, then its ancestors up to, and not
 * including, stop_pid (the jail's pid 1, or the launcher).  Returns how many;
 * 0 for a process that is gone, which is no error.
 */
int	 who_pid(pid_t pid, pid_t stop_pid, struct event *);

/* Is this the program that it runs?  "" is none. */
bool	 who_runs(pid_t pid, const char *exe);

/*
 * Has the process more seccomp filters than the oldest of its ancestors that
 * who_pid() found?  Then a sandbox inside refuses calls of its own accord.
 */
bool	 who_is_filtered(const struct event *);

/*
 * Does it have the preloaded library, so that it tells of its own reads?  True
 * for a process that is gone.
 */
bool	 who_has_shim(pid_t pid);

/* The process that a thread is of; itself if that cannot be told. */
pid_t	 who_thread(pid_t tid);

/*
 * The process that owns the socket with this local address and port in the
 * network namespace of jail_pid; 0 if there is none, or if looking further
 * would cost too much.  A UDP socket may be bound to the wildcard address.
 */
pid_t	 who_socket(pid_t jail_pid, int is_udp, const struct ask_source *);

#endif
