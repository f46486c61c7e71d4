/*
 * reach: from a decision to a descriptor.  A host is looked up by fence-names,
 * each of its addresses is vetted, and one of them is dialled.  By way of a
 * proxy, that is dialled, and fence-names has it open the way; whoever gets
 * the descriptor can only talk to the host that was decided about.
 */
#ifndef FENCE_LAUNCHER_REACH_H
#define FENCE_LAUNCHER_REACH_H

#include <stdbool.h>

#include "launcher/gate/entry.h"
#include "launcher/plan/via.h"
#include "platform/loop.h"
#include "policy/decide.h"
#include "proxy/ask.h"

struct reach;

struct reach_result {
	enum ask_status		 status;
	int			 sys;		/* ASK_REFUSED */
	int			 fd;		/* ASK_OK: the callee's */
	const struct host	*host;
	const struct verdict	*verdict;	/* ASK_DENIED, ASK_PROXY_* */
	const struct verdict	*granted;	/* that let it through */
	int64_t			 ms;		/* it took */
	bool			 is_local;	/* not by reach_start() */
};

/* Once for each start, perhaps from inside it. */
typedef void	 reach_fn(const struct ask_msg *, const struct reach_result *,
		    void *arg);

struct reach_config {
	struct loop		*loop;
	const struct policy	*policy;
	const struct via	*via;
	int			 names_fd;	/* to fence-names, or -1 */
	struct entry_desk	*desk;		/* into the jail, or NULL */
	reach_fn		*fn;
	void			*arg;
};

/* The descriptor stays the caller's.  NULL: out of memory. */
struct reach	*reach_new(const struct reach_config *);
/* q: an ASK_DIAL for this host, which the policy allows. */
void		 reach_start(struct reach *, const struct ask_msg *q,
		    const struct host *, const struct verdict *granted);
/* The same port of the host's localhost, which the policy allows. */
void		 reach_local(struct reach *, const struct ask_msg *q,
		    const struct host *, const struct verdict *granted);
/* A port of the jail's localhost; there has to be a desk. */
void		 reach_inside(struct reach *, const struct ask_msg *q,
		    const struct host *, const struct verdict *granted);
/* For addresses that are vetted from now on; the caller keeps the old one. */
void		 reach_set_policy(struct reach *, const struct policy *);
void		 reach_drop(struct reach *);	/* all of them, no callback */
void		 reach_free(struct reach *);	/* NULL is fine */

#endif
