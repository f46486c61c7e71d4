/*
 * What a run hears from its jail: events of jail_next(), the end of its
 * process, reports of the shim.
 */
#include <errno.h>
#include <signal.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/exit.h"
#include "launcher/exec/exec_watch.h"
#include "launcher/gate/held_calls.h"
#include "launcher/gate/held_files.h"
#include "launcher/gate/monitor.h"
#include "launcher/log.h"
#include "launcher/record/witness.h"
#include "launcher/run/guarding.h"
#include "launcher/run/limits.h"
#include "launcher/run/pty.h"
#include "launcher/run/reports.h"
#include "launcher/run/run_parts.h"
#include "launcher/run/tty.h"
#include "platform/fd.h"
#include "platform/looker.h"
#include "platform/pause.h"

/* End of file ends the workers while the jail is still ending. */
static void
workers_dismiss(struct run *r)
{
	worker_dismiss(&r->net);
	worker_dismiss(&r->names);
	worker_dismiss(&r->mint);
}

static void
jail_failed(struct run *r, const struct jail_event *ev)
{
	err_sys(r->err, ev->sys, "inside the jail: cannot %s", ev->what);
	if (ev->cure != NULL)
		err_hint(r->err, "%s", ev->cure);
	r->failed = true;
}

static void
program_failed(struct run *r, int sys)
{
	err_set(r->err, sys == ENOENT || sys == ENOTDIR ?
	    ERR_NOTFOUND : ERR_NOEXEC, "cannot execute '%s'",
	    r->spec.program);
	r->err->sys = sys;
	if (sys == ENOENT)
		err_hint(r->err, "it, or its interpreter, is not visible "
		    "inside the jail");
	r->failed = true;
}

/* pid is the first process of the jail: lists of ancestors end there. */
static void
jail_ready(struct run *r, pid_t pid)
{
	witness_set_stop(r->witness, pid);
	if (r->monitor != NULL)		/* NULL: the jail ended at once */
		monitor_stop_pid(r->monitor, pid);
}

/* A program wants a listener of its own; the answer is no. */
static void
listener_wanted(int calls_fd, const struct held_call *call, void *arg)
{
	struct run *r = arg;

	witness_listener(r->witness, call->tid);
	held_call_go(calls_fd, call);
}

static void
files_blind(void *arg)
{
	(void)arg;
	log_say("a file system does not answer: calls that name its files are "
	    "not reported for programs without the shim");
}

static void
files_lost(void *arg)
{
	(void)arg;
	log_say("fence-look ended: refused calls on files will not be reported "
	    "for programs without the shim");
}

/* -1: errno. */
static int
watch_files(struct run *r)
{
	const struct held_files_config c = { .loop = r->loop,
	    .witness = r->witness, .calls = r->calls, .spec = &r->spec,
	    .looker_fd = r->looker.fd, .is_asked = r->spec.wants_exec,
	    .blind = files_blind, .lost = files_lost, .arg = r };

	r->files = held_files_new(&c);
	return r->files != NULL && looker_listen(r->looker.fd,
	    r->exec != NULL ? held_calls_fd(r->calls) :
	    held_calls_share(r->calls)) == 0 ? 0 : -1;
}

/*
 * Where executions are supervised, fence-init ends without a listener.
 * Otherwise the listener only reports; without it the run continues, and refused
 * connections of static programs go unreported.
 */
static void
calls_held(struct run *r, int *calls_fd, int sys)
{
	if (*calls_fd < 0) {
		log_say("no seccomp listener (%s): refused calls of static "
		    "programs will not be reported", strerror(sys));
		return;
	}
	r->calls = held_calls_new(r->loop, calls_fd, r->wall, &r->spec,
	    r->witness);
	if (r->calls == NULL || (r->spec.wants_files && watch_files(r) != 0)) {		/* held calls would wait for ever */
		err_set(r->err, ERR_JAIL, "out of memory");
		r->failed = true;
		kill(r->jail.pid, SIGKILL);
		return;
	}
	held_calls_take(r->calls, HELD_LISTENER, listener_wanted, r);
	if (r->exec == NULL)
		return;
	held_calls_take(r->calls, HELD_EXEC, exec_watch_call, r->exec);
	exec_watch_listen(r->exec, held_calls_share(r->calls));
}

static void
command_started(struct run *r, int *command_fd, pid_t pid)
{
	fd_close(&r->command_fd);
	r->command_fd = fd_take(command_fd);
	tty_command(r->tty, r->command_fd, pid);
	if (limits_started(r->limits, r->command_fd) != 0) {
		err_set(r->err, ERR_JAIL, "out of memory");
		r->failed = true;
		kill(r->jail.pid, SIGKILL);
	}
	pause_at("started");
}

static void
all_written(void *arg)
{
	struct run *r = arg;

	r->is_written = true;
	if (!r->is_hearing)
		loop_stop(r->loop, 0);
}

static void
all_heard(void *arg)
{
	struct run *r = arg;

	workers_dismiss(r);
	r->is_hearing = false;
	if (r->is_written)
		loop_stop(r->loop, 0);
}

