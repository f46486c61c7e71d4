/*
 * trust: the project files that the user has read and approved, as digests
 * in the state directory.  A file is trusted while its bytes and those of
 * every file it extends are the ones that were approved; the digest is
 * policy/resolve.c's to make.
 *
 * Beside it, in told/, is a file for each notice that need not be said again.
 *
 * The store is text, "DIGEST PATH" a line, mode 0600, replaced by rename.  A
 * store that another user could have written trusts nothing.
 */
#ifndef FENCE_POLICY_TRUST_H
#define FENCE_POLICY_TRUST_H

#include <stdbool.h>

#include "platform/base/err.h"

struct arena;

/* ${XDG_STATE_HOME:-~/.local/state}/fence/trust; NULL without a home. */
const char	*trust_store(struct arena *, const char *home,
		    char *const *env);

/* path: real.  A store that is missing or cannot be read knows nothing. */
bool	 trust_knows(const char *store, const char *path, const char *hex);
/* Makes the store and its directories; replaces an older digest of path. */
int	 trust_add(const char *store, const char *path, const char *hex,
	    struct err *);
/*
 * Was this notice said before?  Remembers that it is, now.  Where nothing can
 * be remembered it was not.
 */
bool	 trust_told(struct arena *, const char *store, const char *notice);
/* Not having been trusted is no error. */
int	 trust_remove(const char *store, const char *path, bool *ret_was,
	    struct err *);

#endif
