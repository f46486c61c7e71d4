/*
 * load: what the readers of both notations share.  Names are found and seen
 * once, values are checked and stored, errors are gathered with place and
 * key.  A reader goes on after an error that load_*() reported.
 */
#ifndef FENCE_POLICY_LOAD_H
#define FENCE_POLICY_LOAD_H

#include <stdbool.h>
#include <stddef.h>

#include "policy/keys.h"
#include "policy/policy.h"

enum { LOAD_NAME_BYTES = 96 };	/* of a dotted name; longer: unknown */
enum { LOAD_MAP_MAX = 256 };	/* names of a map: looked through */

struct load_seen;
struct load_list;

struct load {
	struct policy			*policy;
	const struct policy_env		*env;
	struct errlist			*errs;
	struct { struct load_seen *v; size_t n, cap; } seen;
	struct { const char **v; size_t n, cap; } warnings;
	struct load_list		*lists;		/* one per row */
};

void	 load_init(struct load *, struct policy *, const struct policy_env *,
	    struct errlist *);
/* Moves lists and warnings into the policy; 0 if nothing was reported. */
int	 load_finish(struct load *);

/* One error more; its place and key are added. */
void	 load_report(struct load *, struct origin, const char *key,
	    struct err *);

/*
 * The name as written inside of section ("" for the top), and its place.
 * What is unknown or was there before is reported: KEY_UNKNOWN.
 * is_again_fine: an INI list goes on in its next line.
 */
enum key_status	 load_name(struct load *, const char *section,
		    const char *name, struct origin, bool is_again_fine,
		    const struct key **ret_key,
		    char spelling[LOAD_NAME_BYTES]);

/* A whole section's dotted name, as INI writes it. */
enum key_status	 load_section(struct load *, const char *name, struct origin,
		    const struct key **ret_key,
		    char spelling[LOAD_NAME_BYTES]);

/* Lists of a section ("" for all) that are not written have its place. */
void	 load_place(struct load *, const char *section, struct origin);

/* The key is written, with nothing in it so far. */
void	 load_list_begin(struct load *, const struct key *, struct origin);
/* One entry; name: of a map's. number: the text is a number, not a string. */
void	 load_entry(struct load *, const struct key *, const char *name,
	    const char *text, bool is_number, struct origin);
/* Has the map an entry of that name ("!x": one that takes x away)? */
bool	 load_has_name(const struct load *, const struct key *,
	    const char *name);
/* Values.  text is what stands there; all kinds but lists and maps. */
void	 load_bool(struct load *, const struct key *, bool, struct origin);
void	 load_null(struct load *, const struct key *, struct origin);
void	 load_number(struct load *, const struct key *, const char *text,
	    struct origin);
void	 load_string(struct load *, const struct key *, const char *text,
	    struct origin);
/* "expected WHAT, found FOUND"; what: by the row's type. */
void	 load_wrong_type(struct load *, const struct key *, struct origin,
	    const char *found);

#endif
