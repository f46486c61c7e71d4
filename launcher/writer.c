#include "launcher/writer.h"

#include <errno.h>
#include <limits.h>
#include <poll.h>
#include <stdint.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "platform/base/clock.h"
#include "platform/fd.h"

static enum writer_mode mode;
static int64_t end_ms = WRITER_END_MS;	/* what is left of it */

void
writer_set_mode(enum writer_mode m)
{
	mode = m;
}

void
writer_init(struct writer *w, int fd)
{
	*w = (struct writer){ .fd = fd, .own_fd = -1, .is_gone = fd < 0 };
	if (fd >= 0)
		w->own_fd = fd_own_tty(fd);
}

void
writer_release(struct writer *w)
{
	fd_close(&w->own_fd);
}

static int
patience(const struct writer *w)
{
	if (mode == WRITER_WAITS)
		return -1;
	if (mode == WRITER_ENDS)
		return (int)end_ms;
	return w->is_stuck ? 0 : WRITER_WATCH_MS;
}

/* Is there room?  Only what is waited for counts, not what is done between. */
static bool
is_ready(struct writer *w, struct pollfd *p)
{
	int64_t since = clock_ms(CLOCK_MONOTONIC);
	int n;

	do {
		/* A relay lays a pipe over stderr (pty.c). */
		p->fd = fd_pick_tty(w->fd, w->own_fd);
		n = poll(p, 1, patience(w));
	} while (n < 0 && errno == EINTR && mode == WRITER_WAITS);
	if (mode == WRITER_ENDS) {
		end_ms -= clock_ms(CLOCK_MONOTONIC) - since;
		end_ms = end_ms > 0 ? end_ms : 0;
	}
	w->is_stuck = n <= 0;
	return n > 0;
}

/*
 * The descriptor may be a blocking one that others share, and they may fill a
 * pipe after it was ready.  A kernel before 6.4 knows no such flag of a pipe.
 */
static ssize_t
write_some(int fd, const char *text, size_t len)
{
	struct iovec iov = { (char *)text, len };
	struct stat st;
	ssize_t n = -1;

	if (fstat(fd, &st) != 0)
		return -1;
	if (S_ISSOCK(st.st_mode))
		return send(fd, text, len, MSG_DONTWAIT | MSG_NOSIGNAL);
	errno = EOPNOTSUPP;
	if (S_ISFIFO(st.st_mode))
		n = pwritev2(fd, &iov, 1, -1, RWF_NOWAIT);
	return n < 0 && (errno == EOPNOTSUPP || errno == ENOSYS) ?
	    write(fd, text, len) : n;
}

size_t
writer_put(struct writer *w, const char *text, size_t len)
{
	struct pollfd p = { .events = POLLOUT };
	size_t at = 0;
	ssize_t n;

	w->is_gone = w->fd < 0;
	while (at < len && !w->is_gone && is_ready(w, &p)) {
		w->is_gone = (p.revents & (POLLERR | POLLHUP | POLLNVAL)) != 0;
		if (w->is_gone)
			break;
		/* A pipe that is ready has room for as much. */
		n = write_some(p.fd, text + at, len - at < PIPE_BUF ?
		    len - at : PIPE_BUF);
		if (n > 0)
			at += (size_t)n;
		else if (n < 0 && errno == EAGAIN)
			w->is_stuck = true;
		else if (n == 0 || errno != EINTR)
			w->is_gone = true;
		if (w->is_stuck && mode != WRITER_WAITS)
			break;
	}
	return at;
}
