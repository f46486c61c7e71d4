/* callwhy: why the jail's filter refuses a call, by the filter's own table. */
#include "platform/calls.h"

#include <string.h>

#include "platform/linux/seccomp.h"

/* Is it a row about this very value of the argument that decides? */
static bool
is_about(const struct seccomp_row *row, uint32_t arg)
{
	return row->test[0].mask != 0 && arg != 0 &&
	    (row->test[0].value == arg || row->test[1].value == arg);
}

const char *
calls_why(const char *name, uint32_t arg)
{
	const char *why = NULL;

	for (size_t i = 0; i < seccomp_nrows; i++) {
		const struct seccomp_row *row = &seccomp_rows[i];

		if (row->error == 0 || strcmp(row->name, name) != 0)
			continue;
		why = row->why;
		if (is_about(row, arg))
			break;
	}
	return why;
}
