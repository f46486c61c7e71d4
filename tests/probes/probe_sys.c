#include <sys/ioctl.h>
#include <sys/mount.h>
#include <sys/ptrace.h>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <sys/types.h>

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "tests/probes/probe.h"

const char *
op_open(char **arg)
{
	long flags = arg[1] == NULL ? O_RDONLY : number(arg[1]);
	int fd;

	if (flags < 0)
		return "BADOP";
	if ((flags & O_ACCMODE) == O_ACCMODE)	/* O_CREAT beside O_RDWR */
		flags &= ~O_WRONLY;
	fd = open(arg[0], flags | O_CLOEXEC, 0644);
	if (fd >= 0 && (flags & O_CREAT) != 0)
		return outcome(write(fd, "x", 1));
	return outcome(fd);
}

const char *
op_read(char **arg)
{
	int fd = open(arg[0], O_RDONLY | O_CLOEXEC);
	char byte;

	return outcome(fd < 0 ? fd : read(fd, &byte, 1));
}

const char *
op_list(char **arg)
{
	DIR *d = opendir(arg[0]);

	if (d == NULL)
		return errno_name(errno);
	errno = 0;
	while (readdir(d) != NULL)
		;
	return errno == 0 ? "OK" : errno_name(errno);
}

const char *
op_stat(char **arg)
{
	struct stat st;

	return outcome(stat(arg[0], &st));
}

static const char *
write_text(const char *path, const char *text, int flags)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC | flags, 0644);

	if (fd < 0 || write(fd, text, strlen(text)) < 0)
		return errno_name(errno);
	return outcome(close(fd));
}

const char *
op_write(char **arg)
{
	return write_text(arg[0], arg[1], O_TRUNC);
}

const char *
op_append(char **arg)
{
	return write_text(arg[0], arg[1], O_APPEND);
}

const char *
op_mkdir(char **arg)
{
	return outcome(mkdir(arg[0], 0755));
}

const char *
op_rmdir(char **arg)
{
	return outcome(rmdir(arg[0]));
}

const char *
op_unlink(char **arg)
{
	return outcome(unlink(arg[0]));
}

const char *
op_rename(char **arg)
{
	return outcome(rename(arg[0], arg[1]));
}

const char *
op_link(char **arg)
{
	return outcome(link(arg[0], arg[1]));
}

const char *
op_symlink(char **arg)
{
	return outcome(symlink(arg[0], arg[1]));
}

const char *
op_chmod(char **arg)
{
	return outcome(chmod(arg[0], strtol(arg[1], NULL, 8)));
}

const char *
op_truncate(char **arg)
{
	return outcome(truncate(arg[0], strtol(arg[1], NULL, 10)));
}

const char *
op_mknod(char **arg)
{
	if (strcmp(arg[1], "fifo") == 0)
		return outcome(mknod(arg[0], S_IFIFO | 0644, 0));
	if (strcmp(arg[1], "char") == 0)
		return outcome(mknod(arg[0], S_IFCHR | 0644, makedev(1, 3)));
	return "BADOP";
}

/* The caller takes silence for success: the answer's pipe closes on exec. */
const char *
op_exec(char **arg)
{
	char *argv[] = { arg[0], NULL };
	char *envp[] = { NULL };
	int fd = open("/dev/null", O_RDWR);

	if (fd >= 0) {
		dup2(fd, 0);
		dup2(fd, 1);
		dup2(fd, 2);
	}
	return outcome(execve(arg[0], argv, envp));
}

/* PTRACE_SEIZE does not stop its object, and ends with this process. */
const char *
op_ptrace(char **arg)
{
	return outcome(ptrace(PTRACE_SEIZE, atoi(arg[0]), NULL, NULL));
}

/* Undone at once: the probe also runs where nothing is refused. */
const char *
op_mount(char **arg)
{
	const char *path = arg[0] != NULL ? arg[0] :
	    access("/mnt", F_OK) == 0 ? "/mnt" : "/tmp";

	if (mount("tmpfs", path, "tmpfs", 0, NULL) < 0)
		return errno_name(errno);
	return outcome(umount2(path, MNT_DETACH));
}

const char *
op_unshare(char **arg)
{
	long flags = number(arg[0]);

	return flags < 0 ? "BADOP" : outcome(unshare(flags));
}

const char *
op_setns(char **arg)
{
	int fd = open(arg[0] != NULL ? arg[0] : "/proc/self/ns/net",
	    O_RDONLY | O_CLOEXEC);

	return outcome(fd < 0 ? fd : setns(fd, 0));
}

const char *
op_kill(char **arg)
{
	long signo = number(arg[1]);

	return signo < 0 ? "BADOP" : outcome(kill(atoi(arg[0]), signo));
}

const char *
op_env(char **arg)
{
	return getenv(arg[0]) != NULL ? "OK" : "UNSET";
}

const char *
op_uid(char **arg)
{
	uid_t uid = strtoul(arg[0], NULL, 10);

	if (getuid() != uid)
		return answer("UID%u", (unsigned int)getuid());
	return geteuid() == uid ? "OK" :
	    answer("EUID%u", (unsigned int)geteuid());
}

const char *
op_setuid(char **arg)
{
	return outcome(setuid(strtoul(arg[0], NULL, 10)));
}

const char *
op_syscall(char **arg)
{
	pid_t self = getpid();
	long rv = syscall(strtol(arg[0], NULL, 0), 0, 0, 0, 0, 0, 0);

	if (getpid() != self)		/* it was a fork */
		_exit(0);
	return outcome(rv);
}

/* A filter answers before the terminal does, so any descriptor will do. */
const char *
op_tiocsti(char **arg)
{
	int fd = open("/dev/tty", O_RDWR | O_NOCTTY | O_CLOEXEC);

	(void)arg;
	return outcome(ioctl(fd < 0 ? 0 : fd, TIOCSTI, " "));
}
