#include "shim/hook.h"

#include <sys/stat.h>
#include <sys/vfs.h>

#include <fcntl.h>
#include <linux/magic.h>
#include <string.h>

#include "shim/hidden.h"
#include "shim/sys.h"
#include "shim/wire.h"

/* Cuts the last component off; false where none is left. */
static bool
cut(char *path)
{
	size_t n = strlen(path);

	while (n > 1 && path[n - 1] == '/')
		n--;
	while (n > 0 && path[n - 1] != '/')
		n--;
	if (n == 0) {
		if (strcmp(path, ".") == 0)
			return false;
		strcpy(path, ".");	/* any name has room for it */
		return true;
	}
	while (n > 1 && path[n - 1] == '/')
		n--;
	if (path[n] == '\0' && n == 1)
		return false;		/* "/" itself */
	path[n] = '\0';
	return true;
}

/* What cannot be asked may be ours. */
static bool
is_made(int dir_fd, const char *path, bool *ret_is_there)
{
	struct statfs fs;
	int fd = SYS(openat, dir_fd, path, O_PATH | O_CLOEXEC);
	long rv = fd;

	*ret_is_there = fd != -ENOENT;
	if (fd < 0)
		return fd != -ENOENT;
	rv = SYS(fstatfs, fd, &fs);
	SYS(close, fd);
	return rv < 0 || fs.f_type == TMPFS_MAGIC;
}

bool
hidden_look(int dir_fd, const char *path)
{
	size_t n = strnlen(path, WIRE_PATH_MAX);
	bool is_there = false, is_ours = false;
	struct stat st;
	char *part;

	if (n == 0 || n == WIRE_PATH_MAX)
		return false;
	part = __builtin_alloca(n + 1);
	memcpy(part, path, n + 1);
	while (!is_there) {
		if (SYS(newfstatat, dir_fd, part, &st,
		    AT_SYMLINK_NOFOLLOW) == 0 || !cut(part))
			return true;
		is_ours = is_made(dir_fd, part, &is_there);
	}
	return is_ours;
}
