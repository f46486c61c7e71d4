/*
 * outer: the namespaces around bwrap.  One clone makes user, mount, network
 * and pid namespaces; the child, which shares our memory and descriptor
 * table until it executes bwrap, builds the network, the private /run and
 * the /etc overlay there.  Nothing inside the jail can administer any of it.
 */
#ifndef FENCE_LINUX_OUTER_H
#define FENCE_LINUX_OUTER_H

#include <sys/types.h>

#include "platform/jail.h"

enum outer_step {
	OUTER_OK, OUTER_CLONE, OUTER_PARENT, OUTER_MAPS, OUTER_ROUTE,
	OUTER_LISTEN, OUTER_NFT, OUTER_PRIVATE, OUTER_HOLD, OUTER_RUN,
	OUTER_RUN_FILES, OUTER_SOCKET, OUTER_ETC, OUTER_ROOT, OUTER_EXEC,
};

struct outer {
	/* The plan; everything is ready before the clone. */
	const struct jail_spec	*spec;
	char *const		*argv;		/* of bwrap */
	const int		*pass_fds;	/* bwrap inherits these, */
	size_t			 npass_fds;	/* close-on-exec or not */
	const char		*preload;	/* text of ld.so.preload, or NULL */
	const void		*shim, *shim32;	/* bytes of the objects */
	size_t			 shim_len, shim32_len;

	/* The result. */
	pid_t			 pid;
	int			 listen_fd[JAIL_NLISTENERS];
	int			 report_fd;	/* -1 without shim */
	int			 stdin_fd;	/* see struct jail */
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
