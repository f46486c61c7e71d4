/*
 * fence-try: attempts every row of try.h from inside a jail and prints what
 * came of it.  Started by `fence doctor`; libc alone, and dynamic, so that the
 * shim is preloaded into it as into any program.
 */
#include "launcher/doctor/try.h"

#include <errno.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

enum { TRY_MS = 5000 };

static const struct {
	const char	*id;
	try_fn		*fn;
} rows[] = {
#define ROW(id, fn, what)	{ id, fn },
	TRY_ROWS(ROW)
#undef ROW
};

static const char *const result_words[TRY_NRESULTS] = { "held", "hole",
    "works", "broken", "untried" };

/* ---- for the rows ---- */

void
try_say(struct try_answer *a, enum try_result result, int error,
    const char *text)
{
	a->result = result;
	a->error = error;
	snprintf(a->text, sizeof a->text, "%s", text);
}

void
try_held(struct try_answer *a, int error)
{
	try_say(a, TRY_HELD, error, "");
}

void
try_hole(struct try_answer *a, const char *text)
{
	try_say(a, TRY_HOLE, 0, text);
}

void
try_refused(struct try_answer *a, long rc)
{
	int error = errno;

	if (rc < 0)
		try_held(a, error);
	else
		try_hole(a, "it worked");
}

void
try_filtered(struct try_answer *a, long rc)
{
	int error = errno;

	if (rc < 0 && (error == EPERM || error == ENOSYS))
		try_held(a, error);
	else if (rc < 0)
		try_say(a, TRY_HOLE, error, "no filter refused the call");
	else
		try_hole(a, "it worked");
}

int
try_shares(const struct scene *s, enum try_ns ns)
{
	static const char *const names[TRY_NNS] = TRY_NAMESPACES;
	char path[32], inode[32];
	struct stat st;

	snprintf(path, sizeof path, "/proc/self/ns/%s", names[ns]);
	if (stat(path, &st) != 0)
		return 0;
	snprintf(inode, sizeof inode, "%llu", (unsigned long long)st.st_ino);
	return strcmp(inode, s->ns[ns]) == 0;
}

/* Was the shim preloaded into this very process? */
static int
has_shim(void)
{
	char line[512];
	FILE *f = fopen("/proc/self/maps", "re");
	int found = 0;

	while (f != NULL && !found && fgets(line, sizeof line, f) != NULL)
		found = strstr(line, "libfence-shim") != NULL;
	if (f != NULL)
		fclose(f);
	return found;
}

void
try_shim(const struct scene *s, struct try_answer *a)
{
	(void)s;
	if (has_shim())
		try_say(a, TRY_WORKS, 0, "the shim is preloaded");
	else
		try_say(a, TRY_BROKEN, 0, "the shim is not preloaded");
}

/* ---- the run ---- */

static _Noreturn void
child(try_fn *fn, const struct scene *s, int fd)
{
	struct try_answer a = { .result = TRY_BROKEN };

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	fn(s, &a);
	(void)!write(fd, &a, sizeof a);
	_exit(0);
}

/* In a process of its own: what becomes of it is part of the answer. */
static void
attempt(try_fn *fn, const struct scene *s, struct try_answer *a)
{
	struct pollfd p;
	int pair[2];
	pid_t pid;

	try_say(a, TRY_BROKEN, 0, "no answer");
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0 ||
	    (pid = fork()) < 0) {
		a->error = errno;
		return;
	}
	if (pid == 0)
		child(fn, s, pair[1]);
	close(pair[1]);
	p = (struct pollfd){ .fd = pair[0], .events = POLLIN };
	if (poll(&p, 1, TRY_MS) == 1 &&
	    read(pair[0], a, sizeof *a) != (ssize_t)sizeof *a)
		try_say(a, TRY_BROKEN, 0, "it ended without an answer");
	close(pair[0]);
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static void
tell(const char *id, const struct try_answer *a)
{
	char line[TRY_TEXT_MAX + 64];
	int n = snprintf(line, sizeof line, "%s %s %d %.*s\n", id,
	    result_words[a->result < TRY_NRESULTS ? a->result : TRY_BROKEN],
	    a->error, TRY_TEXT_MAX - 1, a->text);

	(void)!write(STDOUT_FILENO, line, (size_t)n);
}

/* NAME=VALUE arguments into the scene; a name may be missing. */
static void
read_scene(char **argv, struct scene *s)
{
	static const char *const ns[TRY_NNS] = TRY_NAMESPACES;
	const struct {
		const char	 *name;
		const char	**at;
	} fields[] = {
		{ "self", &s->self }, { "work", &s->work },
		{ "outside", &s->outside }, { "home", &s->home },
		{ "ssh", &s->ssh }, { "daemon", &s->daemon },
		{ "abstract", &s->abstract }, { "setuid", &s->setuid },
		{ "port4", &s->port4 }, { "port6", &s->port6 },
		{ "victim", &s->victim }, { "fd", &s->fd },
		{ ns[0], &s->ns[0] }, { ns[1], &s->ns[1] },
		{ ns[2], &s->ns[2] }, { ns[3], &s->ns[3] },
		{ ns[4], &s->ns[4] }, { ns[5], &s->ns[5] },
	};

	for (size_t i = 0; i < sizeof fields / sizeof *fields; i++) {
		size_t n = strlen(fields[i].name);

		*fields[i].at = "";
		for (char **p = argv; *p != NULL; p++)
			if (strncmp(*p, fields[i].name, n) == 0 &&
			    (*p)[n] == '=')
				*fields[i].at = *p + n + 1;
	}
}

int
main(int argc, char **argv)
{
	struct scene s;

	/* What exec-tmp executes, and how doctor looks whether it loads. */
	if (argc == 2 && strcmp(argv[1], "ran") == 0)
		return 42;
	if (argc == 2 && strcmp(argv[1], "shim") == 0)
		return has_shim() ? 42 : 1;
	if (argc < 2) {
		(void)!write(STDERR_FILENO, "fence-try: a part of fence "
		    "doctor\n", 31);
		return 2;
	}
	read_scene(argv + 1, &s);
	for (size_t i = 0; i < sizeof rows / sizeof *rows; i++) {
		struct try_answer a;

		attempt(rows[i].fn, &s, &a);
		tell(rows[i].id, &a);
	}
	return 0;
}
