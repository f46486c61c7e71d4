/*
 * fence-init: pid 1 of the jail.  Static, so that it loads no shim; knows
 * nothing but what initplan.h says.  It stays outside the command's Landlock
 * domain and filter, is not dumpable, and as pid 1 hears no signal from
 * inside.  When it ends, the kernel ends everything in the jail.
 *
 *	fence-init CONTROL-FD [FD-OF-ITS-OWN-BINARY]
 */
#include <errno.h>
#include <fcntl.h>
#include <linux/capability.h>
#include <linux/keyctl.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/fd.h"
#include "platform/linux/caps.h"
#include "platform/linux/idmap.h"
#include "platform/linux/init_child.h"
#include "platform/linux/initplan.h"
#include "platform/linux/plancheck.h"

enum { EXIT_JAIL = 125, EXIT_NOEXEC = 126, EXIT_NOTFOUND = 127 };

static int control_fd = -1;

static void
tell(enum init_msg_kind kind, uint32_t step, int32_t value, int fd)
{
	if (init_tell(control_fd, kind, step, value, fd) < 0)
		_exit(EXIT_JAIL);
}

static _Noreturn void
give_up(uint32_t step, int error)
{
	tell(INIT_FAILED, step, error, -1);
	_exit(EXIT_JAIL);
}

static int
parse_fd(const char *s)
{
	char *end;
	long n;

	errno = 0;
	n = strtol(s, &end, 10);
	if (errno != 0 || end == s || *end != '\0' || n < 0 || n > 1 << 20)
		return -1;
	return n;
}

/*
 * A message of the launcher's, with a descriptor where that kind has one; the
 * launcher's end, or anything else, ends us.
 */
static int
wait_for(enum init_msg_kind kind, size_t want_fds)
{
	struct pollfd p = { .fd = control_fd, .events = POLLIN };
	struct init_msg m;
	size_t nfds;
	ssize_t n;
	int fd = -1;

	do {
		while (poll(&p, 1, -1) < 0 && errno == EINTR)
			;
		n = fd_recv(control_fd, &m, sizeof m, &fd, 1, &nfds,
		    MSG_DONTWAIT);
	} while (n < 0 && errno == EAGAIN);
	if (n == 0)
		_exit(EXIT_JAIL);
	if (n != sizeof m || m.kind != kind || nfds != want_fds)
		give_up(INIT_STEP_PLAN, n < 0 ? errno : EPROTO);
	return fd;
}

static const struct init_plan *
map_plan(int fd)
{
	struct stat st;
	void *p;

	if (fstat(fd, &st) < 0)
		give_up(INIT_STEP_PLAN, errno);
	if (st.st_size <= 0)
		give_up(INIT_STEP_PLAN, EINVAL);
	p = mmap(NULL, st.st_size, PROT_READ, MAP_PRIVATE, fd, 0);
	if (p == MAP_FAILED)
		give_up(INIT_STEP_PLAN, errno);
	(void)close(fd);
	if (!plan_is_sound(p, st.st_size))
		give_up(INIT_STEP_PLAN, EINVAL);
	return p;
}

/*
 * A session keyring of our own, so that the user's keys stay outside.  A
 * kernel or a filter that has none to give, or a full quota, leaves the old
 * one, which the command's filter keeps out of reach.
 */
static void
new_keyring(void)
{
	if (syscall(SYS_keyctl, KEYCTL_JOIN_SESSION_KEYRING, NULL) < 0 &&
	    errno != ENOSYS && errno != EPERM && errno != EACCES &&
	    errno != EDQUOT && errno != ENOMEM && errno != EOPNOTSUPP)
		give_up(INIT_STEP_KEYRING, errno);
}

/*
 * What the user's keyrings hold is listed by name, and keyrings are not of
 * any namespace.  A device on a mount without devices cannot be opened.  A
 * kernel without keys has no such list.
 */
