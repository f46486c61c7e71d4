#include "launcher/run/run.h"

#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include "launcher/gate/held_calls.h"
#include "launcher/gate/inbound.h"
#include "launcher/exit.h"
#include "launcher/run/guarding.h"
#include "launcher/run/limits.h"
#include "launcher/run/listeners.h"
#include "launcher/log.h"
#include "launcher/gate/monitor.h"
#include "launcher/run/policywatch.h"
#include "launcher/run/pty.h"
#include "launcher/run/reports.h"
#include "launcher/run/tty.h"
#include "launcher/record/witness.h"
#include "launcher/run/worker.h"
#include "platform/base/str.h"
#include "platform/confine.h"
#include "platform/fd.h"
#include "platform/loop.h"
#include "platform/mint.h"
#include "platform/pause.h"
#include "policy/decide.h"

struct run {
	struct plan	*plan;
	struct loop	*loop;
	struct jail	 jail;
	struct worker	 net, names, mint;
	int		*in_fds;	/* the host's ports of --port */
	struct inbound *inbound;
	struct witness	*witness;
	struct held_calls	*calls;
	struct monitor	*monitor;
	struct policywatch *policywatch;
	struct tty	*tty;
	struct pty	*pty;
	struct guarding	*guarding;
	struct limits	*limits;
	struct watch	*control, *report, *child;
	char		 id[33];
	int		 trace_fd;
	int		 command_fd;	/* pidfd */
	int		 status;	/* of fence-run; -1 until known */
	struct err	*err;		/* set with failed */
	bool		 failed;	/* the jail could not be built */
	bool		 is_jail_gone;
	bool		 is_told;	/* -m, -d: records are told as text */
	bool		 is_debug;	/* -d: all of them */
	bool		 is_hearing;	/* the last questions */
	bool		 is_written;	/* all that the command wrote */
};

static void
run_fail(struct run *r)
{
	r->failed = true;
}

/* The end of file ends them, beside the jail and not after it. */
static void
workers_dismiss(struct run *r)
{
	worker_dismiss(&r->net);
	worker_dismiss(&r->names);
	worker_dismiss(&r->mint);
}

/* ---- what the jail says ---- */

static void
jail_failed(struct run *r, const struct jail_event *ev)
{
	err_sys(r->err, ev->sys, "inside the jail: cannot %s", ev->what);
	if (ev->cure != NULL)
		err_hint(r->err, "%s", ev->cure);
	run_fail(r);
}

static void
program_failed(struct run *r, int sys)
{
	err_set(r->err, sys == ENOENT || sys == ENOTDIR ?
	    ERR_NOTFOUND : ERR_NOEXEC, "cannot execute '%s'",
	    r->plan->spec.program);
	r->err->sys = sys;
	if (sys == ENOENT)
		err_hint(r->err, "it, or its interpreter, is not visible "
		    "inside the jail");
	run_fail(r);
}

/* Its first process stands where the jail begins: ancestors end there. */
static void
jail_ready(struct run *r, pid_t pid)
{
	witness_set_stop(r->witness, pid);
	if (r->monitor != NULL)		/* not if it gave up at once */
		monitor_stop_pid(r->monitor, pid);
}

/* What it tells is not of the wall: a run goes on without. */
static void
calls_held(struct run *r, int *calls_fd, int sys)
{
	if (*calls_fd < 0) {
		log_say("addresses that are refused are told by the shim "
		    "alone: %s", strerror(sys));
		return;
	}
	r->calls = held_calls_new(r->loop, calls_fd, &r->plan->spec,
	    r->witness);
	if (r->calls == NULL) {		/* what is held nobody lets go */
		err_set(r->err, ERR_JAIL, "out of memory");
		run_fail(r);
		kill(r->jail.pid, SIGKILL);
	}
}

