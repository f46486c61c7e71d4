/*
 * git's configuration: reading ends, and what is left when executing keys are
 * gone can be read, holds none, and says the same when it is cleaned again.
 */
#include <stdint.h>
#include <stdlib.h>
#include <string.h>

#include "launcher/guard/gitconf.h"

int	 LLVMFuzzerTestOneInput(const uint8_t *, size_t);

static bool
never(const char *worktree, void *arg)
{
	(void)worktree;
	(void)arg;
	return false;
}

int
LLVMFuzzerTestOneInput(const uint8_t *data, size_t len)
{
	struct gitconf_request rq = { .text = (const char *)data, .len = len,
	    .is_outside = never };
	struct buf clean, keys, none;

	buf_init(&clean, 0);
	buf_init(&keys, 0);
	buf_init(&none, 0);
	if (gitconf_clean(&rq, &clean, &keys)) {
		if (keys.len == 0)
			abort();
		rq.text = clean.data;
		rq.len = clean.len;
		/* Escapes may make it longer than what is read at all. */
		if (clean.len <= GITCONF_MAX &&
		    gitconf_clean(&rq, &none, &none))
			abort();
	} else if (keys.len != 0) {
		abort();
	}
	buf_release(&clean);
	buf_release(&keys);
	buf_release(&none);
	return 0;
}
