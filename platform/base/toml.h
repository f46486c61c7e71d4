/*
 * toml: TOML 1.0 -> the same tree that JSON becomes (platform/base/jsontree.h),
 * for reading other tools' settings.  Pure and bounded.  Dates and times are
 * JSON_NUMBER with their text; floats, too.
 *
 * Of a value, start and end are its bytes, and key_start is where its line
 * begins to speak of it: the first byte of its key.  Of a table with a header
 * they are the header's.  A table that only dotted names made has none: end
 * is 0.  Of a list of tables each table has its own.
 */
#ifndef FENCE_BASE_TOML_H
#define FENCE_BASE_TOML_H

#include <stddef.h>

#include "platform/base/arena.h"
#include "platform/base/err.h"
#include "platform/base/jsontree.h"

enum { TOML_MAX = 4 * 1024 * 1024, TOML_DEPTH = 32 };

/*
 * *ret is an object, empty for an empty text.  -1: ERR_POLICY with file, line
 * and column.
 */
int	 toml_parse(struct arena *, const char *shown, const char *text,
	    size_t len, struct jnode **ret, struct err *);

#endif
