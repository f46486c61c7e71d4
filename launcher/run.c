#include "launcher/run.h"

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

#include "launcher/exit.h"
#include "launcher/guarding.h"
#include "launcher/monitor.h"
#include "launcher/tty.h"
#include "launcher/witness.h"
#include "platform/confine.h"
#include "platform/fd.h"
#include "platform/linux/initplan.h"
#include "platform/loop.h"
#include "platform/pause.h"
#include "platform/spawn.h"
#include "proxy/ask.h"
#include "proxy/proxy.h"
#include "shim/wire.h"

/* The gate's ends travel to fence-net in this order. */
_Static_assert((int)JAIL_NLISTENERS == (int)PROXY_NLISTENERS, "listeners");
_Static_assert((int)JAIL_LISTEN_TRANSPARENT4 ==
    (int)PROXY_LISTEN_TRANSPARENT4, "listeners");
_Static_assert((int)JAIL_LISTEN_SOCKS == (int)PROXY_LISTEN_SOCKS,
    "listeners");
_Static_assert((int)JAIL_LISTEN_DNS_TCP == (int)PROXY_LISTEN_DNS_TCP,
    "listeners");

enum { DRAIN_TURN = 256 };

struct worker {
	const char	*name;
	pid_t		 pid;		/* 0: not running */
	int		 fd;		/* our end */
	struct watch	*child;
	struct run	*run;
};

struct run {
	struct plan	*plan;
	struct loop	*loop;
	struct jail	 jail;
	struct worker	 net, names;
	struct witness	*witness;
	struct monitor	*monitor;
	struct tty	*tty;
	struct guarding	*guarding;
	struct watch	*control, *report, *child;
	char		 id[33];
	int		 trace_fd;
	int		 command_fd;	/* pidfd */
	int		 status;	/* of fence-run; -1 until known */
	struct err	*err;		/* set with failed */
	bool		 failed;	/* the jail could not be built */
	bool		 is_jail_gone;
	bool		 is_told;	/* -m: records go to stderr */
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
	struct worker *workers[] = { &r->net, &r->names };

	for (size_t i = 0; i < 2; i++) {
		watch_free(workers[i]->child);
		workers[i]->child = NULL;
		if (workers[i]->fd >= 0)
			shutdown(workers[i]->fd, SHUT_RDWR);
	}
}

/* ---- what fence-init says ---- */

static const char *const step_text[] = {
	[INIT_STEP_PLAN] = "read its plan",
	[INIT_STEP_CHDIR] = "enter the working directory",
	[INIT_STEP_FDS] = "close descriptors",
	[INIT_STEP_CAPS] = "give up capabilities",
	[INIT_STEP_LANDLOCK] = "apply Landlock",
	[INIT_STEP_SECCOMP] = "load the system call filter",
	[INIT_STEP_FORK] = "fork",
	[INIT_STEP_KEYRING] = "join a new keyring",
	[INIT_STEP_PROC] = "mount its own /proc",
};

static void
init_failed(struct run *r, const struct init_msg *msg)
{
	const char *what = msg->step < sizeof step_text /
	    sizeof step_text[0] ? step_text[msg->step] : NULL;

	err_sys(r->err, msg->value, "inside the jail: cannot %s",
	    what != NULL ? what : "start");
	run_fail(r);
}

static void
init_noexec(struct run *r, const struct init_msg *msg)
{
	err_set(r->err, msg->value == ENOENT || msg->value == ENOTDIR ?
	    ERR_NOTFOUND : ERR_NOEXEC, "cannot execute '%s'",
	    r->plan->spec.program);
	r->err->sys = msg->value;
	if (msg->value == ENOENT)
		err_hint(r->err, "it, or its interpreter, is not visible "
		    "inside the jail");
	run_fail(r);
}

/* A pid as the host counts. */
static pid_t
pid_of(int pid_fd)
{
	char path[64], text[1024];
	const char *p;
	ssize_t n;
	int pid = 0;

	snprintf(path, sizeof path, "/proc/self/fdinfo/%d", pid_fd);
	n = fd_read_file(AT_FDCWD, path, text, sizeof text - 1);
	text[n > 0 ? n : 0] = '\0';
	p = strstr(text, "Pid:");
	if (p == NULL || sscanf(p, "Pid: %d", &pid) != 1)
		return 0;
	return pid;
}

