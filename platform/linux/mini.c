#include "platform/linux/mini.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <sched.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "platform/fd.h"
#include "platform/jail.h"
#include "platform/linux/idmap.h"
#include "platform/linux/landlock.h"
#include "platform/linux/mint.h"
#include "platform/linux/nft.h"
#include "platform/linux/route.h"
#include "platform/linux/seccomp.h"
#include "platform/pause.h"

enum { LIMIT_MS = 10000 };

#define PLACE		"/run/fence"
#define ETC_PLACE	PLACE "/etc"
#define PROC_PLACE	PLACE "/proc"

#ifndef MOUNT_ATTR_RDONLY
#define MOUNT_ATTR_RDONLY	1
#endif
#ifndef SYS_mount_setattr
#define SYS_mount_setattr	442
#endif
#ifndef SYS_open_tree
#define SYS_open_tree		428
#endif
#define TREE_CLONE		1
#define TREE_CLOEXEC		O_CLOEXEC

/* Namespaces and network in one process, the rest one process each. */
struct work {
	struct mini	*mini;		/* shared with the parent */
	uid_t		 uid;
	gid_t		 gid;
	int		 listen_fd[JAIL_NLISTENERS];
};

typedef int	 step_fn(struct work *, int *detail);

static int
lacks(const char *feature, int error)
{
	(void)feature;		/* a macro takes it in other builds */
	if (!pretend_lacks(feature))
		return 0;
	errno = error;
	return -1;
}

/* ---- namespaces ---- */

static int
do_user(struct work *w, int *detail)
{
	(void)w;
	(void)detail;
	return lacks("nouserns", EPERM) != 0 ? -1 : unshare(CLONE_NEWUSER);
}

static int
do_maps(struct work *w, int *detail)
{
	const struct idmap map = { .outer_uid = w->uid, .outer_gid = w->gid };

	(void)detail;
	return idmap_write(-1, &map);
}

static int
do_mounts(struct work *w, int *detail)
{
	(void)w;
	(void)detail;
	if (unshare(CLONE_NEWNS) != 0)
		return -1;
	return mount(NULL, "/", NULL, MS_REC | MS_PRIVATE, NULL);
}

#define UNSHARE(name, flag, pretend)					\
	static int							\
	name(struct work *w, int *detail)				\
	{								\
		(void)w;						\
		(void)detail;						\
		return lacks(pretend, EINVAL) != 0 ? -1 :		\
		    unshare(flag);					\
	}

UNSHARE(do_net, CLONE_NEWNET, "nonetns")
UNSHARE(do_pid, CLONE_NEWPID, "nopidns")
UNSHARE(do_ipc, CLONE_NEWIPC, "noipcns")
UNSHARE(do_uts, CLONE_NEWUTS, "noutsns")
UNSHARE(do_cgroup, CLONE_NEWCGROUP, "nocgroupns")

/* ---- network ---- */

static int
do_routes(struct work *w, int *detail)
{
	(void)w;
	return route_setup(NULL, 0, detail);
}

static int
do_ipv6(struct work *w, int *detail)
{
	auto_fd fd = socket(AF_INET6, SOCK_STREAM | SOCK_CLOEXEC, 0);

	(void)w;
	(void)detail;
	return fd < 0 ? -1 : 0;
}

static int
do_listen(struct work *w, int *detail)
{
	static const struct jail_spec spec = { .http_port = JAIL_HTTP_PORT,
	    .socks_port = JAIL_SOCKS_PORT };

	return mint_listeners(&spec, false, w->listen_fd, NULL,
	    detail);
}

static int
do_nft(struct work *w, int *detail)
{
	return nft_apply(w->listen_fd[JAIL_LISTEN_TRANSPARENT4],
	    w->listen_fd[JAIL_LISTEN_TRANSPARENT6], detail);
}

/* ---- mounts ---- */

static int
do_run(struct work *w, int *detail)
{
	(void)w;
	(void)detail;
	if (mount("tmpfs", "/run", "tmpfs", MS_NOSUID | MS_NODEV,
	    "mode=0755,size=1m") != 0)
		return -1;
	return mkdir(PLACE, 0755) != 0 || mkdir(ETC_PLACE, 0755) != 0 ||
	    mkdir(PROC_PLACE, 0755) != 0 ? -1 : 0;
}

