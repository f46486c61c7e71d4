/* What doctor tries on files and on rights: see try.h. */
#include "launcher/doctor/try.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/sendfile.h>
#include <sys/stat.h>
#include <sys/statvfs.h>
#include <sys/wait.h>
#include <unistd.h>

enum { RAN = 42 };

/* ---- granted ---- */

static void
granted(struct try_answer *a, long rc)
{
	int error = errno;

	if (rc < 0)
		try_say(a, TRY_BROKEN, error, "the policy grants it");
	else
		try_say(a, TRY_WORKS, 0, "as the policy says");
}

/* A file of a name that nobody has, made and removed. */
static int
plant(const char *dir)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof path, "%s/.fence-doctor-%ld", dir,
	    (long)getpid());
	fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	if (fd < 0)
		return -1;
	close(fd);
	unlink(path);
	return 0;
}

void
try_write_workspace(const struct scene *s, struct try_answer *a)
{
	granted(a, plant(s->work));
}

void
try_read_system(const struct scene *s, struct try_answer *a)
{
	int fd = open("/etc/passwd", O_RDONLY | O_CLOEXEC);
	char byte;

	(void)s;
	granted(a, fd < 0 ? -1 : read(fd, &byte, 1) == 1 ? 0 : -1);
}

static int
copy(const char *from, const char *to)
{
	int in = open(from, O_RDONLY | O_CLOEXEC), out = -1;
	struct stat st;
	off_t left;

	if (in < 0 || fstat(in, &st) != 0)
		return -1;
	out = open(to, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0700);
	if (out < 0)
		return -1;
	for (left = st.st_size; left > 0;) {
		ssize_t n = sendfile(out, in, NULL, (size_t)left);

		if (n <= 0)
			return -1;
		left -= n;
	}
	close(out);
	close(in);
	return 0;
}

/* Runs path with one argument; its exit status, or -1 with errno. */
static int
run(const char *path, const char *arg)
{
	char *argv[] = { (char *)path, (char *)arg, NULL };
	char *envp[] = { NULL };
	int status, error = 0;
	int report[2];
	pid_t pid;

	if (pipe2(report, O_CLOEXEC) != 0 || (pid = fork()) < 0)
		return -1;
	if (pid == 0) {
		execve(path, argv, envp);
		error = errno;
		(void)!write(report[1], &error, sizeof error);
		_exit(127);
	}
	close(report[1]);
	(void)!read(report[0], &error, sizeof error);
	close(report[0]);
	waitpid(pid, &status, 0);
	errno = error;
	return error != 0 ? -1 : WIFEXITED(status) ? WEXITSTATUS(status) :
	    128 + WTERMSIG(status);
}

void
try_exec_tmp(const struct scene *s, struct try_answer *a)
{
	char path[64];
	int rc;

	snprintf(path, sizeof path, "/tmp/.fence-doctor-%ld",
	    (long)getpid());
	if (copy(s->self, path) != 0) {
		granted(a, -1);
		return;
	}
	rc = run(path, "ran");
	granted(a, rc == RAN ? 0 : -1);
	if (a->result == TRY_WORKS)
		try_say(a, TRY_WORKS, 0, "the policy permits programs that "
		    "the command made itself");
	unlink(path);
}

/* ---- refused ---- */

/* Any one file of it, or the folder where it has none. */
void
try_read_ssh(const struct scene *s, struct try_answer *a)
{
	DIR *d = opendir(s->ssh);
	struct dirent *ent;

	if (d == NULL) {
		try_held(a, errno);
		return;
	}
	while ((ent = readdir(d)) != NULL) {
		if (ent->d_name[0] == '.')
			continue;
		if (faccessat(dirfd(d), ent->d_name, R_OK, 0) == 0) {
			try_hole(a, "its files can be read");
			return;
		}
	}
	try_hole(a, "it can be listed");
}

static void
try_plant(struct try_answer *a, const char *dir)
{
	if (dir[0] == '\0') {
		try_say(a, TRY_UNTRIED, 0, "there is no such folder here");
		return;
	}
	try_refused(a, plant(dir));
}

void
try_write_home(const struct scene *s, struct try_answer *a)
{
	try_plant(a, s->home);
}

void
try_write_outside(const struct scene *s, struct try_answer *a)
{
	try_plant(a, s->outside);
}

/* What git would execute or obey later, in a folder that is writable. */
void
try_write_git(const struct scene *s, struct try_answer *a)
{
	char path[PATH_MAX];
	int fd;

	snprintf(path, sizeof path, "%s/.git/config", s->work);
	fd = open(path, O_WRONLY | O_APPEND | O_CLOEXEC);
	try_refused(a, fd);
}

/* To an ordinary user its files are closed anyway: the mount must be, too. */
void
try_write_proc_sys(const struct scene *s, struct try_answer *a)
{
	static const char path[] = "/proc/sys/kernel/core_pattern";
	int fd = open(path, O_WRONLY | O_CLOEXEC), error = errno;
	struct statvfs vfs;

	(void)s;
	if (fd >= 0)
		try_hole(a, "core_pattern can be written");
	else if (statvfs("/proc/sys", &vfs) == 0 &&
	    (vfs.f_flag & ST_RDONLY) == 0)
		try_say(a, TRY_HOLE, error, "/proc/sys is not read-only");
	else
		try_held(a, error);
}

