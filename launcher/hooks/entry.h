/*
 * entry: what stands in an agent's file for fence: made, found again, added
 * and taken out.  Pure: texts in, texts out.
 */
#ifndef FENCE_LAUNCHER_HOOK_ENTRY_H
#define FENCE_LAUNCHER_HOOK_ENTRY_H

#include <stdbool.h>
#include <stddef.h>

#include "launcher/hooks/agent.h"
#include "platform/base/arena.h"
#include "platform/base/buf.h"
#include "platform/base/err.h"

/* How the agent is to call us. */
struct entry_call {
	const char	*program;	/* absolute */
	const char	*const *args;	/* end in NULL */
};

/* What a file holds of ours. */
struct entry_found {
	unsigned	 n;		/* entries that call fence */
	bool		 is_as_wanted;	/* they are those that we would add */
	const char	*program;	/* of the first of them; or NULL */
	const char	*command;	/* its whole call, or NULL */
};

/*
 * Does a command line, as an agent's file has it, call fence's hook for this
 * agent, ours or the Go program's?  *ret_program may be NULL.
 */
bool	 entry_is_call(struct arena *, const struct agent *,
	    const char *line, const char **ret_program);

/*
 * Finds the entry in the text; call may be NULL.  -1: not readable.  shown
 * names the file in errors.
 */
int	 entry_find(struct arena *, const struct agent *,
	    const struct entry_call *, const char *shown, const char *text,
	    size_t len, struct entry_found *ret, struct err *);
/* The text with our entries instead of all that were ours before. */
int	 entry_add(struct arena *, const struct agent *,
	    const struct entry_call *, const char *shown, const char *text,
	    size_t len, struct buf *ret, struct err *);
/* The text without them, and without what they alone were in. */
int	 entry_remove(struct arena *, const struct agent *,
	    const char *shown, const char *text, size_t len,
	    struct buf *ret, struct err *);

/* For Hermes, in entry_yaml.c. */
int	 entry_yaml_find(struct arena *, const struct agent *,
	    const struct entry_call *, const char *text,
	    struct entry_found *ret, struct err *);
int	 entry_yaml_add(struct arena *, const struct agent *,
	    const struct entry_call *, const char *shown, const char *text,
	    struct buf *ret, struct err *);
int	 entry_yaml_remove(struct arena *, const struct agent *,
	    const char *text, struct buf *ret);

/* "/usr/bin/fence hook codex", quoted for a shell. */
const char	*entry_line(struct arena *, const struct entry_call *);

#endif
