/*
 * str: borrowed slices, strict numbers, and the one escape that every byte
 * from the jail or the network passes before a terminal sees it.
 */
#ifndef FENCE_BASE_STR_H
#define FENCE_BASE_STR_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "platform/base/buf.h"

struct str {
	const char	*p;
	size_t		 len;
};

struct str	 str_of(const char *);
bool		 str_eq(struct str, const char *);
bool		 str_caseeq(struct str, const char *);		/* ASCII */
/* Only digits, no sign, no blank, no leading zero but "0", at most max. */
int		 str_to_u64(struct str, uint64_t max, uint64_t *ret);

/* Length and code point of the UTF-8 character at s; 0: not valid. */
size_t		 str_utf8(const char *s, size_t len, uint32_t *ret);
/* Adds a code point, which must be one. */
void		 str_put_utf8(struct buf *, uint32_t);
/* Controls, and characters that change how their neighbours look. */
bool		 str_is_deceptive(uint32_t);

/*
 * Valid UTF-8 above U+009F and printable ASCII pass; everything else becomes
 * \xNN (and \ becomes \\).  Bidirectional and invisible format characters
 * are escaped too.  quote: also escape that character ('"' or '\''), or 0.
 */
void		 str_escape(struct buf *, const char *, size_t, char quote);

/* Damerau-Levenshtein distance, for "did you mean"; strings up to 64. */
unsigned	 str_distance(const char *, const char *);

/* FNV-1a of 32 bits, of a string or byte by byte from this start. */
#define STR_HASH_START	UINT32_C(2166136261)

static inline uint32_t
str_hash_add(uint32_t hash, unsigned char c)
{
	return (hash ^ c) * UINT32_C(16777619);
}

uint32_t	 str_hash(const char *, size_t);

/* "/a/b" is below "/a" and below itself; "/ab" is not.  Both clean paths. */
bool		 str_path_below(const char *path, const char *root);

#endif
