/*
 * agentconf: files in which agents keep state and what they execute side by
 * side: ~/.claude.json has the history and mcpServers, ~/.codex/config.toml
 * the theme and notify.  What a run wrote into such a file is compared with
 * what the host had, key by key; what the agent executes or what lowers its
 * own guard stays the host's.  Pure: bytes in, bytes out.
 *
 * A key is compared as the agents' readers see it: decoded, and, where state
 * is the rule, without regard to case.  What readers may disagree about (a key
 * that is written twice, a byte order mark, comments where the agent takes
 * none) makes a file unreadable.
 */
#ifndef FENCE_LAUNCHER_AGENTCONF_H
#define FENCE_LAUNCHER_AGENTCONF_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/base/arena.h"

enum { AGENTCONF_MAX = 16 * 1024 * 1024, AGENTCONF_KEYS_MAX = 16 };

enum agentconf_format { AGENTCONF_JSON, AGENTCONF_JSONC, AGENTCONF_TOML };

/* A row of the table. */
struct agentconf_file {
	/* Below $HOME; a "*" at its end stands for the rest of the name. */
	const char		*name;
	enum agentconf_format	 format;
	/* What keys are that no row of `keys` names: state, or not. */
	bool			 is_state;
	/*
	 * Exceptions to that, each a path of names with dots; "*" is any
	 * name.  A path speaks for all that is below it.  NULL ends.
	 */
	const char *const	*keys;
	/* These change by themselves: the host's, and not told.  May be NULL. */
	const char *const	*quiet;
};

extern const struct agentconf_file agentconf_files[];	/* ends with NULL */

/* name: below $HOME, ".codex/config.toml".  NULL: not of the table. */
const struct agentconf_file *agentconf_find(const char *name);

enum agentconf_verdict {
	AGENTCONF_SAME,		/* the same bytes */
	AGENTCONF_CARRIED,	/* other bytes, and no executing key differs */
	AGENTCONF_SIFTED,	/* text: the jail's, with the host's keys */
	AGENTCONF_UNREADABLE,	/* does not parse: the host's stays whole */
};

struct agentconf_answer {
	enum agentconf_verdict	 verdict;
	/* What the host is to have: of CARRIED `after`, of SAME and
	 * UNREADABLE `before`, else in the arena.  NULL: no file. */
	const char		*text;
	size_t			 len;
	/* SIFTED: keys that are the host's again, "mcpServers.x", decoded and
	 * not escaped; the first few.  none: quiet ones alone. */
	const char		*keys[AGENTCONF_KEYS_MAX];
	size_t			 nkeys;
	bool			 has_more;	/* keys than these */
	const char		*why;		/* UNREADABLE: one sentence */
};

/*
 * before: the host's bytes, NULL where it had no file (then no executing key
 * is its).  after: what the run left; never NULL.  A file of the host that does
 * not parse has no executing keys that are known: anything else is UNREADABLE.
 */
void	 agentconf_sift(struct arena *, const struct agentconf_file *,
	    const char *before, size_t before_len, const char *after,
	    size_t after_len, struct agentconf_answer *ret);

#endif
