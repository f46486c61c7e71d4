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

#include "platform/fd.h"
#include "platform/linux/early.h"
#include "platform/linux/mint.h"
#include "platform/linux/nft.h"
#include "platform/linux/root.h"
#include "platform/linux/route.h"
#include "platform/pause.h"

enum { STACK_BYTES = 512 * 1024, SPARE_FILES = 256 };

#define RUN_DIR		"/run/fence"
#define ETC_DIR		RUN_DIR "/etc"
/* The shim lies in the overlay itself: where the list of objects to preload
 * is visible, so are the objects. */
#define SHIM_DIR	ETC_DIR "/.fence"

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
	char		 uid_map[64];
	char		 gid_map[64];
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

static int
write_maps(const struct child *c)
{
	if (early_write("/proc/self/setgroups", 0, 0, "deny", 4) != 0 &&
	    errno != ENOENT)
		return -1;
	if (early_write("/proc/self/uid_map", 0, 0, c->uid_map,
	    strlen(c->uid_map)) != 0)
		return -1;
	return early_write("/proc/self/gid_map", 0, 0, c->gid_map,
	    strlen(c->gid_map));
}

static void
child_network(struct child *c)
{
	struct outer *o = c->o;
	const struct jail_spec *spec = o->spec;

	if (route_setup(spec->ranges, spec->nranges, &o->detail) != 0)
		child_fail(c, OUTER_ROUTE);
	if (mint_listeners(o->listen_fd, &o->detail) != 0)
		child_fail(c, OUTER_LISTEN);
	if (nft_apply(o->listen_fd[JAIL_LISTEN_TRANSPARENT4],
	    o->listen_fd[JAIL_LISTEN_TRANSPARENT6], &o->detail) != 0)
		child_fail(c, OUTER_NFT);
}

/* One object, and a link to it from every directory $LIB may mean. */
static int
put_shim(const char *name, const void *bytes, size_t len,
    const char *const *dirs, size_t ndirs)
{
	char first[PATH_MAX], dir[PATH_MAX], path[PATH_MAX];

	if (early_join(first, SHIM_DIR, name) != 0 ||
	    early_write(first, O_CREAT | O_EXCL, 0755, bytes, len) != 0)
		return -1;
	for (size_t i = 0; i < ndirs; i++) {
		if (early_join(dir, SHIM_DIR, dirs[i]) != 0 ||
		    (mkdir(dir, 0755) != 0 && errno != EEXIST) ||
		    early_join(path, dir, "/libfence-shim.so") != 0 ||
		    link(first, path) != 0)
			return -1;
	}
	return 0;
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
		    early_parents(path, 0755) != 0 || early_write(path, O_CREAT | O_EXCL, 0644, f->text,
		    strlen(f->text)) != 0)
			return -1;
	}
	if (o->spec->names != NULL && early_write(RUN_DIR "/names",
	    O_CREAT | O_EXCL, 0444, o->spec->names, o->spec->names_len) != 0)
		return -1;
	if (o->preload == NULL)
		return 0;
	if (put_shim("/shim.so", o->shim, o->shim_len, lib_dirs,
	    sizeof lib_dirs / sizeof lib_dirs[0]) != 0)
		return -1;
	if (o->shim32 != NULL && put_shim("/shim32.so", o->shim32,
	    o->shim32_len, lib32_dirs,
	    sizeof lib32_dirs / sizeof lib32_dirs[0]) != 0)
		return -1;
	return early_write(ETC_DIR "/ld.so.preload", O_CREAT | O_EXCL, 0644,
	    o->preload, strlen(o->preload));
}

/*
 * Where the shim's datagrams arrive.  A fresh network namespace queues ten of
 * them; whoever administers it may ask for more (a /proc that is read-only,
 * as in some containers, leaves it at ten: the rest is dropped and counted).
 */
static int
make_report(int *ret_fd)
{
	struct sockaddr_un sun = { .sun_family = AF_UNIX };
	int on = 1;

	(void)!early_write("/proc/sys/net/unix/max_dgram_qlen", 0, 0, "1024",
	    4);
	*ret_fd = socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC | SOCK_NONBLOCK,
	    0);
	memcpy(sun.sun_path, RUN_DIR "/s", sizeof RUN_DIR "/s");
	if (*ret_fd < 0 ||
	    setsockopt(*ret_fd, SOL_SOCKET, SO_PASSCRED, &on, sizeof on) != 0
	    || bind(*ret_fd, (struct sockaddr *)&sun, sizeof sun) != 0)
		return -1;
	return chmod(RUN_DIR "/s", 0666);
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
	if (o->preload != NULL && make_report(&o->report_fd) != 0)
		child_fail(c, OUTER_SOCKET);
	if (mount("overlay", "/etc", "overlay",
	    MS_RDONLY | MS_NOSUID | MS_NODEV,
	    "lowerdir=" ETC_DIR ":/etc") != 0)
		child_fail(c, OUTER_ETC);
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
	if (lim.rlim_cur >= spec->nmounts + SPARE_FILES)
		return;
	lim.rlim_cur = lim.rlim_max;
	(void)setrlimit(RLIMIT_NOFILE, &lim);
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
	int in;

	prctl(PR_SET_PDEATHSIG, SIGKILL);
	/* The launcher may have died before the line above; in the new pid
	 * namespace getppid() is 0 either way. */
	if (poll(&pfd, 1, 0) != 0) {
		errno = ESRCH;
		child_fail(c, OUTER_PARENT);
	}
	mask = umask(022);
	raise_files(o->spec, &files);
	if (write_maps(c) != 0)
		child_fail(c, OUTER_MAPS);
	pause_at("in-child-maps");
	child_network(c);
	pause_at("in-child-net");
	child_mounts(c);
	pause_at("in-child-mounts");
	umask(mask);
	in = c->root.stdin_fd;
	/* The launcher's own stdin stays: it is told how far it was read. */
	if (in >= 0 && unshare(CLONE_FILES) != 0)
		child_fail(c, OUTER_HOLD);
	/* Not close-on-exec: it is the command's stdin. */
	if (in >= 0 && dup2(in, STDIN_FILENO) < 0)
		child_fail(c, OUTER_HOLD);
	for (size_t i = 0; i < o->npass_fds; i++)
		fcntl(o->pass_fds[i], F_SETFD, 0);
	(void)setrlimit(RLIMIT_NOFILE, &files);
	execve(o->spec->bwrap, o->argv, no_env);
	child_fail(c, OUTER_EXEC);
}

