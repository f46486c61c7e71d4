#include "platform/fd.h"

#include <assert.h>
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/base/io.h"

void
fd_close(int *fd)
{
	int saved = errno;

	if (*fd >= 0)
		close(*fd);
	*fd = -1;
	errno = saved;
}

void
fd_path(int fd, char ret[FD_PATH_MAX])
{
	static const char dir[] = "/proc/self/fd/";
	char digits[12], *d = digits + sizeof digits;
	unsigned n = fd < 0 ? 0u - (unsigned)fd : (unsigned)fd;

	/* By hand: a start asks for some hundred. */
	*--d = '\0';
	do
		*--d = (char)('0' + n % 10);
	while ((n /= 10) != 0);
	if (fd < 0)
		*--d = '-';
	memcpy(ret, dir, sizeof dir - 1);
	memcpy(ret + sizeof dir - 1, d, (size_t)(digits + sizeof digits - d));
}

int
fd_real_path(int fd, char ret[PATH_MAX])
{
	char path[FD_PATH_MAX];
	ssize_t n;

	fd_path(fd, path);
	n = readlink(path, ret, PATH_MAX);
	if (n < 0)
		return -1;
	if (n == PATH_MAX) {
		errno = ENAMETOOLONG;
		return -1;
	}
	ret[n] = '\0';
	return ret[0] == '/' ? 0 : 1;
}

int
fd_own_tty(int fd)
{
	char path[FD_PATH_MAX];

	if (fd < 0 || !isatty(fd))
		return -1;
	fd_path(fd, path);
	return open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
}

int
fd_pick_tty(int fd, int own)
{
	return own >= 0 && isatty(fd) ? own : fd;
}

void
fd_cleanup(int *fd)
{
	fd_close(fd);
}

int
fd_take(int *fd)
{
	int taken = *fd;

	*fd = -1;
	return taken;
}

static int
fd_flag(int fd, int get, int set, int flag, int on)
{
	int old = fcntl(fd, get);
	int now;

	if (old < 0)
		return -1;
	now = on ? old | flag : old & ~flag;
	return now == old ? 0 : fcntl(fd, set, now);
}

static void
close_between(unsigned first, unsigned last)
{
	if (first <= last)
		(void)syscall(SYS_close_range, first, last, 0);
}

int
fd_close_others(int fd)
{
	int null;

	close_between(STDERR_FILENO + 1, (unsigned)fd - 1);
	close_between((unsigned)fd + 1, ~0u);
	null = open("/dev/null", O_RDWR | O_CLOEXEC);
	if (null < 0)			/* as the monitor's child may not */
		null = open("/dev/null", O_RDONLY | O_CLOEXEC);
	for (int n = STDIN_FILENO; n <= STDERR_FILENO; n++)
		/* Not close-on-exec: stdio, and nothing is executed here. */
		if (null < 0 || dup2(null, n) < 0)
			return -1;
	close(null);
	return 0;
}

int
fd_nonblock(int fd, int on)
{
	return fd_flag(fd, F_GETFL, F_SETFL, O_NONBLOCK, on);
}

int
fd_cloexec(int fd, int on)
{
	return fd_flag(fd, F_GETFD, F_SETFD, FD_CLOEXEC, on);
}

int
fd_memfd(const char *name, const void *data, size_t len)
{
	auto_fd fd = memfd_create(name, MFD_CLOEXEC);

	if (fd < 0 || io_write_all(fd, data, len) != 0 ||
	    lseek(fd, 0, SEEK_SET) != 0)
		return -1;
	return fd_take(&fd);
}

ssize_t
fd_read_file(int dir_fd, const char *path, char *data, size_t max)
{
	auto_fd fd = openat(dir_fd, path, O_RDONLY | O_CLOEXEC | O_NOCTTY);
	ssize_t n;

	assert(max > 0);
	data[0] = '\0';
	n = fd < 0 ? -1 : io_read_all(fd, data, max);
	if (n < 0)
		return -1;
	if ((size_t)n == max) {
		data[max - 1] = '\0';
		errno = EFBIG;
		return -1;
	}
	data[n] = '\0';
	return n;
}

