/*
 * shunwrap: what else a simple command runs, as far as its words say: the
 * command behind sudo or env, the line behind "sh -c" or "su -c", an alias
 * that git is given, what a shell reads from a here-document.  One level: what
 * comes out may be looked through again.
 */
#ifndef FENCE_POLICY_SHUNWRAP_H
#define FENCE_POLICY_SHUNWRAP_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/shwords.h"

struct arena;

enum unwrap_kind {
	UNWRAP_ARGV,		/* words: a command */
	UNWRAP_LINE,		/* text: a shell line */
	UNWRAP_GUESS,		/* the same, of a language that is not ours */
	UNWRAP_ASSIGN,		/* words[0]: NAME=VALUE in its environment */
	UNWRAP_UNSEEN,		/* why */
};

struct unwrapped {
	enum unwrap_kind	 kind;
	const struct sh_word	*words;
	size_t			 nwords;
	struct sh_word		 text;
	bool			 is_posix;	/* not only bash may read it */
	enum exec_unseen	 why;
};

enum { UNWRAP_MAX = 64 };

struct unwrap {
	struct arena		*arena;
	/* The command, without its folder. */
	const char		*name;
	const struct sh_word	*words;
	size_t			 nwords;
	/* Where it stands, for what it reads; both may be NULL. */
	const struct sh_command	*command;
	const struct sh_line	*line;
	/* The command of a git alias, or NULL; may be NULL. */
	const char		*(*git_alias)(void *arg, const char *name);
	void			*arg;
	struct unwrapped	 v[UNWRAP_MAX];
	size_t			 n;
};

/* Fills v and n. */
void	 shunwrap(struct unwrap *);
/*
 * A variable that some program takes for a command: GIT_SSH_COMMAND=..., of
 * the form NAME=VALUE.  Adds to v.
 */
void	 shunwrap_assign(struct unwrap *, const struct sh_word *);

#endif
