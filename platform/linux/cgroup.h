/*
 * cgroup: a group of processes of our own, where the host lets us make one:
 * for limits on a run as a whole.  Version 2 beside our own group or in it,
 * version 1 in our own group of each controller.
 *
 * A process of its own, forked first of all, removes the group when we end,
 * also by kill -9; what it could not remove (it was killed as well) is swept
 * by the next run.
 */
#ifndef FENCE_LINUX_CGROUP_H
#define FENCE_LINUX_CGROUP_H

#include <stddef.h>
#include <stdint.h>

#include "platform/base/err.h"

enum cgroup_kind { CGROUP_MEMORY, CGROUP_PROCESSES, CGROUP_NKINDS };

struct cgroup;

/*
 * max: of each kind; 0 for none.  On failure *ret_kind is the one that no
 * group could be made for, and err says why and what would help.
 */
struct cgroup	*cgroup_new(const uint64_t max[CGROUP_NKINDS],
		    enum cgroup_kind *ret_kind, struct err *);
/* A process that writes "0" to each of these is in the group. */
size_t		 cgroup_join_fds(const struct cgroup *,
		    const int **ret_fds);
/* How often this limit was met so far. */
uint64_t	 cgroup_hits(const struct cgroup *, enum cgroup_kind);
/* Waits until the group is gone; NULL is fine. */
void		 cgroup_free(struct cgroup *);

#endif
