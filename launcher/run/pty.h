/*
 * pty: a terminal of the command's own, and the relay between it and ours.
 * Only for --force-new-session on a terminal: everywhere else the command
 * has our terminal itself, and nothing stands between.
 *
 * Ours is raw while the command runs in the foreground, so that every key
 * goes through and the command's terminal gives it its meaning; keys that are
 * typed while it starts wait for it.  It is as it was at every end, and
 * whenever we stop or are in the background.  Lines
 * that fence-run prints meanwhile go the same way as the command's output.
 * All functions but pty_open() and pty_modes() take NULL, and then do nothing.
 */
#ifndef FENCE_LAUNCHER_PTY_H
#define FENCE_LAUNCHER_PTY_H

#include <termios.h>

#include "platform/base/err.h"
#include "platform/loop.h"

struct pty;

/*
 * A terminal with the modes and the size of ours.  Where stdin and stdout
 * are not one terminal *ret is NULL: there is nothing to relay.  *ret_fd is
 * the command's side, the caller's to close.
 */
int	 pty_open(struct loop *, struct pty **ret, int *ret_fd, struct err *);
void	 pty_started(struct pty *);	/* the command runs: relay */
void	 pty_resized(struct pty *);	/* SIGWINCH */
void	 pty_stopped(struct pty *);	/* we are about to stop */
/* Its modes: those that the command gave its terminal. */
int	 pty_modes(struct pty *, struct termios *ret);
void	 pty_continued(struct pty *);	/* SIGCONT */
/*
 * The command and all it started are gone: done is called, perhaps at once,
 * when what they wrote is written.
 */
void	 pty_finish(struct pty *, void (*done)(void *), void *arg);
void	 pty_abandon(struct pty *);	/* ... or now, whatever is left */
void	 pty_free(struct pty *);	/* our terminal is as it was */

#endif
