/*
 * keys: THE table of configuration keys.  A key is one row here and one
 * field of struct policy; readers, checks, merging, "did you mean", what
 * `config show` prints, the schema and the manual all come from the rows.
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

struct key {
	const char	*name;		/* "network.allowedDomains" */
	enum key_type	 type;
	size_t		 offset;	/* into struct policy */
	key_check_fn	*check;		/* of an entry or a string */
	const char *const *words;	/* KEY_ENUM; the first: fallback */
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
/* The name of the key whose field lies there (rule.h, KEY_OF). */
const char	*keys_name(size_t offset);
/* The list inside of a KEY_STRLIST, KEY_INTLIST or KEY_STRMAP; or NULL. */
struct strlist	*keys_strlist(const struct key *, struct policy *);
const struct strlist	*keys_cstrlist(const struct key *,
			    const struct policy *);

#endif
