/*
 * tty: terminal, job control and signals of the command, so that it behaves
 * as if fence-run were not there.  The command shares our session and our
 * process group: what the terminal sends reaches it by itself, and only what
 * another process sent to fence-run is passed on.  Nothing is escalated.
 *
 * All signals are blocked in fence-run from before the jail is made.
 */
#ifndef FENCE_LAUNCHER_TTY_H
#define FENCE_LAUNCHER_TTY_H

#include "platform/base/err.h"
#include "platform/loop.h"

struct tty;

/* early: called for a signal that ends us before there is a command. */
typedef void	 tty_early_fn(int signo, void *arg);

struct tty	*tty_start(struct loop *, tty_early_fn *, void *arg);
void		 tty_command(struct tty *, int pid_fd);	/* it runs; borrowed */
void		 tty_stopped(struct tty *);	/* it stopped: so do we */
void		 tty_free(struct tty *);	/* gives the terminal back */

#endif
