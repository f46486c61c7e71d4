/* What the readers of other tools' settings share. */
#ifndef FENCE_LAUNCHER_IMPORT_PARTS_H
#define FENCE_LAUNCHER_IMPORT_PARTS_H

#include "launcher/hooks/import.h"
#include "platform/base/jsontree.h"
#include "policy/policy.h"
#include "policy/rule.h"

/* The readers; each walks the tree of its file. */
void	 import_claude(struct import *, const struct jnode *);
void	 import_srt(struct import *, const struct jnode *);
void	 import_codex(struct import *, const struct jnode *);

/*
 * An entry of a list, if the key takes it; else a note.  at says where it
 * stands, from what it is, for people.
 */
void	 import_add(struct import *, size_t key, const char *value,
	    const struct jnode *at, const char *from);
/* The same; is_rule set. */
void	 import_add_rule(struct import *, size_t key, const char *value,
	    const struct jnode *at, const char *from);
void	 import_add_map(struct import *, size_t key, const char *name,
	    const char *value, const struct jnode *at, const char *from);
/* A value as JSON: "true". */
void	 import_set(struct import *, size_t key, const char *json,
	    const struct jnode *at, const char *from);
/* what at (file:line:column): why. */
void	 import_note(struct import *, const struct jnode *at,
	    const char *what, const char *fmt, ...)
	    __attribute__((format(printf, 4, 5)));

/* "network.allowedDomains": how the member is called from the outermost on. */
const char	*import_where(struct import *, const struct jnode *);

/*
 * A list of strings under one of our keys, each through fn (NULL: as it is).
 * Anything but a list of strings is a note.
 */
void	 import_list(struct import *, const struct jnode *list,
	    size_t key, const char *(*fn)(struct import *,
	    const char *));
/* A member that has no counterpart: why, and what it says. */
void	 import_left(struct import *, const struct jnode *,
	    const char *why);

/* Members of an object and what becomes of each. */
struct import_row {
	const char	*name;
	size_t		 key;		/* of ours, KEY_OF(); or 0 */
	const char	*why;		/* without key: why not */
	const char	*(*fn)(struct import *, const char *);
};
/* Rows end with name NULL; members that no row has are notes. */
void	 import_member(struct import *, const struct jnode *,
	    const struct import_row *);
void	 import_rows(struct import *, const struct jnode *object,
	    const struct import_row *);

/* Backslashes before what means something in our paths and not in theirs. */
const char	*import_escape(struct import *, const char *path);
/* "~/x" where it is below the home. */
const char	*import_short(struct import *, const char *path);

#endif
