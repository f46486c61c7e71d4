/*
 * filtered WHO COMMAND ARGS...: puts one of the jail's filters on itself, and
 * nothing else of a jail, then runs the command.  For what programs do under
 * a filter; what a jail does is fence-run's to show.  WHO `listener` is a
 * filter that permits all, and has a listener; `ask`, alone, says what attempts
 * to make a listener without a filter, and with a bad one, are answered.
 */
#include <sys/prctl.h>
#include <sys/syscall.h>

#include <linux/filter.h>
#include <linux/seccomp.h>

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <unistd.h>

#include "platform/linux/seccomp.h"

static const char *const names[SECCOMP_NWHO] = {
	[SECCOMP_USER] = "user", [SECCOMP_ROOT] = "root",
	[SECCOMP_USER_NESTED] = "user-nested",
	[SECCOMP_ROOT_NESTED] = "root-nested",
	[SECCOMP_USER_STRICT] = "user-strict",
	[SECCOMP_ROOT_STRICT] = "root-strict",
};

static int
install(unsigned who)
{
	struct sock_fprog prog;
	struct buf filter;
	struct err e;

	buf_init(&filter, 0);
	if (seccomp_jail_filter(who, &filter, &e) != 0)
		return -1;
	prog.len = filter.len / sizeof(struct sock_filter);
	prog.filter = (void *)filter.data;
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) < 0)
		return -1;
	return syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, 0, &prog);
}

/* It lasts as long as its descriptor, which the command inherits. */
static int
listen_to(char **argv)
{
	struct sock_filter permit = BPF_STMT(BPF_RET | BPF_K,
	    SECCOMP_RET_ALLOW);
	struct sock_fprog prog = { 1, &permit };

	int fd = -1;

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0)
		fd = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		    SECCOMP_FILTER_FLAG_NEW_LISTENER, &prog);
	if (fd >= 0 && fcntl(fd, F_SETFD, 0) == 0)
		execvp(argv[0], argv);
	perror("filtered");
	return 125;
}

/* Without a filter, and with one that cannot be read: what is said to each? */
static int
ask(void)
{
	for (uintptr_t at = 0; at < 2; at++) {
		long rv = syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER,
		    SECCOMP_FILTER_FLAG_NEW_LISTENER, (void *)at);

		puts(rv < 0 ? strerror(errno) : "made");
	}
	return 0;
}

int
main(int argc, char **argv)
{
	if (argc > 2 && strcmp(argv[1], "listener") == 0)
		return listen_to(argv + 2);
	if (argc == 2 && strcmp(argv[1], "ask") == 0)
		return ask();
	for (unsigned who = 0; argc > 2 && who < SECCOMP_NWHO; who++)
		if (strcmp(argv[1], names[who]) == 0) {
			if (install(who) == 0)
				execvp(argv[2], argv + 2);
			perror("filtered");
			return 125;
		}
	fputs("usage: filtered WHO COMMAND ARGS...\n", stderr);
	return 2;
}