/* fence-init stands where the jail begins: ancestors end there. */
static void
init_ready(struct run *r, int pid_fd)
{
	pid_t pid = pid_of(pid_fd);

	witness_set_stop(r->witness, pid);
	monitor_stop_pid(r->monitor, pid);
}

static void
init_started(struct run *r, int *pid_fd)
{
	fd_close(&r->command_fd);
	r->command_fd = fd_take(pid_fd);
	tty_command(r->tty, r->command_fd);
	pause_at("started");
}

static void
init_exited(struct run *r, int wstatus)
{
	r->status = WIFSIGNALED(wstatus) ? EXIT_SIGNAL + WTERMSIG(wstatus) :
	    WEXITSTATUS(wstatus);
	/* What is left of the jail is being killed; the workers may go. */
	workers_dismiss(r);
	guarding_ending(r->guarding);
	pause_at("exiting");
}

/* One message of fence-init; 0 at its end. */
static int
control_step(struct run *r)
{
	struct init_msg msg;
	auto_fd fd = -1;
	size_t nfds = 0;
	ssize_t n = fd_recv(r->jail.control_fd, &msg, sizeof msg, &fd, 1,
	    &nfds, MSG_DONTWAIT);

	if (n < 0 && errno == EAGAIN)
		return -1;
	if (n != (ssize_t)sizeof msg)
		return 0;
	switch (msg.kind) {
	case INIT_READY:
		init_ready(r, fd);
		break;
	case INIT_STARTED:
		init_started(r, &fd);
		break;
	case INIT_STOPPED:
		tty_stopped(r->tty);
		break;
	case INIT_EXITED:
		init_exited(r, msg.value);
		break;
	case INIT_FAILED:
		init_failed(r, &msg);
		break;
	case INIT_NOEXEC:
		init_noexec(r, &msg);
		break;
	default:
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
	while ((rc = control_step(r)) > 0)
		continue;
	if (rc == 0) {
		watch_free(r->control);
		r->control = NULL;
	}
}

static void
jail_gone(struct watch *w, int wstatus, void *arg)
{
	struct run *r = arg;

	(void)w;
	r->child = NULL;
	r->is_jail_gone = true;
	while (control_step(r) > 0)
		continue;
	if (r->status < 0 && !r->failed) {
		if (WIFSIGNALED(wstatus))
			err_set(r->err, ERR_JAIL, "the jail was killed by "
			    "signal %d", WTERMSIG(wstatus));
		else
			err_set(r->err, ERR_JAIL, "bwrap ended with status %d "
			    "before the command", WEXITSTATUS(wstatus));
		run_fail(r);
	}
	loop_stop(r->loop, 0);
}

static void
early_signal(int signo, void *arg)
{
	struct run *r = arg;

	r->status = EXIT_SIGNAL + signo;
	if (!r->is_jail_gone)
		kill(r->jail.pid, SIGKILL);
}

/* ---- what the shim says ---- */

static pid_t
sender(struct msghdr *mh)
{
	for (struct cmsghdr *c = CMSG_FIRSTHDR(mh); c != NULL;
	    c = CMSG_NXTHDR(mh, c)) {
		struct ucred cred;

		if (c->cmsg_level != SOL_SOCKET ||
		    c->cmsg_type != SCM_CREDENTIALS)
			continue;
		memcpy(&cred, CMSG_DATA(c), sizeof cred);
		return cred.pid;
	}
	return 0;
}

/* Reads up to `most` datagrams; a sink of NULL throws them away. */
static void
drain_reports(struct run *r, struct witness *sink, int most)
{
	struct wire_report report;
	union {
		char		 bytes[CMSG_SPACE(sizeof(struct ucred))];
		struct cmsghdr	 align;
	} control;

	for (int i = 0; r->jail.report_fd >= 0 && i < most; i++) {
		struct iovec iov = { &report, sizeof report };
		struct msghdr mh = { .msg_iov = &iov, .msg_iovlen = 1,
		    .msg_control = control.bytes,
		    .msg_controllen = sizeof control.bytes };
		ssize_t n = recvmsg(r->jail.report_fd, &mh, MSG_DONTWAIT |
		    MSG_CMSG_CLOEXEC);

		if (n < 0)
			return;
		if (sink != NULL)
			witness_shim(sink, &report, (size_t)n, sender(&mh));
	}
}

static void
report_ready(struct watch *w, int what, void *arg)
{
	struct run *r = arg;

	(void)w;
	(void)what;
	/* The first report may come in the same turn as fence-init's word. */
	while (r->control != NULL && control_step(r) > 0)
		continue;
	drain_reports(r, r->witness, DRAIN_TURN);
}

/* ---- workers ---- */

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
	snprintf(text, sizeof text, "%s ended (%s %d): the network is closed "
	    "for the rest of the run", k->name, WIFSIGNALED(wstatus) ?
	    "signal" : "status", WIFSIGNALED(wstatus) ? WTERMSIG(wstatus) :
	    WEXITSTATUS(wstatus));
	ev.detail = text;
	witness_gate(k->run->witness, &ev);
	if (!k->run->is_told)		/* too important to wait for -m */
		fprintf(stderr, "fence: %s\n", text);
}

