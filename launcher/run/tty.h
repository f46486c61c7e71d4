/*
 * tty: terminal, job control and signals of the command, so that it behaves
 * as if fence-run were not there.  The command shares our session and our
 * process group: what the terminal sends, or anybody to the group, reaches it
 * by itself, and only what was sent to fence-run alone is passed on.  Which of
 * the two it was no signal tells; fence-init, which is of the group as well,
 * is asked.  A shell inside that has a group of its own is sent what ours
 * is, and gets the terminal with it.  In a session of its own the command is
 * reached by nothing but us: what the terminal sends is passed on to its
 * whole group.  Nothing is escalated, and what comes while the command is
 * being started waits for it.
 *
 * All signals are blocked in fence-run from before the jail is made.
 */
#ifndef FENCE_LAUNCHER_TTY_H
#define FENCE_LAUNCHER_TTY_H

#include <stdbool.h>
#include <sys/types.h>

#include "platform/base/err.h"
#include "platform/loop.h"

struct pty;
struct tty;

/* early: called for a signal that would end us while the command starts, if
 * one waits for it since a second or longer: it hangs. */
typedef void	 tty_early_fn(int signo, void *arg);
/* ask: tty_alone() is the answer, if it is wanted, and only where the group
 * did not get the signal. */
typedef void	 tty_ask_fn(int signo, bool wants_answer, void *arg);

struct tty_config {
	struct loop	*loop;
	tty_early_fn	*early;
	tty_ask_fn	*ask;
	void		*arg;
	bool		 is_apart;	/* the command has its own session */
	struct pty	*pty;		/* ... and terminal; or NULL.  Borrowed */
};

struct tty	*tty_start(const struct tty_config *);
/* It runs; borrowed.  pid: as the host counts, 0 if that is not known. */
void		 tty_command(struct tty *, int pid_fd, pid_t pid);
void		 tty_alone(struct tty *, int signo);
/* A signal stopped it: so do we, but where all it wants is the terminal that
 * a shell inside left to nobody. */
void		 tty_stopped(struct tty *, int signo);
/*
 * A signal ended it.  A shell mends the modes of a terminal after a program
 * that was killed; we only exit, so we do it.
 */
void		 tty_killed(struct tty *);
/* It is gone: output that it stopped (TCOOFF) goes on. */
void		 tty_ended(struct tty *);
void		 tty_free(struct tty *);	/* gives the terminal back */

#endif
