#include "platform/linux/stderr_line.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "platform/fd.h"

#ifndef SYS_pidfd_getfd
#define SYS_pidfd_getfd	438
#endif

/* A file may lie where writing takes any time; nobody waits for this child. */
enum { FILE_SECONDS = 5, PROC_PATH = 64 };

/* The very description that the process has, with its offset. */
static int
take(pid_t tid)
{
	auto_fd pid_fd = (int)syscall(SYS_pidfd_open, tid, 0);

	return pid_fd < 0 ? -1 :
	    (int)syscall(SYS_pidfd_getfd, pid_fd, STDERR_FILENO, 0);
}

/*
 * A description of our own, which does not wait; of nothing that the process
 * itself has for reading alone.
 */
static void
write_opened(pid_t tid, const char *line, size_t len)
{
	auto_fd theirs = take(tid), fd = -1;
	char path[PROC_PATH];
	int flags = theirs >= 0 ? fcntl(theirs, F_GETFL) : -1;

	if (flags < 0 || (flags & O_ACCMODE) == O_RDONLY ||
	    (flags & O_PATH) != 0)
		return;
	snprintf(path, sizeof path, "/proc/self/fd/%d", theirs);
	fd = open(path, O_WRONLY | O_NONBLOCK | O_NOCTTY | O_CLOEXEC);
	if (fd >= 0)
		(void)!write(fd, line, len);
}

static void
write_socket(pid_t tid, const char *line, size_t len)
{
	auto_fd fd = take(tid);

	if (fd >= 0)
		(void)!send(fd, line, len, MSG_DONTWAIT | MSG_NOSIGNAL);
}

/* A file may be the server's of some network, or of a program. */
static void
write_file(pid_t tid, const char *line, size_t len)
{
	auto_fd fd = take(tid);
	sigset_t none;

	if (fd < 0 || fork() != 0)
		return;
	sigemptyset(&none);
	(void)sigprocmask(SIG_SETMASK, &none, NULL);
	(void)alarm(FILE_SECONDS);
	(void)!write(fd, line, len);
	_exit(0);
}

/* What it is tells the link's text: looking at the file itself may wait. */
void
stderr_line(pid_t tid, const char *line, size_t len)
{
	static const char *const ttys[] = { "/dev/pts/", "/dev/tty",
	    "/dev/console" };
	char path[PROC_PATH], to[64];
	ssize_t n;

	snprintf(path, sizeof path, "/proc/%d/fd/%d", (int)tid,
	    STDERR_FILENO);
	n = readlink(path, to, sizeof to - 1);
	if (n <= 0)
		return;
	to[n] = '\0';
	if (strncmp(to, "pipe:", strlen("pipe:")) == 0) {
		write_opened(tid, line, len);
		return;
	}
	if (strncmp(to, "socket:", strlen("socket:")) == 0) {
		write_socket(tid, line, len);
		return;
	}
	for (size_t i = 0; i < sizeof ttys / sizeof ttys[0]; i++)
		if (strncmp(to, ttys[i], strlen(ttys[i])) == 0) {
			write_opened(tid, line, len);
			return;
		}
	if (to[0] == '/' && strncmp(to, "/dev/", strlen("/dev/")) != 0)
		write_file(tid, line, len);
}
