/*
 * doctor: can this machine enforce the default policy, and does it?  First
 * the parts a jail is made of, each tried (platform/linux/mini.h); then a real
 * jail, and what is attempted from inside (launcher/try.h).
 *
 * It sends no packet off this machine unless a wall is missing, has a
 * deadline for everything, and leaves nothing behind.
 */
#ifndef FENCE_LAUNCHER_DOCTOR_H
#define FENCE_LAUNCHER_DOCTOR_H

#include <stdbool.h>

#include "launcher/try.h"
#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "platform/base/err.h"
#include "platform/linux/mini.h"

enum doctor_status { DOCTOR_STRICT, DOCTOR_DEGRADED, DOCTOR_ABSENT };

/* One part of a jail on this machine. */
struct doctor_item {
	const char	*id;
	const char	*purpose;	/* what it is for */
	const char	*needs;		/* kernel or package */
	bool		 is_needed;	/* ... by the default policy */
	enum doctor_status status;
	const char	*detail;	/* what was seen */
	const char	*cure;		/* NULL where all is well */
};

enum { DOCTOR_NITEMS = 21, DOCTOR_TEXT_MAX = 1024 };

struct doctor_try {
	const char	*id, *what;
	struct try_answer answer;
};

struct doctor {
	struct arena	*arena;
	char		**env;
	const char	*engine;	/* "bwrap" or "native" */
	struct mini	 mini;
	struct doctor_item items[DOCTOR_NITEMS];
	/* The jail; tries are TRY_UNTRIED when it did not start. */
	bool		 is_started;
	const char	*jail_error;	/* NULL where there was none */
	const char	*stand_in;	/* what stood in for ~/.ssh, or NULL */
	struct doctor_try tries[TRY_NROWS];
};

void	 doctor_facts(struct doctor *);		/* fills mini and items */
void	 doctor_jail(struct doctor *);		/* fills the rest */
const struct doctor_item *
	 doctor_item(const struct doctor *, const char *id);

/* Is the default policy fully enforced? */
bool	 doctor_is_enforced(const struct doctor *);
unsigned doctor_count(const struct doctor *, enum try_result);
const char *doctor_status_word(enum doctor_status);
const char *doctor_result_word(enum try_result);

/* Both end in a newline; no control byte but that. */
void	 doctor_text(const struct doctor *, struct buf *);
void	 doctor_json(const struct doctor *, struct buf *);
/* The short table of --linux-features. */
void	 doctor_features(const struct doctor *, struct buf *);

#endif
