/*
 * probe_wire: what the launcher tells the probe library, and what that tells
 * the launcher.
 *
 * The launcher leaves PROBE_TABLE, a read-only file: struct probe_sig, one
 * behind the other.  A call of such a function makes one datagram, struct
 * probe_report, to WIRE_SOCKET.  Like every datagram of the jail it is a claim
 * by a hostile process; the launcher reads it by its own copy of the table.
 */
#ifndef FENCE_SHIM_PROBE_WIRE_H
#define FENCE_SHIM_PROBE_WIRE_H

#include <stddef.h>
#include <stdint.h>

#include "shim/wire.h"

#define PROBE_TABLE	"/run/fence/probes"

enum {
	PROBE_SIGS_MAX = 64,
	PROBE_NAME_MAX = 128,		/* with NUL */
	PROBE_ARGS_MAX = 12,		/* of them eight may be 'd' or 'f' */
	PROBE_BYTES_MAX = 1024,		/* of one argument */
	PROBE_DATA_MAX = 3072,		/* of all of a call */
};

/* One argument, or the result. */
struct probe_value {
	uint8_t		type;		/* one of "viudfpsbo" */
	uint8_t		size;		/* of 'i' and 'u': 1, 2, 4, 8 */
	uint16_t	max;		/* of 's', 'b', 'o': bytes told */
};

struct probe_sig {
	char			name[PROBE_NAME_MAX];
	uint32_t		nargs;
	struct probe_value	arg[PROBE_ARGS_MAX];
	struct probe_value	result;
};

/* In probe_report.got: how much of an 's', 'b' or 'o' follows. */
enum {
	PROBE_GOT_NONE = 0xffff,	/* its memory could not be read */
	PROBE_GOT_CUT = 0x8000,		/* an 's' that goes on */
};

/*
 * Behind the header: the bytes of each 's' and 'b', then those of each 'o',
 * then those of a result that is an 's'.
 */
struct probe_report {
	uint32_t	magic;		/* WIRE_MAGIC */
	uint16_t	call;		/* WIRE_PROBE */
	uint16_t	data_len;
	int32_t		err;		/* errno when the function returned */
	uint32_t	probe;		/* which struct probe_sig */
	uint32_t	dropped;	/* calls of it not told before this */
	uint32_t	is_new_err;	/* the function changed errno */
	char		comm[16];
	uint64_t	value[PROBE_ARGS_MAX + 1];	/* the result is last */
	uint16_t	got[PROBE_ARGS_MAX + 1];
	uint16_t	end;
};

#define PROBE_HEADER_BYTES	offsetof(struct probe_report, end)

#endif