static int
cover(const char *folder, const char *name)
{
	char path[64];

	if (strlen(folder) + strlen(name) >= sizeof path) {
		errno = ENAMETOOLONG;
		return -1;
	}
	strcpy(path, folder);
	strcat(path, name);
	if (mount("/dev/null", path, NULL, MS_BIND, NULL) != 0)
		return errno == ENOENT ? 0 : -1;
	return mount(NULL, path, NULL, MS_REMOUNT | MS_BIND | MS_RDONLY |
	    MS_NOSUID | MS_NODEV | MS_NOEXEC, NULL);
}

/*
 * The jail's own /proc, which only a process of its pid namespace can mount;
 * CAP_SYS_ADMIN, which we were started with, is for this.  Read-only: to uid 0
 * /proc/sys is writable without any capability, and core_pattern is a way
 * out.  (bwrap would mount it, too, and for root read all mounts three times
 * more.)
 */
static void
mount_proc(const struct init_plan *plan)
{
	const char *path = (const char *)plan + plan->proc;

	unsigned long access = plan->is_proc_writable ? 0 : MS_RDONLY;

	if (plan->proc == 0)
		return;
	if (mount("proc", path, "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC |
	    access, NULL) != 0)
		give_up(INIT_STEP_PROC, errno);
	/* Who may nest mounts a /proc of his own, which a covered one forbids. */
	if (!plan->is_proc_writable && (cover(path, "/keys") < 0 ||
	    cover(path, "/key-users") < 0))
		give_up(INIT_STEP_PROC, errno);
}

/*
 * From here on we have no right over the mounts, the network and
 * the other namespaces, which belong to the user namespace we leave.  The maps
 * go through the /proc that was here before ours, since ours is read-only.
 */
static void
leave_user(const struct init_plan *plan, int proc_fd)
{
	const struct idmap map = { .uid = plan->uid, .gid = plan->gid };

	if (unshare(CLONE_NEWUSER) < 0 || idmap_write(proc_fd, &map) < 0)
		give_up(INIT_STEP_USER, errno);
	/* A change of credentials may have cleared it. */
	if (prctl(PR_SET_PDEATHSIG, SIGKILL, 0, 0, 0) < 0)
		give_up(INIT_STEP_USER, errno);
}

static void
enter(const struct init_plan *plan)
{
	auto_fd proc_fd = -1;

	if (plan->leaves_user != 0 && (proc_fd = open("/proc", O_PATH |
	    O_DIRECTORY | O_CLOEXEC)) < 0)
		give_up(INIT_STEP_USER, errno);
	mount_proc(plan);
	if (plan->has_shim != 0 && mount(INIT_PRELOAD, INIT_PRELOADS, NULL,
	    MS_BIND, NULL) != 0)
		give_up(INIT_STEP_PRELOAD, errno);
	if (plan->leaves_user != 0)
		leave_user(plan, proc_fd);
}

static bool
has_capability(void)
{
	struct __user_cap_header_struct h = {
		.version = _LINUX_CAPABILITY_VERSION_3,
	};
	struct __user_cap_data_struct d[2];

	memset(d, 0xff, sizeof d);
	(void)syscall(SYS_capget, &h, d);
	return (d[0].effective | d[1].effective | d[0].permitted |
	    d[1].permitted | d[0].inheritable | d[1].inheritable) != 0;
}

/*
 * The bounding set goes first, while we may.  Where we may not (EPERM) it
 * does not matter: with no_new_privs an execve gains nothing from it.
 */
static void
drop_capabilities(void)
{
	for (int i = 0; i < 64; i++)
		if (prctl(PR_CAPBSET_DROP, i, 0, 0, 0) < 0 && errno != EPERM &&
		    errno != EINVAL)
			give_up(INIT_STEP_CAPS, errno);
	if (caps_drop() != 0)
		give_up(INIT_STEP_CAPS, errno);
	if (has_capability() || prctl(PR_GET_NO_NEW_PRIVS, 0, 0, 0, 0) != 1)
		give_up(INIT_STEP_CAPS, EPERM);
}

/*
 * A session of the jail's own.  We lead it and not the command: a group whose
 * parents are all of another session is orphaned, and Ctrl-Z would not stop
 * it.
 */
