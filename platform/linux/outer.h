/*
 * outer: the namespaces around the jail.  User and network namespace were made
 * ahead (ahead.h).  A first child enters them and makes a second, our child
 * like itself, with mount and pid namespaces of its own.  Both share our memory
 * and descriptor table; the second builds gate, private /run, /etc overlay and
 * tree, and executes bwrap or, with the native engine, fence-init.
 * bwrap then makes the inner namespaces; natively IPC, UTS and cgroup come
 * with the clone, and fence-init leaves the user namespace for one below it.
 * Either way nothing inside the jail can administer any of it.
 */
#ifndef FENCE_LINUX_OUTER_H
#define FENCE_LINUX_OUTER_H

#include <sys/types.h>

#include "platform/jail.h"

enum outer_step {
	OUTER_OK, OUTER_CLONE, OUTER_PARENT, OUTER_GROUP, OUTER_MAPS,
	OUTER_ROUTE,
	OUTER_LISTEN, OUTER_NFT, OUTER_PRIVATE, OUTER_HOLD, OUTER_RUN,
	OUTER_RUN_FILES, OUTER_SOCKET, OUTER_ETC, OUTER_ROOT, OUTER_ENTER,
	OUTER_PROC,
	OUTER_STDIO, OUTER_EXEC,
};

struct outer {
	/* The plan; everything is ready before the clone. */
	const struct jail_spec	*spec;
	struct ahead		*ahead;		/* or NULL: not begun yet */
	const char		*program;	/* bwrap, or fence-init */
	char *const		*argv;		/* its own */
	const int		*pass_fds;	/* it inherits these, */
	size_t			 npass_fds;	/* close-on-exec or not */
	const char		*preload;	/* text of ld.so.preload, or NULL */
	/* Bytes of the objects; NULL: none. */
	const void		*shim, *shim32, *probe;
	size_t			 shim_len, shim32_len, probe_len;
	bool			 has_lib_dirs;	/* preload says $LIB */

	/* The result. */
	pid_t			 pid;
	int			 listen_fd[JAIL_NLISTENERS];
	int			*local_fd;	/* the caller's storage */
	int			 report_fd;	/* -1 without shim */
	int			 stdin_fd;	/* see struct jail */
	int			*kept_fd;	/* the same; to be freed */
	enum outer_step		 failed_at;
	int			 sys;
	int			 detail;	/* step inside route/nft/listen;
						 * number of the mount */
};

/* 0, or -1 with failed_at and sys set and everything undone. */
int	 outer_start(struct outer *);
/* Turns a failure into words, with the cure where one is known. */
int	 outer_explain(const struct outer *, struct err *);

#endif
