/*
 * machine: which parts of a jail this system can give, each of them tried.
 * `fence doctor` (launcher/doctor/doctor.h) prints the answer.  The list of parts is
 * the system's own; a part that only the launcher can judge, such as fence's
 * own programs, comes without a detail, and the launcher fills it.
 *
 * Nothing outlives the trying.  Texts are static or the arena's.
 */
#ifndef FENCE_PLATFORM_MACHINE_H
#define FENCE_PLATFORM_MACHINE_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/base/arena.h"

enum machine_status { MACHINE_STRICT, MACHINE_DEGRADED, MACHINE_ABSENT };

/* One part of a jail on this machine. */
struct machine_part {
	const char	*id;
	const char	*purpose;	/* what it is for */
	const char	*needs;		/* kernel or package */
	bool		 is_needed;	/* ... by the default policy */
	enum machine_status status;
	const char	*detail;	/* what was seen; NULL: see above */
	const char	*cure;		/* NULL where all is well */
};

enum { MACHINE_PARTS_MAX = 32 };

struct machine {
	struct machine_part parts[MACHINE_PARTS_MAX];
	size_t		 nparts;
	bool		 logs_calls;	/* refused ones, in its log */
};

/* Takes ten seconds at most; what has no answer by then was not tried. */
void	 machine_try(struct arena *, struct machine *ret);
/* cure is kept only where not all is well. */
void	 machine_set(struct machine_part *, enum machine_status,
	    const char *detail, const char *cure);

#endif
