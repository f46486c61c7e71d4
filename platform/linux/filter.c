#include "platform/linux/seccomp.h"

#include <linux/filter.h>

#ifdef FENCE_FILTER_AT_RUN_TIME

int
seccomp_jail_filter(struct buf *out, struct err *e)
{
	return seccomp_make_filter(out, e);
}

#else

/* Made by platform/linux/genfilter from the table of seccomp.c. */
static const struct sock_filter filter[] = {
#include "platform/linux/filter.inc"
};

int
seccomp_jail_filter(struct buf *out, struct err *e)
{
	buf_add(out, filter, sizeof filter);
	if (out->failed)
		return err_set(e, ERR_JAIL, "out of memory");
	return 0;
}

#endif
