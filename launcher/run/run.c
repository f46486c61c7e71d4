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

#include "launcher/exec/exec_watch.h"
#include "launcher/exit.h"
#include "launcher/gate/held_calls.h"
#include "launcher/gate/held_files.h"
#include "launcher/gate/inbound.h"
#include "launcher/gate/monitor.h"
#include "launcher/log.h"
#include "launcher/record/kept.h"
#include "launcher/record/witness.h"
#include "launcher/run/guarding.h"
#include "launcher/run/limits.h"
#include "launcher/run/listeners.h"
#include "launcher/run/policywatch.h"
#include "launcher/run/pty.h"
#include "launcher/run/reports.h"
#include "launcher/run/run_parts.h"
#include "launcher/run/shading.h"
#include "launcher/run/tty.h"
#include "launcher/run/worker.h"
#include "launcher/writer.h"
#include "platform/base/str.h"
#include "platform/confine.h"
#include "platform/fd.h"
#include "platform/loop.h"
#include "platform/mint.h"
#include "platform/looker.h"
#include "platform/pause.h"
#include "platform/tracer.h"

static void
early_signal(int signo, void *arg)
{
	struct run *r = arg;

	r->status = EXIT_SIGNAL + signo;
	if (!r->is_jail_gone)
		kill(r->jail.pid, SIGKILL);
}

/* fence-init is in the group, and knows whether all of it was signalled. */
static void
ask_signal(int signo, bool wants_answer, void *arg)
{
	struct run *r = arg;

	if (jail_ask(&r->jail, signo, wants_answer) != 0 && wants_answer)
		tty_alone(r->tty, signo);
}

/* ---- workers ---- */

