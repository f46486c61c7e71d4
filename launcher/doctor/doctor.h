/*
 * doctor: can this machine enforce the default policy, and does it?  First
 * the parts a jail is made of, each tried (platform/machine.h); then a real
 * jail, and what is attempted from inside (launcher/doctor/try.h).
 *
 * It sends no packet off this machine unless a wall is missing, has a
 * deadline for everything, and leaves nothing behind.
 */
#ifndef FENCE_LAUNCHER_DOCTOR_H
#define FENCE_LAUNCHER_DOCTOR_H

#include <stdbool.h>

#include "launcher/doctor/try.h"
#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "platform/base/err.h"
#include "platform/machine.h"

struct doctor_try {
	const char	*id, *what;
	struct try_answer answer;
};

struct doctor {
	struct arena	*arena;
	char		**env;
	const char	*engine;	/* "bwrap" or "native" */
	struct machine	 machine;
	/* The jail; tries are TRY_UNTRIED when it did not start. */
	bool		 is_started;
	const char	*jail_error;	/* NULL where there was none */
	const char	*stand_in;	/* what stood in for ~/.ssh, or NULL */
	struct doctor_try tries[TRY_NROWS];
};

void	 doctor_facts(struct doctor *);		/* fills machine */
void	 doctor_jail(struct doctor *);		/* fills the rest */
const struct machine_part *
	 doctor_part(const struct doctor *, const char *id);

/* Is the default policy fully enforced? */
bool	 doctor_is_enforced(const struct doctor *);
unsigned doctor_count(const struct doctor *, enum try_result);
const char *doctor_status_word(enum machine_status);
const char *doctor_result_word(enum try_result);

/* Both end in a newline; no control byte but that. */
void	 doctor_text(const struct doctor *, struct buf *);
void	 doctor_json(const struct doctor *, struct buf *);
/* The short table of --linux-features. */
void	 doctor_features(const struct doctor *, struct buf *);

#endif