static int
do_tree(struct work *w, int *detail)
{
	struct {
		uint64_t set, clear, propagation, userns_fd;
	} attr = { .set = MOUNT_ATTR_RDONLY };
	auto_fd fd = -1;

	(void)w;
	(void)detail;
	if (lacks("nomountapi", ENOSYS) != 0)
		return -1;
	/* What is mounted below came along, and cannot be left out. */
	fd = (int)syscall(SYS_open_tree, AT_FDCWD, "/", TREE_CLONE |
	    TREE_CLOEXEC | AT_RECURSIVE);
	if (fd < 0)
		return -1;
	return (int)syscall(SYS_mount_setattr, fd, "", AT_EMPTY_PATH |
	    AT_RECURSIVE, &attr, sizeof attr);
}

static int
do_overlay(struct work *w, int *detail)
{
	(void)w;
	(void)detail;
	if (lacks("nooverlay", ENODEV) != 0)
		return -1;
	return mount("overlay", "/etc", "overlay",
	    MS_RDONLY | MS_NOSUID | MS_NODEV,
	    "lowerdir=" ETC_PLACE ":/etc");
}

/* Its own pid namespace has processes only from the first child on. */
static int
do_proc(struct work *w, int *detail)
{
	int status;
	pid_t pid;

	(void)w;
	(void)detail;
	if (lacks("noproc", EPERM) != 0 || (pid = fork()) < 0)
		return -1;
	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		_exit(mount("proc", PROC_PLACE, "proc", MS_NOSUID | MS_NODEV |
		    MS_NOEXEC | MS_RDONLY, NULL) != 0 ? errno & 0xff : 0);
	}
	if (waitpid(pid, &status, 0) != pid)
		return -1;
	errno = WIFEXITED(status) ? WEXITSTATUS(status) : ECHILD;
	return errno == 0 ? 0 : -1;
}

/* ---- what a process gives up ---- */

static int
load(const void *program, size_t bytes, unsigned flags)
{
	struct sock_fprog prog = { .len = (unsigned short)(bytes /
	    sizeof(struct sock_filter)), .filter = (void *)(uintptr_t)program };

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0)
		return -1;
	return (int)syscall(SYS_seccomp, SECCOMP_SET_MODE_FILTER, flags,
	    &prog);
}

static int
do_seccomp(struct work *w, int *detail)
{
	struct err e = { 0 };
	struct buf b;

	(void)w;
	(void)detail;
	if (lacks("noseccomp", EINVAL) != 0)
		return -1;
	buf_init(&b, 0);
	if (seccomp_jail_filter(SECCOMP_USER, &b, &e) != 0) {
		errno = ENOMEM;
		return -1;
	}
	if (load(b.data, b.len, 0) != 0)
		return -1;
	/* Does it hold?  A bare kernel says EBADF. */
	if (setns(-1, 0) == 0 || errno != EPERM) {
		errno = ENOSYS;
		return -1;
	}
	return 0;
}

static int
do_seccomp_log(struct work *w, int *detail)
{
	uint32_t action = SECCOMP_RET_LOG;

	(void)w;
	(void)detail;
	return (int)syscall(SYS_seccomp, SECCOMP_GET_ACTION_AVAIL, 0,
	    &action);
}

static int
do_notify(struct work *w, int *detail)
{
	static const struct sock_filter permit[] = {
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
	};

	(void)w;
	(void)detail;
	if (lacks("nonotify", EINVAL) != 0)
		return -1;
	return load(permit, sizeof permit,
	    SECCOMP_FILTER_FLAG_NEW_LISTENER) < 0 ? -1 : 0;
}

/* A domain without a single rule: nothing can be opened any more. */
static int
do_landlock(struct work *w, int *detail)
{
	int abi = mini_landlock_abi();
	struct init_plan plan = { .handled_fs = landlock_handled(abi),
	    .scoped = landlock_scoped(abi) };

	(void)w;
	(void)detail;
	if (abi == 0) {
		errno = EOPNOTSUPP;
		return -1;
	}
	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) != 0 ||
	    landlock_apply(&plan, (const char *)&plan) != 0)
		return -1;
	if (open("/", O_RDONLY | O_DIRECTORY | O_CLOEXEC) >= 0 ||
	    errno != EACCES) {
		errno = ENOSYS;
		return -1;
	}
	return 0;
}

static int
do_pidfd(struct work *w, int *detail)
{
	auto_fd fd = -1;

	(void)w;
	(void)detail;
	if (lacks("nopidfd", ENOSYS) != 0)
		return -1;
	fd = (int)syscall(SYS_pidfd_open, getpid(), 0);
	return fd < 0 ? -1 : 0;
}

/* ---- the steps ---- */

