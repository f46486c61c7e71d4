/*
 * suggest: the entries of a policy that would allow what a trace says was
 * refused, each once, as the refusals' own remedies name them.  Nothing is
 * widened: two files of a folder are two entries.
 */
#ifndef FENCE_LAUNCHER_HISTORY_SUGGEST_H
#define FENCE_LAUNCHER_HISTORY_SUGGEST_H

#include "launcher/history/history.h"

enum { SUGGEST_ENTRIES = 1000 };	/* more is no policy anybody reads */

struct suggest_entry {
	const char	*key;		/* of policy/keys.c, a list */
	const char	*value;
	bool		 is_number;
	bool		 is_claim;	/* only processes inside said so */
	uint64_t	 count;
};

struct suggest {
	struct suggest_entry *v;	/* in the order of the records */
	size_t		 n, cap;	/* vec_release() */
	uint64_t	 without;	/* refusals that no entry would allow */
	uint64_t	 left_out;	/* beyond SUGGEST_ENTRIES */
};

void	 suggest_find(const struct history *, struct suggest *);
/*
 * The text of a policy (JSONC) with these entries; an entry that a list has
 * already is passed over.  -1: it is no policy's text.
 */
int	 suggest_apply(struct arena *, const struct suggest *,
	    const char *shown, const char *text, size_t len, struct buf *ret,
	    struct err *);

/*
 * Lines beginning with '#' that name the entries which only processes inside
 * asked for; nothing where there are none.
 */
void	 suggest_put_claims(struct buf *, const struct suggest *);

#endif
