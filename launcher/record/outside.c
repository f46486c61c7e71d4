#include "launcher/record/outside.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "platform/base/str.h"
#include "platform/fd.h"
#include "platform/tree.h"

/* The folder of an absolute path; false if it does not fit. */
static bool
folder_of(const char *path, char folder[PATH_MAX])
{
	const char *slash = strrchr(path, '/');
	size_t n = slash == NULL || slash == path ? 1 :
	    (size_t)(slash - path);

	if (path[0] != '/' || n >= PATH_MAX)
		return false;
	memcpy(folder, path, n);
	folder[n] = '\0';
	return true;
}

/*
 * EACCES, EPERM and EROFS are answers; all else says nothing.  Root hears
 * EACCES only where whoever asks here gave its capabilities away, as the
 * process of looker.h did: outside root is let.
 */
static bool
is_refusal(int sys)
{
	return sys == EPERM || sys == EROFS ||
	    (sys == EACCES && geteuid() != 0);
}

static bool
lacks(const char *path, int mode)
{
	return faccessat(AT_FDCWD, path, mode, AT_EACCESS) != 0 &&
	    is_refusal(errno);
}

/* In a sticky folder names belong to who made them. */
static bool
is_anothers(const char *path, const char *folder)
{
	struct stat d, st;

	return geteuid() != 0 && stat(folder, &d) == 0 &&
	    (d.st_mode & S_ISVTX) != 0 && d.st_uid != geteuid() &&
	    lstat(path, &st) == 0 && st.st_uid != geteuid();
}

/* The owner's word is missing, or the place is read-only for all. */
static bool
lacks_owner(const char *path)
{
	struct stat st;

	if (stat(path, &st) != 0)
		return is_refusal(errno);
	if (geteuid() != 0 && st.st_uid != geteuid())
		return true;
	return faccessat(AT_FDCWD, path, W_OK, AT_EACCESS) != 0 &&
	    (errno == EROFS || errno == EPERM);
}

static bool
lacks_name(const char *path)
{
	char folder[PATH_MAX];

	return folder_of(path, folder) && (lacks(folder, W_OK | X_OK) ||
	    is_anothers(path, folder));
}

bool
outside_is_missing(const char *path)
{
	return faccessat(AT_FDCWD, path, F_OK, AT_SYMLINK_NOFOLLOW) != 0 &&
	    (errno == ENOENT || errno == ENOTDIR);
}

bool
outside_is_of_process(const char *path)
{
	const char *name = path + strlen("/proc/");

	if (strncmp(path, "/proc/", strlen("/proc/")) != 0)
		return false;
	return str_path_below(path, "/proc/self") ||
	    str_path_below(path, "/proc/thread-self") ||
	    (name[0] >= '1' && name[0] <= '9' &&
	    name[strspn(name, "0123456789")] == '/');
}

bool
outside_refuses(const char *path, enum outside_need need)
{
	if (outside_is_of_process(path))
		return false;
	switch (need) {
	case NEED_SEARCH:
		return lacks(path, F_OK);
	case NEED_READ:
		return lacks(path, R_OK);
	case NEED_EXECUTE:
		return lacks(path, X_OK);
	case NEED_NAME:
		return lacks_name(path);
	case NEED_OWNER:
		return lacks_owner(path);
	case NEED_OWNER_OR_WRITE:
		return lacks_owner(path) && lacks(path, W_OK);
	case NEED_WRITE:
		return outside_is_missing(path) ? lacks_name(path) :
		    lacks(path, W_OK);
	}
	return false;
}

/* What is left of root's power without its capabilities. */
static bool
lets_root(const char *path, int mode)
{
	struct stat st;
	mode_t have;

	if (stat(path, &st) != 0)
		return errno != EACCES && !is_refusal(errno);
	have = st.st_uid == 0 ? st.st_mode >> 6 :
	    st.st_gid == 0 ? st.st_mode >> 3 : st.st_mode;
	return ((int)have & mode) == mode;
}

static bool
is_roots(const char *path)
{
	struct stat st;

	return stat(path, &st) == 0 ? st.st_uid == 0 : errno != EACCES;
}

bool
outside_may_inside(const char *path, enum outside_need need)
{
	char folder[PATH_MAX];

	if (outside_refuses(path, need))
		return false;
	if (geteuid() != 0)
		return true;
	switch (need) {
	case NEED_SEARCH:
		return folder_of(path, folder) && lets_root(folder, X_OK);
	case NEED_READ:
		return lets_root(path, R_OK);
	case NEED_EXECUTE:
		return lets_root(path, X_OK);
	case NEED_OWNER:
	case NEED_OWNER_OR_WRITE:
		return is_roots(path);
	case NEED_WRITE:
		if (!outside_is_missing(path))
			return lets_root(path, W_OK);
		/* FALLTHROUGH */
	case NEED_NAME:
		return folder_of(path, folder) &&
		    lets_root(folder, W_OK | X_OK);
	}
	return true;
}

bool
outside_may_grant(const char *path)
{
	return !tree_is_kernel(path) && (geteuid() != 0 || is_roots(path));
}

bool
outside_is_database(const char *path)
{
	static const char magic[16] = "SQLite format 3";
	char head[sizeof magic];
	auto_fd fd = open(path, O_RDONLY | O_CLOEXEC | O_NOFOLLOW |
	    O_NONBLOCK | O_NOCTTY);
	struct stat st;

	return fd >= 0 && fstat(fd, &st) == 0 && S_ISREG(st.st_mode) &&
	    read(fd, head, sizeof head) == (ssize_t)sizeof head &&
	    memcmp(head, magic, sizeof head) == 0;
}