/* ---- in the launcher ---- */

static void
close_sockets(struct outer *o)
{
	for (size_t i = 0; i < JAIL_NLISTENERS; i++)
		fd_close(&o->listen_fd[i]);
	fd_close(&o->report_fd);
	fd_close(&o->stdin_fd);
}

int
outer_start(struct outer *o)
{
	struct child c = { .o = o };
	const int flags = CLONE_VM | CLONE_VFORK | CLONE_FILES |
	    CLONE_NEWUSER | CLONE_NEWNS | CLONE_NEWNET | CLONE_NEWPID |
	    SIGCHLD;
	auto_fd parent_fd = -1;
	char *stack;

	for (size_t i = 0; i < JAIL_NLISTENERS; i++)
		o->listen_fd[i] = -1;
	o->report_fd = o->stdin_fd = -1;
	o->failed_at = OUTER_OK;
	o->sys = 0;
	/* Our uid is 0 out here; bwrap maps it back to itself inside. */
	snprintf(c.uid_map, sizeof c.uid_map, "0 %u 1\n", getuid());
	snprintf(c.gid_map, sizeof c.gid_map, "0 %u 1\n", getgid());
	parent_fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	c.parent_fd = parent_fd;
	stack = mmap(NULL, STACK_BYTES, PROT_READ | PROT_WRITE,
	    MAP_PRIVATE | MAP_ANONYMOUS | MAP_STACK, -1, 0);
	if (parent_fd < 0 || stack == MAP_FAILED) {
		o->failed_at = OUTER_CLONE;
		o->sys = errno;
		return -1;
	}
	root_init(&c.root, o->spec);
	o->pid = clone(child_main, stack + STACK_BYTES, flags, &c);
	if (o->pid < 0) {
		o->failed_at = OUTER_CLONE;
		o->sys = errno;
	} else if (o->failed_at != OUTER_OK)
		(void)!waitpid(o->pid, NULL, 0);
	munmap(stack, STACK_BYTES);
	o->stdin_fd = c.root.stdin_fd;
	root_release(&c.root);
	if (o->failed_at == OUTER_OK)
		return 0;
	close_sockets(o);
	return -1;
}

static const char *const step_text[] = {
	[OUTER_CLONE] = "cannot make the jail's namespaces",
	[OUTER_PARENT] = "the launcher went away",
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
	[OUTER_EXEC] = "cannot execute bwrap",
};

/* Is this sysctl there, and does it hold this value? */
static bool
sysctl_is(const char *path, const char *value)
{
	char text[32];
	ssize_t n = fd_read_file(AT_FDCWD, path, text, sizeof text - 1);

	if (n <= 0)
		return false;
	text[n] = '\0';
	text[strcspn(text, "\n")] = '\0';
	return strcmp(text, value) == 0;
}

static void
explain_clone(int sys, struct err *e)
{
	if (sysctl_is("/proc/sys/kernel/unprivileged_userns_clone", "0"))
		err_hint(e, "sysctl kernel.unprivileged_userns_clone=1 allows "
		    "user namespaces");
	else if (sysctl_is("/proc/sys/user/max_user_namespaces", "0"))
		err_hint(e, "sysctl user.max_user_namespaces=15000 allows user "
		    "namespaces");
	else if (access("/run/fence/s", F_OK) == 0)
		err_hint(e, "already inside fence: the outer jail holds for "
		    "every command in it");
	else if (sys == ENOSPC || sys == EUSERS)
		err_hint(e, "the limit user.max_user_namespaces or its net, "
		    "mnt or pid sibling is used up");
	else if (sys == EPERM)
		err_hint(e, "a container or security module forbids user "
		    "namespaces here");
}

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

int
outer_explain(const struct outer *o, struct err *e)
{
	const char *detail = detail_text(o);

	err_sys(e, o->sys, "%s%s%s%s", step_text[o->failed_at],
	    detail != NULL ? " (" : "", detail != NULL ? detail : "",
	    detail != NULL ? ")" : "");
	switch (o->failed_at) {
	case OUTER_CLONE:
		explain_clone(o->sys, e);
		break;
	case OUTER_MAPS:
		/* Ubuntu 23.10 and later let the clone pass and then take
		 * every right of the new namespace away. */
		if (sysctl_is("/proc/sys/kernel/"
		    "apparmor_restrict_unprivileged_userns", "1"))
			err_hint(e, "AppArmor restricts user namespaces: sysctl "
			    "kernel.apparmor_restrict_unprivileged_userns=0, "
			    "or a profile for fence-run");
		break;
	case OUTER_NFT:
		err_hint(e, "the kernel needs nf_tables with nft_tproxy "
		    "(modprobe nft_tproxy)");
		break;
	case OUTER_ETC:
		if (o->sys == EINVAL)
			err_hint(e, "something is mounted below /etc (as "
			    "containers do), or the kernel is older than 5.11");
		break;
	default:
		break;
	}
	return -1;
}
