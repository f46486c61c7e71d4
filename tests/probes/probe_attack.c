/* Ways in that the ordinary calls do not show: see README.md. */
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/xattr.h>

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

#include "tests/probes/probe.h"

enum { RACE_MS = 200, PLANTED = 0644 };

#ifndef RENAME_EXCHANGE
#define RENAME_EXCHANGE	2
#endif
#ifndef SYS_open_tree
#define SYS_open_tree	428
#endif
#define TREE_CLONE	1

static void
fd_path(char path[PATH_MAX], int fd)
{
	snprintf(path, PATH_MAX, "/proc/self/fd/%d", fd);
}

static int
exchange(const char *a, const char *b)
{
	return (int)syscall(SYS_renameat2, AT_FDCWD, a, AT_FDCWD, b,
	    RENAME_EXCHANGE);
}

const char *
op_exchange(char **arg)
{
	return outcome(exchange(arg[0], arg[1]));
}

/* A file without a name that is given one somewhere else. */
const char *
op_tmpfile(char **arg)
{
	int fd = open(arg[0], O_TMPFILE | O_WRONLY | O_CLOEXEC, PLANTED);
	char path[PATH_MAX];

	if (fd < 0 || write(fd, "x", 1) < 0)
		return errno_name(errno);
	fd_path(path, fd);
	return outcome(linkat(AT_FDCWD, path, AT_FDCWD, arg[1],
	    AT_SYMLINK_FOLLOW));
}

/* A second name for what a descriptor means. */
const char *
op_linkfd(char **arg)
{
	int fd = open(arg[0], O_PATH | O_CLOEXEC);
	char path[PATH_MAX];

	if (fd < 0)
		return errno_name(errno);
	fd_path(path, fd);
	return outcome(linkat(AT_FDCWD, path, AT_FDCWD, arg[1],
	    AT_SYMLINK_FOLLOW));
}

/* With other rights than at first; "-" is what stdin already is. */
const char *
op_reopen(char **arg)
{
	int fd = strcmp(arg[0], "-") == 0 ? STDIN_FILENO :
	    open(arg[0], O_PATH | O_CLOEXEC);
	long flags = number(arg[1]);
	char path[PATH_MAX];

	if (flags < 0)
		return "BADOP";
	if (fd < 0)
		return errno_name(errno);
	fd_path(path, fd);
	return outcome(open(path, flags | O_CLOEXEC));
}

/* By its number on the disk, past all names. */
const char *
op_handle(char **arg)
{
	struct {
		struct file_handle	h;
		char			bytes[MAX_HANDLE_SZ];
	} f = { .h.handle_bytes = MAX_HANDLE_SZ };
	int mount_id, fd = open(arg[0], O_PATH | O_CLOEXEC), dir;

	if (fd < 0 || name_to_handle_at(fd, "", &f.h, &mount_id,
	    AT_EMPTY_PATH) < 0)
		return errno_name(errno);
	dir = open(arg[1], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	return outcome(dir < 0 ? dir : open_by_handle_at(dir, &f.h,
	    O_RDONLY | O_CLOEXEC));
}

/* Undone at once: the probe also runs where nothing is refused. */
const char *
op_bind(char **arg)
{
	if (mount(arg[0], arg[1], NULL, MS_BIND, NULL) < 0)
		return errno_name(errno);
	return outcome(umount2(arg[1], MNT_DETACH));
}

const char *
op_opentree(char **arg)
{
	return outcome(syscall(SYS_open_tree, AT_FDCWD, arg[0],
	    TREE_CLONE | O_CLOEXEC));
}

const char *
op_chroot(char **arg)
{
	return outcome(chroot(arg[0]));
}

/* "-" is the caller's own. */
const char *
op_chown(char **arg)
{
	uid_t uid = strcmp(arg[1], "-") == 0 ? getuid() :
	    (uid_t)strtoul(arg[1], NULL, 10);

	return outcome(chown(arg[0], uid, (gid_t)-1));
}

const char *
op_utime(char **arg)
{
	struct timespec t[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };

	return outcome(utimensat(AT_FDCWD, arg[0], t, 0));
}

/* The same three of a descriptor that was there at the start. */
const char *
op_touchfd(char **arg)
{
	struct timespec t[2] = { { .tv_sec = 1 }, { .tv_sec = 1 } };
	int fd = atoi(arg[0]);

	if (fchmod(fd, 0777) == 0 || futimens(fd, t) == 0 ||
	    fsetxattr(fd, "user.fence", "x", 1, 0) == 0)
		return "OK";
	return errno_name(errno);
}

const char *
op_setxattr(char **arg)
{
	return outcome(setxattr(arg[0], "user.fence", "x", 1, 0));
}

/* As `exec`: the caller takes silence for success. */
const char *
op_execfd(char **arg)
{
	int fd = open(arg[0], O_PATH | O_CLOEXEC);
	char *argv[] = { arg[0], NULL }, *envp[] = { NULL };

	if (fd < 0)
		return errno_name(errno);
	return outcome(syscall(SYS_execveat, fd, "", argv, envp,
	    AT_EMPTY_PATH));
}

const char *
op_fill(char **arg)
{
	int fd = open(arg[0], O_WRONLY | O_CREAT | O_CLOEXEC, PLANTED);
	static char block[1 << 20];
	long n = strtol(arg[1], NULL, 10);

	if (fd < 0)
		return errno_name(errno);
	memset(block, 'x', sizeof block);
	while (n-- > 0)
		if (write(fd, block, sizeof block) < 0)
			return errno_name(errno);
	return "OK";
}

static int
send_fd(int sock, int fd)
{
	union {
		struct cmsghdr	h;
		char		bytes[CMSG_SPACE(sizeof fd)];
	} c = { .h = { CMSG_LEN(sizeof fd), SOL_SOCKET, SCM_RIGHTS } };
	char byte = 'x';
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = c.bytes, .msg_controllen = sizeof c.bytes };

	memcpy(CMSG_DATA(&c.h), &fd, sizeof fd);
	return sendmsg(sock, &m, MSG_NOSIGNAL) < 0 ? -1 : 0;
}

