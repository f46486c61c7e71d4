/*
 * regex: the one door to PCRE2.  A pattern belongs to its arena; a match has
 * limits of steps, depth and memory, so a hostile subject costs bounded time.
 * Interpreted, never compiled to machine code.  Bytes, not characters.
 */
#ifndef FENCE_POLICY_REGEX_H
#define FENCE_POLICY_REGEX_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/base/err.h"

struct arena;
struct regex;

enum regex_answer {
	REGEX_NO,
	REGEX_YES,
	REGEX_PARTLY,		/* yes, if the right bytes followed */
	REGEX_LIMIT,		/* gave up */
};

int	 regex_new(struct arena *, const char *pattern, struct regex **ret,
	    struct err *);
/* Anywhere in the subject.  is_cut: more may follow it (REGEX_PARTLY). */
enum regex_answer	 regex_match(const struct regex *, const char *subject,
			    size_t len, bool is_cut);

#endif