void
fd_message(struct fd_message *m, const void *data, size_t len, const int *fds,
    size_t nfds)
{
	struct cmsghdr *c;

	assert(nfds <= FD_MAX_PASSED);
	m->iov = (struct iovec){ (void *)(uintptr_t)data, len };
	m->msg = (struct msghdr){ .msg_iov = &m->iov, .msg_iovlen = 1 };
	if (nfds == 0)
		return;
	memset(&m->control, 0, CMSG_SPACE(nfds * sizeof *fds));
	m->msg.msg_control = &m->control;
	m->msg.msg_controllen = CMSG_SPACE(nfds * sizeof *fds);
	c = CMSG_FIRSTHDR(&m->msg);
	c->cmsg_level = SOL_SOCKET;
	c->cmsg_type = SCM_RIGHTS;
	c->cmsg_len = CMSG_LEN(nfds * sizeof *fds);
	memcpy(CMSG_DATA(c), fds, nfds * sizeof *fds);
}

ssize_t
fd_send(int sock, const void *data, size_t len, const int *fds, size_t nfds,
    int flags)
{
	struct fd_message m;
	ssize_t n;

	fd_message(&m, data, len, fds, nfds);
	do {
		n = sendmsg(sock, &m.msg, flags | MSG_NOSIGNAL);
	} while (n < 0 && errno == EINTR);
	return n;
}

/* The first max descriptors of one control message; the others are closed. */
static void
fd_collect(struct cmsghdr *c, int *fds, size_t max, size_t *nfds)
{
	size_t n, i;
	int fd;

	n = (c->cmsg_len - CMSG_LEN(0)) / sizeof fd;
	for (i = 0; i < n; i++) {
		memcpy(&fd, CMSG_DATA(c) + i * sizeof fd, sizeof fd);
		if (*nfds < max)
			fds[(*nfds)++] = fd;
		else
			fd_close(&fd);
	}
}

ssize_t
fd_recv(int sock, void *data, size_t len, int *fds, size_t max_fds,
    size_t *nfds, int flags)
{
	union fd_control control;
	struct iovec iov = { data, len };
	struct msghdr msg = { .msg_iov = &iov, .msg_iovlen = 1 };
	struct cmsghdr *c;
	size_t got = 0;
	ssize_t n;

	assert(max_fds <= FD_MAX_PASSED);
	if (max_fds > 0) {
		msg.msg_control = &control;
		msg.msg_controllen = CMSG_SPACE(max_fds * sizeof *fds);
	}
	do {
		n = recvmsg(sock, &msg, flags | MSG_CMSG_CLOEXEC);
	} while (n < 0 && errno == EINTR);
	if (nfds != NULL)
		*nfds = 0;
	if (n < 0)
		return -1;
	for (c = CMSG_FIRSTHDR(&msg); c != NULL; c = CMSG_NXTHDR(&msg, c))
		if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SCM_RIGHTS)
			fd_collect(c, fds, max_fds, &got);
	if ((msg.msg_flags & MSG_TRUNC) != 0) {
		while (got > 0)
			fd_close(&fds[--got]);
		errno = EMSGSIZE;
		return -1;
	}
	if (nfds != NULL)
		*nfds = got;
	return n;
}

ssize_t
fd_hear(int fd, void *msg, size_t size)
{
	struct pollfd p = { .fd = fd, .events = POLLRDHUP };
	ssize_t n = fd_recv(fd, msg, size, NULL, 0, NULL, MSG_DONTWAIT);

	if (n > 0)
		return n;
	if (n < 0 && (errno == EAGAIN || errno == EINTR))
		return 0;
	if (n < 0)
		return errno == EMSGSIZE ? 1 : -1;
	return poll(&p, 1, 0) > 0 ? -1 : 1;
}