static int
recv_fd(int sock)
{
	union {
		struct cmsghdr	h;
		char		bytes[CMSG_SPACE(sizeof(int))];
	} c;
	char byte;
	struct iovec iov = { &byte, 1 };
	struct msghdr m = { .msg_iov = &iov, .msg_iovlen = 1,
	    .msg_control = c.bytes, .msg_controllen = sizeof c.bytes };
	int fd = -1;

	if (recvmsg(sock, &m, MSG_CMSG_CLOEXEC) > 0 &&
	    m.msg_controllen >= CMSG_LEN(sizeof fd))
		memcpy(&fd, CMSG_DATA(&c.h), sizeof fd);
	return fd;
}

/* A folder opened by one process, written to by another. */
const char *
op_fdpass(char **arg)
{
	int pair[2], fd;

	if (socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, pair) < 0)
		return errno_name(errno);
	if (fork() == 0) {
		fd = open(arg[0], O_PATH | O_DIRECTORY | O_CLOEXEC);
		_exit(fd < 0 || send_fd(pair[1], fd) < 0);
	}
	close(pair[1]);
	fd = recv_fd(pair[0]);
	if (fd < 0)
		return "EOF";
	fd = openat(fd, arg[1], O_WRONLY | O_CREAT | O_CLOEXEC, PLANTED);
	return outcome(fd < 0 ? fd : write(fd, "x", 1));
}

/* ---- races: a child changes what a path means while the path is used ---- */

static bool
in_time(const struct timespec *begin)
{
	struct timespec now;

	clock_gettime(CLOCK_MONOTONIC, &now);
	return (now.tv_sec - begin->tv_sec) * 1000 +
	    (now.tv_nsec - begin->tv_nsec) / 1000000 < RACE_MS;
}

static _Noreturn void
flip_link(char **arg)
{
	char tmp[PATH_MAX];

	snprintf(tmp, sizeof tmp, "%s.new", arg[0]);
	for (;;)
		for (int i = 1; i <= 2; i++) {
			unlink(tmp);
			(void)!symlink(arg[i], tmp);
			rename(tmp, arg[0]);
		}
}

static _Noreturn void
flip_names(char **arg)
{
	for (;;)
		exchange(arg[0], arg[1]);
}

static pid_t
start_flip(void (*flip)(char **), char **arg)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		flip(arg);
	}
	return pid;
}

/* LINK leads to GOOD and to BAD in turns: was BAD ever written to? */
const char *
op_race(char **arg)
{
	pid_t pid = start_flip(flip_link, arg);
	struct timespec begin;
	char path[PATH_MAX], bad[PATH_MAX];
	int fd, last = 0;

	snprintf(path, sizeof path, "%s/planted", arg[0]);
	snprintf(bad, sizeof bad, "%s/planted", arg[2]);
	clock_gettime(CLOCK_MONOTONIC, &begin);
	while (in_time(&begin) && access(bad, F_OK) != 0) {
		fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, PLANTED);
		if (fd >= 0)
			close(fd);
		else if (errno != ENOENT)
			last = errno;
	}
	kill(pid, SIGKILL);
	if (access(bad, F_OK) == 0)
		return "OK";
	return last != 0 ? errno_name(last) : "NOTRIED";
}

/* A and B change places all the time: could the file at PATH be opened? */
const char *
op_raceswap(char **arg)
{
	pid_t pid = start_flip(flip_names, arg);
	struct timespec begin;
	int fd = -1, last = ENOENT;

	clock_gettime(CLOCK_MONOTONIC, &begin);
	while (fd < 0 && in_time(&begin)) {
		fd = open(arg[2], O_WRONLY | O_CREAT | O_CLOEXEC, PLANTED);
		if (fd < 0)
			last = errno;
	}
	kill(pid, SIGKILL);
	return fd >= 0 ? outcome(write(fd, "x", 1)) : errno_name(last);
}