static void
command_started(struct run *r, int *command_fd, pid_t pid)
{
	fd_close(&r->command_fd);
	r->command_fd = fd_take(command_fd);
	tty_command(r->tty, r->command_fd, pid);
	if (limits_started(r->limits, r->command_fd) != 0) {
		err_set(r->err, ERR_JAIL, "out of memory");
		run_fail(r);
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

/* Where refusals are told or counted, also of what was asked last. */
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
	/* Nobody is left in the jail; it goes while we finish. */
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
	case JAIL_CONTINUED:		/* the shell outside saw to it */
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

static void
control_ready(struct watch *w, int what, void *arg)
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
 * Is there no room for the few processes of a run?  Root has no such limit,
 * but for those of a cgroup, of which a fork tells.
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

/* Without a word; bwrap has said something itself. */
static void
jail_ended(struct run *r, int wstatus)
{
	bool is_bwrap = r->plan->spec.bwrap != NULL;

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
	run_fail(r);
}

static void
jail_gone(struct watch *w, int wstatus, void *arg)
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

/* It ended while we were still starting it: it may have said why. */
static int
jail_gave_up(struct run *r)
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

static void
early_signal(int signo, void *arg)
{
	struct run *r = arg;

	r->status = EXIT_SIGNAL + signo;
	if (!r->is_jail_gone)
		kill(r->jail.pid, SIGKILL);
}

/* The jail knows whether the whole group was sent it: it is of the group. */
static void
ask_signal(int signo, bool wants_answer, void *arg)
{
	struct run *r = arg;

	if (jail_ask(&r->jail, signo, wants_answer) != 0 && wants_answer)
		tty_alone(r->tty, signo);
}

/* ---- what the shim says ---- */

static void
report_ready(struct watch *w, int what, void *arg)
{
	struct run *r = arg;

	(void)w;
	(void)what;
	/* The first report may come in the same turn as fence-init's word. */
	while (r->control != NULL && jail_step(r) > 0)
		continue;
	reports_drain(r->jail.report_fd, r->witness, REPORTS_TURN);
}

/* ---- workers ---- */

static int
start_workers(struct run *r, struct err *e)
{
	if (r->plan->spec.shares_net)		/* there is no gate */
		return 0;
	if (worker_start(&r->net, r->plan->net_path, r->plan->worker_env,
	    e) != 0)
		return -1;
	if (r->plan->wants_names && worker_start(&r->names,
	    r->plan->names_path, r->plan->worker_env, e) != 0)
		return -1;
	pause_at("after-workers");
	return 0;
}

/* Who comes by --port is led in by sockets that are made inside. */
static int
start_minter(struct run *r, struct err *e)
{
	struct worker *k = &r->mint;

	if (r->plan->ports.nin == 0)
		return 0;
	if (minter_start(r->jail.listen_fd[JAIL_LISTEN_HTTP], &k->fd, &k->pid,
	    e) != 0)
		return -1;
	r->inbound = inbound_new(r->loop, k->fd);
	return r->inbound != NULL && worker_watch(k, r->loop) == 0 ? 0 :
	    err_sys(e, errno, "cannot watch %s", k->name);
}

/* ---- start ---- */

static void
make_run_id(char id[33])
{
	unsigned char raw[16] = { 0 };

	(void)!getrandom(raw, sizeof raw, 0);
	for (size_t i = 0; i < sizeof raw; i++)
		snprintf(id + 2 * i, 3, "%02x", raw[i]);
}

static int
make_witness(struct run *r, const struct run_options *ro, struct err *e)
{
	struct witness_config c = { .policy = r->plan->policy,
	    .trace_fd = r->trace_fd, .text_fd = r->is_told ? log_fd() : -1,
	    .text_is_tty = isatty(log_fd()), .is_debug = ro->debug };

	make_run_id(r->id);
	memcpy(c.run.id, r->id, sizeof c.run.id);
	gethostname(c.run.hostname, sizeof c.run.hostname - 1);
	snprintf(c.run.version, sizeof c.run.version, "%s", FENCE_VERSION);
	snprintf(c.run.policy_name, sizeof c.run.policy_name, "%s",
	    r->plan->policy->name);
	r->witness = witness_new(&c);
	if (r->witness == NULL)
		return err_set(e, ERR_JAIL, "out of memory");
	return 0;
}

static void
name_workers(struct run *r)
{
	static const char closed[] = "the network is closed";

	r->net = (struct worker){ "fence-net", closed, .fd = -1,
	    .witness = r->witness, .is_told = r->is_told };
	r->names = r->mint = r->net;
	r->names.name = "fence-names";
	r->mint.name = "fence-mint";
	r->mint.loss = "no --port leads in";
}

static void
end_run(struct run *r, const char *why, const char *hint)
{
	if (r->failed)
		return;
	err_set(r->err, ERR_POLICY, "%s: the run was ended", why);
	err_hint(r->err, "%s", hint);
	run_fail(r);
	if (!r->is_jail_gone)
		kill(r->jail.pid, SIGKILL);
}

/* profile: strict.  The command made a name that it must not make. */
static void
end_strict(void *arg)
{
	end_run(arg, "a guarded name appeared", "under profile strict it is "
	    "not merely moved away");
}

/* It goes on making them faster than anybody could want. */
static void
end_flooded(void *arg)
{
	end_run(arg, "too many guarded names were made", "the lines above "
	    "and the record name them");
}

/* It did not end when its time was over. */
static void
end_jail(void *arg)
{
	struct run *r = arg;

	r->status = EXIT_TIME;
	if (!r->is_jail_gone)
		kill(r->jail.pid, SIGKILL);
}

static int
make_limits(struct run *r, struct err *e)
{
	struct limits_config c = { .policy = r->plan->policy,
	    .loop = r->loop, .witness = r->witness, .is_told = r->is_told,
	    .kill = end_jail, .arg = r };

	/* fence-init, and bwrap where there is one. */
	c.nown = r->plan->spec.bwrap != NULL ? 2 : 1;

	r->limits = limits_new(&c, &r->plan->spec.limits, e);
	return r->limits != NULL ? 0 : -1;
}

/* Watches before the command can do anything. */
static int
make_guarding(struct run *r, struct err *e)
{
	struct guarding_config c = { .loop = r->loop, .witness = r->witness,
	    .flooded = end_flooded, .arg = r };

	if (r->plan->spec.is_strict)
		c.violated = end_strict;
	guarding_plan(r->plan, r->id, &c.guard);
	r->guarding = guarding_new(&c, e);
	return r->guarding != NULL ? 0 : -1;
}

/* The errno of the first that could not be made. */
static void
must_be(bool is_made, int *sys)
{
	if (!is_made && *sys == 0)
		*sys = errno != 0 ? errno : ENOMEM;
}

static int
make_loop(struct run *r, struct err *e)
{
	struct monitor_config mc = { .loop = r->loop,
	    .policy = r->plan->policy, .via = &r->plan->via,
	    .witness = r->witness, .net_fd = r->net.fd, .names_fd = r->names.fd,
	    .ports = &r->plan->ports, .inbound = r->inbound,
	    .jail_pid = r->jail.pid, .is_debug = r->is_debug,
	    .http_port = r->plan->spec.http_port,
	    .socks_port = r->plan->spec.socks_port };
	struct tty_config tc = { .loop = r->loop, .early = early_signal,
	    .ask = ask_signal, .arg = r, .pty = r->pty,
	    .is_apart = r->plan->spec.session != JAIL_SESSION_SAME };
	bool has_gate = !r->plan->spec.shares_net;
	int sys = 0;

	if (has_gate)
		r->monitor = monitor_new(&mc);
	must_be(!has_gate || r->monitor != NULL, &sys);
	r->tty = tty_start(&tc);
	must_be(r->tty != NULL, &sys);
	r->control = loop_fd(r->loop, r->jail.control_fd, LOOP_READ,
	    control_ready, r);
	r->child = loop_child(r->loop, r->jail.pid, jail_gone, r);
	if (r->jail.report_fd >= 0)
		r->report = loop_fd(r->loop, r->jail.report_fd, LOOP_READ,
		    report_ready, r);
	must_be(r->control != NULL && r->child != NULL, &sys);
	must_be(!has_gate || r->monitor == NULL ||
	    (worker_watch(&r->net, r->loop) == 0 &&
	    worker_watch(&r->names, r->loop) == 0), &sys);
	return sys == 0 ? 0 : err_sys(e, sys, "cannot watch the jail");
}

static int
make_policywatch(struct run *r, struct err *e)
{
	struct policywatch_config c = { .loop = r->loop, .plan = r->plan,
	    .monitor = r->monitor, .witness = r->witness };

	r->policywatch = policywatch_new(&c, e);
	return r->policywatch != NULL ? 0 : -1;
}

/* For us alone: the jail has the caller's limit by now. */
static void
raise_files(void)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, &lim) == 0 &&
	    lim.rlim_cur < lim.rlim_max) {
		lim.rlim_cur = lim.rlim_max;
		setrlimit(RLIMIT_NOFILE, &lim);
	}
}

