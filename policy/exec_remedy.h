/* exec_remedy: the entry of a list that would permit a simple command. */
#ifndef FENCE_POLICY_EXEC_REMEDY_H
#define FENCE_POLICY_EXEC_REMEDY_H

#include <stdbool.h>

#include "policy/cmdrule.h"
#include "policy/verdict.h"

/*
 * Adds the command's leading words to the list `key`, or, where those would
 * permit more than `denied` refuses (NULL: more is fine), the text of `denied`
 * itself.  false: neither would match, nothing was written.
 */
bool	 exec_remedy_add(struct verdict *, size_t key, const struct cmd_ask *,
	    const struct cmdrule *denied);
/* The words as a shell would take them, cut to size with "...". */
void	 exec_words(const struct sh_word *, size_t n, char *buf, size_t size);

#endif
