/* Comparing what a jail made with what it made before. */
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/guard/guard_move.h"
#include "launcher/guard/guard_wide.h"
#include "platform/fd.h"

enum { MAX_SAME = 64 << 10, MAX_DEPTH = 4, MAX_ENTRIES = 64 };

/* One of the two, in its folder. */
struct thing {
	int		 dir;
	const char	*name;
};

DIR *
move_list(int fd)
{
	/* Not the descriptor itself: that belongs to the caller. */
	int own = openat(fd, ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	DIR *d = own < 0 ? NULL : fdopendir(own);

	if (d == NULL)
		fd_close(&own);
	return d;
}

const char *
move_next(DIR *d)
{
	struct dirent *e;

	while ((e = readdir(d)) != NULL)
		if (strcmp(e->d_name, ".") != 0 &&
		    strcmp(e->d_name, "..") != 0)
			return e->d_name;
	return NULL;
}

static bool
is_same_file(struct thing a, struct thing b)
{
	static char data[2][MAX_SAME];
	struct wide wa, wb;
	auto_fd fa = wide_open_file(&wa, a.dir, a.name);
	auto_fd fb = wide_open_file(&wb, b.dir, b.name);
	bool is_same = false;
	ssize_t n;

	if (fa >= 0 && fb >= 0 && !move_has_writer(fb)) {
		n = pread(fa, data[0], MAX_SAME, 0);
		is_same = n >= 0 && n < MAX_SAME &&
		    pread(fb, data[1], MAX_SAME, 0) == n &&
		    memcmp(data[0], data[1], (size_t)n) == 0;
	}
	wide_back(&wa);
	wide_back(&wb);
	return is_same;
}

static bool
is_same_link(struct thing a, struct thing b)
{
	char ta[PATH_MAX], tb[PATH_MAX];
	ssize_t n = readlinkat(a.dir, a.name, ta, sizeof ta);

	return n > 0 && readlinkat(b.dir, b.name, tb, sizeof tb) == n &&
	    memcmp(ta, tb, (size_t)n) == 0;
}

static bool is_same(struct thing a, struct thing b, unsigned depth);

/* All that is in b is in a; a may hold more. */
static bool
is_within(int a, int b, unsigned depth)
{
	DIR *d = move_list(b);
	const char *name = NULL;
	unsigned n = 0;

	if (d == NULL)
		return false;
	while (n <= MAX_ENTRIES && (name = move_next(d)) != NULL &&
	    is_same((struct thing){ a, name }, (struct thing){ b, name },
	    depth + 1))
		n++;
	closedir(d);
	return name == NULL;
}

static bool
is_same_dir(struct thing a, struct thing b, unsigned depth)
{
	struct wide wa, wb;
	auto_fd fa = wide_open_dir(&wa, a.dir, a.name);
	auto_fd fb = wide_open_dir(&wb, b.dir, b.name);
	bool rv = fa >= 0 && fb >= 0 && is_within(fa, fb, depth);

	wide_back(&wa);
	wide_back(&wb);
	return rv;
}

static bool
is_same(struct thing a, struct thing b, unsigned depth)
{
	struct stat sa, sb;

	if (depth > MAX_DEPTH ||
	    fstatat(a.dir, a.name, &sa, AT_SYMLINK_NOFOLLOW) != 0 ||
	    fstatat(b.dir, b.name, &sb, AT_SYMLINK_NOFOLLOW) != 0 ||
	    sa.st_mode != sb.st_mode)
		return false;
	switch (sa.st_mode & S_IFMT) {
	case S_IFREG:
		return sa.st_size == sb.st_size && is_same_file(a, b);
	case S_IFLNK:
		return is_same_link(a, b);
	case S_IFDIR:
		return is_same_dir(a, b, depth);
	default:
		return true;
	}
}

bool
move_is_same(int dir, const char *a, const char *b)
{
	return is_same((struct thing){ dir, a }, (struct thing){ dir, b }, 0);
}
