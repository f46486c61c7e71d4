/*
 * explain: what the policy says about a path that a call of the jail named, as
 * it is written and as it leads on the host.
 */
#ifndef FENCE_LAUNCHER_EXPLAIN_H
#define FENCE_LAUNCHER_EXPLAIN_H

#include <stdbool.h>
#include <stddef.h>

#include "launcher/record/outside.h"
#include "platform/base/arena.h"
#include "policy/decide.h"
#include "policy/policy.h"

struct explain {
	const struct policy	*policy;	/* with its places, if any */
};

struct explained {
	const char	*path;		/* clean, as it was written */
	const char	*real;		/* where it leads; path if unknown */
	bool		 is_listing;	/* denied as FS_LIST, and not to read */
	bool		 is_way_hidden;	/* a link on the way is */
	struct verdict	 verdict;	/* of the former if both are allowed */
};

/*
 * Is the operation denied where the path really leads, or a link on the way
 * hidden?  This is what the mounts of a run hold.
 */
bool		 explain_place(const struct explain *, struct arena *,
		    enum fs_op, const char *cwd, const char *path,
		    struct explained *);
/*
 * Why was it refused?  The rule that names the path as it was written, else
 * that of the place, else what is missing for the path as written.  Returns
 * the clean path, or NULL if the policy refuses none of it.
 */
const char	*explain_path(const struct explain *, struct arena *,
		    enum fs_op, const char *cwd, const char *path,
		    struct explained *);
/*
 * The same for a write that the policy allows and that met a read-only
 * place.  A grant is a mount of what was there when the run began: a file
 * that a glob would match later, or a single one that was missing, stays
 * read-only.  NULL if the host's own place is read-only.
 */
const char	*explain_late(const struct explain *, struct arena *,
		    const char *cwd, const char *path, struct verdict *);

/* What a call was to do with a path, as far as the remedy depends on it. */
struct explain_deed {
	enum fs_op		 op;
	enum outside_need	 need;
	enum {
		NAME_STAYS,
		NAME_OPENED,	/* and made where it is missing */
		NAME_MADE,	/* mkdir, rename to it: it may not be there */
		NAME_GOES,
	}			 name;
	bool			 is_new;	/* it has to be missing */
	const char		*tree;	/* the folder that goes as a whole, or
					 * NULL */
};
/*
 * explain_path() of a call that makes or removes a name: it asks for the name
 * and for the folder that the name is in.  A symlink at the end is the name.
 */
const char	*explain_name(const struct explain *, struct arena *,
		    const char *cwd, const char *path, struct explained *);
/*
 * Puts right what the verdict offers, so that it works when it is followed, or
 * takes the offer back.  A name is made and removed by who may write its
 * folder; in the home directory or near the root, which nobody should grant for
 * one file, a file has to be made before the run.  A missing file cannot be
 * read, whatever is granted.  No line opens the kernel's own files (/proc,
 * /sys), nor files that their permissions keep closed.
 */
void		 explain_remedy(const struct explain *, struct arena *,
		    const struct explain_deed *, const struct explained *,
		    struct verdict *);
/* Would the host's permissions have refused it, without fence? */
bool		 explain_is_hosts(const struct explain_deed *,
		    const struct explained *);
/* Is it a place that the kernel makes up: no policy grants writing there. */
bool		 explain_is_kernels(const char *path);

/* The same for a program whose file is masked by a command rule. */
const char	*explain_program(const struct explain *, struct arena *,
		    const char *cwd, const char *path, struct verdict *);

/* Turns the verdict that grants such a path into its refusal. */
void		 explain_deny_late(struct verdict *);

#endif
