#include "platform/linux/seccomp.h"

#include <linux/filter.h>

#ifdef FENCE_FILTER_AT_RUN_TIME

int
seccomp_jail_filter(enum seccomp_who who, struct buf *out, struct err *e)
{
	return seccomp_make_filter(who, out, e);
}

#else

/* Made by platform/linux/genfilter from the table of seccomp.c. */
#include "platform/linux/filter.inc"

int
seccomp_jail_filter(enum seccomp_who who, struct buf *out, struct err *e)
{
	if (who == SECCOMP_ROOT)
		buf_add(out, filter_root, sizeof filter_root);
	else
		buf_add(out, filter_user, sizeof filter_user);
	if (out->failed)
		return err_set(e, ERR_JAIL, "out of memory");
	return 0;
}

#endif