static void
new_session(const struct init_plan *plan)
{
	if (plan->session == INIT_SESSION_SAME)
		return;
	if (setsid() < 0 || (plan->session == INIT_SESSION_TTY &&
	    ioctl(STDIN_FILENO, TIOCSCTTY, 0) < 0))
		give_up(INIT_STEP_SESSION, errno);
}

/* Its only use is to interrupt ppoll(). */
static void
on_sigchld(int signo)
{
	(void)signo;
}

/*
 * What the group was sent before the command was of it.  What comes in the
 * middle of a fork goes to both (Linux 4.19).
 */
static void
forget_signals(void)
{
	static const struct timespec now;
	sigset_t set;

	sigfillset(&set);
	sigdelset(&set, SIGCHLD);
	while (sigtimedwait(&set, NULL, &now) > 0)
		continue;
}

static pid_t
start(struct init_child *c, int *ret_report_fd)
{
	struct sigaction sa = { .sa_handler = on_sigchld };
	int report[2], keep[2];
	pid_t pid;

	/* Before the fork: an inherited "ignore" would reap for us. */
	if (sigaction(SIGCHLD, &sa, &c->sigchld) < 0 ||
	    pipe2(report, O_CLOEXEC) < 0)
		give_up(INIT_STEP_FORK, errno);
	forget_signals();
	pid = fork();
	if (pid < 0)
		give_up(INIT_STEP_FORK, errno);
	if (pid == 0)
		init_child_run(c, report[1], control_fd);
	/*
	 * From here on nothing but the control socket and the pipe: a pipe
	 * that was the command's stdout must close when the command ends.
	 */
	keep[0] = control_fd < report[0] ? control_fd : report[0];
	keep[1] = control_fd < report[0] ? report[0] : control_fd;
	if (init_close_from(0, keep, 2) < 0)
		give_up(INIT_STEP_FDS, errno);
	*ret_report_fd = report[0];
	return pid;
}

/* Before its execve; a stop after it is told after that. */
static bool
is_stopped(pid_t pid, int report_fd, int *ret_signo)
{
	struct pollfd p = { .fd = report_fd, .events = POLLIN };
	siginfo_t si = { .si_pid = 0 };

	if (waitid(P_PID, (id_t)pid, &si, WSTOPPED | WNOHANG | WNOWAIT) < 0 ||
	    si.si_pid == 0 || poll(&p, 1, 0) != 0)
		return false;
	*ret_signo = si.si_status;
	return waitid(P_PID, (id_t)pid, &si, WSTOPPED | WNOHANG) == 0;
}

/*
 * Returns once the command's execve succeeded.  Ctrl-Z may stop it before, and
 * the shell outside waits to hear of that.
 */
static void
wait_for_exec(pid_t pid, int report_fd)
{
	struct pollfd p[2] = {
		{ .fd = control_fd, .events = 0 },	/* POLLHUP comes */
		{ .fd = report_fd, .events = POLLIN },
	};
	struct init_report r;
	sigset_t mask;
	ssize_t n;
	int signo;

	sigfillset(&mask);
	sigdelset(&mask, SIGCHLD);
	do {
		p[0].revents = p[1].revents = 0;
		(void)ppoll(p, 2, NULL, &mask);
		if (p[0].revents != 0)
			_exit(EXIT_JAIL);
		if (p[1].revents == 0 && is_stopped(pid, report_fd, &signo))
			tell(INIT_STOPPED, 0, signo, -1);
	} while (p[1].revents == 0);
	n = read(report_fd, &r, sizeof r);
	(void)close(report_fd);
	if (n == 0)
		return;
	if (n != sizeof r)
		give_up(INIT_STEP_FORK, EPROTO);
	if (r.step != 0)
		give_up(r.step, r.error);
	tell(INIT_NOEXEC, 0, r.error, -1);
	_exit(r.error == ENOENT ? EXIT_NOTFOUND : EXIT_NOEXEC);
}

/*
 * The command's end is everybody's.  Who hears INIT_EXITED may rely on it that
 * nobody is left in the jail who could do anything.
 */
