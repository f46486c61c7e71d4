#include "platform/linux/bwrap.h"

#include <stdarg.h>
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
	/*
	 * No user namespace: the one around us is ours, and fence-init leaves
	 * it when it has mounted what it has to.  bwrap would make one by two
	 * processes that wait for each other, and own the mounts in it.
	 */
	args(b, "--unshare-ipc", "--unshare-pid", "--unshare-uts",
	    "--unshare-cgroup-try", "--as-pid-1", "--die-with-parent",
	    NULL);
	/* Not for the command: fence-init mounts /proc with the first, empties
	 * the bounding set with the second, and maps our uid, which is 0
	 * here, with the third (since Linux 5.12). */
	args(b, "--cap-drop", "ALL", "--cap-add", "CAP_SYS_ADMIN",
	    "--cap-add", "CAP_SETPCAP", "--cap-add", "CAP_SETFCAP", NULL);
	/* Nothing but what root.c made: read-only where it should be. */
	args(b, "--dev-bind", spec->is_apart ? ROOT_APART : "/", "/",
	    "--chdir", "/", NULL);
}
