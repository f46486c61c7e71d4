/*
 * ini: the INI notation -> policy, row by row of policy/keys.h.
 *
 *	profile = strict
 *	[network]
 *	allowedDomains = example.com
 *	allowedDomains = *.example.org
 *	[filesystem]
 *	allowWrite =
 *	    .
 *	    ~/.cache
 *	[env.set]
 *	CI = 1
 *
 * A list is one entry a line: the key again, or an indented line.  Comments
 * begin with ';' or '#', in a line of values with " ;".  A value in double
 * quotes is a JSON string.  What INI readers disagree about is an error.
 */
#ifndef FENCE_POLICY_INI_H
#define FENCE_POLICY_INI_H

#include <stddef.h>

#include "policy/load.h"

void	 ini_read(struct load *, const char *text, size_t len);

#endif
