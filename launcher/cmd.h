/*
 * cmd: the sub-commands of fence, one file each.  A command prints its own
 * results and returns the exit status; an error it leaves in err is printed
 * by main.
 */
#ifndef FENCE_LAUNCHER_CMD_H
#define FENCE_LAUNCHER_CMD_H

#include "platform/base/err.h"

/* argv[0] is the program or the sub-command; options begin at argv[1]. */
typedef int	 cmd_fn(const char *program, int argc, char **argv,
		    struct err *);

cmd_fn		 cmd_run;

#endif