/* With a terminal of its own where the policy wants that and we have one. */
static int
start_jail(struct run *r, struct err *e)
{
	struct jail_spec *spec = &r->plan->spec;
	auto_fd tty_fd = -1;

	if (spec->session == JAIL_SESSION_NEW) {
		if (pty_open(r->loop, &r->pty, &tty_fd, e) != 0)
			return -1;
		if (r->pty != NULL)
			spec->session = JAIL_SESSION_TTY;
		spec->tty_fd = tty_fd;
	}
	if (jail_start(spec, r->plan->ahead, &r->jail, e) == 0)
		return 0;
	r->plan->is_outdated = e->sys == ESTALE;
	return -1;
}

static int
run_start(struct run *r, const struct run_options *ro, struct err *e)
{
	if (listeners_open(&r->plan->ports, &r->in_fds, e) != 0)
		return -1;
	if ((r->loop = loop_new()) == NULL)
		return err_sys(e, errno, "cannot make an event loop");
	if (make_witness(r, ro, e) != 0 || make_limits(r, e) != 0)
		return -1;
	name_workers(r);
	if (start_jail(r, e) != 0)
		return -1;
	pause_at("after-clone");
	raise_files();
	/* The rest is done while the jail makes itself ready. */
	if (jail_plan(&r->plan->spec, &r->jail, e) != 0)
		return jail_gave_up(r);
	if (make_guarding(r, e) != 0)
		return -1;
	if (start_workers(r, e) != 0 || start_minter(r, e) != 0 ||
	    (r->net.fd >= 0 && listeners_hand(r->net.fd, &r->plan->ports,
	    r->in_fds, &r->jail, e) != 0) || make_loop(r, e) != 0)
		return -1;
	if (ro->watch_policy && make_policywatch(r, e) != 0)
		return -1;
	/* The guard may do what we give up for good below. */
	if (guarding_start(r->guarding, r->jail.pid, e) != 0)
		return -1;
	witness_run_start(r->witness, r->plan->spec.argv[0]);
	pause_at("before-go");
	if (jail_go(&r->jail, e) != 0)
		return jail_gave_up(r);
	pause_at("after-go");
	return confine_monitor(e);
}