/* after: what must have worked before; a step is its own first. */
static const struct {
	step_fn		*fn;
	enum mini_step	 after;
	bool		 is_apart;	/* in a process of its own */
} steps[MINI_NSTEPS] = {
	[MINI_USER] = { do_user, MINI_USER, false },
	[MINI_MAPS] = { do_maps, MINI_USER, false },
	[MINI_MOUNTS] = { do_mounts, MINI_MAPS, false },
	[MINI_NET] = { do_net, MINI_MAPS, false },
	[MINI_PID] = { do_pid, MINI_MAPS, false },
	[MINI_IPC] = { do_ipc, MINI_MAPS, false },
	[MINI_UTS] = { do_uts, MINI_MAPS, false },
	[MINI_CGROUP] = { do_cgroup, MINI_MAPS, false },
	[MINI_ROUTES] = { do_routes, MINI_NET, false },
	[MINI_IPV6] = { do_ipv6, MINI_NET, false },
	[MINI_LISTEN] = { do_listen, MINI_ROUTES, false },
	[MINI_NFT] = { do_nft, MINI_LISTEN, false },
	[MINI_RUN] = { do_run, MINI_MOUNTS, false },
	[MINI_TREE] = { do_tree, MINI_MOUNTS, false },
	[MINI_OVERLAY] = { do_overlay, MINI_RUN, false },
	[MINI_PROC] = { do_proc, MINI_PID, false },
	[MINI_SECCOMP] = { do_seccomp, MINI_SECCOMP, true },
	[MINI_SECCOMP_LOG] = { do_seccomp_log, MINI_SECCOMP_LOG, true },
	[MINI_NOTIFY] = { do_notify, MINI_NOTIFY, true },
	[MINI_LANDLOCK] = { do_landlock, MINI_LANDLOCK, true },
	[MINI_PIDFD] = { do_pidfd, MINI_PIDFD, true },
};

static void
take_step(struct work *w, enum mini_step i)
{
	struct mini_note *note = &w->mini->step[i];

	if (steps[i].after != i && !mini_worked(w->mini, steps[i].after))
		return;
	errno = 0;
	note->error = steps[i].fn(w, &note->detail) == 0 ? 0 :
	    errno != 0 ? errno : EIO;
	note->is_tried = true;
}

static void
take_apart(struct work *w, enum mini_step i)
{
	pid_t pid = fork();

	if (pid == 0) {
		prctl(PR_SET_PDEATHSIG, SIGKILL);
		take_step(w, i);
		_exit(0);
	}
	if (pid > 0)
		(void)!waitpid(pid, NULL, 0);
}

static _Noreturn void
run_steps(struct mini *mini, pid_t parent)
{
	struct work w = { .mini = mini, .uid = getuid(), .gid = getgid() };

	if (prctl(PR_SET_PDEATHSIG, SIGKILL) != 0 || getppid() != parent)
		_exit(0);
	for (size_t i = 0; i < JAIL_NLISTENERS; i++)
		w.listen_fd[i] = -1;
	for (int i = 0; i < MINI_NSTEPS; i++)
		if (steps[i].is_apart)
			take_apart(&w, i);
	for (int i = 0; i < MINI_NSTEPS; i++)
		if (!steps[i].is_apart)
			take_step(&w, i);
	_exit(0);
}

void
mini_run(struct mini *ret)
{
	struct mini *shared = mmap(NULL, sizeof *shared, PROT_READ |
	    PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
	auto_fd done = -1;
	int pipe_fds[2];
	pid_t parent = getpid(), pid;

	*ret = (struct mini){ 0 };
	if (shared == MAP_FAILED || pipe2(pipe_fds, O_CLOEXEC) != 0)
		return;
	done = pipe_fds[0];
	pid = fork();
	if (pid == 0)
		run_steps(shared, parent);
	close(pipe_fds[1]);
	if (pid > 0) {
		/* The end of the pipe is the end of them all. */
		struct pollfd p = { .fd = done, .events = POLLIN };

		(void)!poll(&p, 1, LIMIT_MS);
		kill(pid, SIGKILL);
		(void)!waitpid(pid, NULL, 0);
	}
	*ret = *shared;
	munmap(shared, sizeof *shared);
}

bool
mini_worked(const struct mini *m, enum mini_step i)
{
	return m->step[i].is_tried && m->step[i].error == 0;
}

int
mini_landlock_abi(void)
{
	return pretend_number("landlock", pretend_lacks("landlock") ? 0 :
	    landlock_abi());
}
