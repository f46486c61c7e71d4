/*
 * cure: what forbids user namespaces on this machine, and what would allow
 * them.  Reads settings alone; whether they are forbidden is seen by trying.
 */
#ifndef FENCE_LINUX_CURE_H
#define FENCE_LINUX_CURE_H

#include <stdbool.h>

struct cure {
	const char	*cause;		/* never NULL */
	const char	*cure;		/* below 160 bytes; never NULL */
};

/*
 * sys: the errno of clone, unshare or the writing of maps; is_map: it was
 * the latter.  Static strings.
 */
struct cure	 cure_userns(int sys, bool is_map);
/* Does a file hold this word and a newline?  For sysctls. */
bool		 cure_sysctl_is(const char *path, const char *value);

/* A /proc could not be mounted: EPERM. */
#define CURE_PROC	"something covers a part of /proc, as containers do: " \
	"docker/podman run --security-opt systempaths=unconfined"

#endif
