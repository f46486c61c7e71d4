/*
 * exec_files: the files of commands that are denied by a single word, as PATH
 * and the usual directories give them.  Where commands are held by path
 * (exec_mode.h), these files are masked; a file that answers to other names,
 * too, is not: what it does depends on the name it is called by.
 */
#ifndef FENCE_LAUNCHER_EXEC_FILES_H
#define FENCE_LAUNCHER_EXEC_FILES_H

#include <stdbool.h>
#include <stddef.h>
#include <sys/types.h>

#include "platform/base/arena.h"
#include "policy/policy.h"
#include "policy/rule.h"

struct exec_file {
	const char		*path;		/* real */
	const struct rule	*rule;		/* the first that denies it */
	const char		*word;		/* by which it was found */
	const char		*other;		/* a name that is not denied */
	/* command.acceptSharedBinaryCannotRuntimeDeny names it. */
	bool			 is_accepted;
	dev_t			 dev;
	ino_t			 ino;
};

struct exec_files {
	struct exec_file	*v;		/* vec_release() */
	size_t			 n, cap;
};

/* search: as the command's PATH, or NULL.  shell: its file is left out. */
void	 exec_files_find(struct arena *, const struct policy *,
	    const char *search, const char *shell, struct exec_files *ret);
/* Is there one that answers to other names? */
bool	 exec_files_shared(const struct exec_files *);

#endif
