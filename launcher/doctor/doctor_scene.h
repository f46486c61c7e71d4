/*
 * doctor_scene: what stands around the jail while doctor tries it: a folder
 * with a workspace in it, a daemon's socket, listeners, a process to aim at.
 * All of it goes with doctor, also when doctor is killed: a sweeper process
 * outlives it for that.
 */
#ifndef FENCE_LAUNCHER_DOCTOR_SCENE_H
#define FENCE_LAUNCHER_DOCTOR_SCENE_H

#include "launcher/doctor/doctor.h"

struct doctor_scene {
	const char	*base;		/* the folder; everything is below */
	const char	*work;
	const char	*home;		/* HOME of the jail */
	struct scene	 scene;		/* what fence-try is told */
	int		 left_fd;
	int		 listen_fd[4];
	pid_t		 victim, sweeper;
	int		 sweeper_fd;
};

/* Strings are the doctor's arena's.  On failure nothing is left. */
int	 doctor_scene_make(struct doctor *, struct doctor_scene *ret,
	    struct err *);
void	 doctor_scene_end(struct doctor_scene *);

#endif
