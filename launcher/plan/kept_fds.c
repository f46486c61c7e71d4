#include "launcher/plan/kept_fds.h"

#include <fcntl.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "launcher/plan/env.h"
#include "platform/base/str.h"

enum { FD_MAX = 1 << 20 };

/*
 * What leads around the walls, or NULL.  Through a directory the jail would
 * open what is beside it; an io_uring, a listener of another filter and
 * their like act by themselves.  Those have no type of file.
 */
static const char *
leads_around(int fd)
{
	int flags = fcntl(fd, F_GETFL);
	struct stat st;

	if (flags < 0 || fstat(fd, &st) != 0)
		return "unreadable";
	if (S_ISDIR(st.st_mode))
		return "a directory";
	if ((flags & O_PATH) != 0)
		return "a mere path";
	return (st.st_mode & S_IFMT) == 0 ? "a handle of the kernel's" : NULL;
}

static int
check_stdio(struct err *e)
{
	static const char *const names[] = { "stdin", "stdout", "stderr" };

	for (int fd = 0; fd <= STDERR_FILENO; fd++) {
		const char *what = leads_around(fd);

		if (what == NULL)
			continue;
		err_set(e, ERR_POLICY, "%s is %s", names[fd], what);
		err_hint(e, "redirect it from a file, a pipe or /dev/null");
		return -1;
	}
	return 0;
}

static bool
is_trace(const char *dest, uint64_t fd)
{
	uint64_t n;

	return dest != NULL && strncmp(dest, "fd:", 3) == 0 &&
	    str_to_u64(str_of(dest + 3), FD_MAX, &n) == 0 && n == fd;
}

static int
check_one(const char *text, const char *trace, struct err *e)
{
	const char *what;
	uint64_t fd;

	if (str_to_u64(str_of(text), FD_MAX, &fd) != 0)
		return err_set(e, ERR_USAGE, "--keep-fd: '%.60s' is no "
		    "descriptor number", text);
	if (fd <= STDERR_FILENO)
		return err_set(e, ERR_USAGE, "--keep-fd: 0, 1 and 2 are the "
		    "command's already");
	if (fcntl((int)fd, F_GETFD) < 0)
		return err_set(e, ERR_USAGE, "--keep-fd: descriptor %d is "
		    "not open", (int)fd);
	if (is_trace(trace, fd))
		return err_set(e, ERR_USAGE, "--keep-fd: descriptor %d is "
		    "the trace's, which the command must not write", (int)fd);
	what = leads_around((int)fd);
	if (what == NULL)
		return 0;
	err_set(e, ERR_POLICY, "--keep-fd: descriptor %d is %s, through which "
	    "the command would reach around the walls", (int)fd, what);
	err_hint(e, "a file, a pipe, a socket or a device may be kept");
	return -1;
}

int
kept_fds_check(const struct run_options *ro, struct err *e)
{
	if (check_stdio(e) != 0)
		return -1;
	for (size_t i = 0; i < ro->keep_fd.n; i++)
		if (check_one(ro->keep_fd.v[i], ro->trace_file, e) != 0)
			return -1;
	return 0;
}

/* A make jobserver that the host's make handed us: its pipe. */
static bool
find_jobserver(char *const *env, int fds[2])
{
	const char *flags = env_get(env, "MAKEFLAGS");
	const char *p = flags != NULL ? strstr(flags, "--jobserver-auth=") :
	    NULL;
	struct stat st;

	if (p == NULL || sscanf(p, "--jobserver-auth=%d,%d", &fds[0],
	    &fds[1]) != 2)
		return false;
	for (int i = 0; i < 2; i++)
		if (fds[i] < 3 || fstat(fds[i], &st) != 0 ||
		    !S_ISFIFO(st.st_mode))
			return false;
	return true;
}

void
kept_fds_list(struct arena *a, const struct run_options *ro, char *const *env,
    const int **ret_fds, size_t *ret_n)
{
	int *fds = arena_alloc(a, (ro->keep_fd.n + 2) * sizeof *fds);
	size_t n = find_jobserver(env, fds) ? 2 : 0;
	uint64_t fd;

	for (size_t i = 0; i < ro->keep_fd.n; i++)
		if (str_to_u64(str_of(ro->keep_fd.v[i]), FD_MAX, &fd) == 0)
			fds[n++] = (int)fd;
	*ret_fds = fds;
	*ret_n = n;
}