/* Hears the last questions where their refusals are reported or counted. */
static void
hear_last(struct run *r)
{
	if (r->monitor == NULL ||
	    (!r->is_told && r->trace_fd < 0 && r->status == 0)) {
		workers_dismiss(r);
		return;
	}
	r->is_hearing = true;
	worker_unwatch(&r->net);
	monitor_hear_last(r->monitor, all_heard, r);
}

static void
command_exited(struct run *r, int wstatus)
{
	r->status = WIFSIGNALED(wstatus) ? EXIT_SIGNAL + WTERMSIG(wstatus) :
	    WEXITSTATUS(wstatus);
	if (WIFSIGNALED(wstatus))
		tty_killed(r->tty);
	/* The jail has no process left; the kernel takes it down. */
	hear_last(r);
	guarding_ending(r->guarding);
	pause_at("exiting");
	pty_finish(r->pty, all_written, r);
}

/* Acts on one event; as jail_next() answers. */
static int
jail_step(struct run *r)
{
	struct jail_event ev;
	int rc = jail_next(&r->jail, &ev);
	auto_fd fd = -1;

	if (rc <= 0)
		return rc;
	fd = ev.fd;
	switch (ev.kind) {
	case JAIL_READY:
		jail_ready(r, ev.pid);
		break;
	case JAIL_CALLS:
		calls_held(r, &fd, ev.sys);
		break;
	case JAIL_STARTED:
		command_started(r, &fd, ev.pid);
		break;
	case JAIL_STOPPED:
		if (limits_may_stop(r->limits))
			tty_stopped(r->tty, ev.signo);
		break;
	case JAIL_CONTINUED:		/* and so did the shell outside */
		break;
	case JAIL_ALONE:
		tty_alone(r->tty, ev.signo);
		break;
	case JAIL_EXITED:
		command_exited(r, ev.wstatus);
		break;
	case JAIL_FAILED:
		jail_failed(r, &ev);
		break;
	case JAIL_NOEXEC:
		program_failed(r, ev.sys);
		break;
	}
	return 1;
}

void
run_control_ready(struct watch *w, int what, void *arg)
{
	struct run *r = arg;
	int rc;

	(void)w;
	(void)what;
	while ((rc = jail_step(r)) > 0)
		continue;
	if (rc < 0) {
		watch_free(r->control);
		r->control = NULL;
	}
}

/*
 * Is there no room for the few processes of a run?  RLIMIT_NPROC does not hold
 * for root; a fork that fails with EAGAIN tells of a cgroup's limit.
 */
static bool
is_out_of_processes(void)
{
	enum { FEW = 32 };
	struct rlimit lim;
	pid_t pid;

	if (getuid() != 0 && getrlimit(RLIMIT_NPROC, &lim) == 0 &&
	    lim.rlim_cur < FEW)
		return true;
	pid = fork();
	if (pid == 0)
		_exit(0);
	return pid < 0 ? errno == EAGAIN : waitpid(pid, NULL, 0) < 0;
}

/* The jail ended without an event; bwrap printed its own reason. */
static void
jail_ended(struct run *r, int wstatus)
{
	bool is_bwrap = r->spec.bwrap != NULL;

	if (WIFSIGNALED(wstatus))
		err_set(r->err, ERR_JAIL, "the jail was killed by signal %d",
		    WTERMSIG(wstatus));
	else
		err_set(r->err, ERR_JAIL, "%s ended with status %d before the "
		    "command", is_bwrap ? "bwrap" : "fence-init",
		    WEXITSTATUS(wstatus));
	if (is_bwrap && !WIFSIGNALED(wstatus) && is_out_of_processes())
		r->err->sys = EAGAIN;	/* main.c has the hint */
	else if (is_bwrap && !WIFSIGNALED(wstatus))
		err_hint(r->err, "bubblewrap 0.3.0 or later is needed; or "
		    "--engine native, which does without");
	r->failed = true;
}

void
run_jail_gone(struct watch *w, int wstatus, void *arg)
{
	struct run *r = arg;

	(void)w;
	r->child = NULL;
	r->is_jail_gone = true;
	while (jail_step(r) > 0)
		continue;
	if (r->status < 0 && !r->failed)
		jail_ended(r, wstatus);
	pty_finish(r->pty, all_written, r);
}

int
run_gave_up(struct run *r)
{
	int wstatus = 0;

	watch_free(r->child);
	r->child = NULL;
	if ((r->err->sys != EPIPE && r->err->sys != ECONNRESET) ||
	    waitpid(r->jail.pid, &wstatus, 0) != r->jail.pid)
		return -1;
	r->is_jail_gone = true;
	while (jail_step(r) > 0)
		continue;
	if (!r->failed)
		jail_ended(r, wstatus);
	return -1;
}

void
run_report_ready(struct watch *w, int what, void *arg)
{
	struct run *r = arg;

	(void)w;
	(void)what;
	/* The first report may come in the same turn as JAIL_STARTED. */
	while (r->control != NULL && jail_step(r) > 0)
		continue;
	reports_drain(r->jail.report_fd, r->witness, REPORTS_TURN);
}
