/*
 * wire: the shim's one sentence.  One refused call, one datagram to the
 * socket WIRE_SOCKET.  It is a claim by a hostile process: the monitor takes
 * pid from the socket's credentials and believes nothing else.
 */
#ifndef FENCE_SHIM_WIRE_H
#define FENCE_SHIM_WIRE_H

#include <stdint.h>

#define WIRE_SOCKET	"/run/fence/s"

/*
 * The table of names, a read-only file: NUL-terminated records in no order.
 *
 *	"D"			reading must be granted: ENOENT may be a refusal
 *	"L PORT..."		calls are held that do not bear WIRE_MARK, and
 *				those to the gate are told (WIRE_CALLED): other
 *				addresses than loopback, and there these ports
 *	"g DEV INO /a/b/name"	does not exist and must not be made
 *	"f DEV INO /a/b/name"	a single file that may be written; its folder
 *				may not
 *	"b DEV INO /a/b/name"	exists, and is mounted read-only: what moves,
 *				replaces or removes it is told EBUSY
 *
 * DEV and INO (decimal) are those of the folder /a/b as the launcher saw it,
 * "0 0" where that does not exist either.  No file: nothing to hold.
 */
#ifndef WIRE_TABLE
#define WIRE_TABLE	"/run/fence/names"
#endif

enum { WIRE_MAGIC = 0x66736832, WIRE_PATH_MAX = 4096 };	/* "fsh2" */

/*
 * What the shim tells itself needs no other witness (platform/calls.h):
 * connect(), sendmsg() and sendmmsg() bear this in the argument behind their
 * last, of which the kernel knows nothing, and sendto() in the upper half of
 * its last, which the kernel takes for an int.
 */
enum { WIRE_MARK = 0x66656e63 };	/* "fenc" */

/*
 * Who made such a call to the gate says so, and from which port: connect() of
 * no descriptor, with the address, this behind its last argument, and the port
 * behind that.  It is held, seen, and fails (EBADF).  Nothing but the call just
 * made is needed, which a program that confined itself may make.
 */
enum { WIRE_CALLED = 0x66656e64 };	/* "fend" */

/* The last argument of sendto(); the length alone where longs are short. */
#define WIRE_MARKED(len)						\
	((long)(sizeof(long) == 8 ? (uint64_t)WIRE_MARK << 32 | (len) : (len)))

/*
 * What a refused call was to do.  A call on two names (rename, link) that was
 * refused is told once for each name that may be the reason.
 */
enum wire_call {
	WIRE_OPEN = 1,		/* path, flags = open flags */
	WIRE_EXEC,		/* path */
	WIRE_CONNECT,		/* addr; path for AF_UNIX, "@x" if abstract */
	WIRE_NEST,		/* a user namespace of its own; path "/" */
	WIRE_MAKE,		/* a name that was to be made: mkdir, mknod,
				 * symlink, bind, the new name of rename, link */
	WIRE_REMOVE,		/* a name that was to go: unlink, rmdir, the
				 * old name of rename */
	WIRE_CHANGE,		/* path: its size, mode, owner, times, xattrs */
	WIRE_LOOK,		/* path: stat, access, readlink, chdir... */
	WIRE_SYSTEM,		/* a call of no path: mount, ptrace, socket...;
				 * flags = its first argument that matters */
	WIRE_LOST,		/* flags = reports that could not be sent */
	WIRE_PROBE,		/* struct probe_report (shim/probe/) */
	WIRE_CALL_END
};

struct wire_report {
	uint32_t	magic;
	uint16_t	call;
	uint16_t	path_len;	/* without NUL */
	int32_t		err;		/* errno the kernel gave */
	uint32_t	flags;
	uint16_t	family;		/* WIRE_CONNECT */
	uint16_t	port;		/* host order */
	uint16_t	nr;		/* the system call, by its native
					 * number; 0: not said */
	uint16_t	sock_type;	/* WIRE_CONNECT: SOCK_DGRAM...; or 0 */
	uint8_t		addr[16];	/* network order */
	char		comm[16];	/* the program's own name for itself */
	char		path[WIRE_PATH_MAX];	/* absolute where it could be
						 * made so; only path_len bytes
						 * are sent */
};

#define WIRE_HEADER_BYTES	(sizeof(struct wire_report) - WIRE_PATH_MAX)

#endif
