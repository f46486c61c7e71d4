/*
 * rule: what spoke, where it is written and what would change the answer, as
 * data.  Deciders and the planner make these; they become text where they are
 * printed, by the functions below and nowhere else, and no text is ever
 * compared or taken apart again.
 */
#ifndef FENCE_POLICY_RULE_H
#define FENCE_POLICY_RULE_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/origin.h"

struct buf;

/* A key of the policy is known by where its field lies in struct policy. */
#define KEY_OF(member)	offsetof(struct policy, member)

enum rule_id {
	RULE_NONE,
	RULE_ENTRY,		/* an entry of a list: key, index, text */
	RULE_NO_ENTRY,		/* no entry of the list `key` matched */
	RULE_KEY,		/* a single value */
	RULE_PLACE,		/* text: what every jail has of its own */
	RULE_GUARD,		/* a guarded name (policy/guard.h) */
	RULE_SHADOW,		/* one of an agent's: the jail's own copy */
	RULE_OWN,		/* text: which file of fence's own */
	RULE_JAIL,		/* text: what the jail itself needs it for */
	RULE_PORT,		/* --port */
	RULE_OPTION,		/* text: another option that names a path */
	RULE_HOST,		/* bytes that are no host name */
	RULE_BUILTIN_COMMAND,	/* text: of the list of command.useDefaults */
};

struct rule {
	enum rule_id	 id;
	size_t		 key;		/* KEY_OF(), or 0 */
	size_t		 index;		/* RULE_ENTRY */
	const char	*text;		/* as written, or NULL */
	struct origin	 at;		/* of the entry; of the list or file */
};

enum remedy_kind {
	REMEDY_NONE,		/* no line of a policy helps */
	REMEDY_ADD,		/* an entry of `key`: value */
	REMEDY_ADD_NUMBER,	/* an entry of `key`: number */
	REMEDY_REMOVE,		/* the entry `value` of `key` */
	REMEDY_SET,		/* `key` to value */
	REMEDY_NO_PASSWORD,	/* `key` without its password */
	REMEDY_NEXT_RUN,	/* nothing: allowed since the run began */
	REMEDY_MUST_EXIST,	/* make what `key` names before the run */
	REMEDY_START_PROXY,	/* the proxy that `key` names */
	REMEDY_LOGIN,		/* a login for that proxy, in the file value */
	REMEDY_OTHER_LOGIN,	/* another one */
	REMEDY_PROXY_PORT,	/* the proxy has to allow port number */
	REMEDY_PROXY_KIND,	/* the proxy is of another kind: file value */
};

enum { REMEDY_VALUE = 4096 };

struct remedy {
	enum remedy_kind	 kind;
	bool			 has_flag;	/* an option does it once */
	size_t			 key;		/* KEY_OF() */
	unsigned		 number;
	char			 value[REMEDY_VALUE];	/* raw bytes */
};

/* "network.deniedDomains[1]", "built-in", "--port"; nothing for RULE_NONE. */
void	 rule_put(struct buf *, const struct rule *);
/*
 * The same with the text and place: `filesystem.denyRead[0] "~/.ssh" f:3:5`;
 * of what is no key's, its words.
 */
void	 rule_put_whole(struct buf *, const struct rule *);
/* "fence.jsonc:12:5", escaped; nothing where there is no file. */
void	 origin_put(struct buf *, const struct origin *);
/*
 * `network.allowedDomains += "x"` or `network.sni (set it to "off")`,
 * escaped; nothing for REMEDY_NONE.
 */
void	 remedy_put(struct buf *, const struct remedy *);
/* The same in three pieces, so that the middle may be shortened. */
void	 remedy_put_parts(const struct remedy *, struct buf *head,
	    struct buf *value, struct buf *tail);
/* The value alone: of an entry to add as it is, else "(instruction)". */
void	 remedy_put_value(struct buf *, const struct remedy *);
/* "-a", "-w", "-r", "--host-port", or "" where no option does it. */
const char	*remedy_flag(const struct remedy *);
bool	 remedy_same(const struct remedy *, const struct remedy *);

#endif
