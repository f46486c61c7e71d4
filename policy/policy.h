/*
 * policy: what the command may touch.  Owned by its arena and unchanging
 * once loaded; every value remembers where it was written.
 */
#ifndef FENCE_POLICY_POLICY_H
#define FENCE_POLICY_POLICY_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/base/err.h"
#include "policy/origin.h"

struct arena;
struct pattern;

/* One entry of a list: the text as written and what it was compiled to. */
struct entry {
	const char		*text;
	struct origin		 at;
	const struct pattern	*pattern;	/* policy/pattern.h */
};

struct strlist {
	struct entry	*v;
	size_t		 n;
	struct origin	 at;	/* of the list; of the section or the file
				 * where the key is not written */
	bool		 is_set;
};

/* Where relative paths, "~" and "$VAR" of a policy lead. */
struct policy_env {
	const char	*workspace;	/* absolute, resolved */
	const char	*home;		/* absolute, or NULL */
	char *const	*environ;	/* for $VAR; NULL for none */
};

struct policy {
	struct arena	*arena;
	const char	*name;		/* as shown: file or "<built-in X>" */
	const char	*workspace;
	const char	*home;		/* or NULL */
	struct {
		struct strlist	 allowed_domains;
		struct strlist	 denied_domains;
	} net;
	struct {
		struct strlist	 allow_write;
		struct strlist	 deny_write;
		struct strlist	 deny_read;
		/* Never writable, and no line opens them: policy_own(). */
		struct strlist	 own;
	} fs;
	/* Whole sentences with their place, for the log. */
	const char	**warnings;
	size_t		 nwarnings;
};

enum { POLICY_MAX_BYTES = 1024 * 1024 };	/* of one file */

/* Reads FILE (--settings).  All errors carry file:line:column and key. */
int	 policy_load_file(const char *path, const struct policy_env *,
	    struct policy **ret, struct err *);
/* A policy compiled into the program: "workspace-write". */
int	 policy_load_builtin(const char *name, const struct policy_env *,
	    struct policy **ret, struct err *);
/* Pure: text that is already in memory. `shown` is copied. */
int	 policy_parse(const char *text, size_t len, const char *shown,
	    const struct policy_env *, struct policy **ret, struct err *);
/*
 * A file of fence's own (the policy in force, the record of the run), by its
 * real path: read-only inside, whatever the lists say.  what: for the record.
 */
void	 policy_own(struct policy *, const char *path, const char *what);
void	 policy_free(struct policy *);

#endif
