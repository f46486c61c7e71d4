/*
 * landlock: the second wall.  Which rights a kernel knows is one table
 * indexed by its ABI; everything handed to the kernel is masked by it.
 * Constants are our own: Debian 12's headers end at ABI 3.  A jail's domain
 * handles no TCP ports: the network namespace is that wall.
 */
#ifndef FENCE_LINUX_LANDLOCK_H
#define FENCE_LINUX_LANDLOCK_H

#include <stdint.h>

#include "platform/linux/initplan.h"

enum landlock_fs {
	LANDLOCK_FS_EXECUTE	= 1 << 0,
	LANDLOCK_FS_WRITE_FILE	= 1 << 1,
	LANDLOCK_FS_READ_FILE	= 1 << 2,
	LANDLOCK_FS_READ_DIR	= 1 << 3,
	LANDLOCK_FS_REMOVE_DIR	= 1 << 4,
	LANDLOCK_FS_REMOVE_FILE	= 1 << 5,
	LANDLOCK_FS_MAKE_CHAR	= 1 << 6,
	LANDLOCK_FS_MAKE_DIR	= 1 << 7,
	LANDLOCK_FS_MAKE_REG	= 1 << 8,
	LANDLOCK_FS_MAKE_SOCK	= 1 << 9,
	LANDLOCK_FS_MAKE_FIFO	= 1 << 10,
	LANDLOCK_FS_MAKE_BLOCK	= 1 << 11,
	LANDLOCK_FS_MAKE_SYM	= 1 << 12,	/* ABI 1 ends here */
	LANDLOCK_FS_REFER	= 1 << 13,	/* ABI 2 */
	LANDLOCK_FS_TRUNCATE	= 1 << 14,	/* ABI 3 */
	LANDLOCK_FS_IOCTL_DEV	= 1 << 15,	/* ABI 5 */
};

enum landlock_net {
	LANDLOCK_NET_BIND	= 1 << 0,	/* ABI 4: TCP ports */
	LANDLOCK_NET_CONNECT	= 1 << 1,
};

enum landlock_scope {
	LANDLOCK_SCOPE_ABSTRACT	= 1 << 0,	/* ABI 6: abstract sockets */
	LANDLOCK_SCOPE_SIGNALS	= 1 << 1,	/* ABI 6 */
};

struct landlock_rights {
	uint64_t	fs, net, scoped;
};

int	 landlock_abi(void);		/* of this kernel; 0 for none */

/* What to handle, and what to grant; nothing that the ABI does not know. */
uint64_t landlock_handled(int abi);	/* 0: no Landlock at all */
uint64_t landlock_scoped(int abi);
uint64_t landlock_read_rights(int abi);	/* a tree to read and execute from */
uint64_t landlock_list_rights(void);	/* of those to read */
uint64_t landlock_write_rights(int abi);	/* all but ioctl on devices */
uint64_t landlock_dev_rights(int abi);	/* /dev: read, write, ioctl */
uint64_t landlock_stdio_read(int abi);	/* reopening an inherited stdin */
uint64_t landlock_stdio_write(int abi);	/* ... stdout */

/*
 * Puts the caller into a domain made of the plan's rules, for good; base is
 * where the plan is mapped.  Needs no_new_privs.  A path that does not exist
 * is passed over.  Rules on what is no directory keep the rights that make
 * sense there.  stdin, stdout and stderr get a rule each where they are
 * files or devices, so that /dev/stdout can be opened again.  A plan that
 * handles nothing restricts nothing.  -1 with errno.
 */
int	 landlock_apply(const struct init_plan *, const char *base);
/*
 * The same without a plan: these rights are refused as far as the kernel knows
 * them, everywhere.  port: the TCP port that may be connected to, or 0.
 */
int	 landlock_enter(const struct landlock_rights *, uint16_t port);

#endif
