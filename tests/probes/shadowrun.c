/*
 * shadowrun STATE FOLDER COMMAND [ARG...]: a run that shadows FOLDER, without a
 * jail: COMMAND finds the jail's folder in $INSIDE.  settings.json and plugins
 * are kept, history is carried, auth.json is a credential, what is made is
 * carried.  Says on standard output what the shadow says.
 */
#include <errno.h>
#include <poll.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/shadow/shadow.h"

static const struct shadow_item items[] = {
	{ "settings.json", SHADOW_KEPT, false },
	{ "plugins", SHADOW_KEPT, true },
	{ "projects", SHADOW_BOUND, true },
	{ "history", SHADOW_CARRIED, false },
	{ "auth.json", SHADOW_CREDENTIAL, false },
};

static void
say(const struct shadow_told *t, void *arg)
{
	struct buf b;

	(void)arg;
	buf_init(&b, 0);
	shadow_text(&b, t, getenv("HOME"));
	puts(b.data);
	fflush(stdout);
	buf_release(&b);
}

/* Until the command has ended; its status. */
static int
wait_for(struct shadow *s, pid_t pid)
{
	struct pollfd p = { .fd = shadow_watch(s), .events = POLLIN };
	int status;

	while (waitpid(pid, &status, WNOHANG) == 0)
		if (poll(&p, 1, 20) == 1)
			shadow_ready(s, say, NULL);
	return WIFEXITED(status) ? WEXITSTATUS(status) : 128;
}

int
main(int argc, char **argv)
{
	struct shadow_folder folder = { .items = items,
	    .nitems = sizeof items / sizeof *items,
	    .is_rest_carried = true };
	struct shadow_config c = { .folders = &folder, .nfolders = 1,
	    .told = say };
	struct arena *a = arena_new();
	struct err e = { 0 };
	struct shadow *s;
	int status;
	pid_t pid;

	if (argc < 4)
		return 2;
	c.state = argv[1];
	c.run_id = arena_printf(a, "run.%ld", (long)getpid());
	folder.path = argv[2];
	s = shadow_begin(&c, &e);
	if (s == NULL) {
		err_print(&e, stderr);
		return (int)e.code;
	}
	setenv("INSIDE", shadow_source(a, c.state, folder.path), 1);
	pid = fork();
	if (pid == 0) {
		execvp(argv[3], argv + 3);
		_exit(127);
	}
	status = wait_for(s, pid);
	shadow_end(s, say, NULL);
	shadow_free(s);
	arena_free(a);
	return status;
}