static int
start_workers(struct run *r, struct err *e)
{
	if (r->spec.shares_net)		/* there is no gate */
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

/* Connections of --port enter by sockets that fence-mint makes inside. */
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

static void
end_run(struct run *r, const char *why, const char *hint)
{
	if (r->failed)
		return;
	err_set(r->err, ERR_POLICY, "%s: the run was ended", why);
	err_hint(r->err, "%s", hint);
	r->failed = true;
	if (!r->is_jail_gone)
		kill(r->jail.pid, SIGKILL);
}

static void
exec_lost(void *arg)
{
	end_run(arg, "fence-trace ended, and executions cannot be checked "
	    "without it", "it was killed, or there is a bug in it");
}

static void
exec_held(const struct held_call *call, void *arg)
{
	struct run *r = arg;

	if (r->calls != NULL)
		held_calls_give(r->calls, call);
}

/*
 * What receives held calls looks at files, too.  Where they are not held by
 * the kernel (no listener), it waits in vain.
 */
static int
start_looker(struct run *r, struct err *e)
{
	struct looker_config c = { .wants_calls = r->spec.wants_calls,
	    .is_asked = r->spec.wants_exec };

	if (!r->spec.wants_files)
		return 0;
	r->wall = calls_wall_new(&r->spec);
	if (r->wall == NULL)
		return err_set(e, ERR_JAIL, "out of memory");
	c.wall = r->wall;
	return looker_start(&c, &r->looker.fd, &r->looker.pid, e);
}

static int
start_tracer(struct run *r, struct err *e)
{
	struct exec_watch_config c = { .loop = r->loop,
	    .policy = r->plan->policy, .witness = r->witness,
	    .envp = r->spec.envp, .has_rules = r->plan->has_exec_rules,
	    .told_fd = log_fd(), .held = exec_held, .lost = exec_lost,
	    .arg = r };

	if (!r->spec.wants_exec)
		return 0;
	c.wall = r->wall;
	if (exec_watch_tracer(&c, &r->tracer.fd, &r->tracer.pid, e) != 0)
		return -1;
	c.tracer_fd = r->tracer.fd;
	r->exec = exec_watch_new(&c);
	return r->exec != NULL ? 0 :
	    err_sys(e, errno, "cannot watch executions");
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

static unsigned
runs_kept(const struct policy *p)
{
	const struct number *n = &p->record.keep;

	return n->is_set ? (unsigned)n->value : KEPT_RUNS;
}

static int
make_witness(struct run *r, const struct run_options *ro, struct err *e)
{
	struct witness_config c = { .policy = r->plan->policy,
	    .trace_fd = r->trace_fd, .text_fd = log_fd(),
	    .text_is_tty = isatty(log_fd()), .is_debug = ro->debug,
	    .is_quiet = !r->is_told,
	    .has_masks = r->plan->has_masked_programs,
	    .keep = runs_kept(r->plan->policy), .kept_fd = r->kept_fd };

	make_run_id(r->id);
	memcpy(c.run.id, r->id, sizeof c.run.id);
	gethostname(c.run.hostname, sizeof c.run.hostname - 1);
	snprintf(c.run.version, sizeof c.run.version, "%s", FENCE_VERSION);
	snprintf(c.run.policy_name, sizeof c.run.policy_name, "%s",
	    r->plan->policy->name);
	c.run.workspace = r->plan->resolved.workspace;
	if (r->plan->resolved.nfiles > 0)
		c.run.policy_file = r->plan->resolved.files[0];
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
	r->tracer = (struct worker){ "fence-trace", .fd = -1 };
	r->looker = (struct worker){ "fence-look", .fd = -1 };
}

/* profile: strict.  The command made a name that it must not make. */
static void
end_strict(void *arg)
{
	end_run(arg, "a guarded name appeared", "under profile strict it is "
	    "not merely moved away");
}

/* The command makes guarded names faster than any honest program would. */
static void
end_flooded(void *arg)
{
	end_run(arg, "too many guarded names were made", "the lines above "
	    "and the record name them");
}

/* The command did not end when limits.time was over. */
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
	c.nown = r->spec.bwrap != NULL ? 2 : 1;

	r->limits = limits_new(&c, &r->spec.limits, e);
	return r->limits != NULL ? 0 : -1;
}

/* The guard has its watches before the command can do anything. */
static int
make_guarding(struct run *r, struct err *e)
{
	struct guarding_config c = { .loop = r->loop, .witness = r->witness,
	    .flooded = end_flooded, .arg = r };

	if (r->spec.is_strict)
		c.violated = end_strict;
	guarding_plan(r->plan, r->id, &c.guard);
	c.guard.made_fd = r->made_fd;
	c.guard.side = shading_side(r->shading);
	r->guarding = guarding_new(&c, e);
	return r->guarding != NULL ? 0 : -1;
}

/* Keeps the errno of the first thing that could not be made. */
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
	    .http_port = r->spec.http_port,
	    .socks_port = r->spec.socks_port };
	struct tty_config tc = { .loop = r->loop, .early = early_signal,
	    .ask = ask_signal, .arg = r, .pty = r->pty,
	    .is_apart = r->spec.session != JAIL_SESSION_SAME };
	bool has_gate = !r->spec.shares_net;
	int sys = 0;

	if (has_gate)
		r->monitor = monitor_new(&mc);
	must_be(!has_gate || r->monitor != NULL, &sys);
	r->tty = tty_start(&tc);
	must_be(r->tty != NULL, &sys);
	r->control = loop_fd(r->loop, r->jail.control_fd, LOOP_READ,
	    run_control_ready, r);
	r->child = loop_child(r->loop, r->jail.pid, run_jail_gone, r);
	if (r->jail.report_fd >= 0)
		r->report = loop_fd(r->loop, r->jail.report_fd, LOOP_READ,
		    run_report_ready, r);
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

/* For fence-run alone: the jail has taken over the caller's limit by now. */
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

/* The jail gets a terminal of its own where the policy wants that and the
 * caller has one. */
static int
start_jail(struct run *r, struct err *e)
{
	struct jail_spec *spec = &r->spec;
	auto_fd tty_fd = -1;

	if (spec->session == JAIL_SESSION_NEW) {
		if (pty_open(r->loop, &r->pty, &tty_fd, e) != 0)
			return -1;
		if (r->pty != NULL)
			spec->session = JAIL_SESSION_TTY;
		spec->tty_fd = tty_fd;
	}
	if (shading_begin(r->plan, r->id, spec, &r->shading, e) == 0 &&
	    jail_start(spec, r->ahead, &r->jail, e) == 0)
		return 0;
	r->is_outdated = e->sys == ESTALE;
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
	if (jail_plan(&r->spec, &r->jail, e) != 0)
		return run_gave_up(r);
	if (make_guarding(r, e) != 0)
		return -1;
	if (start_workers(r, e) != 0 || start_minter(r, e) != 0 ||
	    start_looker(r, e) != 0 || start_tracer(r, e) != 0 ||
	    (r->net.fd >= 0 && listeners_hand(r->net.fd, &r->plan->ports,
	    r->in_fds, &r->jail, e) != 0) || make_loop(r, e) != 0)
		return -1;
	if (ro->watch_policy && make_policywatch(r, e) != 0)
		return -1;
	/* Before confine_monitor(), which drops rights that the guard needs. */
	if (guarding_start(r->guarding, r->jail.pid, e) != 0)
		return -1;
	r->is_carried = r->shading != NULL;
	witness_run_start(r->witness, r->spec.argv[0], r->spec.argv);
	pause_at("before-go");
	if (jail_go(&r->jail, e) != 0)
		return run_gave_up(r);
	pause_at("after-go");
	witness_keep(r->witness);	/* beside the jail's start */
	return confine_monitor(e);
}

