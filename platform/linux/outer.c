#include "platform/linux/outer.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/un.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/base/path.h"
#include "platform/fd.h"
#include "platform/linux/ahead.h"
#include "platform/linux/cure.h"
#include "platform/linux/early.h"
#include "platform/linux/mint.h"
#include "platform/linux/nft.h"
#include "platform/linux/root.h"
#include "platform/linux/route.h"
#include "platform/pause.h"
#include "platform/tree.h"

enum { STACK_BYTES = 512 * 1024, SPARE_FILES = 256 };

#define RUN_DIR		"/run/fence"
#define ETC_DIR		RUN_DIR "/etc"
/* The shim lies in the overlay itself: where the list of objects to preload
 * is visible, so are the objects. */
#define SHIM_DIR	ETC_DIR "/.fence"
#define SHIM_NAME	"/libfence-shim.so"
#define STUB32_NAME	"/libfence-shim32.so"
#define PROBE_NAME	"/libfence-probe.so"

/* Where $LIB of the dynamic loader leads on the systems we know; parents
 * come first. */
static const char *const lib_dirs[] = {
	"/lib", "/lib64",
#if defined(__x86_64__)
	"/lib/x86_64-linux-gnu",
#elif defined(__aarch64__)
	"/lib/aarch64-linux-gnu",
#endif
};
static const char *const lib32_dirs[] = { "/lib32", "/lib/i386-linux-gnu" };

/* What the child needs besides the plan, made ready before the clone. */
struct child {
	struct outer	*o;
	int		 parent_fd;	/* pidfd of the launcher */
	struct ahead	*ahead;		/* makes its namespaces */
	int		 user_fd;	/* that it enters first; not ours */
	struct ahead_end net;		/* the rest, once it is there */
	bool		 has_net;
	char		*stack;		/* of the second, its end */
	int		 flags;		/* of the second's clone */
	struct root	 root;
};

/* ---- in the child: async-signal-safe calls only ---- */

static _Noreturn void
child_fail(struct child *c, enum outer_step step)
{
	c->o->sys = errno;
	c->o->failed_at = step;
	_exit(125);
}

/* First of all, so that whatever it costs is the group's. */
static void
child_groups(struct child *c)
{
	const struct jail_limits *l = &c->o->spec->limits;

	for (size_t i = 0; i < l->njoin_fds; i++)
		if (write(l->join_fds[i], "0", 1) != 1)
			child_fail(c, OUTER_GROUP);
}

/* Takes what ahead made.  For the launcher as well. */
static int
join_net(struct child *c)
{
	static const enum outer_step steps[] = {
		[AHEAD_CLONE] = OUTER_CLONE, [AHEAD_PARENT] = OUTER_PARENT,
		[AHEAD_MAPS] = OUTER_MAPS, [AHEAD_ROUTE] = OUTER_ROUTE,
		[AHEAD_LISTEN] = OUTER_LISTEN, [AHEAD_NFT] = OUTER_NFT,
	};

	c->has_net = true;
	if (ahead_wait(c->ahead, &c->net) == 0) {
		memcpy(c->o->listen_fd, c->net.listen_fd,
		    sizeof c->o->listen_fd);
		return 0;
	}
	/* Also where a mount has failed meanwhile: it was begun first, and its
	 * failure says more about what is not permitted here. */
	c->o->failed_at = steps[c->net.step];
	c->o->sys = c->net.sys;
	c->o->detail = c->net.detail;
	return -1;
}

/*
 * The network was begun while the policy was read, and takes the kernel longer
 * than the mounts up to here took us.
 */