static int
worker_start(struct run *r, struct worker *k, const char *name,
    const char *path, struct err *e)
{
	int pair[2];
	int rc;

	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, pair) != 0)
		return err_sys(e, errno, "cannot make a socket pair");
	fd_nonblock(pair[0], 1);
	k->name = name;
	k->run = r;
	k->fd = pair[0];
	rc = spawn_worker(path, name, pair[1], r->plan->worker_env, &k->pid,
	    e);
	close(pair[1]);
	return rc;
}

static void
worker_end(struct worker *k)
{
	fd_close(&k->fd);
	watch_free(k->child);
	if (k->pid > 0) {
		kill(k->pid, SIGKILL);
		waitpid(k->pid, NULL, 0);
	}
}

static int
start_workers(struct run *r, struct err *e)
{
	if (worker_start(r, &r->net, "fence-net", r->plan->net_path, e) != 0)
		return -1;
	if (r->plan->wants_names && worker_start(r, &r->names, "fence-names",
	    r->plan->names_path, e) != 0)
		return -1;
	pause_at("after-workers");
	return 0;
}

/* The gate's listeners become fence-net's; we keep none of them. */
static int
hand_over(struct run *r, struct err *e)
{
	struct ask_msg msg = { .magic = ASK_MAGIC, .kind = ASK_LISTEN };
	int fds[JAIL_NLISTENERS];
	size_t n = 0;

	/* Without IPv6 one of them is missing: bits say which are there. */
	for (size_t i = 0; i < JAIL_NLISTENERS; i++)
		if (r->jail.listen_fd[i] >= 0) {
			msg.listeners |= (uint16_t)(1u << i);
			fds[n++] = r->jail.listen_fd[i];
		}
	if (fd_send(r->net.fd, &msg, sizeof msg, fds, n, 0) < 0)
		return err_sys(e, errno, "fence-net does not answer");
	for (size_t i = 0; i < JAIL_NLISTENERS; i++)
		fd_close(&r->jail.listen_fd[i]);
	return 0;
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
	    .trace_fd = r->trace_fd, .text_fd = ro->monitor ? STDERR_FILENO :
	    -1, .text_is_tty = isatty(STDERR_FILENO) };

	make_run_id(r->id);
	memcpy(c.run.id, r->id, sizeof c.run.id);
	c.guards = r->plan->guards;
	c.nguards = r->plan->nguards;
	gethostname(c.run.hostname, sizeof c.run.hostname - 1);
	snprintf(c.run.version, sizeof c.run.version, "%s", FENCE_VERSION);
	snprintf(c.run.policy_name, sizeof c.run.policy_name, "%s",
	    r->plan->policy->name);
	r->witness = witness_new(&c);
	if (r->witness == NULL)
		return err_set(e, ERR_JAIL, "out of memory");
	return 0;
}

/* profile: strict.  The command made a name that it must not make. */
static void
end_run(void *arg)
{
	struct run *r = arg;

	if (r->failed)
		return;
	err_set(r->err, ERR_POLICY, "a guarded name appeared: the run was "
	    "ended");
	err_hint(r->err, "under profile strict it is not merely moved away");
	run_fail(r);
	if (!r->is_jail_gone)
		kill(r->jail.pid, SIGKILL);
}

/* Watches before the command can do anything. */
static int
make_guarding(struct run *r, struct err *e)
{
	struct guarding_config c = { .loop = r->loop, .witness = r->witness,
	    .guard = { .paths = r->plan->guards,
	    .npaths = r->plan->nguards }, .arg = r };

	if (r->plan->spec.is_strict)
		c.violated = end_run;

	if (r->plan->state != NULL)
		c.guard.quarantine = arena_printf(r->plan->arena,
		    "%s/quarantine/%s", r->plan->state, r->id);
	r->guarding = guarding_new(&c, e);
	return r->guarding != NULL ? 0 : -1;
}

