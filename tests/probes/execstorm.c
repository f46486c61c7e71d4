/*
 * execstorm N [restart]: executes 2 N programs while a timer interrupts every
 * 50 µs, with SA_RESTART or without: in a child that has the timer, after
 * paths that are missing, and by posix_spawn() from the process that has it.
 * Prints what went otherwise than without signals: "bad 0".
 */
#include <errno.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { MISSING = 5, EXIT_MISSING = 50, EXIT_EXEC = 51 };

static char *const args[] = { (char *)"true", NULL };
static const struct itimerval storm = { { 0, 50 }, { 0, 50 } };

static void
on_alarm(int signo)
{
	(void)signo;
}

static int
wait_for(pid_t pid)
{
	int status = -1;

	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	return status;
}

/* An image inherits the timer, but no handler: it has to ignore the signal. */
static pid_t
start_child(void)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)setitimer(ITIMER_REAL, &storm, NULL);
	for (int i = 0; i < MISSING; i++) {
		(void)execve("/nonexistent/true", args, environ);
		if (errno != ENOENT)
			_exit(EXIT_MISSING);
	}
	(void)signal(SIGALRM, SIG_IGN);
	(void)execve("/bin/true", args, environ);
	_exit(EXIT_EXEC);
}

static bool
spawns(const char *path, int want)
{
	pid_t pid;
	int err = posix_spawn(&pid, path, NULL, NULL, args, environ);

	return err == 0 ? want == 0 && wait_for(pid) == 0 : err == want;
}

int
main(int argc, char **argv)
{
	struct sigaction sa = { .sa_handler = on_alarm,
	    .sa_flags = argc > 2 ? SA_RESTART : 0 };
	unsigned bad = 0;
	int n = argc > 1 ? atoi(argv[1]) : 0;

	(void)sigaction(SIGALRM, &sa, NULL);
	for (int i = 0; i < n; i++)
		bad += wait_for(start_child()) != 0;
	(void)setitimer(ITIMER_REAL, &storm, NULL);
	for (int i = 0; i < n; i++) {
		bad += !spawns("/bin/true", 0);
		bad += !spawns("/nonexistent/true", ENOENT);
	}
	printf("bad %u\n", bad);
	return 0;
}