static void
run_release(struct run *r)
{
	if (r->jail.pid > 0 && !r->is_jail_gone)
		kill(r->jail.pid, SIGKILL);
	held_files_free(r->files);
	held_calls_free(r->calls);
	exec_watch_free(r->exec);
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
	worker_end(&r->tracer);
	worker_end(&r->looker);
	calls_wall_free(r->wall);
	listeners_close(&r->plan->ports, r->in_fds);
	guarding_free(r->guarding);
	/* Late: the kernel took the namespaces down meanwhile. */
	if (r->jail.pid > 0 && !r->is_jail_gone)
		waitpid(r->jail.pid, NULL, 0);
	if (!r->is_carried)
		shading_end(r->shading);
	shading_free(r->shading);
	limits_free(r->limits);
	/* A process that reads the same file after us continues where the
	 * command ended. */
	if (r->jail.stdin_fd >= 0)
		(void)lseek(STDIN_FILENO, lseek(r->jail.stdin_fd, 0,
		    SEEK_CUR), SEEK_SET);
	jail_release(&r->jail);
	fd_close(&r->command_fd);
	witness_free(r->witness);
	if (r->loop != NULL)
		loop_free(r->loop);
}

/* A line each. */
static void
log_lines(char *text)
{
	char *save = NULL;

	for (char *line = strtok_r(text, "\n", &save); line != NULL;
	    line = strtok_r(NULL, "\n", &save))
		log_line(line);
}

/* What -m told, once more by rule, with the policy that would allow it. */
static void
closing_digest(struct run *r)
{
	struct buf b;

	buf_init(&b, 0);
	witness_digest(r->witness, &b);
	if (b.len > 0)
		log_lines(b.data);
	buf_release(&b);
}

/* One line after a command that failed and had refusals. */
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
run_command(const struct run_options *ro, const struct plan *plan,
    struct jail_ahead *ahead, const struct run_fds *fds,
    struct run_end *ret, struct err *e)
{
	struct run r = { .plan = plan, .spec = plan->spec, .ahead = ahead,
	    .jail = { .control_fd = -1,
	    .report_fd = -1, .stdin_fd = -1 }, .net.fd = -1,
	    .names.fd = -1, .mint.fd = -1, .tracer.fd = -1, .looker.fd = -1,
	    .trace_fd = fds->trace,
	    .made_fd = fds->made, .kept_fd = fds->kept,
	    .command_fd = -1, .status = -1, .err = e,
	    .is_told = ro->monitor || ro->debug, .is_debug = ro->debug };
	sigset_t all;
	int rc = -1;

	for (size_t i = 0; i < JAIL_NLISTENERS; i++)
		r.jail.listen_fd[i] = -1;
	/* From here on signals are events; the command gets the old mask. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &r.spec.sigmask);
	signal(SIGCHLD, SIG_DFL);
	pause_at("after-policy");
	writer_set_mode(WRITER_WATCHES);
	if (run_start(&r, ro, e) == 0) {
		loop_run(r.loop);
		/* From here on we may print. */
		tty_ended(r.tty);
		writer_set_mode(WRITER_ENDS);
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
			ret->status = r.status;
		}
		witness_run_end(r.witness, r.failed ? (int)e->code :
		    r.status);
		if (!r.failed && r.is_told)
			closing_digest(&r);
		else if (!r.failed && r.status != 0)
			closing_line(&r);
	}
	writer_set_mode(WRITER_ENDS);
	run_release(&r);
	ret->is_outdated = r.is_outdated;
	if (r.is_outdated)		/* the next attempt blocks them */
		sigprocmask(SIG_SETMASK, &r.spec.sigmask, NULL);
	pause_at("after-exit");
	return rc;
}
