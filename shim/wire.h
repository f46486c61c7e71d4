/*
 * wire: the shim's one sentence.  One refused call, one datagram to the
 * socket WIRE_SOCKET.  It is a claim by a hostile process: the monitor takes
 * pid from the socket's credentials and believes nothing else.
 */
#ifndef FENCE_SHIM_WIRE_H
#define FENCE_SHIM_WIRE_H

#include <stdint.h>

#define WIRE_SOCKET	"/run/fence/s"

enum { WIRE_MAGIC = 0x66736831, WIRE_PATH_MAX = 4096 };	/* "fsh1" */

enum wire_call {
	WIRE_OPEN = 1,		/* path, flags = open flags */
	WIRE_EXEC,		/* path */
	WIRE_CONNECT,		/* addr; path for AF_UNIX, "@x" if abstract */
};

struct wire_report {
	uint32_t	magic;
	uint16_t	call;
	uint16_t	path_len;	/* without NUL */
	int32_t		err;		/* errno the kernel gave */
	uint32_t	flags;
	uint16_t	family;		/* WIRE_CONNECT */
	uint16_t	port;		/* host order */
	uint8_t		addr[16];	/* network order */
	char		comm[16];	/* the program's own name for itself */
	char		path[WIRE_PATH_MAX];	/* absolute where it could be
						 * made so; only path_len bytes
						 * are sent */
};

#define WIRE_HEADER_BYTES	(sizeof(struct wire_report) - WIRE_PATH_MAX)

#endif
