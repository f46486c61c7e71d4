/*
 * swapper DIR: in DIR, exchanges p, a folder with .ssh/.git/hooks in it, and
 * q, a symlink to "..", as fast as it can, until SIGTERM ends it.  What is
 * missing it makes, also when somebody takes it away meanwhile.  It says
 * "swapping" once it has begun, and at the end how often it did so.
 */
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

enum { NOREPLACE = 1, EXCHANGE = 2 };	/* RENAME_… */

static volatile sig_atomic_t is_over;

static void
end(int signo)
{
	(void)signo;
	is_over = 1;
}

static int
move(const char *from, const char *to, unsigned how)
{
	return (int)syscall(SYS_renameat2, AT_FDCWD, from, AT_FDCWD, to, how);
}

/* The folder, whichever name it has, or -1. */
static int
open_folder(void)
{
	const int how = O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC;
	int fd = open("p", how);

	return fd >= 0 ? fd : open("q", how);
}

/* By descriptor: never by way of the symlink. */
static void
fill(int fd)
{
	static const char *const made[] = { ".ssh", ".ssh/.git",
	    ".ssh/.git/hooks" };

	for (int i = 0; i < 3; i++)
		(void)mkdirat(fd, made[i], 0755);
}

static void
mend(void)
{
	static const char *const names[] = { "p", "q" };
	struct stat st[2];
	int there[2];

	for (int i = 0; i < 2; i++)
		there[i] = lstat(names[i], &st[i]) == 0;
	for (int i = 0; i < 2; i++) {
		int wants_link = there[!i] ? S_ISDIR(st[!i].st_mode) : i;

		if (there[i])
			continue;
		if (wants_link ? symlink("..", "spare.link") == 0 ||
		    errno == EEXIST : mkdir("spare.dir", 0755) == 0 ||
		    errno == EEXIST)
			(void)move(wants_link ? "spare.link" : "spare.dir",
			    names[i], NOREPLACE);
	}
}

int
main(int argc, char **argv)
{
	unsigned long n = 0;
	int fd;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	signal(SIGTERM, end);
	if (argc != 2 || chdir(argv[1]) != 0) {
		perror("swapper");
		return 1;
	}
	mend();
	fill(fd = open_folder());
	puts("swapping");
	fflush(stdout);
	while (!is_over) {
		if (move("p", "q", EXCHANGE) == 0)
			n++;
		else
			mend();
		if (n % 64 != 0)
			continue;
		(void)close(fd);
		fill(fd = open_folder());
	}
	printf("%lu\n", n);
	return 0;
}
