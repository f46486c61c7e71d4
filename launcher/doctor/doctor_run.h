/*
 * doctor_run: start a program, read what it prints, wait for its end or the
 * deadline.  It dies with us, and is killed when it is late.
 */
#ifndef FENCE_LAUNCHER_DOCTOR_RUN_H
#define FENCE_LAUNCHER_DOCTOR_RUN_H

#include <stdbool.h>

#include "platform/base/buf.h"

struct doctor_run {
	const char	*path;
	char		**argv;
	char		**env;
	const char	*cwd;		/* NULL: where we are */
	int		 left_fd;	/* left open in it; 0 for none */
	int		 limit_ms;
	/* The caller's, with a ceiling: what is above it is thrown away. */
	struct buf	 out, err;
	int		 status;	/* 128+N for signal N */
	bool		 is_late;
};

/* -1 if it could not even be forked. */
int	 doctor_run(struct doctor_run *);

#endif
