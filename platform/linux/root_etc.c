/*
 * Masks of files below /etc that need no mount.  The jail's /etc is an overlay
 * of files of ours over the host's, so an empty file of mode 0000 among ours
 * hides the host's of that name, whatever the host puts there later.  A mount
 * costs twenty system calls and a place in every list of mounts, and root's
 * jail has a dozen such masks.
 *
 * A name in a folder of /etc is hidden this way if the folder belongs to the
 * user of the jail: the folder of ours that the overlay merges with it then
 * has the same owner and mode.  Folders themselves are masked by mounts: ours
 * and the host's would be merged, and only the mode would hide the host's.
 */
#include "platform/linux/root.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <unistd.h>

#include "platform/linux/early.h"

enum { OVERLAY_MAGIC = 0x794c7630 };

bool
root_in_overlay(int fd)
{
	struct statfs fs;

	return fstatfs(fd, &fs) == 0 && fs.f_type == OVERLAY_MAGIC;
}

/* A folder of ours, which the overlay merges with the host's. */
static int
make_merged(const char *host, const char *ours)
{
	struct stat st;

	if (lstat(host, &st) != 0 || !S_ISDIR(st.st_mode) ||
	    st.st_uid != geteuid() || st.st_gid != getegid())
		return -1;
	return mkdir(ours, 0700) == 0 ? chmod(ours, st.st_mode & 07777) :
	    errno == EEXIST ? 0 : -1;
}

/* The folder below /etc that the name lies in, if that is one level deep. */
static int
make_folder(const char *path, const char *name, const char *etc_dir)
{
	char host[PATH_MAX], ours[PATH_MAX];
	const char *slash = strchr(name, '/');
	size_t len;

	if (slash == NULL)
		return 0;
	if (strchr(slash + 1, '/') != NULL ||
	    early_join(host, path, "") != 0 ||
	    early_join(ours, etc_dir, path + strlen("/etc")) != 0)
		return -1;
	len = (size_t)(slash - name);
	host[strlen("/etc/") + len] = '\0';
	ours[strlen(etc_dir) + 1 + len] = '\0';
	return make_merged(host, ours);
}

static bool
put_entry(const struct jail_mount *m, const char *etc_dir)
{
	char ours[PATH_MAX];

	if (make_folder(m->path, m->path + strlen("/etc/"), etc_dir) != 0 ||
	    early_join(ours, etc_dir, m->path + strlen("/etc")) != 0)
		return false;
	/* EEXIST: a file that every jail has there is masked by a mount. */
	return early_write(ours, O_CREAT | O_EXCL, 0, "", 0) == 0;
}

void
root_mask_etc(struct root *r, const char *etc_dir)
{
	for (size_t i = 0; i < r->spec->nmounts; i++) {
		const struct jail_mount *m = &r->spec->mounts[i];

		if (m->kind == MOUNT_MASK_FILE &&
		    strncmp(m->path, "/etc/", 5) == 0)
			r->is_laid[i] = put_entry(m, etc_dir);
	}
}

bool
root_is_laid(const struct root *r, size_t i, int fd)
{
	struct stat st;

	return r->is_laid[i] && fstat(fd, &st) == 0 &&
	    S_ISREG(st.st_mode) && (st.st_mode & 07777) == 0 &&
	    root_in_overlay(fd);
}
