/*
 * init_child: the way of the command from fence-init's fork to its execve.
 * Everything is made ready before the fork; the child only makes calls, and
 * tells through a close-on-exec pipe which one failed.
 */
#ifndef FENCE_LINUX_INIT_CHILD_H
#define FENCE_LINUX_INIT_CHILD_H

#include <signal.h>

#include "platform/linux/initplan.h"

struct init_child {
	const struct init_plan	*plan;		/* checked */
	char			**argv;		/* the command's */
	char			**sh_argv;	/* /bin/sh PROGRAM ARGUMENTS */
	char			**envp;
	int			*keep;		/* sorted, each once */
	size_t			 nkeep;
	struct sigaction	 sigchld;	/* as it was inherited */
};

/* What comes through the pipe; step 0 is the execve itself. */
struct init_report {
	uint32_t	step;
	int32_t		error;
};

/*
 * Makes pointers of offsets and checks that the descriptors to keep are
 * there and are not own_fd.  -1 with errno and the step.
 */
int	 init_child_prepare(struct init_child *, const struct init_plan *,
	    int own_fd, uint32_t *ret_step);
/*
 * In the child.  report_fd is the write end of the pipe, control_fd the
 * launcher's socket, which hears of a listener.
 */
_Noreturn void init_child_run(const struct init_child *, int report_fd,
	    int control_fd);
/*
 * A message to the launcher, with fd if that is not -1.  One that does not
 * listen is slow, not gone: it is waited for.
 */
int	 init_tell(int control_fd, enum init_msg_kind, uint32_t step,
	    int32_t value, int fd);

/* Closes every descriptor from first on but those in keep (sorted). */
int	 init_close_from(int first, const int *keep, size_t nkeep);

#endif
