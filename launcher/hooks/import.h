/*
 * import: other tools' settings as a policy of ours.  Each entry says in a
 * comment where it came from; whatever has no counterpart is a note, never
 * dropped in silence.  Pure: texts in, text out.
 */
#ifndef FENCE_LAUNCHER_IMPORT_H
#define FENCE_LAUNCHER_IMPORT_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "platform/base/err.h"

enum import_source {
	IMPORT_CLAUDE,		/* Claude Code's settings.json */
	IMPORT_SRT,		/* sandbox-runtime's settings */
	IMPORT_CODEX,		/* Codex's config.toml */
};

struct import_request {
	enum import_source source;
	const char	*file;		/* absolute; as it is shown */
	const char	*text;
	size_t		 len;
	const char	*home;		/* absolute */
	const char	*extends;	/* or NULL: the closed base */
};

struct import_entry {
	size_t		 key;		/* KEY_OF() */
	const char	*name;		/* of a map's, or NULL */
	const char	*value;		/* a string; or JSON where is_json */
	bool		 is_json;
	/* Claude's: a denial is not to be opened by what is allowed. */
	bool		 is_rule;
	const char	*from;		/* for the comment */
};

struct import {
	struct arena	*arena;
	struct import_request rq;
	struct { struct import_entry *v; size_t n, cap; } entries;
	struct { const char **v; size_t n, cap; } notes;
	size_t		 nrules;	/* that the file has, carried or not */
};

const char	*import_name(enum import_source);	/* "claude" */
/* Where it lies unless told, below the home. */
const char	*import_default_file(enum import_source);

/* -1: the text cannot be read.  import_release() in any case. */
int	 import_read(struct arena *, const struct import_request *,
	    struct import *ret, struct err *);
void	 import_release(struct import *);
/* The policy, JSONC. */
void	 import_put(const struct import *, struct buf *);

#endif
