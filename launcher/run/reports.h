/*
 * reports: the shim's datagrams (shim/wire.h), each handed to the witness with
 * the pid of its sender as the kernel tells it.
 */
#ifndef FENCE_LAUNCHER_REPORTS_H
#define FENCE_LAUNCHER_REPORTS_H

#include "launcher/record/witness.h"

/* How many at most: so that others get their turn, and at the end. */
enum { REPORTS_TURN = 256, REPORTS_ALL = 1 << 20 };

/* fd may be -1: no shim, no reports. */
void	 reports_drain(int fd, struct witness *, int most);

#endif
