#include "launcher/run/worker.h"

#include <errno.h>
#include <signal.h>
#include <stdio.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/log.h"
#include "platform/fd.h"
#include "platform/spawn.h"

static void
worker_gone(struct watch *w, int wstatus, void *arg)
{
	struct worker *k = arg;
	struct event ev = { .kind = EVENT_WORKER, .count = 1,
	    .witness = WITNESS_MONITOR, .enforcer = ENFORCER_NONE };
	char text[128];

	(void)w;
	k->child = NULL;
	k->pid = 0;
	snprintf(text, sizeof text, "%s ended (%s %d): %s for the rest of the "
	    "run", k->name, WIFSIGNALED(wstatus) ? "signal" : "status",
	    WIFSIGNALED(wstatus) ? WTERMSIG(wstatus) : WEXITSTATUS(wstatus),
	    k->loss);
	ev.detail = text;
	witness_gate(k->witness, &ev);
	if (!k->is_told)		/* too important to wait for -m */
		log_say("%s", text);
}

int
worker_start(struct worker *k, const char *path, char *const *envp,
    struct err *e)
{
	int pair[2];
	int rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return err_sys(e, errno, "cannot make a socket pair");
	fd_nonblock(pair[0], 1);
	k->fd = pair[0];
	rc = spawn_worker(path, k->name, pair[1], envp, &k->pid, e);
	close(pair[1]);
	return rc;
}

int
worker_watch(struct worker *k, struct loop *loop)
{
	if (k->pid == 0)
		return 0;
	k->child = loop_child(loop, k->pid, worker_gone, k);
	return k->child != NULL ? 0 : -1;
}

void
worker_unwatch(struct worker *k)
{
	watch_free(k->child);
	k->child = NULL;
}

void
worker_dismiss(struct worker *k)
{
	worker_unwatch(k);
	if (k->fd >= 0)
		shutdown(k->fd, SHUT_RDWR);
}

void
worker_end(struct worker *k)
{
	fd_close(&k->fd);
	watch_free(k->child);
	if (k->pid > 0) {
		kill(k->pid, SIGKILL);
		waitpid(k->pid, NULL, 0);
	}
}