static int
make_loop(struct run *r, struct err *e)
{
	struct monitor_config mc = { .loop = r->loop,
	    .policy = r->plan->policy, .witness = r->witness,
	    .net_fd = r->net.fd, .names_fd = r->names.fd,
	    .jail_pid = r->jail.pid };

	r->monitor = monitor_new(&mc);
	r->tty = tty_start(r->loop, early_signal, r);
	r->control = loop_fd(r->loop, r->jail.control_fd, LOOP_READ,
	    control_ready, r);
	r->child = loop_child(r->loop, r->jail.pid, jail_gone, r);
	r->net.child = loop_child(r->loop, r->net.pid, worker_gone, &r->net);
	if (r->names.pid > 0)
		r->names.child = loop_child(r->loop, r->names.pid,
		    worker_gone, &r->names);
	if (r->jail.report_fd >= 0)
		r->report = loop_fd(r->loop, r->jail.report_fd, LOOP_READ,
		    report_ready, r);
	if (r->monitor == NULL || r->tty == NULL || r->control == NULL ||
	    r->child == NULL || r->net.child == NULL)
		return err_sys(e, errno, "cannot watch the jail");
	return 0;
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

static int
run_start(struct run *r, const struct run_options *ro, struct err *e)
{
	if ((r->loop = loop_new()) == NULL)
		return err_sys(e, errno, "cannot make an event loop");
	if (make_witness(r, ro, e) != 0)
		return -1;
	if (make_guarding(r, e) != 0)
		return -1;
	if (jail_start(&r->plan->spec, &r->jail, e) != 0)
		return -1;
	pause_at("after-clone");
	raise_files();
	/* The rest is done while bwrap works; fence-init waits for jail_go(). */
	if (start_workers(r, e) != 0 || hand_over(r, e) != 0 || make_loop(r, e) != 0)
		return -1;
	/* The guard may do what we give up for good below. */
	if (guarding_start(r->guarding, r->jail.pid, e) != 0)
		return -1;
	witness_run_start(r->witness, r->plan->spec.argv[0]);
	pause_at("before-go");
	/* bwrap preloads the shim too; what it was refused is no news. */
	drain_reports(r, NULL, DRAIN_TURN);
	if (jail_go(&r->plan->spec, &r->jail, e) != 0)
		return -1;
	pause_at("after-go");
	return confine_monitor(e);
}

static void
run_release(struct run *r)
{
	if (r->jail.pid > 0 && !r->is_jail_gone) {
		kill(r->jail.pid, SIGKILL);
		waitpid(r->jail.pid, NULL, 0);
	}
	monitor_free(r->monitor);
	tty_free(r->tty);
	watch_free(r->control);
	watch_free(r->report);
	watch_free(r->child);
	worker_end(&r->net);
	worker_end(&r->names);
	guarding_free(r->guarding);
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
	struct buf b;

	buf_init(&b, 4096);
	witness_summary(r->witness, &b);
	if (b.len > 0)
		fprintf(stderr, "%s\n", b.data);
	buf_release(&b);
}

int
run_command(const struct run_options *ro, struct plan *plan, int trace_fd,
    int *ret_status, struct err *e)
{
	struct run r = { .plan = plan, .jail = { .control_fd = -1,
	    .report_fd = -1, .stdin_fd = -1 }, .net.fd = -1,
	    .names.fd = -1, .trace_fd = trace_fd,
	    .command_fd = -1, .status = -1, .err = e,
	    .is_told = ro->monitor };
	sigset_t all;
	int rc = -1;

	for (size_t i = 0; i < JAIL_NLISTENERS; i++)
		r.jail.listen_fd[i] = -1;
	/* From here on signals are events; the command gets the old mask. */
	sigfillset(&all);
	sigprocmask(SIG_SETMASK, &all, &plan->spec.sigmask);
	signal(SIGCHLD, SIG_DFL);
	pause_at("after-policy");
	if (run_start(&r, ro, e) == 0) {
		loop_run(r.loop);
		drain_reports(&r, r.witness, 1 << 20);
		guarding_finish(r.guarding);
		if (!r.failed) {
			rc = 0;
			*ret_status = r.status;
		}
		witness_run_end(r.witness, r.failed ? (int)e->code :
		    r.status);
		if (!r.failed && r.status != 0 && !ro->monitor)
			closing_line(&r);
	}
	run_release(&r);
	pause_at("after-exit");
	return rc;
}
