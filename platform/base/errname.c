#include "platform/base/errname.h"

#include <errno.h>
#include <stdio.h>

static const struct {
	int		 sys;
	const char	*name;
} errno_names[] = {
	{ EACCES, "EACCES" }, { EPERM, "EPERM" }, { EROFS, "EROFS" },
	{ ENOENT, "ENOENT" }, { EBUSY, "EBUSY" }, { EXDEV, "EXDEV" },
	{ ENOTDIR, "ENOTDIR" }, { EISDIR, "EISDIR" }, { ELOOP, "ELOOP" },
	{ ENOSYS, "ENOSYS" }, { ENOSPC, "ENOSPC" }, { ENXIO, "ENXIO" },
	{ ENETUNREACH, "ENETUNREACH" }, { EHOSTUNREACH, "EHOSTUNREACH" },
	{ ECONNREFUSED, "ECONNREFUSED" }, { ECONNRESET, "ECONNRESET" },
	{ ETIMEDOUT, "ETIMEDOUT" }, { ENETDOWN, "ENETDOWN" },
	{ EADDRNOTAVAIL, "EADDRNOTAVAIL" }, { EAFNOSUPPORT, "EAFNOSUPPORT" },
	{ EINVAL, "EINVAL" }, { EBADF, "EBADF" }, { ESRCH, "ESRCH" },
	{ EFAULT, "EFAULT" }, { ENODEV, "ENODEV" }, { EMFILE, "EMFILE" },
	{ ENOMEM, "ENOMEM" }, { EUSERS, "EUSERS" },
	{ EOPNOTSUPP, "EOPNOTSUPP" }, { EPROTONOSUPPORT, "EPROTONOSUPPORT" },
};

const char *
errname(int sys, char ret[ERRNAME_MAX])
{
	for (size_t i = 0; i < sizeof errno_names / sizeof *errno_names; i++)
		if (errno_names[i].sys == sys)
			return errno_names[i].name;
	(void)snprintf(ret, ERRNAME_MAX, "errno %d", sys);
	return ret;
}