static void
end_all(void)
{
	do {
		(void)kill(-1, SIGKILL);
		while (waitpid(-1, NULL, WNOHANG) > 0)
			;
	} while (waitpid(-1, NULL, 0) > 0 || errno == EINTR);
}

/* Orphans are buried in silence; the command's end is the jail's. */
static void
reap(pid_t command)
{
	pid_t pid;
	int status;

	while ((pid = waitpid(-1, &status, WNOHANG | WUNTRACED |
	    WCONTINUED)) > 0) {
		if (pid != command)
			continue;
		if (WIFSTOPPED(status))
			tell(INIT_STOPPED, 0, WSTOPSIG(status), -1);
		else if (WIFCONTINUED(status))
			tell(INIT_CONTINUED, 0, 0, -1);
		else {
			end_all();
			tell(INIT_EXITED, 0, status, -1);
			_exit(0);
		}
	}
}

/*
 * All signals are blocked: what the group was sent, the launcher and the
 * command among it, is pending here.  (The kernel serves a group's youngest
 * first, so it is before the launcher hears of it.)  A sender inside has a
 * number: not even by chance may he keep the launcher's from the command.
 */
static void
answer(const struct init_msg *m)
{
	static const struct timespec now;
	siginfo_t si;
	sigset_t set;

	if (m->kind != INIT_ASK || sigemptyset(&set) < 0 ||
	    sigaddset(&set, m->value) < 0)
		return;
	si.si_pid = 0;
	if ((sigtimedwait(&set, &si, &now) < 0 || (si.si_code <= 0 &&
	    si.si_pid != 0)) && m->step != 0)
		tell(INIT_ALONE, 0, m->value, -1);
}

static _Noreturn void
supervise(pid_t command)
{
	struct pollfd p = { .fd = control_fd, .events = POLLIN };
	struct init_msg m;
	sigset_t mask;
	ssize_t n;

	sigfillset(&mask);
	sigdelset(&mask, SIGCHLD);
	for (;;) {
		reap(command);
		p.revents = 0;
		if (ppoll(&p, 1, NULL, &mask) <= 0)
			continue;
		n = fd_recv(control_fd, &m, sizeof m, NULL, 0, NULL,
		    MSG_DONTWAIT);
		if (n == 0 || (p.revents & (POLLHUP | POLLERR)))
			_exit(EXIT_JAIL);
		if (n == sizeof m)
			answer(&m);
	}
}

int
main(int argc, char **argv)
{
	struct init_child child;
	const struct init_plan *plan;
	uint32_t step;
	sigset_t all;
	pid_t pid;
	int fd;

	sigfillset(&all);
	(void)sigprocmask(SIG_SETMASK, &all, NULL);
	(void)prctl(PR_SET_NAME, "fence-init", 0, 0, 0);
	if (argc < 2 || argc > 3 || (control_fd = parse_fd(argv[1])) < 3)
		return EXIT_JAIL;
	if (argc == 3 && (fd = parse_fd(argv[2])) > 2 && fd != control_fd)
		(void)close(fd);
	if (fd_cloexec(control_fd, 1) < 0 ||
	    prctl(PR_SET_DUMPABLE, 0, 0, 0, 0) < 0)
		return EXIT_JAIL;
	fd = syscall(SYS_pidfd_open, getpid(), 0);
	if (fd < 0)
		give_up(INIT_STEP_PLAN, errno);
	tell(INIT_READY, 0, 0, fd);
	(void)close(fd);
	plan = map_plan(wait_for(INIT_PLAN, 1));
	enter(plan);
	new_keyring();
	drop_capabilities();
	new_session(plan);
	if (init_child_prepare(&child, plan, control_fd, &step) < 0)
		give_up(step, errno);
	(void)wait_for(INIT_GO, 0);
	pid = start(&child, &fd);
	wait_for_exec(pid, fd);
	fd = syscall(SYS_pidfd_open, pid, 0);
	if (fd < 0)
		give_up(INIT_STEP_FORK, errno);
	tell(INIT_STARTED, 0, 0, fd);
	(void)close(fd);
	supervise(pid);
}
