/*
 * keys: THE table of configuration keys.  A key is one row here and one
 * field of struct policy; reader, checks, "did you mean" and the hints that
 * list keys all come from the rows.
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
};

/* Compiles one entry: fills entry->pattern, or says what is wrong. */
typedef int	 key_check_fn(struct policy *, const struct policy_env *,
		    struct entry *, struct err *);

struct key {
	const char	*name;		/* "network.allowedDomains" */
	enum key_type	 type;
	size_t		 offset;	/* into struct policy */
	key_check_fn	*check;
	const char	*help;		/* for people: one or two sentences */
};

extern const struct key	 policy_keys[];
extern const size_t	 policy_nkeys;

enum key_status {
	KEY_FOUND,		/* ret_key is a row */
	KEY_SECTION,		/* holds keys: "network", "macos.mach" */
	KEY_NOT_BUILT,		/* known, and not in this version */
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

/* The field of a KEY_STRLIST row. */
struct strlist	*keys_strlist(const struct key *, struct policy *);

#endif
