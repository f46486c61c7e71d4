/*
 * resolve_work: what the parts of resolve share while they work.  Not for
 * other files.
 */
#ifndef FENCE_POLICY_RESOLVE_WORK_H
#define FENCE_POLICY_RESOLVE_WORK_H

#include "policy/extends.h"
#include "policy/resolve.h"

enum { PROJECTS_MAX = 16 };	/* from cwd up to the trusted one */

/* A project file that was read. */
struct project {
	const char	*path;
	struct policy	*policy;	/* NULL where it became a layer */
	struct extends	 x;
	bool		 is_trusted;
};

struct work {
	const struct resolve_request *req;
	struct resolved		*ret;
	struct arena		*arena;
	const char		*user;
	const char		*canonical;
	bool			 has_via;	/* of a ceiling */
	struct project		 projects[PROJECTS_MAX];	/* nearest first */
	size_t			 nprojects;
	struct project		*trusted;	/* the policy, or NULL */
	struct extends_names	 files, notices;
	struct {
		struct extends_step	*v;
		size_t			 n, cap;
	} chain;
};

/* An empty chain whose relative paths begin at the workspace. */
struct extends	 resolve_begin(struct work *, const char *workspace);
/* What a chain found joins the result, in the order of the layers. */
void		 resolve_end(struct work *, struct extends *);
/* The policy of the user's own file, or the built-in one: the first layer. */
int		 resolve_user(struct work *, struct err *);

/* resolve_project.c: from cwd upwards to a trusted project file. */
int		 resolve_projects(struct work *, struct err *);

/* resolve_secret.c: nobody inside reads a file with a proxy's password. */
void		 resolve_hide(const struct resolve_request *,
		    struct policy **);

#endif
