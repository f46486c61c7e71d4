#include "platform/linux/seccomp.h"

#include <linux/filter.h>

enum seccomp_who
seccomp_choose(bool is_root, bool is_strict, bool may_nest)
{
	if (is_strict)
		return is_root ? SECCOMP_ROOT_STRICT : SECCOMP_USER_STRICT;
	if (may_nest)
		return is_root ? SECCOMP_ROOT_NESTED : SECCOMP_USER_NESTED;
	return is_root ? SECCOMP_ROOT : SECCOMP_USER;
}

#ifdef FENCE_FILTER_AT_RUN_TIME

int
seccomp_jail_filter(enum seccomp_who who, struct buf *out, struct err *e)
{
	return seccomp_make_filter(SECCOMP_HERE, who, out, e);
}

#else

/* Made by platform/linux/genfilter: filters[] of { code, number of them }. */
#include "platform/linux/filter.inc"

int
seccomp_jail_filter(enum seccomp_who who, struct buf *out, struct err *e)
{
	buf_add(out, filters[who].code, filters[who].n * sizeof
	    *filters[who].code);
	if (out->failed)
		return err_set(e, ERR_JAIL, "out of memory");
	return 0;
}

#endif
