/* exit: what fence-run exits with when it is not the command's own status.
 * The values are those of enum err_code; fence-run(1) lists them. */
#ifndef FENCE_LAUNCHER_EXIT_H
#define FENCE_LAUNCHER_EXIT_H

enum {
	EXIT_POLICY = 1,	/* policy or preflight refusal */
	EXIT_USAGE = 2,
	EXIT_TIME = 124,	/* limits.time, as timeout(1) says it */
	EXIT_JAIL = 125,	/* the jail could not be built */
	EXIT_NOEXEC = 126,
	EXIT_NOTFOUND = 127,
	EXIT_SIGNAL = 128,	/* + the signal that ended the command */
};

#endif