static void
child_network(struct child *c)
{
	struct outer *o = c->o;
	const struct jail_spec *spec = o->spec;
	bool has_gate;

	if (join_net(c) != 0)
		_exit(125);
	has_gate = o->listen_fd[JAIL_LISTEN_TRANSPARENT4] >= 0;
	if (spec->shares_net)
		return;
	if (setns(c->net.net_fd, CLONE_NEWNET) != 0)
		child_fail(c, OUTER_CLONE);
	if (route_ranges(spec->ranges, spec->nranges, &o->detail) != 0)
		child_fail(c, OUTER_ROUTE);
	if (mint_listeners(spec, has_gate, o->listen_fd, o->local_fd,
	    &o->detail) != 0)
		child_fail(c, OUTER_LISTEN);
	if (!has_gate && nft_apply(o->listen_fd[JAIL_LISTEN_TRANSPARENT4],
	    o->listen_fd[JAIL_LISTEN_TRANSPARENT6], &o->detail) != 0)
		child_fail(c, OUTER_NFT);
}

static int
put_object(const char *name, const void *bytes, size_t len)
{
	char path[PATH_MAX];

	if (early_join(path, SHIM_DIR, name) != 0)
		return -1;
	return early_write(path, O_CREAT | O_EXCL, 0755, bytes, len);
}

/* A link to an object from every directory $LIB may mean. */
static int
link_object(const char *name, const char *as, const char *const *dirs,
    size_t ndirs)
{
	char first[PATH_MAX], dir[PATH_MAX], path[PATH_MAX];

	if (early_join(first, SHIM_DIR, name) != 0)
		return -1;
	for (size_t i = 0; i < ndirs; i++) {
		if (early_join(dir, SHIM_DIR, dirs[i]) != 0 ||
		    (mkdir(dir, 0755) != 0 && errno != EEXIST) ||
		    early_join(path, dir, as) != 0 ||
		    link(first, path) != 0)
			return -1;
	}
	return 0;
}

/* What is preloaded: the shim, the probe library where there are probes. */
static int
put_objects(const struct outer *o)
{
	size_t nlib = o->has_lib_dirs ?
	    sizeof lib_dirs / sizeof lib_dirs[0] : 0;
	size_t nlib32 = sizeof lib32_dirs / sizeof lib32_dirs[0];

	if (put_object(SHIM_NAME, o->shim, o->shim_len) != 0 ||
	    link_object(SHIM_NAME, SHIM_NAME, lib_dirs, nlib) != 0)
		return -1;
	if (o->probe != NULL &&
	    (put_object(PROBE_NAME, o->probe, o->probe_len) != 0 ||
	    link_object(PROBE_NAME, PROBE_NAME, lib_dirs, nlib) != 0))
		return -1;
	if (o->shim32 == NULL)
		return 0;
	if (put_object(STUB32_NAME, o->shim32, o->shim32_len) != 0 ||
	    link_object(STUB32_NAME, SHIM_NAME, lib32_dirs, nlib32) != 0)
		return -1;
	return o->probe == NULL ? 0 : link_object(STUB32_NAME, PROBE_NAME,
	    lib32_dirs, nlib32);
}

static int
put_run_files(const struct outer *o)
{
	char path[PATH_MAX];

	if (mkdir(RUN_DIR, 0755) != 0 || mkdir(ETC_DIR, 0755) != 0 ||
	    mkdir(SHIM_DIR, 0755) != 0)
		return -1;
	for (size_t i = 0; i < o->spec->netc; i++) {
		const struct jail_file *f = &o->spec->etc[i];

		if (early_join(path, ETC_DIR "/", f->name) != 0 ||
		    (strchr(f->name, '/') != NULL &&
		    path_make_above(path, 0755) != 0) ||
		    early_write(path, O_CREAT | O_EXCL, 0644, f->text,
		    strlen(f->text)) != 0)
			return -1;
	}
	if (o->spec->names != NULL && early_write(RUN_DIR "/names",
	    O_CREAT | O_EXCL, 0444, o->spec->names, o->spec->names_len) != 0)
		return -1;
	if (o->spec->probes != NULL && early_write(RUN_DIR "/probes",
	    O_CREAT | O_EXCL, 0444, o->spec->probes, o->spec->probes_len) != 0)
		return -1;
	if (o->preload == NULL)
		return 0;
	if (put_objects(o) != 0)
		return -1;
	/* Empty until fence-init lays the list over it: bwrap, which comes
	 * first, has nothing to tell. */
	if (early_write(ETC_DIR "/ld.so.preload", O_CREAT | O_EXCL, 0644, "",
	    0) != 0)
		return -1;
	return early_write(SHIM_DIR "/preload", O_CREAT | O_EXCL, 0644,
	    o->preload, strlen(o->preload));
}

