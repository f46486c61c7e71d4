/*
 * jail: first a description, then an act.  struct jail_spec is plain data
 * made by launcher/plan.c; it can be printed, compared and tested on a
 * machine that cannot run it.  configure links exactly one of jail_linux.c,
 * jail_darwin.c and jail_none.c.
 */
#ifndef FENCE_PLATFORM_JAIL_H
#define FENCE_PLATFORM_JAIL_H

#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "platform/base/buf.h"
#include "platform/base/err.h"

enum mount_kind {
	MOUNT_RO,		/* host path at its own place, read-only */
	MOUNT_RW,		/* ... writable */
	MOUNT_TMPFS,		/* private and empty, mode 1777 */
	MOUNT_MASK_DIR,		/* refused: mode 0000, read-only */
	MOUNT_MASK_FILE,	/* the same for anything but a directory */
	MOUNT_MASK_AROUND,	/* refused, but for what is mounted inside */
	MOUNT_CLOSED,		/* "/": nothing but what is mounted below */
	MOUNT_LINK,		/* no mount: a symlink to text, as the host's */
	MOUNT_PLACE,		/* no mount: an empty directory to stand in */
	MOUNT_ETC,		/* the host's /etc, ours laid over it */
	MOUNT_ETC_OWN,		/* ours alone */
	MOUNT_DEV,		/* a private minimal /dev */
	MOUNT_DEV_HOST,		/* the host's /dev */
	MOUNT_DEVICE,		/* a node or folder of the host's /dev */
	MOUNT_PROC,		/* a private /proc, read-only */
};

/* In the order of mounting: later ones cover earlier ones. */
struct jail_mount {
	enum mount_kind	 kind;
	const char	*path;	/* absolute, no symlink in it */
	const char	*why;	/* the rule behind it, for --dry-run */
	/* What lay there when it was planned; 0 for places of our own. */
	dev_t		 dev;
	ino_t		 ino;
	const char	*text;	/* MOUNT_LINK */
	uint64_t	 size;	/* MOUNT_TMPFS: bytes at most; 0: as usual */
};

/* An address range that the gate takes: connections go to the listener. */
struct jail_range {
	int		family;		/* AF_INET, AF_INET6 */
	uint8_t		addr[16];
	unsigned	bits;
};

/* A small file laid over /etc inside the jail. */
struct jail_file {
	const char	*name;	/* "resolv.conf"; may have slashes */
	const char	*text;
};

struct jail_spec {
	const struct jail_mount	*mounts;
	size_t			 nmounts;
	/*
	 * The tree is built beside the host's instead of over it: needed
	 * where a mount hides what the building itself stands on.
	 */
	bool			 is_apart;
	const struct jail_file	*etc;
	size_t			 netc;
	const struct jail_range	*ranges;	/* besides 198.18.0.0/15 */
	size_t			 nranges;
	const char		*shim;		/* host path, or NULL for none */
	/* For the shim: shim/wire.h, WIRE_TABLE; NULL for none. */
	const char		*names;
	size_t			 names_len;
	const char		*shim32;	/* 32-bit stand-in, or NULL */
	const char		*init;		/* host path of fence-init */
	const char		*bwrap;		/* host path of bwrap */

	uid_t			 uid;		/* inside as outside */
	gid_t			 gid;
	const char		*program;	/* resolved path to execute */
	char *const		*argv;
	char *const		*envp;
	const char		*cwd;
	sigset_t		 sigmask;	/* the command's */
	const int		*keep_fds;	/* descriptors above 2 it keeps */
	size_t			 nkeep_fds;
	/* Trees the second wall (Landlock) lets it write to. */
	const char *const	*write_roots;
	size_t			 nwrite_roots;
	bool			 is_strict;	/* only measured calls exist */
};

/* Ends of the gate inside the jail, all non-blocking and close-on-exec. */
enum jail_listener {
	JAIL_LISTEN_TRANSPARENT4,	/* TCP, getsockname() = destination */
	JAIL_LISTEN_TRANSPARENT6,
	JAIL_LISTEN_HTTP,		/* 127.0.0.1:3128 */
	JAIL_LISTEN_SOCKS,		/* 127.0.0.1:1080 */
	JAIL_LISTEN_DNS_UDP,		/* [::]:53, dual stack, PKTINFO on */
	JAIL_LISTEN_DNS_TCP,
	JAIL_NLISTENERS
};

struct jail {
	pid_t	pid;			/* of the jail's outermost process */
	int	control_fd;		/* to fence-init: platform/linux/initplan.h */
	int	report_fd;		/* the shim's datagrams; -1 without shim */
	int	listen_fd[JAIL_NLISTENERS];
	/* A file on stdin, as the command reads it, or -1: how far it got. */
	int	stdin_fd;
};

/* Can this machine run a jail at all?  Fills err with the reason and cure. */
int	 jail_probe(const struct jail_spec *, struct err *);
/* The plan as text, one mount and one setting a line (--dry-run). */
void	 jail_describe(const struct jail_spec *, struct buf *);
/*
 * Builds the jail up to the point where fence-init waits for jail_go().
 * On success everything in ret is the caller's; on failure nothing is left.
 * Expects all signals blocked by the caller.
 */
int	 jail_start(const struct jail_spec *, struct jail *ret, struct err *);
/* Sends the rules, filter and command to fence-init, which starts it. */
int	 jail_go(const struct jail_spec *, struct jail *, struct err *);
void	 jail_release(struct jail *);	/* closes descriptors, kills nothing */

#endif
