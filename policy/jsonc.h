/* jsonc: JSON with comments -> policy, row by row of policy/keys.h. */
#ifndef FENCE_POLICY_JSONC_H
#define FENCE_POLICY_JSONC_H

#include <stddef.h>

#include "policy/load.h"

/* Reports what is wrong; a mistake of syntax ends the reading. */
void	 jsonc_read(struct load *, const char *text, size_t len);

#endif
