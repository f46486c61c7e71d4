/*
 * fence and fence-run: one binary that looks at its name.  fence-run has no
 * sub-commands; fence has, and a first word that is none of them is a
 * command to run.
 */
#include <fcntl.h>
#include <malloc.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "launcher/cmd.h"
#include "launcher/exit.h"

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
fill_stdio(void)
{
	int fd;

	do {
		/* Not close-on-exec: it stands in for the missing stdio. */
		fd = open("/dev/null", O_RDWR);
	} while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd < 0)
		return -1;
	close(fd);
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

int
main(int argc, char **argv)
{
	const char *slash, *name;
	const struct command *c;
	struct err e = { 0 };
	int status;

	if (argc < 1 || fill_stdio() != 0)
		return EXIT_JAIL;
	own_descriptors();
	own_memory();
	slash = strrchr(argv[0], '/');
	name = slash != NULL ? slash + 1 : argv[0];
	c = argc > 1 && strcmp(name, "fence") == 0 ?
	    cmd_find(cmd_table, argv[1]) : NULL;
	if (c == NULL)
		status = cmd_run(name, argc, argv, &e);
	else if (c->fn == NULL)
		status = later(c->name, &e);
	else
		status = c->fn(name, argc - 1, argv + 1, &e);
	if (e.code != ERR_NONE)
		err_print(&e, stderr);
	if (fflush(stdout) != 0 && status == 0)
		status = EXIT_JAIL;
	return status;
}
