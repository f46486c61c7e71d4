/*
 * exec_mode: how the command rules of a policy are held while a run lasts
 * (command.runtimeExecPolicy).
 */
#ifndef FENCE_LAUNCHER_EXEC_MODE_H
#define FENCE_LAUNCHER_EXEC_MODE_H

#include "policy/policy.h"

enum exec_mode {
	EXEC_MODE_OFF,
	EXEC_MODE_PATH,		/* files of single words are masked */
	EXEC_MODE_ARGV,		/* each execution is looked at */
};

/* By its rules alone; a file that answers to other names needs ARGV, too. */
enum exec_mode	 exec_mode(const struct policy *);

#endif
