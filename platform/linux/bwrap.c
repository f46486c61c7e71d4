#include "platform/linux/bwrap.h"

#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "platform/linux/root.h"

static void
arg(struct buf *b, const char *s)
{
	buf_add(b, s, strlen(s) + 1);
}

static void
args(struct buf *b, const char *first, ...)
{
	va_list ap;

	va_start(ap, first);
	for (const char *s = first; s != NULL; s = va_arg(ap, const char *))
		arg(b, s);
	va_end(ap);
}

void
bwrap_args(const struct jail_spec *spec, struct buf *b)
{
	char uid[16], gid[16];

	snprintf(uid, sizeof uid, "%u", (unsigned)spec->uid);
	snprintf(gid, sizeof gid, "%u", (unsigned)spec->gid);
	args(b, "--unshare-user", "--uid", uid, "--gid", gid,
	    "--unshare-ipc", "--unshare-pid", "--unshare-uts",
	    "--unshare-cgroup-try", "--as-pid-1", "--die-with-parent",
	    NULL);
	/* Not for the command: fence-init mounts /proc with the one and
	 * empties the bounding set with the other. */
	args(b, "--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN",
	    "--cap-add", "CAP_SETPCAP", NULL);
	/* Nothing but what root.c made: read-only where it should be. */
	args(b, "--dev-bind", spec->is_apart ? ROOT_APART : "/", "/",
	    "--chdir", "/", NULL);
}