static void
run_release(struct run *r)
{
	if (r->jail.pid > 0 && !r->is_jail_gone)
		kill(r->jail.pid, SIGKILL);
	held_calls_free(r->calls);
	monitor_free(r->monitor);
	inbound_free(r->inbound);
	policywatch_free(r->policywatch);
	tty_free(r->tty);
	pty_free(r->pty);
	watch_free(r->control);
	watch_free(r->report);
	watch_free(r->child);
	worker_end(&r->net);
	worker_end(&r->names);
	worker_end(&r->mint);
	listeners_close(&r->plan->ports, r->in_fds);
	guarding_free(r->guarding);
	/* Late: its namespaces were taken down meanwhile. */
	if (r->jail.pid > 0 && !r->is_jail_gone)
		waitpid(r->jail.pid, NULL, 0);
	limits_free(r->limits);
	/* Who goes on reading the file behind us goes on where it ended. */
	if (r->jail.stdin_fd >= 0)
		(void)lseek(STDIN_FILENO, lseek(r->jail.stdin_fd, 0,
		    SEEK_CUR), SEEK_SET);
	jail_release(&r->jail);
	fd_close(&r->command_fd);
	witness_free(r->witness);
	if (r->loop != NULL)
		loop_free(r->loop);
}

/* A command that failed after refusals deserves a word. */
static void
closing_line(struct run *r)
{
	const char *nest = witness_nest(r->witness);
	struct buf b;

	buf_init(&b, 4096);
	witness_summary(r->witness, &b);
	if (b.len > 0)
		log_line(b.data);
	if (nest != NULL) {
		buf_clear(&b);
		buf_puts(&b, "fence: ");
		str_escape(&b, nest, strlen(nest), 0);
		log_line(b.data);
	}
	buf_release(&b);
}

int
run_command(const struct run_options *ro, struct plan *plan, int trace_fd,
    int *ret_status, struct err *e)
{
	struct run r = { .plan = plan, .jail = { .control_fd = -1,
	    .report_fd = -1, .stdin_fd = -1 }, .net.fd = -1,
	    .names.fd = -1, .mint.fd = -1, .trace_fd = trace_fd,
	    .command_fd = -1, .status = -1, .err = e,
	    .is_told = ro->monitor || ro->debug, .is_debug = ro->debug };
	sigset_t all;
	int rc = -1;

	for (size_t i = 0; i < JAIL_NLISTENERS; i++)
		r.jail.listen_fd[i] = -1;
	/* From here on signals are events; the command gets the old mask. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &plan->spec.sigmask);
	signal(SIGCHLD, SIG_DFL);
	pause_at("after-policy");
	log_watch(true);
	if (run_start(&r, ro, e) == 0) {
		loop_run(r.loop);
		/* From here on we may print. */
		tty_ended(r.tty);
		log_watch(false);
		log_hold(NULL, NULL);
		pty_free(r.pty);
		r.pty = NULL;
		reports_drain(r.jail.report_fd, r.witness, REPORTS_ALL);
		guarding_finish(r.guarding);
		limits_ended(r.limits);
		if (limits_is_over(r.limits))
			r.status = EXIT_TIME;
		if (!r.failed) {
			rc = 0;
			*ret_status = r.status;
		}
		witness_run_end(r.witness, r.failed ? (int)e->code :
		    r.status);
		if (!r.failed && r.status != 0 && !r.is_told)
			closing_line(&r);
	}
	log_watch(false);
	run_release(&r);
	if (plan->is_outdated)		/* the next attempt blocks them */
		sigprocmask(SIG_SETMASK, &plan->spec.sigmask, NULL);
	pause_at("after-exit");
	return rc;
}
