/*
 * line: what a hook has to know of a shell's line beside what the deciders say
 * of it.  Pure.
 */
#ifndef FENCE_LAUNCHER_HOOK_LINE_H
#define FENCE_LAUNCHER_HOOK_LINE_H

#include <stdbool.h>
#include <stddef.h>

#include "platform/base/arena.h"
#include "platform/base/buf.h"

/*
 * A `cd` and nothing else: no other command, no redirection, no substitution.
 * It must stay as it is, or the agent's shell does not move.
 */
bool	 line_is_cd(const char *line);

/*
 * The line that `prefix -c 'LINE'` hands on, unquoted, where that is all of
 * it; else NULL.  prefix is what line_prefix() makes.
 */
const char	*line_wrapped(struct arena *, const char *line,
		    const char *prefix);

/*
 * One word from *at, without its quotes, cut at LINE_WORD_MAX.  False: there is
 * none before the command ends.  Substitutions are left in as text.
 */
enum { LINE_WORD_MAX = 4096 };
bool	 line_next_word(const char **at, char word[LINE_WORD_MAX]);
/* "NAME=...": an assignment, where it stands before a command. */
bool	 line_is_assignment(const char *word);

/* In single quotes, unless every byte is harmless to a shell. */
void	 line_quote(struct buf *, const char *word);
void	 line_quote_always(struct buf *, const char *word);

#endif
