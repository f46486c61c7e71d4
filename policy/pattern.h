/*
 * pattern: what one entry of a policy means, compiled once and matched often.
 * Everything lives in the caller's arena.
 *
 * pattern_host.c: domains.  "example.com", "*.example.com" (any depth, not the
 * apex), "*", literals and ranges of both families ("10.0.0.0/8",
 * "2001:db8::/32"), each with a port or without: "[::1]:443",
 * "*.example.com:443".  Names in other scripts become their ASCII form.
 *
 * pattern_path.c: paths.  An absolute prefix (covers the subtree), or a glob
 * with '*', '?', '[...]', '{a,b}' and '**' anywhere; a backslash takes the next
 * character as it is.
 */
#ifndef FENCE_POLICY_PATTERN_H
#define FENCE_POLICY_PATTERN_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/base/err.h"
#include "policy/host.h"
#include "policy/policy.h"

enum pattern_kind {
	PATTERN_DOMAIN,		/* exact name or literal: host */
	PATTERN_SUFFIX,		/* "*.x": text is "x" */
	PATTERN_ANY,		/* "*" */
	PATTERN_CIDR,		/* host is the first address, bits the length */
	PATTERN_PATH,		/* text is a clean absolute path */
	PATTERN_GLOB,		/* text is a clean absolute glob */
};

enum { PATTERN_ALTS_MAX = 64 };		/* what braces may become */

struct pattern {
	enum pattern_kind	 kind;
	/* Where braces give several: a glob that covers them all. */
	const char		*text;
	size_t			 len;		/* of a path's text */
	struct host		 host;		/* PATTERN_DOMAIN, _CIDR */
	unsigned		 bits;		/* PATTERN_CIDR */
	uint16_t		 port;		/* of a host; 0: every one */
	/* Of braces, and of two homes; none of them has alts. */
	const struct pattern	**alts;
	size_t			 nalts;
};

/* In the arena; the text is the caller's.  For pattern_host and _path. */
struct pattern	*pattern_new(struct arena *, enum pattern_kind,
		    const char *text);

int	 pattern_domain(struct arena *, const char *text,
	    const struct pattern **ret, struct err *);
int	 pattern_path(struct arena *, const char *text,
	    const struct policy_env *, const struct pattern **ret,
	    struct err *);
/* The same, where "~" means env->home and, if there is one, other_home. */
int	 pattern_denial(struct arena *, const char *text,
	    const struct policy_env *, const struct pattern **ret,
	    struct err *);
/* The port is the caller's to compare. */
bool	 pattern_match_host(const struct pattern *, const struct host *);
/* Do both mean the same?  NULL means nothing. */
bool	 pattern_equal(const struct pattern *, const struct pattern *);
const struct pattern	*pattern_copy(struct arena *, const struct pattern *);
/*
 * Length of what matched (of the deepest matching ancestor-or-self for a
 * glob, of the prefix for a path), or 0 for no match.
 */
size_t	 pattern_match_path(const struct pattern *, const char *path);
/* Lexically: absolute, no "//", ".", ".."; NULL if it is too long. */
const char	*pattern_clean_path(struct arena *, const char *base,
		    const char *path);

#endif
