/*
 * control: the launcher's end of the socket to fence-init (initplan.h has the
 * messages).  jail_linux.c sends by it; control.c has what jail.h promises
 * of jail_go(), jail_ask() and jail_next().
 */
#ifndef FENCE_LINUX_CONTROL_H
#define FENCE_LINUX_CONTROL_H

#include "platform/base/err.h"
#include "platform/linux/initplan.h"

/*
 * A message without step and value, with fd if that is not -1; fd stays the
 * caller's.  -1: fence-init is gone.
 */
int	 control_send(int control_fd, enum init_msg_kind, int fd,
	    struct err *);

#endif
