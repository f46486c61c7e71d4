/*
 * probesig: a function whose calls are told (trace.calls), and how its values
 * are to be read: "SSL_write(p,b,i):i".  The grammar is in fence-policy(5),
 * PROBES.
 */
#ifndef FENCE_POLICY_PROBESIG_H
#define FENCE_POLICY_PROBESIG_H

#include <stddef.h>
#include <stdint.h>

#include "platform/base/err.h"

enum {
	PROBESIG_NAME_MAX = 127,
	PROBESIG_ARGS_MAX = 12,
	PROBESIG_FLOATS_MAX = 8,	/* 'f' and 'd' among them */
	PROBESIG_BYTES = 64,		/* of 's', 'b', 'o' where none is said */
	PROBESIG_BYTES_MAX = 1024,
	PROBESIG_DATA_MAX = 3072,	/* of all of them together */
};

struct probesig_value {
	char		type;	/* 'v' 'i' 'u' 'f' 'd' 'p' 's' 'b' 'o' */
	uint8_t		size;	/* of 'i' and 'u', in bytes */
	uint16_t	max;	/* of 's', 'b', 'o': bytes that are told */
};

struct probesig {
	char			name[PROBESIG_NAME_MAX + 1];
	size_t			nargs;
	struct probesig_value	arg[PROBESIG_ARGS_MAX];
	struct probesig_value	result;
};

/* 0, or -1 with message and hint (ERR_POLICY); ret is then undefined. */
int	 probesig_parse(const char *text, struct probesig *ret, struct err *);

#endif
