/*
 * suspect: names that look like data being carried out.  Nothing leaves by a
 * refused name, but that somebody tried is worth a word: a label as long as
 * encoded bytes are, or ever new names below one domain.  Told once a domain;
 * its memory is bounded, so that of very many domains some go untold.
 */
#ifndef FENCE_LAUNCHER_SUSPECT_H
#define FENCE_LAUNCHER_SUSPECT_H

#include <stdbool.h>
#include <stdint.h>

enum {
	SUSPECT_DOMAINS = 64,
	SUSPECT_LABEL = 40,	/* bytes; 25 of them in base32 */
	SUSPECT_NAMES = 24,	/* different ones, about */
};

struct suspect {
	struct suspect_domain {
		char		name[256];
		uint64_t	seen;		/* a bit a name, by its hash */
		bool		is_told;
	}	domain[SUSPECT_DOMAINS];
	unsigned	n;
};

/*
 * A canonical name was refused.  True if that is to be told; *ret_domain is
 * the domain it is about, a part of the name.
 */
bool	 suspect_name(struct suspect *, const char *name,
	    const char **ret_domain);

#endif
