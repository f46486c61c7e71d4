/*
 * limits: a group of processes that the system holds to limits as a whole.
 * launcher/run/limits.c makes one for a run whose policy asks for it, and `fence
 * doctor` tries whether one can be made; the jail joins it before anything
 * of it runs (jail_limits.join_fds).  Limits of one process need no group:
 * they are numbers in struct jail_limits (jail.h).
 *
 * The caller owns the group.  A process forked first of all removes it when
 * the caller ends, also by kill -9; what that process could not remove (it
 * was killed as well) is removed by the next run.
 */
#ifndef FENCE_PLATFORM_LIMITS_H
#define FENCE_PLATFORM_LIMITS_H

#include <stddef.h>
#include <stdint.h>

#include "platform/base/err.h"

enum limit_kind { LIMIT_MEMORY, LIMIT_PROCESSES, LIMIT_NKINDS };

struct limit_group;

/*
 * max: bytes, and processes; 0 for no limit of that kind.  NULL on failure:
 * *ret_kind is the limit that cannot be held here, and err says why.
 */
struct limit_group *limit_group_new(const uint64_t max[LIMIT_NKINDS],
		    enum limit_kind *ret_kind, struct err *);
/*
 * A process that writes "0" to each of these joins the group, and all that it
 * starts.  Returns their number; they stay the group's.
 */
size_t		 limit_group_join_fds(const struct limit_group *,
		    const int **ret_fds);
/* How often the limit was met so far. */
uint64_t	 limit_group_hits(const struct limit_group *,
		    enum limit_kind);
/* Waits until the group is gone; NULL is fine. */
void		 limit_group_free(struct limit_group *);

#endif
