/* guard_text: what the guard did, in words. */
#ifndef FENCE_LAUNCHER_GUARD_TEXT_H
#define FENCE_LAUNCHER_GUARD_TEXT_H

#include "launcher/guard/guard.h"
#include "platform/base/buf.h"

/* A path as a word for the shell. */
void	 guard_text_word(struct buf *, const char *path);
/* One of GUARD_GIT or GUARD_STATE, with the line that takes it back. */
void	 guard_text_git(struct buf *, const struct guard_told *);

#endif
