/*
 * shadow_user: the shadow as its user sees it, for `fence shadow`: what
 * differs from the host, taking it over, forgetting it.  Every call answers an
 * error for a store of another user or of a newer version; the calls that
 * change something are also refused while a run lives.  Strings are the
 * arena's.
 */
#ifndef FENCE_LAUNCHER_SHADOW_USER_H
#define FENCE_LAUNCHER_SHADOW_USER_H

#include <time.h>

#include "launcher/shadow/shadow.h"

enum shadow_state {
	SHADOW_IS_CHANGED, SHADOW_IS_NEW, SHADOW_IS_REMOVED,
	SHADOW_IS_ASIDE,	/* a version that gave way */
	SHADOW_IS_WAITING,	/* state that was not carried yet */
};

struct shadow_entry {
	const char	*path;		/* on the host; of ASIDE the folder */
	const char	*place;		/* the version, in the store */
	enum shadow_state state;
	bool		 is_host_newer;	/* it changed since, too */
	time_t		 time;		/* of the version; 0 if it is gone */
};

struct shadow_entries {
	struct shadow_entry	*v;
	size_t			 n, cap;	/* vec_release() */
};

extern const char *const shadow_state_names[];	/* "changed", ... */

/* In the order of their paths.  No store: nothing. */
int	 shadow_list(struct arena *, const char *state,
	    struct shadow_entries *ret, struct err *);
/*
 * Unified differences, from the host's to the jail's; control characters are
 * escaped.  path: absolute, of the host or an aside version; NULL for all.  A
 * folder stands for what is in it.  Nothing that differs there is an error.
 */
int	 shadow_diff(struct arena *, const char *state, const char *path,
	    struct buf *ret, struct err *);
/*
 * The jail's version of a whole name takes the place of the host's, which is
 * set aside and told.
 */
int	 shadow_keep(struct arena *, const char *state, const char *path,
	    shadow_told_fn *, void *arg, struct err *);
/*
 * Forgets the jail's version, or an aside one: the next run begins from the
 * host's.  A folder stands for all in it; *ret_n is how many there were.
 */
int	 shadow_drop(struct arena *, const char *state, const char *path,
	    size_t *ret_n, struct err *);
/*
 * Forgets everything, also of a newer version.  What a killed run left is
 * carried first; if that fails nothing is removed, unless is_forced.
 */
int	 shadow_reset(const char *state, bool is_forced, shadow_sift_fn *,
	    void *sift_arg, shadow_told_fn *, void *arg, struct err *);

#endif
