/*
 * connector: from a decision to a descriptor.  The monitor calls it for each
 * connection that the policy allows: fence-names looks the host up, each of its
 * addresses is vetted, and one of them is dialled.  Where a proxy is on the way,
 * the proxy is dialled and fence-names asks it to open the way.  The descriptor
 * leads to the host that was decided about and to no other.
 */
#ifndef FENCE_LAUNCHER_CONNECTOR_H
#define FENCE_LAUNCHER_CONNECTOR_H

#include <stdbool.h>

#include "launcher/gate/inbound.h"
#include "launcher/plan/via.h"
#include "platform/loop.h"
#include "policy/decide.h"
#include "proxy/ask.h"

struct connector;

struct connector_result {
	enum ask_status		 status;
	int			 sys;		/* ASK_REFUSED */
	int			 fd;		/* ASK_OK: the callee's */
	const struct host	*host;
	const struct verdict	*verdict;	/* ASK_DENIED, ASK_PROXY_* */
	const struct verdict	*granted;	/* that let it through */
	int64_t			 ms;		/* it took */
	bool			 is_local;	/* not by connector_start() */
};

/* Once for each start, perhaps from inside it. */
typedef void	 connector_fn(const struct ask_msg *,
		    const struct connector_result *, void *arg);

struct connector_config {
	struct loop		*loop;
	const struct policy	*policy;
	const struct via	*via;
	int			 names_fd;	/* to fence-names, or -1 */
	struct inbound	*inbound;		/* into the jail, or NULL */
	connector_fn		*fn;
	void			*arg;
};

/* The descriptor stays the caller's.  NULL: out of memory. */
struct connector	*connector_new(const struct connector_config *);
/* q: an ASK_DIAL for this host, which the policy allows. */
void		 connector_start(struct connector *, const struct ask_msg *q,
		    const struct host *, const struct verdict *granted);
/* The same port of the host's localhost, which the policy allows. */
void		 connector_local(struct connector *, const struct ask_msg *q,
		    const struct host *, const struct verdict *granted);
/* A port of the jail's localhost; config.inbound is set. */
void		 connector_inside(struct connector *, const struct ask_msg *q,
		    const struct host *, const struct verdict *granted);
/* For addresses that are vetted from now on; the caller keeps the old one. */
void		 connector_set_policy(struct connector *,
		    const struct policy *);
/* Drops all that is under way; nobody is called back. */
void		 connector_drop(struct connector *);
void		 connector_free(struct connector *);	/* NULL is fine */

#endif
