/*
 * keys: THE table of configuration keys.  A key is one row here and one
 * field of struct policy; readers, checks, merging, "did you mean", what
 * `config show` prints, the schema and the manual all come from the rows.
 * A row also says how the key behaves everywhere else: between layers, in a
 * running jail, with the host's network, inside another fence.  Whoever needs
 * to know walks policy_keys; there is no second list of key names.
 */
#ifndef FENCE_POLICY_KEYS_H
#define FENCE_POLICY_KEYS_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/base/err.h"
#include "policy/policy.h"

enum key_type {
	KEY_IGNORED,		/* any string; no field */
	KEY_STRLIST,		/* struct strlist */
	KEY_INTLIST,		/* struct intlist */
	KEY_STRMAP,		/* struct strmap */
	KEY_BOOL,		/* struct flag */
	KEY_TRISTATE,		/* struct tristate: also null */
	KEY_INT,		/* struct number */
	KEY_SIZE,		/* struct size: "2G" */
	KEY_DURATION,		/* struct duration: "30m" */
	KEY_ENUM,		/* struct choice: one of the row's words */
	KEY_STRING,		/* struct string */
};

/* Checks one string: may fill entry->pattern, or says what is wrong. */
typedef int	 key_check_fn(struct policy *, const struct policy_env *,
		    struct entry *, struct err *);

/*
 * Does more of the key let the command do more?  More entries, true, a later
 * word of a KEY_ENUM (see rank).  Numbers that restrict are limits: less is
 * stricter, and 0 is none.
 */
enum key_way {
	WAY_UNSAID,		/* no row is left at that */
	WAY_GRANTS,
	WAY_RESTRICTS,
	WAY_NEITHER,		/* says how, not whether */
};

/* Which values of a key do not hold in some circumstance? */
enum key_lost {
	LOST_NONE,		/* every value holds */
	/*
	 * No value that asks for something: entries, a number, a text; of a
	 * flag, false where true grants and true where true restricts.
	 */
	LOST_ALL,
	LOST_NARROW,		/* a list of hosts without "*" */
	LOST_URL,		/* a text that is a URL */
	LOST_WORD,		/* ... + n: word n of a KEY_ENUM */
};

/* Does a change act while a run lasts (--watch-policy)? */
enum key_live {
	LIVE_NEXT,		/* it waits for the next run */
	LIVE_NOW,
	LIVE_LESS,		/* only what it takes away */
	LIVE_FIXED,		/* such a change is refused */
};

struct key;

/*
 * Settles in the first layer what it and another layer say (settle.h).  NULL
 * in no row.
 */
typedef void	 key_settle_fn(const struct key *, struct policy *first,
		    const struct policy *layer);
/* Does the user's policy grant all that this entry of another asks for? */
typedef bool	 key_covers_fn(const struct policy *user,
		    const struct strlist *granted, const struct entry *asked);

struct key {
	const char	*name;		/* "network.allowedDomains" */
	enum key_type	 type;
	size_t		 offset;	/* into struct policy */
	enum key_way	 way;
	key_settle_fn	*settle;
	/* Beside entries that are the same; NULL: they alone cover. */
	key_covers_fn	*covers;
	/* Not told where an untrusted file asks for it in vain. */
	bool		 is_macos;
	bool		 is_mounted;	/* its paths become mounts */
	enum key_live	 live;
	enum key_lost	 direct;	/* with network.mode "direct" */
	enum key_lost	 nested;	/* inside another fence */
	enum key_lost	 built;		/* in this version of fence */
	const char	*direct_hint, *nested_hint;	/* or NULL */
	key_check_fn	*check;		/* of an entry or a string */
	const char *const *words;	/* KEY_ENUM; the first: fallback */
	/* How far each word goes in the row's way; NULL: as they stand. */
	const uint8_t	*rank;
	uint64_t	 min, max;	/* KEY_INT, KEY_INTLIST */
	bool		 may_be_lone;	/* a list of one as a plain string */
	const char	*schema;	/* regular expression for strings */
	const char	*fallback;	/* as JSON, for the manual */
	const char	*example;	/* as JSON, for the manual */
	const char	*help;		/* for people: one or two sentences */
};

extern const struct key	 policy_keys[];
extern const size_t	 policy_nkeys;

enum key_status {
	KEY_FOUND,		/* ret_key is a row */
	KEY_SECTION,		/* holds keys: "network", "macos.mach" */
	KEY_UNKNOWN,
};

/*
 * Looks up a dotted name, in any letter case.  spelling: as in the table;
 * ret_key: written for KEY_FOUND alone.
 */
enum key_status	 keys_find(const char *name, const struct key **ret_key,
		    char *spelling, size_t spelling_size);
/* The hint for an unknown key: "did you mean ...", or the section's keys. */
void		 keys_hint(const char *name, struct err *);
/* The hint for an unknown word of a KEY_ENUM. */
void		 keys_word_hint(const struct key *, const char *word,
		    struct err *);

/* A row's field in a policy; its type is the row's. */
void		*keys_field(const struct key *, struct policy *);
const void	*keys_cfield(const struct key *, const struct policy *);
/* The row whose field lies there (rule.h, KEY_OF), or NULL; and its name. */
const struct key *keys_at(size_t offset);
const char	*keys_name(size_t offset);
/* How far this word of a KEY_ENUM goes in the row's way. */
unsigned	 keys_rank(const struct key *, int word);
/* Is it a number where 0 is no limit, and less is stricter? */
bool		 keys_is_limit(const struct key *);
/*
 * Where the policy asks for a value that is lost (key->direct, nested or
 * built), or NULL.  A place without a file is the policy's as a whole.
 */
const struct origin	*keys_lost(const struct key *, enum key_lost,
			    const struct policy *);
/* Is 0 a value of this number, and not the same as nothing written? */
bool		 keys_has_zero(const struct key *);
/* Do two policies say the same?  Of texts, choices and flags. */
bool		 keys_same(const struct key *, const struct policy *a,
		    const struct policy *b);
/* The list inside of a KEY_STRLIST, KEY_INTLIST or KEY_STRMAP; or NULL. */
struct strlist	*keys_strlist(const struct key *, struct policy *);
const struct strlist	*keys_cstrlist(const struct key *,
			    const struct policy *);

#endif
