#include "platform/linux/bwrap.h"

#include <stdarg.h>
#include <string.h>

#include "platform/base/str.h"

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

size_t
bwrap_data_fds(const struct jail_spec *spec)
{
	size_t n = 0;

	for (size_t i = 0; i < spec->nmounts; i++)
		n += spec->mounts[i].kind == MOUNT_MASK_FILE;
	return n;
}

/* A masked directory with a grant below it must let a walk pass through. */
static bool
has_inner(const struct jail_spec *spec, size_t i)
{
	const struct jail_mount *m = &spec->mounts[i];

	for (size_t k = i + 1; k < spec->nmounts; k++) {
		const struct jail_mount *o = &spec->mounts[k];

		if ((o->kind == MOUNT_RO || o->kind == MOUNT_RW) &&
		    strcmp(o->path, m->path) != 0 &&
		    str_path_below(o->path, m->path))
			return true;
	}
	return false;
}

static void
one_mount(const struct jail_spec *spec, size_t i, const int **data_fd,
    struct buf *b)
{
	const struct jail_mount *m = &spec->mounts[i];
	char num[16];

	switch (m->kind) {
	case MOUNT_RO:
		args(b, "--ro-bind", m->path, m->path, NULL);
		break;
	case MOUNT_RW:
		args(b, "--bind", m->path, m->path, NULL);
		break;
	case MOUNT_TMPFS:
		args(b, "--perms", "1777", "--tmpfs", m->path, NULL);
		break;
	case MOUNT_MASK_DIR:
		args(b, "--perms", has_inner(spec, i) ? "0111" : "0000",
		    "--tmpfs", m->path, NULL);
		break;
	case MOUNT_MASK_FILE:
		snprintf(num, sizeof num, "%d", *(*data_fd)++);
		args(b, "--perms", "0000", "--ro-bind-data", num, m->path,
		    NULL);
		break;
	case MOUNT_DEV:
		args(b, "--dev", m->path, NULL);
		break;
	case MOUNT_PROC:
		/* Read-only: to uid 0 /proc/sys is writable without any
		 * capability, and core_pattern is a way out. */
		args(b, "--proc", m->path, "--remount-ro", m->path, NULL);
		break;
	}
}

void
bwrap_args(const struct jail_spec *spec, const int *data_fds, struct buf *b)
{
	args(b, "--unshare-user", "--unshare-ipc", "--unshare-pid",
	    "--unshare-uts", "--unshare-cgroup-try", "--as-pid-1",
	    "--die-with-parent", "--cap-drop", "ALL", NULL);
	for (size_t i = 0; i < spec->nmounts; i++)
		one_mount(spec, i, &data_fds, b);
	/* Last: the mount points inside a masked directory are made first. */
	for (size_t i = 0; i < spec->nmounts; i++)
		if (spec->mounts[i].kind == MOUNT_MASK_DIR)
			args(b, "--remount-ro", spec->mounts[i].path, NULL);
	args(b, "--chdir", "/", NULL);
}
