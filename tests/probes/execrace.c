/*
 * execrace MODE N [twin]: executes itself N times, while somebody changes
 * what is executed: "say permitted" and "say forbidden" in turns, or a link
 * to ./permitted or ./forbidden.  twin: both are permitted.  Prints how many
 * of each ran, and what became of the others.
 *
 *	spawn	another thread writes, posix_spawn()
 *	vfork	another thread writes, vfork()
 *	thread	another thread writes, a thread that is no leader executes
 *	shared	another process writes, into memory that both map
 *	written	another process writes, by process_vm_writev()
 *	path	another process renames a link
 */
#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <pthread.h>
#include <signal.h>
#include <spawn.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/prctl.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

extern char **environ;

enum { OUT = 9, WORD = 16, EXIT_REFUSED = 77 };

static struct shared {
	_Atomic bool	is_over;
	_Atomic pid_t	pid;
	char		word[WORD];
} *shared;

static char own[WORD] = "permitted";	/* of each process */
static char *word = own;
static char self[PATH_MAX];
static char *args[] = { self, (char *)"say", own, NULL };
static const char *words[2] = { "permitted", "forbidden" };

/* ---- those who change it ---- */

static void *
flip(void *arg)
{
	(void)arg;
	for (unsigned i = 0; !shared->is_over; i++)
		/* Never a mixture: they differ in the first byte alone, and
		 * in what follows it behind an equal first. */
		memcpy(word, words[i & 1], sizeof "permitted");
	return NULL;
}

static void
write_other(void)
{
	for (unsigned i = 0; !shared->is_over; i++) {
		struct iovec from = { (void *)words[i & 1],
		    sizeof "permitted" };
		struct iovec to = { own, sizeof "permitted" };

		(void)!process_vm_writev(shared->pid, &from, 1, &to, 1, 0);
	}
}

static void
rename_link(void)
{
	for (unsigned i = 0; !shared->is_over; i++) {
		(void)!symlink(words[i & 1], "link.new");
		(void)!rename("link.new", "link");
	}
}

static pid_t
beside(void (*fn)(void))
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	(void)prctl(PR_SET_PDEATHSIG, SIGKILL);
	fn();
	_exit(0);
}

static void
flip_here(void)
{
	(void)flip(NULL);
}

/* ---- those who execute ---- */

static _Noreturn void
execute(void)
{
	(void)execve(args[0], args, environ);
	_exit(errno == EACCES ? EXIT_REFUSED : 126);
}

static pid_t
by_spawn(void)
{
	pid_t pid;
	int rc = posix_spawn(&pid, args[0], NULL, NULL, args, environ);

	return rc == 0 ? pid : -rc;
}

static pid_t
by_vfork(void)
{
	pid_t pid = vfork();

	if (pid == 0) {
		(void)execve(args[0], args, environ);
		_exit(errno == EACCES ? EXIT_REFUSED : 126);
	}
	return pid;
}

static void *
execute_thread(void *arg)
{
	(void)arg;
	execute();
}

static pid_t
by_thread(void)
{
	pid_t pid = fork();
	pthread_t t;

	if (pid != 0)
		return pid;
	pthread_create(&t, NULL, flip, NULL);
	pthread_create(&t, NULL, execute_thread, NULL);
	for (;;)
		pause();
}

static pid_t
by_fork(void)
{
	pid_t pid = fork();

	if (pid != 0)
		return pid;
	shared->pid = getpid();
	execute();
}

static const struct mode {
	const char	*name;
	pid_t		(*start)(void);
	bool		 has_thread;
	void		(*beside)(void);
} modes[] = {
	{ "spawn", by_spawn, true, NULL },
	{ "vfork", by_vfork, true, NULL },
	{ "thread", by_thread, false, NULL },
	{ "shared", by_fork, false, flip_here },
	{ "written", by_fork, false, write_other },
	{ "path", by_fork, false, rename_link },
};

/* What was executed says so: one byte. */
static int
say(const char *what)
{
	char exe[PATH_MAX];
	ssize_t n = readlink("/proc/self/exe", exe, sizeof exe - 1);
	const char *name;

	exe[n > 0 ? n : 0] = '\0';
	name = strrchr(exe, '/');
	return write(OUT, strcmp(what, words[1]) == 0 || (name != NULL &&
	    strcmp(name + 1, words[1]) == 0) ? "F" : "P", 1) == 1 ? 0 : 1;
}

struct counts {
	unsigned	refused, killed, other;
};

static void
count(struct counts *c, pid_t pid)
{
	int status;

	if (pid < 0) {
		if (pid == -EACCES)
			c->refused++;
		else
			c->other++;
		return;
	}
	while (waitpid(pid, &status, 0) < 0 && errno == EINTR)
		continue;
	if (WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL)
		c->killed++;
	else if (WIFEXITED(status) && WEXITSTATUS(status) == EXIT_REFUSED)
		c->refused++;
	else if (!WIFEXITED(status) || WEXITSTATUS(status) != 0)
		c->other++;
}

static void
report(const struct counts *c)
{
	unsigned ran[2] = { 0 };
	char byte;

	while (pread(OUT, &byte, 1, ran[0] + ran[1]) == 1)
		ran[byte == 'F']++;
	printf("permitted %u forbidden %u refused %u killed %u other %u\n",
	    ran[0], ran[1], c->refused, c->killed, c->other);
}

int
main(int argc, char **argv)
{
	const struct mode *m = modes;
	struct counts counts = { 0 };
	pthread_t t;
	pid_t helper = 0;
	int fd;

	if (argc >= 3 && strcmp(argv[1], "say") == 0)
		return say(argv[2]);
	if (argc < 3)
		return 2;
	while (m < modes + sizeof modes / sizeof modes[0] &&
	    strcmp(m->name, argv[1]) != 0)
		m++;
	if (argc > 3)
		words[1] = "permittee";
	fd = open("ran", O_RDWR | O_CREAT | O_TRUNC | O_APPEND, 0600);
	if (m == modes + sizeof modes / sizeof modes[0] || dup2(fd, OUT) < 0)
		return 2;
	if (readlink("/proc/self/exe", self, sizeof self - 1) < 0)
		return 2;
	shared = mmap(NULL, sizeof *shared, PROT_READ | PROT_WRITE,
	    MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	strcpy(shared->word, own);
	if (m->beside == flip_here)
		args[2] = word = shared->word;
	if (m->beside == rename_link) {
		strcpy(self, "./link");
		(void)unlink("link");
		(void)!symlink(words[0], "link");
	}
	if (m->has_thread)
		pthread_create(&t, NULL, flip, NULL);
	if (m->beside != NULL)
		helper = beside(m->beside);
	for (int i = atoi(argv[2]); i > 0; i--)
		count(&counts, m->start());
	shared->is_over = true;
	if (helper > 0)
		(void)waitpid(helper, NULL, 0);
	report(&counts);
	return 0;
}
