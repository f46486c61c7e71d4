/*
 * gitconf: git's configuration files, read as git reads them: bytes in, facts
 * out.  Which of their keys make git execute something is one table
 * (gitconf_keys.c).  Knows no files and starts nothing.
 *
 * What git would refuse to read, and what this reader does not take (NUL, a
 * file above GITCONF_MAX), is unreadable from there on.  git uses nothing of
 * such a file; other readers might, so all of it counts as executing.
 */
#ifndef FENCE_LAUNCHER_GITCONF_H
#define FENCE_LAUNCHER_GITCONF_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/base/buf.h"

enum { GITCONF_MAX = 1 << 20 };

/* "section.key" or "section.sub.key" as git spells it: section and key in
 * lower case, the part between as it is. */
struct gitconf_entry {
	const char	*name;
	const char	*value;		/* NULL: a key alone, which is "true" */
};

/* Calls fn for each, in order; -1: unreadable from there on. */
int	 gitconf_each(const char *text, size_t len,
	    void (*fn)(const struct gitconf_entry *, void *), void *arg);

enum gitconf_kind {
	GITCONF_PLAIN,
	GITCONF_EXECUTES,
	GITCONF_WORKTREE,	/* core.worktree: executes if it leads outside */
};
enum gitconf_kind	 gitconf_kind(const struct gitconf_entry *);

struct gitconf_request {
	const char	*text;
	size_t		 len;
	/* Does this core.worktree lead out of what the run could write?
	 * NULL: they all do. */
	bool		(*is_outside)(const char *worktree, void *);
	void		*arg;
};

/*
 * false: nothing executes.  true: clean is the file anew, with the entries
 * that do not (up to where it can be read), and keys are those that are gone,
 * "core.pager, alias.x", cut short if there are many; both are appended to.
 * Comments are not kept.
 */
bool	 gitconf_clean(const struct gitconf_request *, struct buf *clean,
	    struct buf *keys);

#endif
