/*
 * policyedit: entries put into the policy file in force; the one way in which
 * `fence allow` and `fence trace --suggest` change a policy.  Comments and
 * order stay.  A trusted project file stays trusted: the user who reads the
 * difference and says yes trusts it, as `fence config trust` does; one that is
 * not trusted as it lies there does not become so.
 */
#ifndef FENCE_LAUNCHER_POLICYEDIT_H
#define FENCE_LAUNCHER_POLICYEDIT_H

#include "launcher/history/suggest.h"
#include "policy/resolve.h"

struct policyedit {
	struct arena	*arena;
	struct resolve_request req;
	const char	*path;		/* the file to change */
	bool		 is_new;	/* it will be made */
	bool		 is_trusted;	/* a trusted project file */
	const char	*untrusted;	/* a project file that must agree, too */
	const char	*base;		/* a trusted one beside path, or NULL */
	struct buf	 before, after;
};

/*
 * Which file: settings if it is not NULL; else the trusted project file of
 * this directory, unless for_user; else the user's own, which a new one
 * begins from the built-in workspace-write.
 */
int	 policyedit_open(struct policyedit *, struct arena *,
	    const char *settings, bool for_user, struct err *);
void	 policyedit_release(struct policyedit *);
/* What the file would be with them.  -1: it would be no policy. */
int	 policyedit_make(struct policyedit *, const struct suggest *,
	    struct err *);
bool	 policyedit_is_same(const struct policyedit *);
void	 policyedit_put_diff(const struct policyedit *, struct buf *);
/* -1: it cannot be written, or is not what the difference was made of. */
int	 policyedit_write(struct policyedit *, struct err *);
/* After it was written: does another file have to be trusted again? */
bool	 policyedit_breaks_trust(struct policyedit *);

#endif
