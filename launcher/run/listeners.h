/*
 * listeners: all that fence-net accepts on, on its way there.  The gate's
 * ends inside the jail and the jail's ports that lead to the host come with
 * the jail; the host's ports of --port are opened here, before anything is
 * started.  Afterwards fence-net has them and we keep none.
 */
#ifndef FENCE_LAUNCHER_LISTENERS_H
#define FENCE_LAUNCHER_LISTENERS_H

#include "launcher/plan/ports.h"
#include "platform/jail.h"

/*
 * One for each that leads in, into a new array; NULL where there is none.  A
 * port that cannot be had is an error, and nothing is left open then.
 */
int	 listeners_open(const struct ports *, int **ret_in_fds,
	    struct err *);
/* By the socket to fence-net, whichever way it blocks.  -1: it is gone. */
int	 listeners_hand(int net_fd, const struct ports *, int *in_fds,
	    struct jail *, struct err *);
void	 listeners_close(const struct ports *, int *in_fds);

#endif
