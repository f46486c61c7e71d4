/*
 * pattern: what one entry of a policy means.  Domains: "example.com",
 * "*.example.com" (any depth, not the apex), "*", literals of both
 * families.  Paths: absolute prefix (covers the subtree), or a glob with
 * '*', '?', '[...]' and '**' anywhere.
 */
#ifndef FENCE_POLICY_PATTERN_H
#define FENCE_POLICY_PATTERN_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/base/err.h"
#include "policy/host.h"
#include "policy/policy.h"

enum pattern_kind {
	PATTERN_DOMAIN,		/* exact name or literal: host */
	PATTERN_SUFFIX,		/* "*.x": text is "x" */
	PATTERN_ANY,		/* "*" */
	PATTERN_PATH,		/* text is a clean absolute path */
	PATTERN_GLOB,		/* text is a clean absolute glob */
};

struct pattern {
	enum pattern_kind	 kind;
	const char		*text;
	struct host		 host;		/* PATTERN_DOMAIN */
};

int	 pattern_domain(struct arena *, const char *text,
	    const struct pattern **ret, struct err *);
int	 pattern_path(struct arena *, const char *text,
	    const struct policy_env *, const struct pattern **ret,
	    struct err *);
bool	 pattern_match_host(const struct pattern *, const struct host *);
/*
 * Length of what matched (of the deepest matching ancestor-or-self for a
 * glob, of the prefix for a path), or 0 for no match.
 */
size_t	 pattern_match_path(const struct pattern *, const char *path);
/* Lexically: absolute, no "//", ".", ".."; NULL if it is too long. */
const char	*pattern_clean_path(struct arena *, const char *base,
		    const char *path);

#endif
