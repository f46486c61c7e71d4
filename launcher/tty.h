/*
 * tty: terminal, job control and signals of the command, so that it behaves
 * as if fence-run were not there.  The command shares our session and our
 * process group: what the terminal sends reaches it by itself, and only what
 * another process sent to fence-run is passed on.  In a session of its own it
 * is reached by nothing but us: what the terminal sends is passed on to its
 * whole group.  Nothing is escalated.
 *
 * All signals are blocked in fence-run from before the jail is made.
 */
#ifndef FENCE_LAUNCHER_TTY_H
#define FENCE_LAUNCHER_TTY_H

#include <stdbool.h>

#include "platform/base/err.h"
#include "platform/loop.h"

struct pty;
struct tty;

/* early: called for a second signal that ends us before there is a command;
 * the first one is the command's as soon as it runs. */
typedef void	 tty_early_fn(int signo, void *arg);

struct tty_config {
	struct loop	*loop;
	tty_early_fn	*early;
	void		*arg;
	bool		 is_apart;	/* the command has its own session */
	struct pty	*pty;		/* ... and terminal; or NULL.  Borrowed */
};

struct tty	*tty_start(const struct tty_config *);
void		 tty_command(struct tty *, int pid_fd);	/* it runs; borrowed */
/* A signal stopped it: so do we. */
void		 tty_stopped(struct tty *, int signo);
/*
 * A signal ended it.  A shell mends the modes of a terminal after a program
 * that was killed; we only exit, so we do it.
 */
void		 tty_killed(struct tty *);
void		 tty_free(struct tty *);	/* gives the terminal back */

#endif
