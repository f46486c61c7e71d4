/*
 * cmdrule: one rule about commands, as command.deny, command.allow and the
 * lists of ssh have them, and whether the words of a simple command match.
 *
 * "git push" matches by its first words: the program by its last name, then
 * word by word; options before a word that is no option are passed over, a
 * word that ends in "=" may stand anywhere, further words do not matter.
 * "re:..." is a regular expression, looked for in the words joined by blanks.
 */
#ifndef FENCE_POLICY_CMDRULE_H
#define FENCE_POLICY_CMDRULE_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/base/err.h"
#include "policy/shwords.h"

struct arena;
struct policy;
struct regex;
struct strlist;

struct cmdrule {
	const char		*text;	/* as written */
	const char *const	*tokens;
	size_t			 ntokens;
	const struct regex	*regex;	/* or NULL */
};

enum cmd_match {
	CMD_NO,
	CMD_MAYBE,		/* an expansion decides */
	CMD_YES_WITHOUT,	/* where expansions give no words */
	CMD_YES,
};

/* name: the program's, without its folder. */
struct cmd_ask {
	const char		*name;
	const struct sh_word	*words;	/* the first: the program */
	size_t			 nwords;
};

int	 cmdrule_new(struct arena *, const char *text,
	    const struct cmdrule **ret, struct err *);
/*
 * is_denial: what a regular expression that gave up counts as.
 */
enum cmd_match	 cmdrule_match(const struct cmdrule *, const struct cmd_ask *,
		    bool is_denial);
/* The rule of the built-in list, or NULL. */
const char	*cmdrule_builtin(const struct cmd_ask *, enum cmd_match *);
/* The last name of a path: "/usr/bin/git" -> "git". */
const char	*cmdrule_last_name(const char *path);

/* The rules of a policy's lists, made by policy_index(). */
enum cmd_list { CMD_DENY, CMD_ALLOW, CMD_SSH_ALLOWED, CMD_SSH_DENIED,
    CMD_NLISTS };

struct cmd_index {
	const struct cmdrule	**v[CMD_NLISTS];	/* as the entries */
};

const struct strlist	*cmd_list_of(const struct policy *, enum cmd_list);
const struct cmd_index	*cmd_index_new(struct arena *, const struct policy *);
/* The best match of a list, and its entry. */
enum cmd_match	 cmd_index_find(const struct policy *, enum cmd_list,
		    const struct cmd_ask *, size_t *ret_entry);

#endif