/*
 * Where the shim's datagrams arrive.  A fresh network namespace queues ten of
 * them; whoever administers it may ask for more (a /proc that is read-only,
 * as in some containers, leaves it at ten: the rest is dropped and counted).
 */
static int
make_report(const struct jail_spec *spec, int *ret_fd)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int on = 1;

	if (!spec->shares_net)		/* that one is not ours to change */
		(void)!early_write("/proc/sys/net/unix/max_dgram_qlen", 0, 0,
		    "1024", 4);
	*ret_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0);
	memcpy(sun.sun_path, RUN_DIR "/s", sizeof RUN_DIR "/s");
	if (*ret_fd < 0 ||
	    setsockopt(*ret_fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0
	    || bind(*ret_fd, (struct sockaddr *)&sun, sizeof sun) != 0)
		return -1;
	return chmod(RUN_DIR "/s", 0666);
}

/*
 * bwrap looks for its child in /proc, by the number that the child has in our
 * pid namespace: 2.  The host's /proc has some process of that number, but
 * that of a container need not, nor one that hides the processes of others.
 * fence-init lays the jail's own over it.
 */
static void
child_proc(struct child *c)
{
	if (mount("proc", "/proc", "proc", MS_NOSUID | MS_NODEV | MS_NOEXEC,
	    NULL) != 0)
		child_fail(c, OUTER_PROC);
}

/* A step of root.c failed: which mount was it? */
static _Noreturn void
child_fail_root(struct child *c, enum outer_step step)
{
	c->o->detail = c->root.detail;
	child_fail(c, step);
}

static void
child_mounts(struct child *c)
{
	struct outer *o = c->o;

	if (mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0)
		child_fail(c, OUTER_PRIVATE);
	if (root_hold(&c->root) != 0)
		child_fail_root(c, OUTER_HOLD);
	if (mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV,
	    "mode=0755,size=16m") != 0)
		child_fail(c, OUTER_RUN);
	if (put_run_files(o) != 0)
		child_fail(c, OUTER_RUN_FILES);
	if (pretend_lacks("nooverlay")) {
		errno = ENODEV;
		child_fail(c, OUTER_ETC);
	}
	root_mask_etc(&c->root, ETC_DIR);
	if (mount("overlay", "/etc", "overlay",
	    MS_RDONLY | MS_NOSUID | MS_NODEV,
	    "lowerdir=" ETC_DIR ":/etc") != 0)
		child_fail(c, OUTER_ETC);
	child_network(c);
	pause_at("in-child-net");
	/* A socket of the jail's network, in a /run that is still writable. */
	if (o->preload != NULL && make_report(o->spec, &o->report_fd) != 0)
		child_fail(c, OUTER_SOCKET);
	if (root_build(&c->root, RUN_DIR, ETC_DIR) != 0)
		child_fail_root(c, OUTER_ROOT);
}

/*
 * A mount is held by a descriptor until it is put in its place, and a policy
 * may have more of them than a user's processes usually may have files.
 */
static void
raise_files(const struct jail_spec *spec, struct rlimit *ret_saved)
{
	struct rlimit lim;

	if (getrlimit(RLIMIT_NOFILE, ret_saved) != 0)
		*ret_saved = (struct rlimit){ RLIM_INFINITY, RLIM_INFINITY };
	lim = *ret_saved;
	if (lim.rlim_cur >= spec->nmounts + 2 * spec->nlocal_ports +
	    SPARE_FILES)
		return;
	lim.rlim_cur = lim.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &lim);
}

