/*
 * fence and fence-run: one binary that looks at its name.  fence-run has no
 * sub-commands; fence has, and a first word that is none of them is a
 * command to run.
 */
#include <errno.h>
#include <fcntl.h>
#include <malloc.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "launcher/cli/cmd.h"
#include "launcher/exit.h"
#include "launcher/hooks/agent.h"
#include "launcher/log.h"
#include "platform/base/path.h"

static int
later(const char *name, struct err *e)
{
	err_set(e, ERR_USAGE, "'fence %s' is not in this version", name);
	err_hint(e, "'fence -- %s' runs a program of that name", name);
	return EXIT_USAGE;
}

/*
 * Tables that are large and mostly empty come from the kernel, zeroed by it
 * when touched.  Left to itself malloc learns to take them from its heap, and
 * then writes a megabyte of zeroes on the way to the command.
 */
static void
own_memory(void)
{
	(void)mallopt(M_MMAP_THRESHOLD, 128 * 1024);
}

/* With 0, 1 or 2 closed, the first files we open would become stdio. */
static int
fill_stdio(struct err *e)
{
	for (int fd = 0; fd <= STDERR_FILENO; fd++)
		/* Not close-on-exec: it stands in for the missing stdio. */
		if (fcntl(fd, F_GETFD) < 0 && open("/dev/null", O_RDWR) != fd)
			return err_sys(e, errno, "cannot open '/dev/null'");
	return 0;
}

/* Nothing the caller left open above stderr is for the jail by accident. */
static void
own_descriptors(void)
{
#ifndef CLOSE_RANGE_CLOEXEC
#define CLOSE_RANGE_CLOEXEC	4
#endif
	if (close_range(3, ~0u, CLOSE_RANGE_CLOEXEC) == 0)
		return;
	for (int fd = 3; fd < 1024; fd++)	/* before Linux 5.11 */
		fcntl(fd, F_SETFD, FD_CLOEXEC);
}

/* EFBIG also means a file that is too big to be read: not under a limit. */
static bool
is_size_limited(const struct err *e)
{
	enum { PLENTY = 1 << 20 };
	struct rlimit lim;

	return e->sys == EFBIG && getrlimit(RLIMIT_FSIZE, &lim) == 0 &&
	    lim.rlim_cur < PLENTY;
}

/*
 * What has run out, whoever felt it: no policy is at fault, and no other hint
 * would help.
 */
static int
exhausted(struct err *e, int status)
{
	static const struct { int sys; const char *hint; } rows[] = {
		{ EMFILE, "the limit on open files is used up: ulimit -n 256 "
		    "is enough for most policies" },
		{ ENFILE, "too many files are open on this machine: sysctl "
		    "fs.file-max" },
		{ ENOMEM, "the memory, or the limit on it (ulimit -v, "
		    "memory.max of a cgroup), is used up" },
	};

	if (e->sys == EAGAIN && e->hint[0] == '\0')	/* of a fork */
		err_hint(e, "the limit on processes (ulimit -u, pids.max of a "
		    "cgroup) or the memory is used up");
	if (is_size_limited(e)) {
		err_hint(e, "the limit on file sizes (ulimit -f) is too low: "
		    "fence writes small files of its own");
		return EXIT_JAIL;
	}
	if (strcmp(e->msg, "out of memory") == 0 && e->sys == 0)
		err_hint(e, "%s", rows[2].hint);
	for (size_t i = 0; i < sizeof rows / sizeof rows[0]; i++)
		if (e->sys == rows[i].sys) {
			err_hint(e, "%s", rows[i].hint);
			return status == EXIT_POLICY ? EXIT_JAIL : status;
		}
	return status;
}

static int
act(int argc, char **argv, struct err *e)
{
	const char *name = path_name(argv[0]);
	bool has_subs = argc > 1 && strcmp(name, "fence") == 0;
	const struct command *c = has_subs ? cmd_find(cmd_table, argv[1]) :
	    NULL;

	if (has_subs && agent_by_flag(argv[1]) != NULL)
		return cmd_hook_flag(name, argc - 1, argv + 1, e);
	if (c == NULL)
		return cmd_run(name, argc, argv, e);
	if (c->fn == NULL)
		return later(c->name, e);
	return c->fn(name, argc - 1, argv + 1, e);
}

int
main(int argc, char **argv)
{
	struct err e = { 0 };
	int status = EXIT_JAIL;

	if (argc < 1)
		return status;
	own_descriptors();
	own_memory();
	if (fill_stdio(&e) == 0)
		status = act(argc, argv, &e);
	if (e.code != ERR_NONE) {
		status = exhausted(&e, status);
		log_error(&e);
	}
	if (fflush(stdout) != 0 && status == 0)
		status = EXIT_JAIL;
	return status;
}
