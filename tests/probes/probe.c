/*
 * probe [FILE]: performs the operations of FILE (or of standard input), one a
 * line, and prints "N OP ARGS -> ANSWER" for each; README.md lists them.
 * Empty lines and those that begin with # are passed over and not counted.
 * Each operation is given a child and LIMIT_MS.  Exit status 2 if a line was
 * no operation, else 0.
 */
#include <sys/types.h>
#include <sys/wait.h>

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "tests/probes/probe.h"

#define LEN(a)	(sizeof(a) / sizeof((a)[0]))

enum { LIMIT_MS = 3000, MAX_ARGS = 3 };

static const struct op {
	const char	*name;
	probe_fn	*fn;
	int		 min, max;	/* arguments; the last takes the rest */
} ops[] = {
	{ "open", op_open, 1, 2 },
	{ "read", op_read, 1, 1 },
	{ "list", op_list, 1, 1 },
	{ "stat", op_stat, 1, 1 },
	{ "write", op_write, 2, 2 },
	{ "append", op_append, 2, 2 },
	{ "mkdir", op_mkdir, 1, 1 },
	{ "rmdir", op_rmdir, 1, 1 },
	{ "unlink", op_unlink, 1, 1 },
	{ "rename", op_rename, 2, 2 },
	{ "link", op_link, 2, 2 },
	{ "symlink", op_symlink, 2, 2 },
	{ "chmod", op_chmod, 2, 2 },
	{ "truncate", op_truncate, 2, 2 },
	{ "mknod", op_mknod, 2, 2 },
	{ "exec", op_exec, 1, 1 },
	{ "resolve", op_resolve, 1, 1 },
	{ "connect", op_connect, 2, 2 },
	{ "connect4", op_connect4, 2, 2 },
	{ "connect6", op_connect6, 2, 2 },
	{ "udp", op_udp, 2, 2 },
	{ "unix", op_unix, 1, 1 },
	{ "proxy", op_proxy, 2, 2 },
	{ "raw", op_raw, 2, 3 },
	{ "ptrace", op_ptrace, 1, 1 },
	{ "mount", op_mount, 0, 1 },
	{ "unshare", op_unshare, 1, 1 },
	{ "setns", op_setns, 0, 1 },
	{ "kill", op_kill, 2, 2 },
	{ "env", op_env, 1, 1 },
	{ "uid", op_uid, 1, 1 },
	{ "setuid", op_setuid, 1, 1 },
	{ "syscall", op_syscall, 1, 1 },
	{ "ioctl-tiocsti", op_tiocsti, 0, 0 },
	{ "exchange", op_exchange, 2, 2 },
	{ "tmpfile", op_tmpfile, 2, 2 },
	{ "linkfd", op_linkfd, 2, 2 },
	{ "reopen", op_reopen, 2, 2 },
	{ "handle", op_handle, 2, 2 },
	{ "bind", op_bind, 2, 2 },
	{ "opentree", op_opentree, 1, 1 },
	{ "chroot", op_chroot, 1, 1 },
	{ "chown", op_chown, 2, 2 },
	{ "utime", op_utime, 1, 1 },
	{ "touchfd", op_touchfd, 1, 1 },
	{ "setxattr", op_setxattr, 1, 1 },
	{ "execfd", op_execfd, 1, 1 },
	{ "fill", op_fill, 2, 2 },
	{ "fdpass", op_fdpass, 2, 2 },
	{ "race", op_race, 3, 3 },
	{ "raceswap", op_raceswap, 3, 3 },
	{ "unix-dgram", op_unix_dgram, 1, 1 },
	{ "unix-serve", op_unix_serve, 2, 2 },
};

/* The next word of *rest, which moves on; NULL at the end. */
static char *
next_word(char **rest)
{
	char *word = *rest + strspn(*rest, " \t");

	if (*word == '\0')
		return NULL;
	*rest = word + strcspn(word, " \t");
	if (**rest != '\0')
		*(*rest)++ = '\0';
	return word;
}

/* NULL if the line is no operation; else its arguments are in arg. */
static const struct op *
parse(char *line, char *arg[MAX_ARGS + 1])
{
	const char *name = next_word(&line);
	const struct op *op = NULL;
	size_t i;
	int n = 0;

	for (i = 0; name != NULL && i < LEN(ops); i++)
		if (strcmp(ops[i].name, name) == 0)
			op = &ops[i];
	if (op == NULL)
		return NULL;
	while (n < op->max - 1 && (arg[n] = next_word(&line)) != NULL)
		n++;
	line += strspn(line, " \t");
	if (*line != '\0') {
		if (n == op->max)
			return NULL;
		arg[n++] = line;
	}
	arg[n] = NULL;
	return n < op->min ? NULL : op;
}

/* How a child ended that gave no answer. */
static const char *
end_name(int status)
{
	if (!WIFSIGNALED(status))
		return "EXIT";
	switch (WTERMSIG(status)) {
	case SIGSYS:	return "SIGSYS";
	case SIGSEGV:	return "SIGSEGV";
	case SIGKILL:	return "SIGKILL";
	default:	return answer("SIG%d", WTERMSIG(status));
	}
}

/* Its success is that it does not come back. */
static bool
is_exec(const struct op *op)
{
	return op->fn == op_exec || op->fn == op_execfd;
}

static const char *
collect(const struct op *op, pid_t pid, int fd, char text[64])
{
	struct pollfd pfd = { .fd = fd, .events = POLLIN };
	const char *res = "ETIMEDOUT";
	ssize_t n = -1;
	int status;

	if (poll(&pfd, 1, LIMIT_MS) > 0)
		n = read(fd, text, 63);
	if (n > 0) {
		text[n] = '\0';
		res = text;
	} else if (n == 0 && is_exec(op))
		res = "OK";
	if (n != 0 || is_exec(op))
		kill(pid, SIGKILL);
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		;
	if (n == 0 && !is_exec(op))
		res = end_name(status);
	return res;
}

static const char *
perform(const struct op *op, char **arg, char text[64])
{
	const char *res;
	int fds[2];
	pid_t pid;

	if (pipe2(fds, O_CLOEXEC) < 0 || (pid = fork()) < 0)
		return errno_name(errno);
	if (pid == 0) {
		close(fds[0]);
		res = op->fn(arg);
		(void)!write(fds[1], res, strlen(res));
		_exit(0);
	}
	close(fds[1]);
	res = collect(op, pid, fds[0], text);
	close(fds[0]);
	return res;
}

/* False if the line was no operation. */
static bool
run_line(int n, char *line)
{
	char copy[8192], text[64], *arg[MAX_ARGS + 1];
	const struct op *op;
	const char *res = "BADOP";

	snprintf(copy, sizeof copy, "%s", line);
	op = parse(copy, arg);
	if (op != NULL)
		res = perform(op, arg, text);
	printf("%d %s -> %s\n", n, line, res);
	fflush(stdout);
	return strcmp(res, "BADOP") != 0;
}

int
main(int argc, char **argv)
{
	FILE *f = argc > 1 ? fopen(argv[1], "re") : stdin;
	char line[8192];
	int n = 0, status = 0;

	if (f == NULL || argc > 2) {
		fprintf(stderr, "usage: probe [FILE]\n");
		return 2;
	}
	while (fgets(line, sizeof line, f) != NULL) {
		line[strcspn(line, "\n")] = '\0';
		if (line[0] == '#' || line[strspn(line, " \t")] == '\0')
			continue;
		if (!run_line(++n, line))
			status = 2;
	}
	return status;
}
