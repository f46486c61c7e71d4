#include "shim/hook.h"

#include <sys/socket.h>

#include "shim/report.h"

HOOK(int, connect, (int fd, const struct sockaddr *sa, socklen_t len))
{
	int rv = REAL(connect)(fd, sa, len);

	if (rv < 0 && told_by_kernel(errno))
		report_connect(sa, len, errno);
	return rv;
}
