#include "launcher/trace.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include "launcher/log.h"
#include "platform/base/str.h"
#include "platform/fd.h"

static char real[PATH_MAX];
static bool is_new;

static int
open_number(const char *text, int *ret_fd, struct err *e)
{
	uint64_t n;
	int flags;

	if (str_to_u64(str_of(text), 1 << 20, &n) != 0)
		return err_set(e, ERR_USAGE, "--trace-file: '%s' is no "
		    "descriptor number", text);
	flags = fcntl((int)n, F_GETFL);
	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY) {
		err_set(e, ERR_USAGE, "--trace-file: descriptor %d is not "
		    "open for writing", (int)n);
		return -1;
	}
	*ret_fd = fcntl((int)n, F_DUPFD_CLOEXEC, 3);
	if (*ret_fd < 0)
		return err_sys(e, errno, "--trace-file: descriptor %d",
		    (int)n);
	return 0;
}

static int
open_socket(const char *path, int *ret_fd, struct err *e)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	auto_fd fd = socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);

	if (strlen(path) >= sizeof sun.sun_path)
		return err_set(e, ERR_USAGE, "--trace-file: '%s' is too long "
		    "for a socket", path);
	memcpy(sun.sun_path, path, strlen(path));
	if (fd < 0 || connect(fd, (struct sockaddr *)&sun, sizeof sun) != 0)
		return err_sys(e, errno, "--trace-file: cannot connect to "
		    "'%s'", path);
	*ret_fd = fd_take(&fd);
	return 0;
}

bool
trace_is_file(const char *dest)
{
	return strncmp(dest, "fd:", 3) != 0 && strncmp(dest, "unix:", 5) != 0;
}

int
trace_open(const char *dest, int *ret_fd, struct err *e)
{
	if (strncmp(dest, "fd:", 3) == 0)
		return open_number(dest + 3, ret_fd, e);
	if (strncmp(dest, "unix:", 5) == 0)
		return open_socket(dest + 5, ret_fd, e);
	*ret_fd = log_create("--trace-file", dest, 0, real, &is_new, e);
	return *ret_fd >= 0 ? 0 : -1;
}

const char *
trace_real(void)
{
	return real;
}

void
trace_undo(int fd)
{
	if (is_new)
		log_remove(fd, real);
}