static bool
has_kept(const struct root *r)
{
	for (size_t i = 0; i < r->spec->nkeep_fds; i++)
		if (r->kept_fd[i] >= 0)
			return true;
	return false;
}

/*
 * Files to read that were reopened, or a terminal of the command's own in the
 * place of ours.  The launcher's own stay as they are.
 */
static int
child_stdio(const struct root *r)
{
	const struct jail_spec *spec = r->spec;
	bool has_tty = spec->session == JAIL_SESSION_TTY;
	int in = r->stdin_fd;

	if ((in >= 0 || has_tty || has_kept(r)) &&
	    unshare(CLONE_FILES) != 0)
		return -1;
	/* Not close-on-exec: it is the command's stdin. */
	if (in >= 0 && dup2(in, STDIN_FILENO) < 0)
		return -1;
	for (size_t i = 0; i < spec->nkeep_fds; i++)
		if (r->kept_fd[i] >= 0 &&
		    /* Not close-on-exec: the command keeps it. */
		    dup2(r->kept_fd[i], spec->keep_fds[i]) < 0)
			return -1;
	for (int fd = 0; has_tty && fd <= STDERR_FILENO; fd++)
		/* Not close-on-exec: it is the command's stdio. */
		if (isatty(fd) && dup2(spec->tty_fd, fd) < 0)
			return -1;
	return 0;
}

static int
child_main(void *arg)
{
	struct child *c = arg;
	struct outer *o = c->o;
	struct pollfd pfd = { .fd = c->parent_fd, .events = POLLIN };
	char *no_env[] = { NULL };
	struct rlimit files;
	mode_t mask;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The launcher may have died before the line above; in the new pid
	 * namespace getppid() is 0 either way. */
	if (poll(&pfd, 1, 0) != 0) {
		errno = ESRCH;
		child_fail(c, OUTER_PARENT);
	}
	child_groups(c);
	mask = umask(022);
	raise_files(o->spec, &files);
	child_mounts(c);
	pause_at("in-child-mounts");
	umask(mask);
	if (child_stdio(&c->root) != 0)
		child_fail(c, OUTER_STDIO);
	for (size_t i = 0; i < o->npass_fds; i++)
		fcntl(o->pass_fds[i], F_SETFD, 0);
	(void)setrlimit(RLIMIT_NOFILE, &files);
	if (o->spec->bwrap == NULL && root_enter(&c->root) != 0)
		child_fail(c, OUTER_ENTER);
	if (o->spec->bwrap != NULL)
		child_proc(c);
	execve(o->program, o->argv, no_env);
	child_fail(c, OUTER_EXEC);
}

/*
 * The first child: what it enters it cannot leave again, and the launcher has
 * to stay where it is.  CLONE_PARENT: the second is the launcher's child.
 */
static int
enter_main(void *arg)
{
	struct child *c = arg;

	if (setns(c->user_fd, CLONE_NEWUSER) != 0)
		child_fail(c, OUTER_CLONE);
	c->o->pid = clone(child_main, c->stack, c->flags, c);
	if (c->o->pid < 0)
		child_fail(c, OUTER_CLONE);
	_exit(0);
}

/* ---- in the launcher ---- */

static void
close_sockets(struct outer *o)
{
	for (size_t i = 0; i < JAIL_NLISTENERS; i++)
		fd_close(&o->listen_fd[i]);
	for (size_t i = 0; i < 2 * o->spec->nlocal_ports; i++)
		fd_close(&o->local_fd[i]);
	for (size_t i = 0; i < o->spec->nkeep_fds; i++)
		fd_close(&o->kept_fd[i]);
	free(o->kept_fd);
	o->kept_fd = NULL;
	fd_close(&o->report_fd);
	fd_close(&o->stdin_fd);
}

static int
outer_fail(struct outer *o, enum outer_step step, int sys)
{
	o->failed_at = step;
	o->sys = sys;
	return -1;
}

