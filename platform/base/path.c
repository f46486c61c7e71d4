#include "platform/base/path.h"

#include <errno.h>
#include <limits.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

const char *
path_name(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? slash + 1 : path;
}

size_t
path_dir_len(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash != NULL ? (size_t)(slash - path) : 0;
}

const char *
path_dir(struct arena *a, const char *path)
{
	size_t n = path_dir_len(path);

	return n == 0 ? "/" : arena_strndup(a, path, n);
}

bool
path_cut(char *path)
{
	size_t n = path_dir_len(path);

	if (n > 0)
		path[n] = '\0';
	return n > 0;
}

int
path_make_above(const char *path, mode_t mode)
{
	char part[PATH_MAX];
	size_t n = path_dir_len(path);

	if (n >= sizeof part) {
		errno = ENAMETOOLONG;
		return -1;
	}
	for (size_t i = 1; i <= n; i++) {
		if (path[i] != '/')
			continue;
		memcpy(part, path, i);
		part[i] = '\0';
		if (mkdir(part, mode) != 0 && errno != EEXIST)
			return -1;
	}
	return 0;
}

ssize_t
path_read_link(int dir_fd, const char *path, char *ret, size_t size)
{
	ssize_t n = readlinkat(dir_fd, path, ret, size);

	if (n >= 0 && (size_t)n == size) {
		errno = ENAMETOOLONG;
		n = -1;
	}
	ret[n > 0 ? n : 0] = '\0';
	return n;
}

const char *
path_real(struct arena *a, const char *path)
{
	char real[PATH_MAX];

	return realpath(path, real) != NULL ? arena_strdup(a, real) : NULL;
}

const char *
path_real_or_same(struct arena *a, const char *path)
{
	const char *real = path_real(a, path);

	return real != NULL ? real : arena_strdup(a, path);
}