/* ---- rights ---- */

/* A line of /proc/PID/status, behind its name and blanks. */
static int
status_line(pid_t pid, const char *name, char *out, size_t max)
{
	char path[64], line[256];
	size_t n = strlen(name);
	FILE *f;
	int rc = -1;

	snprintf(path, sizeof path, "/proc/%ld/status", (long)pid);
	f = fopen(path, "re");
	while (f != NULL && rc != 0 && fgets(line, sizeof line, f) != NULL)
		if (strncmp(line, name, n) == 0 && line[n] == ':') {
			snprintf(out, max, "%s", line + n + 1 +
			    strspn(line + n + 1, " \t"));
			out[strcspn(out, "\n")] = '\0';
			rc = 0;
		}
	if (f != NULL)
		fclose(f);
	return rc;
}

/* A pipe that takes no byte more: who writes to it waits. */
static int
full_pipe(int fds[2])
{
	static const char bytes[4096];

	if (pipe2(fds, O_CLOEXEC) != 0 ||
	    fcntl(fds[1], F_SETFL, O_NONBLOCK) != 0)
		return -1;
	while (write(fds[1], bytes, sizeof bytes) > 0 ||
	    write(fds[1], bytes, 1) > 0)
		continue;
	return fcntl(fds[1], F_SETFL, 0);
}

static _Noreturn void
setuid_child(const char *path, int out)
{
	char *argv[] = { (char *)path, (char *)"--help", NULL };
	char *envp[] = { NULL };

	/* Not close-on-exec: they are the program's stdout and stderr. */
	dup2(out, STDOUT_FILENO);
	/* Not close-on-exec: as above. */
	dup2(out, STDERR_FILENO);
	execve(path, argv, envp);
	_exit(127);
}

/* Waits until the program sleeps in its first write; its effective uid. */
static long
uid_of_program(pid_t pid, const char *name)
{
	char text[64];
	long real, effective;

	for (;;) {
		if (waitpid(pid, NULL, WNOHANG) != 0)
			return -1;
		if (status_line(pid, "Name", text, sizeof text) == 0 &&
		    strncmp(text, name, 15) == 0 &&
		    status_line(pid, "State", text, sizeof text) == 0 &&
		    text[0] == 'S')
			break;
		usleep(1000);
	}
	if (status_line(pid, "Uid", text, sizeof text) != 0 ||
	    sscanf(text, "%ld %ld", &real, &effective) != 2)
		return -1;
	return effective;
}

/* No program was caught in the act: what the kernel says of us. */
static void
by_promise(struct try_answer *a)
{
	if (prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		try_hole(a, "no_new_privs is not set");
	else
		try_say(a, TRY_HELD, 0, "no_new_privs is set");
}

/* The program's own output tells nothing, so it is caught while it runs. */
static void
catch_setuid(const char *path, struct try_answer *a)
{
	const char *name = strrchr(path, '/') + 1;
	int fds[2];
	long uid;
	pid_t pid;

	if (full_pipe(fds) != 0 || (pid = fork()) < 0) {
		try_say(a, TRY_BROKEN, errno, "");
		return;
	}
	if (pid == 0)
		setuid_child(path, fds[1]);
	uid = uid_of_program(pid, name);
	kill(pid, SIGKILL);
	if (uid < 0)
		by_promise(a);
	else if (uid == (long)getuid())
		try_say(a, TRY_HELD, 0, "it ran without its owner's rights");
	else
		try_hole(a, "it ran with its owner's rights");
}

void
try_setuid(const struct scene *s, struct try_answer *a)
{
	if (getuid() != 0 && s->setuid[0] != '\0')
		catch_setuid(s->setuid, a);
	else
		by_promise(a);
}

/* Executed afresh, as root gets its capabilities back. */
void
try_capabilities(const struct scene *s, struct try_answer *a)
{
	static const char *const sets[] = { "CapEff", "CapPrm", "CapBnd",
	    "CapAmb" };
	char text[64];

	(void)s;
	for (size_t i = 0; i < sizeof sets / sizeof *sets; i++) {
		if (status_line(getpid(), sets[i], text, sizeof text) != 0) {
			try_say(a, TRY_BROKEN, errno, "/proc/self/status");
			return;
		}
		if (text[strspn(text, "0")] != '\0') {
			char words[TRY_TEXT_MAX];

			snprintf(words, sizeof words, "%s is %s", sets[i],
			    text);
			try_hole(a, words);
			return;
		}
	}
	try_say(a, TRY_HELD, 0, "none, and none to come");
}

void
try_descriptor(const struct scene *s, struct try_answer *a)
{
	if (s->fd[0] == '\0')
		try_say(a, TRY_UNTRIED, 0, "none could be left open");
	else
		try_refused(a, fcntl(atoi(s->fd), F_GETFD));
}