/*
 * Is the gate that was begun of any use?  A port that leads to the host's may
 * want its place; and where there is none to be, this machine need not be
 * able to make one.
 */
static bool
fits_gate(const struct jail_spec *spec)
{
	for (size_t i = 0; i < spec->nlocal_ports; i++)
		if (spec->local_ports[i] == MINT_GATE_PORT)
			return false;
	return !spec->shares_net;
}

/*
 * The namespaces that were begun while the policy was read, or are now.
 * ret_own: NULL, or to be freed by the caller.
 */
static struct ahead *
take_ahead(struct outer *o, struct ahead **ret_own)
{
	bool fits = fits_gate(o->spec);

	*ret_own = NULL;
	if (fits && o->ahead != NULL)
		return o->ahead;
	return *ret_own = ahead_start(fits);
}

/* Both children have a stack: the first waits while the second works. */
static int
make_children(struct outer *o, struct child *c)
{
	const int flags = CLONE_VM | CLONE_VFORK | CLONE_FILES | SIGCHLD;
	char *stack = mmap(NULL, 2 * STACK_BYTES, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	pid_t pid;

	if (stack == MAP_FAILED)
		return outer_fail(o, OUTER_CLONE, errno);
	c->stack = stack + 2 * STACK_BYTES;
	c->flags = flags | CLONE_PARENT | CLONE_NEWNS | CLONE_NEWPID |
	    (o->spec->bwrap != NULL ? 0 :
	    CLONE_NEWIPC | CLONE_NEWUTS | CLONE_NEWCGROUP);
	pid = clone(enter_main, stack + STACK_BYTES, flags, c);
	if (pid < 0)
		outer_fail(o, OUTER_CLONE, errno);
	else
		(void)!waitpid(pid, NULL, 0);
	if (o->failed_at != OUTER_OK && o->pid > 0)
		(void)!waitpid(o->pid, NULL, 0);
	munmap(stack, 2 * STACK_BYTES);
	return o->failed_at == OUTER_OK ? 0 : -1;
}

int
outer_start(struct outer *o)
{
	struct child c = { .o = o, .net = { .user_fd = -1, .net_fd = -1 } };
	auto_fd parent_fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	struct ahead *own = NULL;
	int rc;

	for (size_t i = 0; i < JAIL_NLISTENERS; i++)
		o->listen_fd[i] = -1;
	for (size_t i = 0; i < 2 * o->spec->nlocal_ports; i++)
		o->local_fd[i] = -1;
	o->report_fd = o->stdin_fd = -1;
	o->kept_fd = NULL;
	o->failed_at = OUTER_OK;
	o->sys = o->pid = 0;
	c.parent_fd = parent_fd;
	if (parent_fd < 0)
		return outer_fail(o, OUTER_CLONE, errno);
	if (pretend_lacks("nouserns") || pretend_lacks("nonetns"))
		return outer_fail(o, OUTER_CLONE, EPERM);
	if ((c.ahead = take_ahead(o, &own)) == NULL)
		return outer_fail(o, OUTER_CLONE, ENOMEM);
	root_init(&c.root, o->spec);
	c.user_fd = ahead_user(c.ahead);
	rc = c.user_fd < 0 ? -1 : make_children(o, &c);
	/* What it shares with us may not be left half made. */
	if (!c.has_net)
		(void)join_net(&c);
	ahead_reap(c.ahead);
	ahead_free(own);
	/* The table may be ours as well: nobody else is to inherit them. */
	for (size_t i = 0; i < o->npass_fds; i++)
		(void)fcntl(o->pass_fds[i], F_SETFD, FD_CLOEXEC);
	fd_close(&c.net.user_fd);
	fd_close(&c.net.net_fd);
	o->stdin_fd = c.root.stdin_fd;
	o->kept_fd = c.root.kept_fd;
	c.root.kept_fd = NULL;
	root_release(&c.root);
	if (rc != 0)
		close_sockets(o);
	return rc;
}

static const char *const step_text[] = {
	[OUTER_CLONE] = "cannot make the jail's namespaces",
	[OUTER_PARENT] = "the launcher went away",
	[OUTER_GROUP] = "cannot move the jail into its cgroup",
	[OUTER_MAPS] = "cannot map the user into the jail",
	[OUTER_ROUTE] = "cannot set up the jail's network",
	[OUTER_LISTEN] = "cannot listen inside the jail's network",
	[OUTER_NFT] = "cannot load the gate's nftables rule",
	[OUTER_PRIVATE] = "cannot make mounts private",
	[OUTER_HOLD] = "cannot take hold of a path of the policy",
	[OUTER_RUN] = "cannot mount a private /run",
	[OUTER_RUN_FILES] = "cannot write the jail's own files in /run",
	[OUTER_SOCKET] = "cannot bind the report socket in /run",
	[OUTER_ETC] = "cannot lay an overlay over /etc",
	[OUTER_ROOT] = "cannot mount over a path",
	[OUTER_ENTER] = "cannot enter the jail's tree",
	[OUTER_PROC] = "cannot mount its own /proc for bwrap",
	[OUTER_STDIO] = "cannot hand over stdin, stdout and stderr",
	[OUTER_EXEC] = "cannot execute the jail's first program",
};

/* The network steps know more precisely where they failed. */
static const char *
detail_text(const struct outer *o)
{
	switch (o->failed_at) {
	case OUTER_ROUTE:
		return route_step_text(o->detail);
	case OUTER_LISTEN:
		return mint_step_text(o->detail);
	case OUTER_NFT:
		return nft_step_text(o->detail);
	case OUTER_HOLD:
	case OUTER_ROOT:
		return (size_t)o->detail < o->spec->nmounts ?
		    o->spec->mounts[o->detail].path : NULL;
	default:
		return NULL;
	}
}

/*
 * The namespaces are ours, and yet we may not: whoever forbids namespaces
 * elsewhere (AppArmor, a container's filter) took the rights in them.
 */
static bool
lacks_rights(const struct outer *o)
{
	switch (o->failed_at) {
	case OUTER_ROUTE:
	case OUTER_LISTEN:
	case OUTER_NFT:
	case OUTER_HOLD:
	case OUTER_ROOT:
		return o->sys == EPERM;
	case OUTER_PRIVATE:
	case OUTER_RUN:
	case OUTER_ETC:
		return o->sys == EPERM || o->sys == EACCES;
	default:
		return false;
	}
}

int
outer_explain(const struct outer *o, struct err *e)
{
	const char *detail = detail_text(o);

	if (o->sys == ESTALE && detail != NULL)
		return tree_changed(detail, e);
	err_sys(e, o->sys, "%s%s%s%s", step_text[o->failed_at],
	    detail != NULL ? " (" : "", detail != NULL ? detail : "",
	    detail != NULL ? ")" : "");
	if (lacks_rights(o)) {
		err_hint(e, "%s", cure_userns(o->sys, false).cure);
		return -1;
	}
	switch (o->failed_at) {
	case OUTER_CLONE:
	case OUTER_MAPS:
		err_hint(e, "%s", cure_userns(o->sys,
		    o->failed_at == OUTER_MAPS).cure);
		break;
	case OUTER_NFT:
		err_hint(e, "the kernel needs nf_tables with nft_tproxy "
		    "(modprobe nft_tproxy)");
		break;
	case OUTER_PROC:
		if (o->sys == EPERM)
			err_hint(e, "%s", CURE_PROC);
		break;
	case OUTER_ETC:
		if (o->sys == ENODEV)
			err_hint(e, "the kernel needs overlayfs (modprobe "
			    "overlay)");
		else if (o->sys == EINVAL)
			err_hint(e, "something is mounted below /etc (as "
			    "containers do), or the kernel is older than 5.11");
		break;
	default:
		break;
	}
	return -1;
}
